/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_CONTROL_INTERNAL_H
#define CRONCTL_CONTROL_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>

#include "common/error.h"
#include "common/message.h"
#include "common/timestamp.h"
#include "daemon/access.h"
#include "daemon/files.h"
#include "daemon/jobtable.h"
#include "daemon/names.h"
#include "daemon/query.h"
#include "daemon/reload.h"
#include "daemon/scheduler.h"
#include "daemon/store.h"
#include "daemon/workers.h"

/*
 * Shared by the parts of control, nobody else:
 *	control.c		connections, and whose turn it is
 *	control_socket.c	the socket file
 *	control_request.c	a line to a request to a method; answers
 *	control_methods.c	the table of methods and their parameters
 *	control_job.c		job.add job.remove
 *	control_list.c		job.list job.show job.next
 *	control_pause.c		job.pause job.resume
 *	control_run.c		job.run run.history run.logs
 *	control_wait.c		run.wait
 *	control_daemon.c	daemon.*
 *	control_events.c	events.follow
 *	control_kill.c		run.kill
 *	control_json.c		jobs, runs and outcomes as messages
 *
 * The life of a request: request_read makes it of a line, request_run calls
 * its method, and that ends it, at once or later, by exactly one call of
 * request_reply or request_refuse, which frees it.  Until then the method
 *	- waits for a helper or the store: request_await before, request_resume
 *	  first thing in the callback; or
 *	- waits for something that may never be: in a list of the context,
 *	  where it is found again, or dropped when its client goes.
 */
struct request;
TAILQ_HEAD(request_list, request);
struct follower;
TAILQ_HEAD(follower_list, follower);

/* The codes of doc/protocol.md. */
enum control_error {
	CONTROL_REFUSED = 1,
	CONTROL_NOT_PERMITTED = 4,
	CONTROL_NOT_FOUND = 5,
	CONTROL_STOPPING = 6,
	CONTROL_STORE = 7,
	CONTROL_IN_DOUBT = 8,
	CONTROL_NOT_JSON = -32700,
	CONTROL_NO_REQUEST = -32600,
	CONTROL_NO_METHOD = -32601,
	CONTROL_PARAMS = -32602
};

/* What methods work with; outlives control for those that await. */
struct control_context {
	struct store	 *store;	/* these are borrowed */
	struct query	 *query;
	struct files	 *files;
	struct names	 *names;
	struct jobtable	 *jobs;
	struct scheduler *scheduler;
	struct reload	 *reload;
	struct workers	 *workers;
	const char	 *state_dir;	/* for daemon.status */
	const char	 *instance;	/* for daemon.status */
	bool		  user;		/* a --user daemon */
	uid_t		  daemon_uid;	/* whom it serves beside root */
	size_t		  max_running;	/* for daemon.status */
	void		(*stop)(void *arg, int64_t by_uid, int64_t timeout_us);
	uint64_t	(*wakeups)(void *arg);
	void		 *hook_arg;	/* for stop and wakeups */
	/* A request is over; text: the line that answers it, or NULL. */
	void		(*answer)(void *session, const char *text);
	/* Queues a notification; flush sends, and is false when the session
	 * has gone by that. */
	void		(*send)(void *session, const char *text);
	bool		(*flush)(void *session);
	size_t		(*unread)(const void *session);	/* bytes */
	/* What the session is told of when there is room; NULL: nothing. */
	void		(*set_follower)(void *session, struct follower *);
	bool		(*has_follower)(const void *session);

	struct boottime	  since;	/* when the daemon began to listen */
	bool		  stopped;	/* every started run has ended */
	bool		  closed;	/* control is gone */
	size_t		  awaited;	/* calls back that are still to come */
	struct request_list deferred;	/* to be tried again each turn */
	struct request_list run_waits;	/* run.wait */
	struct request_list stop_waits;	/* daemon.stop */
	struct follower_list followers;	/* events.follow */
	bool		  events_moved;	/* they may have something to do */
};

enum control_param_type {
	PARAM_STRING, PARAM_BOOL, PARAM_INTEGER, PARAM_NUMBER, PARAM_OBJECT
};
struct control_param {
	const char	*name;		/* NULL ends a list */
	enum control_param_type type;
	bool		 required;	/* neither missing nor null */
	int64_t		 min, max;	/* of an integer or a number */
};

struct control_method {
	const char	*name;		/* NULL ends the table */
	enum access_level access;	/* who may call it */
	bool		 has_definition; /* its line may be longer */
	const struct control_param *params; /* all it takes */
	void		(*run)(struct request *);
};

struct request {
	struct control_context *context;	/* of the daemon */
	void		*session;	/* its connection; NULL: has gone */
	uid_t		 uid;		/* who asks */
	enum access_level access;	/* and what they may */
	struct message	*whole;		/* the line; owned */
	const struct message *id;	/* in whole; NULL: no answer wanted */
	const struct message *params;	/* in whole; NULL: none */
	const struct control_method *method; /* what it asks for */
	void		*state;		/* the method's own; or NULL */
	void		(*release)(void *state);	/* frees it */
	void		(*again)(struct request *);	/* while deferred */
	bool		 awaiting;	/* something will call back */
	struct request_list *list;	/* the one it waits in, or NULL */
	TAILQ_ENTRY(request) link;	/* in list */
};

/* --- control_request.c --- */
/*
 * NULL after having answered what is no request.  The line must not be
 * longer than CLIENT_LINE_MAX.
 */
struct request	*request_read(struct control_context *, void *session,
		    const struct access_peer *, const char *line, size_t len);
/* Calls the method; the request may be gone after that. */
void		 request_run(struct request *);
/* The line that answers what is no request; free(). */
char		*request_error_text(enum control_error,
		    const char *sentence);
/* Ends it well; takes result. */
void		 request_reply(struct request *, struct message *result);
/* Ends it with an error; data, taken, may be NULL. */
void		 request_refuse(struct request *, enum control_error,
		    const struct error *, struct message *data);
void		 request_refusef(struct request *, enum control_error,
		    const char *fmt, ...)
		    __attribute__((format(printf, 3, 4)));
/* Keeps the method's state with the request. */
void		 request_set_state(struct request *, void *state,
		    void (*release)(void *));
void		 request_await(struct request *);
/* The call did not come about. */
void		 request_await_not(struct request *);
/* False when control is gone: the request has been freed. */
bool		 request_resume(struct request *);
/* Waits in a list of the context. */
void		 request_wait_in(struct request *, struct request_list *);
void		 request_leave_list(struct request *);
/* To be tried again at the next turn, with whatever has changed by then. */
void		 request_defer(struct request *,
		    void (*again)(struct request *));
void		 request_retry_deferred(struct control_context *);
/* It changes nothing, it only waits for something to happen. */
bool		 request_only_waits(const struct request *);
/*
 * Its client has gone: nobody will read the answer.  What is on its way to
 * the disk goes on, what only waits is freed.
 */
void		 request_abandon(struct request *);
void		 request_free(struct request *);
/*
 * What its params name: a job in force, else NULL after having refused the
 * request with a near name.
 */
struct job	*request_job(struct request *, const char *name);
void		 request_refuse_no_job(struct request *, const char *name);
/* False after having refused: stopping, or no room in the store. */
bool		 request_can_start(struct request *);
bool		 request_can_store(struct request *);
/* Too many questions to the ledger wait. */
void		 request_refuse_busy(struct request *);
void		 request_refuse_no_run(struct request *, const char *job,
		    uint64_t run, bool failed);
/* False after having refused: just one of "job" and "run" is wanted. */
bool		 request_names_one(struct request *, const char **job,
		    uint64_t *run);

/* --- control_socket.c --- */
struct control_socket {
	char		*path;		/* of the file */
	int		 fd;		/* listening; -1: none */
	dev_t		 dev;		/* of the file, to know it again */
	ino_t		 ino;		/* 0: not made by us */
};
/*
 * passed: a socket that listens there already, or 0.  On failure too,
 * control_socket_close is to be called.
 */
int		 control_socket_open(struct control_socket *,
		    const char *path, mode_t mode, int passed,
		    struct error *err);
void		 control_socket_close(struct control_socket *);

/* --- control_methods.c --- */
const struct control_method *control_method_find(const char *name);
/* The name nearest to a misspelled one, or NULL. */
const char	*control_method_nearest(const char *name);
/* Names, types and ranges of params, which may be NULL. */
int		 control_method_check(const struct control_method *,
		    const struct message *params, struct error *err);

/* --- control_json.c --- */
/* An instant or a span, given in us, as seconds; or null. */
void		 control_set_seconds(struct message *, const char *key,
		    int64_t us, bool known);
struct message	*control_json_job(const struct control_context *,
		    const struct job *);
/* job_state_name, or "paused" of one that would be idle. */
const char	*control_state_name(const struct control_context *,
		    const struct job *);
struct message	*control_json_run(const struct run_row *);
struct message	*control_json_outcome(const struct outcome_row *);
/* since, until, skip, by and note of a pause, as members of an object. */
void		 control_json_pause(struct message *,
		    const struct pause_row *);
/* "gap", "fold" or NULL: what a rule did at an occurrence of the job. */
const char	*control_rule_name(const struct jobdef *, int64_t at);
/* At most max of n sentences. */
#define CONTROL_LIST_MAX 1000
struct message	*control_json_strings(char *const *, size_t n, size_t max);

/* --- control_events.c --- */
/* Its session has room for more. */
void	control_events_ready(struct follower *);
/* Its session is gone. */
void	control_events_drop(struct follower *);
/* There are more events on disk; arg: the context. */
void	control_events_moved(void *arg);
/* Once a turn. */
void	control_events_turn(struct control_context *);

/* --- the methods --- */
void	control_job_add(struct request *);
void	control_job_remove(struct request *);
void	control_job_pause(struct request *);
void	control_job_resume(struct request *);
void	control_job_list(struct request *);
void	control_job_show(struct request *);
void	control_job_next(struct request *);
void	control_job_run(struct request *);
void	control_run_history(struct request *);
void	control_run_logs(struct request *);
void	control_run_wait(struct request *);
void	control_run_kill(struct request *);
void	control_events_follow(struct request *);
void	control_daemon_status(struct request *);
void	control_daemon_reload(struct request *);
void	control_daemon_stop(struct request *);
/* What requests wait for has come about. */
void	control_run_wait_ended(struct control_context *,
	    const struct run_row *);
void	control_daemon_stop_done(struct control_context *);

#endif
