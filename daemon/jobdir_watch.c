/* SPDX-License-Identifier: ISC */
/*
 * Two descriptors of inotify(7): one sees the directory of job files and the
 * one above it, the other the zone files and /etc/localtime.  So an event's
 * name alone tells whether it matters, whichever watch it comes of, and
 * watches may be set and replaced beside the loop.
 *
 * Not watched are targets of links that lie elsewhere; cronctl-jobs(5) says
 * so.  No timer runs while there is nothing to tell.
 */
#include "config.h"

#include "daemon/jobdir_watch.h"

#include <errno.h>
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "common/jobfile.h"
#include "common/log.h"
#include "common/timestamp.h"
#include "common/xmalloc.h"

#define SUBSYSTEM	"watch"
#define QUIET_US	(200 * USEC_PER_MSEC)	/* after the last event */
#define LATEST_US	(2 * USEC_PER_SEC)	/* after the first */
#define BUFFER		16384			/* bytes of events read */
#define LOCAL_EVENTS	(IN_CREATE | IN_MOVED_TO | IN_DELETE | \
			    IN_CLOSE_WRITE | IN_ONLYDIR)

struct jobdir_watch {
	char		*jobs_dir;	/* as given */
	bool		 tell;		/* changes are told, not only counted */
	int		 jobs_fd;	/* -1: none */
	int		 zones_fd;	/* -1: none */
	int		 local_wd;	/* of the directory of local_name */
	char		*local_name;	/* "localtime"; or NULL */
	struct event	*on_jobs;	/* reads jobs_fd */
	struct event	*on_zones;	/* reads zones_fd */
	struct event	*timer;		/* to tell; set while there is something */
	uint64_t	 seen;		/* changes of job files so far */
	struct jobdir_change change;	/* to be told */
	int64_t		 first;		/* monotime us of the first of it */
	int64_t		 last;		/* and of the last */
	void		(*changed)(void *arg, const struct jobdir_change *);
	void		*arg;		/* for changed */
};

/* --- telling --- */

static void
set_timer(struct jobdir_watch *w)
{
	int64_t at = w->last + QUIET_US, left;
	struct timeval delay;

	if (at > w->first + LATEST_US)
		at = w->first + LATEST_US;
	left = at - monotime_now().us;
	if (left < 0)
		left = 0;
	delay.tv_sec = left / USEC_PER_SEC;
	delay.tv_usec = left % USEC_PER_SEC;
	if (evtimer_add(w->timer, &delay) != 0)
		log_error(SUBSYSTEM, "libevent refuses a timer; run cronctl "
		    "reload");
}

static void
note(struct jobdir_watch *w, bool jobs, bool zones)
{
	w->seen += jobs;
	if (!w->tell)
		return;
	w->last = monotime_now().us;
	if (!w->change.jobs && !w->change.zones)
		w->first = w->last;
	w->change.jobs |= jobs;
	w->change.zones |= zones;
	set_timer(w);
}

static void
on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct jobdir_watch *w = arg;
	struct jobdir_change change = w->change;
	int64_t now = monotime_now().us;

	(void)fd;
	(void)what;
	change.more = now < w->last + QUIET_US;
	/* libevent's clock is coarse: it may come a little early. */
	if (change.more && now < w->first + LATEST_US) {
		set_timer(w);
		return;
	}
	if (change.more) {
		/* Told now, and once more when things are quiet. */
		w->first = now;
		set_timer(w);
	} else {
		w->change = (struct jobdir_change){ 0 };
	}
	if (w->changed != NULL)
		w->changed(w->arg, &change);
}

/* --- events --- */

/* Whether it is one of the directories that jobs_dir lies in, or itself. */
static bool
is_part_of_path(const struct jobdir_watch *w, const char *name)
{
	const char *p = w->jobs_dir;
	size_t len = strlen(name);

	while ((p = strstr(p, name)) != NULL) {
		if ((p == w->jobs_dir || p[-1] == '/') &&
		    (p[len] == '/' || p[len] == '\0'))
			return true;
		p += len;
	}
	return false;
}

static void
take_jobs_event(struct jobdir_watch *w, const struct inotify_event *e)
{
	if (e->mask & IN_IGNORED)
		return;
	/* It is another directory's path now: that is watched instead. */
	if (e->mask & IN_MOVE_SELF)
		(void)inotify_rm_watch(w->jobs_fd, e->wd);
	if (e->len == 0 || jobfile_is_name(e->name) ||
	    is_part_of_path(w, e->name))
		note(w, true, false);
}

static void
take_zones_event(struct jobdir_watch *w, const struct inotify_event *e)
{
	if (e->mask & IN_IGNORED)
		return;
	if (e->wd == w->local_wd && e->len > 0 &&
	    strcmp(e->name, w->local_name) != 0)
		return;
	note(w, false, true);
}

/* Takes all events that are there, and does not wait for any. */
static void
read_events(struct jobdir_watch *w, int fd, void (*take)(struct jobdir_watch *,
    const struct inotify_event *))
{
	char buffer[BUFFER]
	    __attribute__((aligned(__alignof__(struct inotify_event))));
	const struct inotify_event *e;
	ssize_t n;

	for (;;) {
		n = read(fd, buffer, sizeof buffer);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno != EAGAIN)
			log_error(SUBSYSTEM, "can't read events: %s",
			    strerrordesc_np(errno));
		if (n <= 0)
			return;
		for (char *p = buffer; p < buffer + n; p += sizeof *e +
		    e->len) {
			e = (const struct inotify_event *)(void *)p;
			take(w, e);
		}
	}
}

static void
on_jobs_event(evutil_socket_t fd, short what, void *arg)
{
	(void)what;
	read_events(arg, fd, take_jobs_event);
}

static void
on_zones_event(evutil_socket_t fd, short what, void *arg)
{
	(void)what;
	read_events(arg, fd, take_zones_event);
}

uint64_t
jobdir_watch_seen(struct jobdir_watch *w)
{
	if (w == NULL)
		return 0;
	if (w->jobs_fd >= 0)
		read_events(w, w->jobs_fd, take_jobs_event);
	return w->seen;
}

void
jobdir_watch_forget(struct jobdir_watch *w, bool zones)
{
	if (w == NULL)
		return;
	w->change.jobs = false;
	if (zones)
		w->change.zones = false;
	if (!w->change.zones && w->timer != NULL)
		(void)evtimer_del(w->timer);
}

/* --- beginning and end --- */

static int
open_inotify(void)
{
	int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);

	if (fd == -1)
		log_warning(SUBSYSTEM, "changed files are not noticed: %s; "
		    "run cronctl reload after changes", errno == EMFILE ?
		    "too many users of inotify (fs.inotify.max_user_instances)"
		    : strerrordesc_np(errno));
	return fd;
}

static void
watch_localtime(struct jobdir_watch *w, const char *path)
{
	const char *slash = strrchr(path, '/');
	char *dir = xstrndup(path, (size_t)(slash - path) + 1);

	w->local_name = xstrdup(slash + 1);
	w->local_wd = inotify_add_watch(w->zones_fd, dir, LOCAL_EVENTS);
	if (w->local_wd == -1)
		log_warning(SUBSYSTEM, "can't watch %s: %s; when it changes, "
		    "run cronctl reload", path, strerrordesc_np(errno));
	free(dir);
}

static struct event *
listen_to(struct event_base *base, int fd, event_callback_fn fn, void *arg)
{
	struct event *event;

	if (fd == -1)
		return NULL;
	event = event_new(base, fd, EV_READ | EV_PERSIST, fn, arg);
	if (event == NULL || event_add(event, NULL) != 0)
		log_error(SUBSYSTEM, "libevent refuses an event: changed "
		    "files are not noticed");
	return event;
}

struct jobdir_watch *
jobdir_watch_new(const struct jobdir_watch_options *o)
{
	struct jobdir_watch *w = xcalloc(1, sizeof *w);

	w->jobs_dir = xstrdup(o->jobs_dir);
	w->tell = o->tell;
	w->local_wd = -1;
	w->zones_fd = -1;
	w->timer = evtimer_new(o->base, on_timer, w);
	w->jobs_fd = w->timer != NULL ? open_inotify() : -1;
	if (!o->tell || w->jobs_fd == -1)
		return w;
	w->zones_fd = open_inotify();
	w->on_jobs = listen_to(o->base, w->jobs_fd, on_jobs_event, w);
	w->on_zones = listen_to(o->base, w->zones_fd, on_zones_event, w);
	if (o->localtime != NULL && w->zones_fd != -1)
		watch_localtime(w, o->localtime);
	return w;
}

static void
release(struct event *event, int fd)
{
	if (event != NULL)
		event_free(event);
	/* Nothing was written through it. */
	if (fd != -1)
		(void)close(fd);
}

void
jobdir_watch_free(struct jobdir_watch *w)
{
	if (w == NULL)
		return;
	release(w->on_jobs, w->jobs_fd);
	release(w->on_zones, w->zones_fd);
	release(w->timer, -1);
	free(w->local_name);
	free(w->jobs_dir);
	free(w);
}

void
jobdir_watch_on_change(struct jobdir_watch *w, void (*changed)(void *arg,
    const struct jobdir_change *), void *arg)
{
	w->changed = changed;
	w->arg = arg;
}

bool
jobdir_watch_tells(const struct jobdir_watch *w)
{
	return w != NULL && w->on_jobs != NULL;
}

int
jobdir_watch_jobs_fd(const struct jobdir_watch *w)
{
	return w->jobs_fd > 0 ? w->jobs_fd : 0;
}

int
jobdir_watch_zones_fd(const struct jobdir_watch *w)
{
	return w->zones_fd > 0 ? w->zones_fd : 0;
}
