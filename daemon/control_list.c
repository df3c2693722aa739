/* SPDX-License-Identifier: ISC */
/*
 * job.list, job.show, job.next: questions about jobs in force, answered from
 * memory at once.
 *
 * A page of job.list is bounded three ways: jobs in it, jobs looked at, and
 * bytes of their definitions, so that no question holds the loop up; it may
 * therefore hold fewer jobs than asked for, even none, and still have more
 * behind it.  The summary of the last page costs a pass over all jobs.
 */
#include "config.h"

#include "daemon/control_internal.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PATTERN_MAX	256		/* bytes */
#define LOOK_MAX	10000		/* jobs looked at for a page */
#define PAGE_BYTES	(256 * 1024)	/* of definitions in a page */
#define NEXT_DEFAULT	5		/* occurrences of job.next */

static const char *const states[] = {
	"idle", "running", "queued", "paused", "disabled", "done", NULL
};

struct filter {
	const char	*pattern;	/* of names, for a shell; or NULL */
	const char	*state;		/* one of states, or NULL */
	const char	*tag;		/* or NULL */
	int64_t		 owner;		/* uid, or -1 */
	bool		 failing;	/* only those whose last run failed */
};

static bool
is_state(const char *name)
{
	for (size_t i = 0; states[i] != NULL; i++)
		if (strcmp(states[i], name) == 0)
			return true;
	return false;
}

static int
filter_read(const struct request *request, struct filter *filter,
    struct error *err)
{
	const struct message *params = request->params;
	char quoted[ERROR_QUOTE_MAX];

	*filter = (struct filter){
		.pattern = message_get_string(params, "pattern"),
		.state = message_get_string(params, "state"),
		.tag = message_get_string(params, "tag"),
		.owner = message_get_integer(params, "owner", -1),
		.failing = message_get_bool(params, "failing", false),
	};
	if (filter->pattern != NULL && strlen(filter->pattern) > PATTERN_MAX)
		return error_set(err, "a pattern may have %d bytes; this one "
		    "has %zu", PATTERN_MAX, strlen(filter->pattern));
	if (filter->state != NULL && !is_state(filter->state))
		return error_set(err, "%s is no state of a job; it is idle, "
		    "running, queued, paused, disabled or done",
		    error_quote(quoted, filter->state, strlen(filter->state)));
	return 0;
}

static bool
has_tag(const struct jobdef *def, const char *tag)
{
	for (size_t i = 0; i < def->n_tags; i++)
		if (strcmp(def->tags[i], tag) == 0)
			return true;
	return false;
}

static bool
filter_passes(const struct control_context *context,
    const struct filter *filter, const struct job *job)
{
	return (!filter->failing || job->failures > 0) &&
	    (filter->owner == -1 ||
	    (int64_t)job->owner_uid == filter->owner) &&
	    (filter->state == NULL ||
	    strcmp(filter->state, control_state_name(context, job)) == 0) &&
	    (filter->tag == NULL || has_tag(job->def, filter->tag)) &&
	    (filter->pattern == NULL ||
	    fnmatch(filter->pattern, job->def->name, 0) == 0);
}

static size_t
bytes_of(const struct jobdef *def)
{
	size_t n = strlen(def->command);

	if (def->description != NULL)
		n += strlen(def->description);
	for (size_t i = 0; i < def->n_schedules; i++)
		n += strlen(schedule_text(def->schedules[i]));
	for (size_t i = 0; i < def->n_tags; i++)
		n += strlen(def->tags[i]);
	return n;
}

static struct message *
summary(const struct control_context *context)
{
	struct message *m = message_object();
	int64_t running = 0, failing = 0, stuck = 0, disabled = 0;
	struct reload_status files;
	const struct job *job;

	for (size_t i = 0; (job = jobtable_at(context->jobs, i)) != NULL;
	    i++) {
		running += job->n_runs > 0;
		failing += job->failures > 0;
		stuck += job_is_stuck(job);
		disabled += !job->def->enabled;
	}
	reload_status(context->reload, &files);
	message_set_integer(m, "jobs",
	    (int64_t)jobtable_count(context->jobs));
	message_set_integer(m, "running", running);
	message_set_integer(m, "failing", failing);
	message_set_integer(m, "stuck", stuck);
	message_set_integer(m, "disabled", disabled);
	message_set_integer(m, "paused",
	    (int64_t)scheduler_paused(context->scheduler));
	message_set_integer(m, "files_in_error",
	    (int64_t)files.n_files_in_error);
	return m;
}

void
control_job_list(struct request *request)
{
	struct control_context *context = request->context;
	const struct message *params = request->params;
	int64_t limit = message_get_integer(params, "limit", QUERY_PAGE);
	struct message *jobs, *result;
	const struct job *job, *last = NULL;
	struct filter filter;
	struct error err;
	size_t at, n = 0, bytes = 0;

	if (filter_read(request, &filter, &err) == -1) {
		request_refuse(request, CONTROL_PARAMS, &err, NULL);
		return;
	}
	jobs = message_array();
	at = jobtable_position(context->jobs,
	    message_get_string(params, "after"));
	for (size_t looked = 0; looked < LOOK_MAX && bytes < PAGE_BYTES &&
	    n < (size_t)limit; looked++) {
		job = jobtable_at(context->jobs, at);
		if (job == NULL)
			break;
		at++;
		last = job;
		if (!filter_passes(context, &filter, job))
			continue;
		message_append(jobs, control_json_job(context, job));
		bytes += bytes_of(job->def);
		n++;
	}
	result = message_object();
	message_set(result, "jobs", jobs);
	if (last != NULL && jobtable_at(context->jobs, at) != NULL) {
		message_set_string(result, "more", last->def->name);
	} else {
		message_set_null(result, "more");
		message_set(result, "summary", summary(context));
	}
	request_reply(request, result);
}

static struct message *
settings_array(const struct jobdef *def)
{
	struct message *array = message_array();

	for (size_t i = 0; i < def->settings.n; i++) {
		struct message *pair = message_array();

		message_append_string(pair, def->settings.v[i].key);
		message_append_string(pair, def->settings.v[i].value);
		message_append(array, pair);
	}
	return array;
}

void
control_job_show(struct request *request)
{
	struct job *job = request_job(request,
	    message_get_string(request->params, "job"));
	struct message *result, *runs;
	const struct run *run;
	char *ini;

	if (job == NULL)
		return;
	result = control_json_job(request->context, job);
	message_set(result, "settings", settings_array(job->def));
	ini = jobdef_format_ini(job->def);
	message_set_string(result, "ini", ini);
	free(ini);
	runs = message_array();
	TAILQ_FOREACH(run, &job->runs, of_job)
		message_append(runs, control_json_run(&run->row));
	message_set(result, "runs", runs);
	request_reply(request, result);
}

/* A time of the params as the whole second it lies in. */
static int64_t
second_of(const struct message *params, const char *key, int64_t fallback)
{
	double at = message_get_number(params, key, NAN);

	return isnan(at) ? fallback : (int64_t)floor(at);
}

void
control_job_next(struct request *request)
{
	const struct message *params = request->params;
	int64_t count = message_get_integer(params, "count", NEXT_DEFAULT);
	int64_t at = second_of(params, "from",
	    walltime_seconds(walltime_now()));
	int64_t to = second_of(params, "to", INT64_MAX);
	struct message *result, *list, *entry;
	struct job *job = request_job(request,
	    message_get_string(params, "job"));

	if (job == NULL)
		return;
	list = message_array();
	while (count-- > 0 && job->def->enabled &&
	    jobdef_next(job->def, at, &at) && at <= to) {
		entry = message_object();
		message_set_integer(entry, "epoch", at);
		message_set_string(entry, "rule",
		    control_rule_name(job->def, at));
		message_append(list, entry);
	}
	result = message_object();
	message_set(result, "occurrences", list);
	message_set_string(result, "zone", job->def->timezone != NULL ?
	    job->def->timezone :
	    reload_zone_name(request->context->reload));
	request_reply(request, result);
}
