/* SPDX-License-Identifier: ISC */
/* Names and patterns of jobs; asking before what a pattern matches is hit. */
#include "config.h"

#include "cli/selection.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/facts.h"
#include "cli/job_pages.h"
#include "common/strbuf.h"
#include "common/xmalloc.h"

static void
add_name(struct selection *s, const char *name)
{
	s->names = xreallocarray(s->names, s->n + 1, sizeof *s->names);
	s->names[s->n++] = xstrdup(name);
}

/* One page of jobs after the other. */
struct matching {
	struct selection *selection;	/* to add to */
	bool		(*wanted)(const struct message *job);
};

static void
take_job(void *arg, const struct message *job)
{
	struct matching *m = arg;

	if (m->wanted(job))
		add_name(m->selection, facts_string(job, "job", ""));
}

enum exit_status
selection_add(struct cli *cli, struct selection *s, const char *operand,
    bool (*wanted)(const struct message *job), const char *reason)
{
	struct matching matching = { s, wanted };
	struct message *filter;
	enum exit_status status;
	size_t before = s->n;

	if (strpbrk(operand, "*?[") == NULL) {
		add_name(s, operand);
		return STATUS_DONE;
	}
	s->by_pattern = true;
	filter = message_object();
	message_set_string(filter, "pattern", operand);
	status = job_pages_read(cli, filter, take_job, &matching, NULL);
	message_free(filter);
	if (status == STATUS_DONE && s->n == before)
		return command_fail(STATUS_NO_SUCH, "no job that %s matches "
		    "\"%s\"; see: cronctl list '%s'", reason, operand,
		    operand);
	return status;
}

enum exit_status
selection_confirm(const struct cli *cli, const struct selection *s,
    const char *verb, const char *past)
{
	struct strbuf text = STRBUF_INIT;
	char answer[16];
	bool yes;

	if (!s->by_pattern || cli->yes)
		return STATUS_DONE;
	for (size_t i = 0; i < s->n; i++) {
		text_escape(&text, s->names[i]);
		strbuf_addch(&text, '\n');
	}
	fprintf(stderr, "%s", text.buf);
	strbuf_reset(&text);
	text_count(&text, (int64_t)s->n, "job");
	if (!isatty(STDIN_FILENO)) {
		command_fail(STATUS_REFUSED, "%s: the pattern matches"
		    " %s; add --yes to %s without being asked", verb,
		    text.buf, verb);
		strbuf_release(&text);
		return STATUS_REFUSED;
	}
	fprintf(stderr, "%s %s? [y/N] ", verb, text.buf);
	strbuf_release(&text);
	yes = fgets(answer, sizeof answer, stdin) != NULL &&
	    (answer[0] == 'y' || answer[0] == 'Y');
	return yes ? STATUS_DONE : command_fail(STATUS_REFUSED,
	    "%s: nothing was %s", verb, past);
}

void
selection_release(struct selection *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->names[i]);
	free(s->names);
	*s = (struct selection){ NULL, 0, false };
}
