/* SPDX-License-Identifier: ISC */
/*
 * Names of jobs (spec section 3).  ASCII rules in every locale; a name that
 * passes can stand in a section, an environment variable and a log line as
 * it is.
 */
#include "config.h"

#include <string.h>

#include "common/jobdef.h"
#include "common/jobdef_internal.h"

/* ASCII, whatever the locale says. */
static bool
is_name_letter(char c)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

static bool
is_name_char(char c)
{
	return is_name_letter(c) || (c >= '0' && c <= '9') || c == '_' ||
	    c == '.' || c == '@' || c == '-';
}

int
jobdef_name_check(const char *name, struct error *err)
{
	char quoted[ERROR_QUOTE_MAX];
	size_t len = strlen(name), letters = 0, i;

	error_quote(quoted, name, len);
	for (i = 0; i < len && is_name_char(name[i]); i++)
		letters += is_name_letter(name[i]);
	if (i < len)
		return error_set(err, "%s is not a job's name; names are "
		    "letters, digits, \"_\", \".\", \"@\" and \"-\"", quoted);
	if (len == 0)
		return error_set(err, "a job needs a name");
	if (len > JOBDEF_NAME_MAX)
		return error_set(err, "%s is too long for a job's name; write "
		    "at most %d characters", quoted, JOBDEF_NAME_MAX);
	if (*name == '.' || *name == '-' || *name == '@')
		return error_set(err, "%s is not a job's name; it must not "
		    "begin with \"%c\"", quoted, *name);
	if (letters == 0)
		return error_set(err, "%s is not a job's name; it needs a "
		    "letter", quoted);
	if (strcmp(name, "defaults") == 0)
		return error_set(err, "\"defaults\" is reserved; give the job "
		    "another name");
	return 0;
}

int
jobdef_full_name_check(const char *full, struct error *err)
{
	const char *slash = strchr(full, '/');
	char quoted[ERROR_QUOTE_MAX];

	if (slash == NULL)
		return jobdef_name_check(full, err);
	error_quote(quoted, full, strlen(full));
	if (slash == full)
		return error_set(err, "%s has no user before \"/\"", quoted);
	for (const char *p = full; p < slash; p++)
		if ((unsigned char)*p <= ' ' || *p == 0x7f || *p == ']')
			return error_set(err, "%s has no usable user before "
			    "\"/\"; write the user's number", quoted);
	if (strlen(full) > JOBDEF_FULL_NAME_MAX)
		return error_set(err, "%s is too long; write at most %d "
		    "characters, user included", quoted,
		    JOBDEF_FULL_NAME_MAX);
	return jobdef_name_check(slash + 1, err);
}
