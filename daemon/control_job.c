/* SPDX-License-Identifier: ISC */
/*
 * job.add and job.remove: the order of every change is validate, persist,
 * apply, reply.
 *
 *	job.add		settings -> files helper (zones) -> names helper ->
 *			begin -> commit -> finish -> reply
 *	job.remove	begin -> commit -> finish -> reply
 *
 * From begin to finish the job is marked as changing, or its name reserved; a
 * second change of it waits until that is over.  When the commit fails, the
 * store keeps the facts and sends them again, so that a replacement or a
 * removal takes effect all the same; an addition is taken back by a further
 * fact.  Either way the client is told that it is in doubt.
 */
#include "config.h"

#include "daemon/control_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/xmalloc.h"

#define ADD_NEXT	3	/* coming instants in the reply */
/* Control jobs come after all file jobs that are due at the same time, in
 * the order in which they were added. */
#define CONTROL_SEQUENCE (UINT64_C(1) << 60)

struct addition {
	char			*name;		/* of the job */
	struct jobdef_settings	 settings;	/* as given */
	struct message		*errors;	/* array of sentences */
	struct message		*warnings;	/* array; NULL until built */
	struct jobdef		*def;		/* built; given away by begin */
	char			*owner_name;	/* NULL: has none */
	struct job		*job;		/* begun, not in force; or NULL */
	struct scheduler_job_spec spec;		/* of what has begun */
	bool			 replaces;	/* a job in force */
};

static void
addition_free(void *state)
{
	struct addition *add = state;

	free(add->name);
	jobdef_settings_release(&add->settings);
	message_free(add->errors);
	message_free(add->warnings);
	jobdef_free(add->def);
	free(add->owner_name);
	/* Only when the daemon goes between begin and commit. */
	job_free(add->job);
	free(add);
}

static void
complain(struct addition *add, const char *key, const char *sentence)
{
	char *text = xasprintf("%s: %s", key, sentence);

	message_append_string(add->errors, text);
	free(text);
}

static void
refuse_definition(struct request *request)
{
	struct addition *add = request->state;
	size_t n = message_count(add->errors);
	const char *first = message_value_string(message_at(add->errors, 0));
	struct message *data = message_object();
	struct error err;

	if (n == 1)
		error_set(&err, "%s", first);
	else
		error_set(&err, "%zu errors in the definition of %s; the "
		    "first: %s", n, add->name, first);
	message_set(data, "errors", add->errors);
	add->errors = NULL;
	request_refuse(request, CONTROL_REFUSED, &err, data);
}

/* --- settings --- */

static void
take_value(struct addition *add, const char *key, const struct message *value)
{
	const char *text = message_value_string(value);
	struct error err;

	if (text == NULL)
		complain(add, key, "a value is a string, or an array of "
		    "strings for a key that repeats");
	else if (jobdef_settings_add(&add->settings, key, text, 0, &err) == -1)
		complain(add, key, err.text);
}

static void
take_member(void *arg, const char *key, const struct message *value)
{
	struct addition *add = arg;

	if (!message_is_array(value)) {
		take_value(add, key, value);
		return;
	}
	for (size_t i = 0; i < message_count(value); i++)
		take_value(add, key, message_at(value, i));
}

static void	build(struct request *);
static void	apply(struct request *);

void
control_job_add(struct request *request)
{
	const char *name = message_get_string(request->params, "name");
	struct addition *add;
	struct error err;

	if (!request_can_start(request) || !request_can_store(request))
		return;
	if (jobdef_name_check(name, &err) == -1) {
		request_refuse(request, CONTROL_REFUSED, &err, NULL);
		return;
	}
	add = xcalloc(1, sizeof(*add));
	add->name = xstrdup(name);
	add->errors = message_array();
	jobdef_settings_init(&add->settings);
	request_set_state(request, add, addition_free);
	message_each(message_get(request->params, "definition"), take_member,
	    add);
	if (message_count(add->errors) > 0)
		refuse_definition(request);
	else
		build(request);
}

/* --- building --- */

static void
on_named(void *arg, const char *name, bool answered)
{
	struct request *request = arg;
	struct addition *add = request->state;

	(void)answered;
	if (!request_resume(request))
		return;
	if (name != NULL)
		add->owner_name = xstrdup(name);
	apply(request);
}

/* Whose job it is: a daemon that is not root's can serve only its own. */
static uid_t
owner_of(const struct request *request)
{
	return request->context->daemon_uid == 0 ? request->uid :
	    request->context->daemon_uid;
}

static void
on_built(void *arg, struct files_built *built)
{
	struct request *request = arg;
	struct addition *add = request->state;

	if (!request_resume(request))
		return;
	if (built->def == NULL) {
		for (size_t i = 0; i < built->n_errors; i++)
			message_append_string(add->errors, built->errors[i]);
		refuse_definition(request);
		return;
	}
	add->def = built->def;
	built->def = NULL;
	add->warnings = control_json_strings(built->warnings,
	    built->n_warnings, CONTROL_LIST_MAX);
	request_await(request);
	names_of_uid(request->context->names, owner_of(request), on_named,
	    request);
}

static void
build(struct request *request)
{
	struct addition *add = request->state;

	request_await(request);
	if (files_build(request->context->files, add->name, &add->settings,
	    walltime_seconds(walltime_now()), true, on_built, request))
		return;
	request_await_not(request);
	request_refusef(request, CONTROL_REFUSED, "too much is being read "
	    "from disk already; nothing was changed, try again");
}

/* --- begin and finish --- */

static void
refuse_taken(struct request *request, const struct job *job)
{
	if (job->origin == ORIGIN_FILE)
		request_refusef(request, CONTROL_REFUSED, "job %s is defined "
		    "in %s, line %d; change it there, then reload",
		    job->def->name, job->file, job->line);
	else
		request_refusef(request, CONTROL_REFUSED, "there is a job %s "
		    "already; --replace changes it, or choose another name",
		    job->def->name);
}

static struct message *
coming(const struct job *job)
{
	struct message *array = message_array();
	int64_t at = job->next;

	if (!job->def->enabled || at == JOB_NEVER)
		return array;
	for (int i = 0; i < ADD_NEXT; i++) {
		message_append(array, message_integer(at));
		if (!jobdef_next(job->def, at, &at))
			break;
	}
	return array;
}

static void
reply_added(struct request *request, const struct job *job)
{
	struct addition *add = request->state;
	struct message *result = message_object();

	log_info("control", "uid=%u %s job=%s", (unsigned)request->uid,
	    add->replaces ? "replaced" : "added", job->def->name);
	message_set(result, "job", control_json_job(request->context, job));
	message_set(result, "next", coming(job));
	message_set(result, "warnings", add->warnings);
	add->warnings = NULL;
	message_set_bool(result, "replaced", add->replaces);
	request_reply(request, result);
}

static void
refuse_in_doubt(struct request *request, const char *what, const char *name)
{
	log_warning("control", "uid=%u %s job=%s is in doubt: the store "
	    "failed", (unsigned)request->uid, what, name);
	request_refusef(request, CONTROL_IN_DOUBT, "it is in doubt whether "
	    "job %s was %s: the store failed while that was on its way; see "
	    "cronctl status, then ask again", name, what);
}

static void
on_add_stored(void *arg, enum store_result result)
{
	struct request *request = arg;
	struct scheduler *scheduler = request->context->scheduler;
	struct addition *add = request->state;
	struct job *job = add->job;

	if (!request_resume(request))
		return;
	add->job = NULL;
	jobtable_unreserve(request->context->jobs, add->name);
	if (result == STORE_COMMITTED) {
		scheduler_add_finish(scheduler, job);
		reply_added(request, job);
	} else {
		scheduler_add_abandon(scheduler, job);
		refuse_in_doubt(request, "added", add->name);
	}
}

static void
on_replace_stored(void *arg, enum store_result result)
{
	struct request *request = arg;
	struct addition *add = request->state;
	struct job *job;

	if (!request_resume(request))
		return;
	/* It can't have gone: it was marked as changing. */
	job = jobtable_find(request->context->jobs, add->name);
	job->changing = false;
	add->spec.def = add->def;
	add->def = NULL;
	scheduler_replace_finish(request->context->scheduler, job,
	    &add->spec);
	if (result == STORE_COMMITTED)
		reply_added(request, job);
	else
		refuse_in_doubt(request, "replaced", add->name);
}

static void
begin_replace(struct request *request, struct job *job)
{
	struct addition *add = request->state;

	add->replaces = true;
	job->changing = true;
	add->spec.sequence = job->due.sequence;
	scheduler_replace_begin(request->context->scheduler, job, &add->spec);
	request_await(request);
	store_after_commit(request->context->store, on_replace_stored,
	    request);
}

static void
begin_add(struct request *request)
{
	struct addition *add = request->state;

	add->def = NULL;
	add->job = scheduler_add_begin(request->context->scheduler,
	    &add->spec);
	add->job->due.sequence = CONTROL_SEQUENCE + (uint64_t)add->job->id;
	request_await(request);
	store_after_commit(request->context->store, on_add_stored, request);
}

/* Everything that can refuse it comes before begin. */
static void
apply(struct request *request)
{
	struct control_context *context = request->context;
	struct addition *add = request->state;
	struct job *job = jobtable_find(context->jobs, add->name);

	if (!request_can_start(request))
		return;
	if ((job != NULL && job->changing) ||
	    jobtable_is_reserved(context->jobs, add->name) ||
	    reload_is_busy(context->reload)) {
		request_defer(request, apply);
		return;
	}
	if (job != NULL && (job->origin == ORIGIN_FILE ||
	    !message_get_bool(request->params, "replace", false))) {
		refuse_taken(request, job);
		return;
	}
	if (!request_can_store(request))
		return;
	add->spec = (struct scheduler_job_spec){
		.def = add->def,
		.owner_uid = owner_of(request),
		.owner_name = add->owner_name,
		.origin = ORIGIN_CONTROL,
		.by_uid = request->uid,
	};
	if (job != NULL) {
		begin_replace(request, job);
	} else {
		jobtable_reserve(context->jobs, add->name);
		begin_add(request);
	}
}

/* --- job.remove --- */

struct removal {
	int64_t	 job_id;	/* of the job in force */
	bool	 stop;		/* its running runs too */
};

static void
on_remove_stored(void *arg, enum store_result result)
{
	struct request *request = arg;
	const struct removal *removal = request->state;
	struct message *reply;
	struct job *job;
	char *name;

	if (!request_resume(request))
		return;
	job = jobtable_find_id(request->context->jobs, removal->job_id);
	name = xstrdup(job->def->name);
	reply = message_object();
	message_set_string(reply, "job", name);
	message_set_integer(reply, "running", (int64_t)job->n_runs);
	scheduler_remove_finish(request->context->scheduler, job,
	    removal->stop, request->uid);
	if (result == STORE_COMMITTED) {
		log_info("control", "uid=%u removed job=%s",
		    (unsigned)request->uid, name);
		request_reply(request, reply);
	} else {
		message_free(reply);
		refuse_in_doubt(request, "removed", name);
	}
	free(name);
}

static void
remove_begin(struct request *request)
{
	struct control_context *context = request->context;
	struct removal *removal = request->state;
	struct job *job = request_job(request,
	    message_get_string(request->params, "job"));

	if (job == NULL)
		return;
	if (job->origin == ORIGIN_FILE) {
		request_refusef(request, CONTROL_REFUSED, "job %s is defined "
		    "in %s, line %d; remove it there, then reload",
		    job->def->name, job->file, job->line);
		return;
	}
	if (job->changing || reload_is_busy(context->reload)) {
		request_defer(request, remove_begin);
		return;
	}
	if (!request_can_store(request))
		return;
	removal->job_id = job->id;
	job->changing = true;
	scheduler_remove_begin(context->scheduler, job, request->uid);
	request_await(request);
	store_after_commit(context->store, on_remove_stored, request);
}

void
control_job_remove(struct request *request)
{
	const char *running = message_get_string(request->params, "running");
	struct removal *removal;

	if (running != NULL && strcmp(running, "finish") != 0 &&
	    strcmp(running, "stop") != 0) {
		request_refusef(request, CONTROL_PARAMS, "job.remove: "
		    "\"running\" must be \"finish\" or \"stop\"");
		return;
	}
	removal = xcalloc(1, sizeof(*removal));
	removal->stop = running != NULL && strcmp(running, "stop") == 0;
	request_set_state(request, removal, free);
	remove_begin(request);
}
