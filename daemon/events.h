/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_EVENTS_H
#define CRONCTL_EVENTS_H

#include <stddef.h>
#include <stdint.h>

#include "common/message.h"
#include "daemon/job.h"
#include "daemon/store.h"

/*
 * Puts what happened as events (doc/protocol.md, "Events") into the batch
 * that the facts they tell of are put into, so that both are in one commit.
 */

/*
 * Started or ended, as its row says; before that row is put, since what the
 * ledger knows already is not told again.
 */
void	events_put_run(struct store *, enum event_kind,
	    const struct run_row *);
/* Occurrences that started no run; of a stretch, its beginning. */
void	events_put_outcome(struct store *, const char *job_name,
	    const struct outcome_row *);
/* A job was added, changed, removed, paused ...; body is taken, NULL: none.
 * by_uid: who asked; -1: nobody, it came from a file or by itself. */
void	events_put_job(struct store *, enum event_kind, const struct job *,
	    int64_t by_uid, struct message *body);
/* Of no job; body is taken. */
void	events_put(struct store *, enum event_kind, int64_t by_uid,
	    struct message *body);
/* A job file is in error. */
void	events_put_file_error(struct store *, const char *file,
	    const char *sentence);

#endif
