/* SPDX-License-Identifier: ISC */
/* What --check does: reads the job files as a start would, and stops there. */
#include "config.h"

#include "daemon/daemon.h"

#include <stdlib.h>
#include <unistd.h>

#include "daemon/files.h"

size_t
daemon_check(const struct config *config, void (*report)(void *arg,
    const char *text), void *arg)
{
	const struct files_context context = {
		.jobs_dir = config->jobs_dir,
		.host_id = config->host_id,
		.zone_name = config->timezone,
		.env_tz = getenv("TZ"),
		.defaults = &config->defaults,
		.check_owner = true,
		.owner = geteuid(),
	};
	struct files_jobs jobs;
	size_t errors = 0;

	files_load_jobs_now(&context, &jobs);
	if (jobs.err.text[0] != '\0') {
		report(arg, jobs.err.text);
		errors++;
	}
	for (size_t i = 0; i < jobs.set.n_files; i++) {
		const struct jobfile *f = jobs.set.files[i];

		for (size_t j = 0; j < f->n_errors; j++, errors++)
			report(arg, f->errors[j]);
		for (size_t j = 0; j < f->n_warnings; j++)
			report(arg, f->warnings[j]);
	}
	files_jobs_release(&jobs);
	return errors;
}
