/* SPDX-License-Identifier: ISC */
/*
 * Bytes as a job file (libFuzzer).  Each file ends in jobs or in errors,
 * never both; an error is one line that begins with the file's name; an
 * accepted job, written as INI, is read again as the same job and can be
 * asked for its occurrences.
 */
#include "config.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/jobfile.h"
#include "common/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

#define NAME "fuzz.ini"
#define NOW INT64_C(1764590400)		/* 2025-12-01T12:00:00Z */

static void
must(bool holds)
{
	if (!holds)
		abort();
}

static void
check_lines(char *const *lines, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		must(strncmp(lines[i], NAME ":", strlen(NAME) + 1) == 0);
		must(strpbrk(lines[i], "\n\r\x1b") == NULL);
		must(utf8_valid_prefix(lines[i], strlen(lines[i])) ==
		    strlen(lines[i]));
	}
}

static void
check_job(const struct jobdef *def, const struct jobfile_options *options)
{
	char *text = jobdef_format_ini(def);
	struct jobfile *again = jobfile_parse(NAME, text, strlen(text),
	    options);
	int64_t t, u;

	must(again->n_errors == 0 && again->n_jobs == 1);
	must(jobdef_equal(def, again->jobs[0].def));
	must(jobdef_same_times(def, again->jobs[0].def));
	if (jobdef_next(def, NOW, &t)) {
		must(t > NOW && t >= def->not_before && t <= def->not_after);
		must(jobdef_previous(def, t + 1, &u) && u == t);
		(void)jobdef_max_late(def, t);
	}
	(void)jobdef_is_one_shot(def);
	free(jobdef_schedule_text(def));
	free(text);
	jobfile_free(again);
}

static void
check_text(const char *text, size_t len,
    const struct jobfile_options *options)
{
	struct jobfile *file = jobfile_parse(NAME, text, len, options);

	must(file->n_errors == 0 || file->n_jobs == 0);
	check_lines(file->errors, file->n_errors);
	check_lines(file->warnings, file->n_warnings);
	for (size_t i = 0; i < file->n_jobs; i++)
		check_job(file->jobs[i].def, options);
	jobfile_free(file);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* Kept, so that the files of zones are read once. */
	static struct jobfile_options options;

	if (options.zones == NULL) {
		options.host_id = "fuzz";
		options.zone = zone_utc();
		options.zones = zone_cache_new();
		options.now = NOW;
	}
	check_text((const char *)data, size, &options);
	return 0;
}
