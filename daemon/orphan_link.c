/* SPDX-License-Identifier: ISC */
/* Hands on, and decides nothing. */
#include "config.h"

#include "daemon/orphan_link.h"

const char *
orphan_link_take(struct orphans *orphans, const struct scheduler_orphan *orphan)
{
	const struct orphans_run run = {
		.run_id = orphan->run_id,
		.pid = orphan->pid,
		.starttime = orphan->starttime,
		.stop_at = orphan->stop_at,
		.stop_grace = orphan->stop_grace,
		.stop_signal = orphan->stop_signal,
		.stopping = orphan->stopping,
	};

	return orphans_take(orphans, &run) ? NULL : "its worker died, and "
	    "its process is not there any more: how it ended is not known";
}

static void
on_found(void *arg, const struct protocol_started *started)
{
	scheduler_orphan_found(((struct orphan_link *)arg)->scheduler,
	    started);
}

static void
on_ended(void *arg, const struct protocol_ended *end)
{
	scheduler_orphan_ended(((struct orphan_link *)arg)->scheduler, end);
}

static void
on_reap(void *arg)
{
	workers_reap(((struct orphan_link *)arg)->workers);
}

static bool
on_is_worker(void *arg, pid_t pid)
{
	return workers_is_worker(((struct orphan_link *)arg)->workers, pid);
}

struct orphans *
orphan_link_new(struct orphan_link *link, struct event_base *base,
    int program_fd)
{
	const struct orphans_options options = {
		.base = base,
		.program_fd = program_fd,
		.reap = on_reap,
		.is_worker = on_is_worker,
		.found = on_found,
		.ended = on_ended,
		.arg = link,
	};

	return orphans_new(&options);
}
