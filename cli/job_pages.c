/* SPDX-License-Identifier: ISC */
/* All pages of job.list, one after the other. */
#include "config.h"

#include "cli/job_pages.h"

#include <stdlib.h>

#include "common/xmalloc.h"

#define PAGE 200

enum exit_status
job_pages_read(struct cli *cli, const struct message *filter,
    void (*take)(void *arg, const struct message *job), void *arg,
    struct message **summary)
{
	char *after = NULL;

	if (summary != NULL)
		*summary = NULL;
	for (;;) {
		struct message *params = message_dup(filter), *page = NULL;
		const struct message *jobs, *sums;
		enum exit_status status;
		const char *more;

		message_set_integer(params, "limit", PAGE);
		if (after != NULL)
			message_set_string(params, "after", after);
		free(after);
		after = NULL;
		status = command_call(cli, "job.list", params, &page);
		if (status != STATUS_DONE)
			return status;
		jobs = message_get(page, "jobs");
		for (size_t i = 0; jobs != NULL && i < message_count(jobs);
		    i++)
			take(arg, message_at(jobs, i));
		more = message_get_string(page, "more");
		if (more != NULL)
			after = xstrdup(more);
		sums = message_get(page, "summary");
		if (after == NULL && summary != NULL && sums != NULL)
			*summary = message_dup(sums);
		message_free(page);
		if (after == NULL)
			return STATUS_DONE;
	}
}
