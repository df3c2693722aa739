/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_PROTOCOL_H
#define CRONCTL_PROTOCOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/error.h"
#include "common/frame.h"
#include "common/strbuf.h"

/*
 * What daemon and worker say to each other (HACKING.md, "Worker protocol").
 * D: sent by the daemon, W: sent by the worker.
 */
enum protocol_type {
	PROTOCOL_HELLO = 1,	/* D: who I am */
	PROTOCOL_WELCOME,	/* W: yours; answers HELLO */
	PROTOCOL_DENY,		/* W: not yours, and why; then it closes */
	PROTOCOL_LIST,		/* D: what do you hold? */
	PROTOCOL_LIST_RUN,	/* W: one held run */
	PROTOCOL_LIST_END,	/* W: that were all, with their count */
	PROTOCOL_START,		/* D: run this */
	PROTOCOL_STARTED,	/* W: its command runs */
	PROTOCOL_REFUSED,	/* W: not run, and why */
	PROTOCOL_ENDED,		/* W: over; kept until ACK */
	PROTOCOL_ACK,		/* D: recorded on disk, forget it */
	PROTOCOL_STOP,		/* D: down the stop ladder with it */
	PROTOCOL_STOPPING,	/* W: answers STOP */
	PROTOCOL_SIGNAL,	/* D: just this signal to its group */
	PROTOCOL_UNKNOWN,	/* W: no such run here; answers STOP, SIGNAL */
	PROTOCOL_DRAIN,		/* D: no new runs; exit when empty */
	PROTOCOL_PING,		/* D */
	PROTOCOL_PONG		/* W: with the PING's number */
};

/* Where a run is, as LIST_RUN tells it. */
enum protocol_run_state {
	PROTOCOL_RUN_PREPARING = 1,	/* forked, command not running yet */
	PROTOCOL_RUN_RUNNING,
	PROTOCOL_RUN_STOPPING,		/* in its stop ladder */
	PROTOCOL_RUN_ENDED
};

enum protocol_refusal {
	PROTOCOL_REFUSED_TOO_LATE = 1,	/* not_after has passed */
	PROTOCOL_REFUSED_DRAINING,
	PROTOCOL_REFUSED_FULL,
	PROTOCOL_REFUSED_BAD		/* the frame made no sense */
};

/* How the main process ended. */
enum protocol_end {
	PROTOCOL_END_EXITED = 1,	/* code */
	PROTOCOL_END_SIGNALED,		/* signal, core */
	PROTOCOL_END_START_FAILED,	/* stage, error number, detail */
	PROTOCOL_END_LOST		/* status unknown, and why */
};

/* Who ended it early, if anybody. */
enum protocol_stopper {
	PROTOCOL_STOPPER_NONE = 0,
	PROTOCOL_STOPPER_TIMEOUT,	/* its own time limit */
	PROTOCOL_STOPPER_DAEMON,	/* a STOP frame */
	PROTOCOL_STOPPER_SHUTDOWN	/* SIGTERM to the worker */
};

enum protocol_stage {		/* of a start, in this order */
	PROTOCOL_STAGE_NONE = 0,
	PROTOCOL_STAGE_FORK,
	PROTOCOL_STAGE_USER,
	PROTOCOL_STAGE_GROUP,
	PROTOCOL_STAGE_LIMITS,
	PROTOCOL_STAGE_OUTPUT,
	PROTOCOL_STAGE_WORKDIR,
	PROTOCOL_STAGE_ENV_FILE,
	PROTOCOL_STAGE_EXEC
};
const char *protocol_stage_name(enum protocol_stage);

enum protocol_output {
	PROTOCOL_OUTPUT_KEEP = 1,	/* files in the output directory */
	PROTOCOL_OUTPUT_DISCARD		/* /dev/null */
};

/* Why a run exists (spec section 1). */
enum run_cause {
	RUN_CAUSE_SCHEDULE = 1, RUN_CAUSE_CATCH_UP, RUN_CAUSE_RETRY,
	RUN_CAUSE_MANUAL, RUN_CAUSE_REBOOT
};
const char *run_cause_name(enum run_cause);

#define PROTOCOL_ENV_MAX	400	/* environment entries of a START */

/*
 * What a run is, apart from how to run it: travels with START and comes back
 * with LIST_RUN and ENDED, so that a daemon which lost the row can make it
 * again.
 */
struct protocol_tag_run {
	uint64_t	 run_id;	/* never 0 */
	int64_t		 job_id;	/* row id of the job */
	const char	*job_name;
	int64_t		 occurrence;	/* nominal, UTC seconds */
	uint32_t	 era;		/* of the occurrence */
	uint32_t	 generation;	/* that owns the occurrence */
	enum run_cause	 cause;
	uint32_t	 attempt;	/* from 1 */
	uint64_t	 prev_run;	/* attempt before this one, or 0 */
	int64_t		 due;		/* wall, us */
	int64_t		 queued;	/* wall, us; 0: did not wait */
	int64_t		 sent;		/* wall, us: START was sent */
	int64_t		 by_uid;	/* who asked; -1: nobody */
};

struct protocol_start {
	struct protocol_tag_run	tag;
	int64_t		 not_after;	/* boottime, us; 0: no limit */
	const char	*command;
	const char	*shell;		/* absolute path */
	const char	*owner_name;	/* NULL: not known */
	int64_t		 owner_uid;
	const char	*user;		/* NULL: the owner */
	const char	*group;		/* NULL: the user's groups */
	const char	*workdir;	/* NULL: the user's home */
	uint32_t	 umask;
	const char	*env[PROTOCOL_ENV_MAX];	/* NAME=VALUE beside the base */
	size_t		 env_count;
	const char	*stdin_text;	/* NULL: /dev/null */
	int64_t		 timeout;	/* us; 0: none; CLOCK_MONOTONIC */
	int64_t		 start_timeout;	/* us */
	int64_t		 stop_grace;	/* us */
	int		 stop_signal;
	enum protocol_output output;
	int64_t		 output_limit;	/* bytes, head and tail together */
};

struct protocol_started {
	uint64_t	 run_id;
	pid_t		 pid;
	uint64_t	 starttime;	/* field 22 of /proc/PID/stat */
	int64_t		 started;	/* wall, us: exec seen */
};

struct protocol_ended {
	struct protocol_tag_run tag;
	enum protocol_end how;
	int		 code;		/* EXITED */
	int		 signal;	/* SIGNALED */
	bool		 core;		/* SIGNALED: core dumped */
	enum protocol_stopper stopper;
	enum protocol_stage stage;	/* START_FAILED */
	int		 errnum;	/* START_FAILED: errno, or 0 */
	const char	*detail;	/* sentence for people, or NULL */
	pid_t		 pid;		/* 0: never forked */
	uint64_t	 starttime;
	int64_t		 started;	/* wall, us; 0: never */
	int64_t		 ended;		/* wall, us */
	int64_t		 duration;	/* us of CLOCK_MONOTONIC since started */
	int64_t		 user_us;	/* CPU, from wait4(2) */
	int64_t		 system_us;
	int64_t		 max_rss_kb;
	int64_t		 blocks_in;
	int64_t		 blocks_out;
	int64_t		 switches;	/* voluntary and not */
	int64_t		 output_bytes;	/* written by the job, all told */
	int64_t		 output_dropped; /* of these, not kept */
};

struct protocol_list_run {
	struct protocol_tag_run tag;
	enum protocol_run_state state;
	pid_t		 pid;
	uint64_t	 starttime;
	int64_t		 started;	/* wall, us; 0: not yet */
};

struct protocol_hello {
	const char	*instance;	/* of the state directory */
	uint64_t	 epoch;		/* rises with each daemon */
	uint32_t	 version;	/* FRAME_VERSION */
};

struct protocol_welcome {
	uint64_t	 number;	/* the worker's name */
	uint32_t	 version;
	pid_t		 pid;
	const char	*boot_id;
};

/*
 * Encoders append one frame.  Decoders borrow their strings from the frame's
 * body; they fail, with a sentence, on a missing or malformed field.
 */
void	protocol_encode_start(struct strbuf *, const struct protocol_start *);
int	protocol_decode_start(const struct frame *, struct protocol_start *,
	    struct error *);
/*
 * The run id of a START that can't be decoded, so that it can be refused; 0
 * when not even that is there.
 */
uint64_t protocol_start_run_id(const struct frame *);
void	protocol_encode_started(struct strbuf *,
	    const struct protocol_started *);
int	protocol_decode_started(const struct frame *,
	    struct protocol_started *, struct error *);
void	protocol_encode_ended(struct strbuf *, const struct protocol_ended *);
int	protocol_decode_ended(const struct frame *, struct protocol_ended *,
	    struct error *);
void	protocol_encode_list_run(struct strbuf *,
	    const struct protocol_list_run *);
int	protocol_decode_list_run(const struct frame *,
	    struct protocol_list_run *, struct error *);
void	protocol_encode_hello(struct strbuf *, const struct protocol_hello *);
int	protocol_decode_hello(const struct frame *, struct protocol_hello *,
	    struct error *);
void	protocol_encode_welcome(struct strbuf *,
	    const struct protocol_welcome *);
int	protocol_decode_welcome(const struct frame *,
	    struct protocol_welcome *, struct error *);
void	protocol_encode_deny(struct strbuf *, const char *reason);
int	protocol_decode_deny(const struct frame *, const char **reason,
	    struct error *);
void	protocol_encode_refused(struct strbuf *, uint64_t run_id,
	    enum protocol_refusal);
int	protocol_decode_refused(const struct frame *, uint64_t *run_id,
	    enum protocol_refusal *, struct error *);
/*
 * Frames that carry one or two numbers: LIST and DRAIN (0, 0),
 * LIST_END (count, 0), ACK, STOP, STOPPING, UNKNOWN (run id, 0),
 * SIGNAL (run id, signal), PING and PONG (number, 0).
 */
void	protocol_encode_numbers(struct strbuf *, enum protocol_type,
	    uint64_t a, uint64_t b);
int	protocol_decode_numbers(const struct frame *, uint64_t *a, uint64_t *b,
	    struct error *);

/*
 * The spool: ENDED frames that no daemon has taken yet, kept in a file
 * state/spool/N, each behind its checksum (8 bytes, LE: hash_bytes of the
 * frame).  Reading stops at the first record that is cut or damaged and
 * returns how many were good; *damaged says whether it stopped early.
 */
void	protocol_spool_add(struct strbuf *, const struct protocol_ended *);
size_t	protocol_spool_read(const void *data, size_t len,
	    void (*take)(void *arg, const struct protocol_ended *), void *arg,
	    bool *damaged);

/* Descriptors that a worker is started with. */
enum {
	PROTOCOL_FD_LISTENER = 3,	/* bound to runtime/workers/N.sock */
	PROTOCOL_FD_LOCK,		/* holds the flock on N.lock */
	PROTOCOL_FD_DAEMON,		/* socket pair to the daemon */
	PROTOCOL_FD_OUTPUT,		/* directory state/output */
	PROTOCOL_FD_SPOOL		/* directory state/spool */
};

#endif
