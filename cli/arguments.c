/* SPDX-License-Identifier: ISC */
/* Command lines by table; knows nothing of commands. */
#include "config.h"

#include "cli/arguments.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/nearest.h"
#include "common/xmalloc.h"

/* Where a parse is. */
struct parser {
	struct arguments *args;		/* what was found */
	const struct arguments_option *const *tables;
	char		**argv;		/* all of it */
	int		 argc;
	int		 at;		/* the string being looked at */
};

static const char *
candidate(const void *arg, size_t i)
{
	const struct arguments_option *const *tables = arg;

	for (; *tables != NULL; tables++)
		for (const struct arguments_option *o = *tables;
		    o->name != NULL; o++)
			if (i-- == 0)
				return o->name;
	return "";
}

static size_t
count_options(const struct arguments_option *const *tables)
{
	size_t n = 0;

	while (candidate(tables, n)[0] != '\0')
		n++;
	return n;
}

static const struct arguments_option *
find_option(const struct parser *p, const char *name, size_t len, char letter)
{
	for (size_t t = 0; p->tables[t] != NULL; t++)
		for (const struct arguments_option *o = p->tables[t];
		    o->name != NULL; o++) {
			if (letter != 0 ? o->letter == letter :
			    strlen(o->name) == len &&
			    memcmp(o->name, name, len) == 0)
				return o;
		}
	return NULL;
}

static void
add_given(struct arguments *args, const struct arguments_option *option,
    const char *value)
{
	args->given = xreallocarray(args->given, args->n_given + 1,
	    sizeof *args->given);
	args->given[args->n_given++] =
	    (struct arguments_given){ option, value };
}

/* The string after the present one, as an option's value. */
static int
take_value(struct parser *p, const struct arguments_option *option,
    struct error *err)
{
	if (p->at + 1 >= p->argc)
		return error_set(err, "--%s needs a value: --%s=%s",
		    option->name, option->name, option->value);
	add_given(p->args, option, p->argv[++p->at]);
	return 0;
}

static int
unknown_long(const struct parser *p, const char *name, size_t len,
    struct error *err)
{
	char *word = xstrndup(name, len);
	const char *near = nearest_find(word, count_options(p->tables),
	    candidate, p->tables);

	if (near != NULL)
		error_set(err, "no option --%s; did you mean --%s?", word,
		    near);
	else
		error_set(err, "no option --%s", word);
	free(word);
	return -1;
}

static int
parse_long(struct parser *p, const char *text, struct error *err)
{
	size_t len = strcspn(text, "=");
	const struct arguments_option *option = find_option(p, text, len, 0);
	bool has_value = text[len] == '=';

	if (option == NULL)
		return unknown_long(p, text, len, err);
	if (option->value == NULL && has_value)
		return error_set(err, "--%s takes no value", option->name);
	if (option->value != NULL && !has_value)
		return take_value(p, option, err);
	add_given(p->args, option, has_value ? text + len + 1 : NULL);
	return 0;
}

static int
parse_letters(struct parser *p, const char *letters, struct error *err)
{
	for (; *letters != '\0'; letters++) {
		const struct arguments_option *option =
		    find_option(p, NULL, 0, *letters);

		if (option == NULL)
			return error_set(err, "no option -%c", *letters);
		if (option->value == NULL) {
			add_given(p->args, option, NULL);
			continue;
		}
		if (letters[1] == '\0')
			return take_value(p, option, err);
		add_given(p->args, option, letters + 1);
		return 0;
	}
	return 0;
}

static void
add_operand(struct arguments *args, char *operand)
{
	args->operands = xreallocarray(args->operands, args->n_operands + 1,
	    sizeof *args->operands);
	args->operands[args->n_operands++] = operand;
}

/* Options are letters: "-2h" is a TIME, "- * * * *" a wrong expression. */
static bool
is_operand(const char *s)
{
	return s[0] != '-' || (s[1] != '-' && !isalpha((unsigned char)s[1]));
}

int
arguments_parse(struct arguments *args, int argc, char **argv,
    const struct arguments_option *const *tables, bool stop_at_operand,
    int *used, struct error *err)
{
	struct parser p = { args, tables, argv, argc, 0 };
	int failed = 0;

	memset(args, 0, sizeof *args);
	for (; p.at < argc && failed == 0; p.at++) {
		char *s = argv[p.at];

		if (stop_at_operand && is_operand(s))
			break;
		if (strcmp(s, "--") == 0) {
			args->words = argv + p.at + 1;
			args->n_words = (size_t)(argc - p.at - 1);
			p.at = argc;
			break;
		}
		if (is_operand(s))
			add_operand(args, s);
		else if (s[1] == '-')
			failed = parse_long(&p, s + 2, err);
		else
			failed = parse_letters(&p, s + 1, err);
	}
	*used = p.at;
	if (failed != 0)
		arguments_release(args);
	return failed;
}

void
arguments_release(struct arguments *args)
{
	free(args->given);
	free(args->operands);
	memset(args, 0, sizeof *args);
}

static const struct arguments_given *
find_given(const struct arguments *args, const char *name)
{
	for (size_t i = args->n_given; i > 0; i--)
		if (strcmp(args->given[i - 1].option->name, name) == 0)
			return &args->given[i - 1];
	return NULL;
}

bool
arguments_has(const struct arguments *args, const char *name)
{
	return find_given(args, name) != NULL;
}

const char *
arguments_value(const struct arguments *args, const char *name)
{
	const struct arguments_given *given = find_given(args, name);

	return given != NULL ? given->value : NULL;
}

int
arguments_number(const struct arguments *args, const char *name, long min,
    long max, long fallback, long *out, struct error *err)
{
	const struct arguments_given *given = find_given(args, name);
	char quoted[ERROR_QUOTE_MAX], *end;
	long n;

	if (given == NULL) {
		*out = fallback;
		return 0;
	}
	errno = 0;
	n = strtol(given->value, &end, 10);
	if (errno != 0 || end == given->value || *end != '\0' || n < min ||
	    n > max)
		return error_set(err, "--%s %s: want a number from %ld to %ld",
		    name, error_quote(quoted, given->value,
		    strlen(given->value)), min, max);
	*out = n;
	return 0;
}
