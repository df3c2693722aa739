/* SPDX-License-Identifier: ISC */
/*
 * Watching processes that have lost their worker.
 *
 *	SEEKING --found--> ALIVE --ended--> DEAD --group empty--> over
 *	   |                  |
 *	   +---- not found ---+---- end unknown -----------------> over
 *
 * The end of a process shows at its pidfd, or, if there is no descriptor
 * left for one, at a look each POLL_US.  Then dead children are reaped: one
 * that was our child has told its status by that.  Between the release of a
 * worker's lock and the moment its children are ours lie a few microseconds,
 * so a dead process that is nobody's we know is looked at for a while.
 *
 * Statuses that came before their run are kept by pid and start time, the
 * newest ORPHANS_KEPT of them.
 *
 * A process group keeps its number as long as it has a member, so after the
 * main process was reaped signals still reach the group and nobody else.
 * What left the group is not reached: that is known to workers only.
 *
 * Time: the monotonic clock, as for timeouts.  Cost: nothing while there are
 * no orphans; a look at each per event.
 */
#include "config.h"

#include "daemon/orphans_internal.h"

#include <assert.h>
#include <errno.h>
#include <event2/event.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/log.h"
#include "common/process.h"
#include "common/timestamp.h"
#include "common/xmalloc.h"

#define POLL_US		(1 * USEC_PER_SEC)	/* without a pidfd */
#define ZOMBIE_US	(20 * USEC_PER_MSEC)	/* dead, and not ours (yet) */
#define ZOMBIE_LOOKS	50
#define GROUP_US	(50 * USEC_PER_MSEC)	/* stopped: who is left? */
#define GONE_US		(1 * USEC_PER_SEC)	/* after KILL: enough */

#define NOT_OURS	"its worker died; its process has ended since, how is " \
			"not known, for it was no child of this daemon"

static void	on_timer(evutil_socket_t, short, void *);

struct orphans *
orphans_new(const struct orphans_options *options)
{
	struct orphans *o = xcalloc(1, sizeof *o);

	o->options = *options;
	o->seek_at = ORPHANS_NEVER;
	TAILQ_INIT(&o->list);
	o->timer = evtimer_new(o->options.base, on_timer, o);
	assert(o->timer != NULL);
	return o;
}

static void
close_pidfd(struct orphan *orphan)
{
	if (orphan->readable != NULL)
		event_free(orphan->readable);
	orphan->readable = NULL;
	if (orphan->pidfd != -1)
		close(orphan->pidfd);
	orphan->pidfd = -1;
}

static void
remove_orphan(struct orphan *orphan)
{
	TAILQ_REMOVE(&orphan->owner->list, orphan, all);
	close_pidfd(orphan);
	free(orphan);
}

void
orphans_free(struct orphans *o)
{
	if (o == NULL)
		return;
	while (!TAILQ_EMPTY(&o->list))
		remove_orphan(TAILQ_FIRST(&o->list));
	event_free(o->timer);
	free(o->kept);
	free(o);
}

struct orphan *
orphans_find(const struct orphans *o, uint64_t run_id)
{
	struct orphan *orphan;

	TAILQ_FOREACH(orphan, &o->list, all)
		if (orphan->run.run_id == run_id)
			return orphan;
	return NULL;
}

struct orphan *
orphans_find_pid(const struct orphans *o, pid_t pid)
{
	struct orphan *orphan;

	TAILQ_FOREACH(orphan, &o->list, all)
		if (orphan->phase == ORPHAN_ALIVE && orphan->run.pid == pid)
			return orphan;
	return NULL;
}

size_t
orphans_count(const struct orphans *o)
{
	struct orphan *orphan;
	size_t n = 0;

	TAILQ_FOREACH(orphan, &o->list, all)
		n++;
	return n;
}

/* --- time --- */

static int64_t
earliest(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t
later(int64_t now, int64_t delay)
{
	return delay < ORPHANS_NEVER - now ? now + delay : ORPHANS_NEVER;
}

static int64_t
deadline_of(const struct orphan *orphan)
{
	int64_t at = earliest(orphan->look_at, orphan->gone_at);

	if (orphan->phase == ORPHAN_OVER)
		return 0;
	at = earliest(at, orphan->kill_at);
	return orphan->phase == ORPHAN_ALIVE ? earliest(at, orphan->run.stop_at) :
	    at;
}

/* A timer that can't be set would leave orphans unwatched: try again. */
static void
arm(struct orphans *o)
{
	int64_t at = o->seek_at, delay;
	struct orphan *orphan;
	struct timeval tv;

	TAILQ_FOREACH(orphan, &o->list, all)
		at = earliest(at, deadline_of(orphan));
	if (at == ORPHANS_NEVER) {
		evtimer_del(o->timer);
		return;
	}
	delay = at - monotime_now().us;
	if (delay < 0)
		delay = 0;
	tv.tv_sec = (time_t)(delay / USEC_PER_SEC);
	tv.tv_usec = (suseconds_t)(delay % USEC_PER_SEC);
	if (evtimer_add(o->timer, &tv) != 0)
		log_error("orphans", "a timer can't be set; runs without a "
		    "worker are looked at with the next event only");
}

/* --- ends --- */

static void
take_status(struct protocol_ended *end, int status, const struct rusage *usage)
{
	if (WIFSIGNALED(status)) {
		end->how = PROTOCOL_END_SIGNALED;
		end->signal = WTERMSIG(status);
		end->core = WCOREDUMP(status);
	} else {
		end->how = PROTOCOL_END_EXITED;
		end->code = WEXITSTATUS(status);
	}
	end->user_us = usage->ru_utime.tv_sec * USEC_PER_SEC +
	    usage->ru_utime.tv_usec;
	end->system_us = usage->ru_stime.tv_sec * USEC_PER_SEC +
	    usage->ru_stime.tv_usec;
	end->max_rss_kb = usage->ru_maxrss;
	end->blocks_in = usage->ru_inblock;
	end->blocks_out = usage->ru_oublock;
	end->switches = usage->ru_nvcsw + usage->ru_nivcsw;
}

/* What is left of a stopped one's group is waited for. */
static void
main_is_dead(struct orphan *orphan, int64_t ended)
{
	close_pidfd(orphan);
	orphan->end.ended = ended;
	orphan->run.stop_at = ORPHANS_NEVER;
	orphan->look_at = 0;
	orphan->phase = orphan->stopping ? ORPHAN_DEAD : ORPHAN_OVER;
}

void
orphans_end_unknown(struct orphan *orphan, const char *why)
{
	orphan->end.how = PROTOCOL_END_LOST;
	orphan->end.detail = why;
	main_is_dead(orphan, walltime_now().us);
}

static void
keep(struct orphans *o, pid_t pid, uint64_t starttime, int status,
    const struct rusage *usage)
{
	if (o->kept == NULL)
		o->kept = xcalloc(ORPHANS_KEPT, sizeof *o->kept);
	o->kept[o->kept_next] = (struct orphans_kept){
		.pid = pid,
		.starttime = starttime,
		.status = status,
		.usage = *usage,
		.ended = walltime_now().us,
	};
	o->kept_next = (o->kept_next + 1) % ORPHANS_KEPT;
}

static bool
take_kept(struct orphans *o, struct orphan *orphan)
{
	for (size_t i = 0; o->kept != NULL && i < ORPHANS_KEPT; i++) {
		struct orphans_kept *kept = &o->kept[i];

		if (kept->pid != orphan->run.pid ||
		    kept->starttime != orphan->run.starttime)
			continue;
		take_status(&orphan->end, kept->status, &kept->usage);
		main_is_dead(orphan, kept->ended);
		kept->pid = 0;
		return true;
	}
	return false;
}

void
orphans_child_ended(struct orphans *o, pid_t pid, uint64_t starttime,
    int status, const struct rusage *usage)
{
	struct orphan *orphan = orphans_find_pid(o, pid);

	if (orphan == NULL || orphan->run.starttime != starttime) {
		keep(o, pid, starttime, status, usage);
		return;
	}
	take_status(&orphan->end, status, usage);
	main_is_dead(orphan, walltime_now().us);
	arm(o);
}

/* --- the ladder --- */

/* Whether its number is still its own. */
static bool
is_there(const struct orphan *orphan)
{
	struct process_stat st;

	if (orphan->phase == ORPHAN_DEAD)
		return kill(-orphan->run.pid, 0) == 0 || errno == EPERM;
	return orphan->phase == ORPHAN_ALIVE &&
	    process_read(orphan->run.pid, &st) == 0 &&
	    st.starttime == orphan->run.starttime;
}

static void
send_signal(const struct orphan *orphan, int signum)
{
	if (!is_there(orphan))
		return;
	if (kill(-orphan->run.pid, signum) != 0 && errno != ESRCH)
		log_warning("orphans", "run=%llu signal %d can't be sent: %s",
		    (unsigned long long)orphan->run.run_id, signum,
		    strerrordesc_np(errno));
}

static void
begin_ladder(struct orphan *orphan, enum protocol_stopper stopper)
{
	if (orphan->stopping || orphan->phase == ORPHAN_OVER)
		return;
	orphan->end.stopper = stopper;
	orphan->run.stop_at = ORPHANS_NEVER;
	if (orphan->phase == ORPHAN_SEEKING) {
		orphan->run.stopping = true;
		return;
	}
	orphan->stopping = true;
	orphan->kill_at = later(monotime_now().us, orphan->run.stop_grace);
	send_signal(orphan, orphan->run.stop_signal);
	/* So that a suspended one hears it. */
	send_signal(orphan, SIGCONT);
}

static void
end_ladder(struct orphan *orphan, int64_t now)
{
	orphan->kill_at = ORPHANS_NEVER;
	orphan->killed = true;
	orphan->gone_at = orphan->phase == ORPHAN_DEAD ? now + GONE_US : ORPHANS_NEVER;
	send_signal(orphan, SIGKILL);
}

bool
orphans_stop(struct orphans *o, uint64_t run_id)
{
	struct orphan *orphan = orphans_find(o, run_id);

	if (orphan == NULL)
		return false;
	begin_ladder(orphan, PROTOCOL_STOPPER_DAEMON);
	arm(o);
	return true;
}

bool
orphans_signal(struct orphans *o, uint64_t run_id, int signum)
{
	struct orphan *orphan = orphans_find(o, run_id);

	if (orphan == NULL)
		return false;
	send_signal(orphan, signum);
	return true;
}

/* --- looking --- */

/* The event fired, or it is time: does it live, and if not, who knows how? */
static void
look_at_main(struct orphan *orphan, int64_t now)
{
	struct orphans *o = orphan->owner;
	struct process_stat st;

	orphan->look_at = ORPHANS_NEVER;
	o->options.reap(o->options.arg);
	if (orphan->phase != ORPHAN_ALIVE)
		return;
	if (process_read(orphan->run.pid, &st) != 0 ||
	    st.starttime != orphan->run.starttime ||
	    (st.dead && ++orphan->looks > ZOMBIE_LOOKS))
		orphans_end_unknown(orphan, NOT_OURS);
	else if (st.dead)
		orphan->look_at = now + ZOMBIE_US;
	else if (orphan->readable == NULL ||
	    event_add(orphan->readable, NULL) != 0)
		orphan->look_at = now + POLL_US;
}

static void
look_at_group(struct orphan *orphan, int64_t now)
{
	const struct orphans_options *options = &orphan->owner->options;

	orphan->look_at = now + GROUP_US;
	options->reap(options->arg);	/* zombies are no members */
	if (!is_there(orphan) || now >= orphan->gone_at)
		orphan->phase = ORPHAN_OVER;
	else if (orphan->killed && orphan->gone_at == ORPHANS_NEVER)
		orphan->gone_at = now + GONE_US;
}

static void
on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct orphan *orphan = arg;

	(void)fd;
	(void)what;
	orphan->look_at = 0;
	on_timer(-1, 0, orphan->owner);
}

/* Its pid and start time are known. False: it is not there. */
bool
orphans_watch(struct orphan *orphan)
{
	struct orphans *o = orphan->owner;
	struct process_stat st;

	orphan->phase = ORPHAN_ALIVE;
	if (take_kept(o, orphan))
		return true;
	orphan->pidfd = pidfd_open(orphan->run.pid, 0);
	if (process_read(orphan->run.pid, &st) != 0 ||
	    st.starttime != orphan->run.starttime)
		return false;
	if (orphan->pidfd != -1)
		orphan->readable = event_new(o->options.base, orphan->pidfd,
		    EV_READ, on_readable, orphan);
	if (orphan->readable == NULL ||
	    event_add(orphan->readable, NULL) != 0)
		orphan->look_at = later(monotime_now().us, POLL_US);
	if (orphan->run.stopping)
		begin_ladder(orphan, PROTOCOL_STOPPER_DAEMON);
	return true;
}

/* --- all of it --- */

static void
look(struct orphan *orphan, int64_t now)
{
	if (orphan->phase == ORPHAN_ALIVE && now >= orphan->run.stop_at)
		begin_ladder(orphan, PROTOCOL_STOPPER_TIMEOUT);
	if (now >= orphan->kill_at)
		end_ladder(orphan, now);
	if (now < orphan->look_at && now < orphan->gone_at)
		return;
	if (orphan->phase == ORPHAN_ALIVE)
		look_at_main(orphan, now);
	if (orphan->phase == ORPHAN_DEAD)
		look_at_group(orphan, now);
}

/* The list may change with each callback, so it is searched each time. */
static void
tell_ends(struct orphans *o)
{
	struct orphan *orphan = TAILQ_FIRST(&o->list);
	struct protocol_ended end;

	while (orphan != NULL) {
		if (orphan->phase != ORPHAN_OVER) {
			orphan = TAILQ_NEXT(orphan, all);
			continue;
		}
		end = orphan->end;
		remove_orphan(orphan);
		o->options.ended(o->options.arg, &end);
		orphan = TAILQ_FIRST(&o->list);
	}
}

static void
on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct orphans *o = arg;
	int64_t now = monotime_now().us;
	struct orphan *orphan;

	(void)fd;
	(void)what;
	if (now >= o->seek_at)
		orphans_seek(o, now);
	TAILQ_FOREACH(orphan, &o->list, all)
		look(orphan, now);
	tell_ends(o);
	arm(o);
}

bool
orphans_take(struct orphans *o, const struct orphans_run *run)
{
	struct orphan *orphan = xcalloc(1, sizeof *orphan);
	int64_t now = monotime_now().us;

	orphan->owner = o;
	orphan->run = *run;
	orphan->pidfd = -1;
	orphan->kill_at = orphan->gone_at = orphan->look_at = ORPHANS_NEVER;
	orphan->taken = now;
	orphan->end.tag.run_id = run->run_id;
	orphan->end.pid = run->pid;
	orphan->end.starttime = run->starttime;
	if (run->stopping)
		orphan->end.stopper = PROTOCOL_STOPPER_DAEMON;
	TAILQ_INSERT_TAIL(&o->list, orphan, all);
	if (run->pid == 0) {
		orphan->phase = ORPHAN_SEEKING;
		orphan->look_at = ORPHANS_NEVER;
		o->seek_at = now;
		o->seek_delay = ORPHANS_SEEK_FIRST_US;
	} else if (!orphans_watch(orphan)) {
		remove_orphan(orphan);
		return false;
	}
	arm(o);
	return true;
}
