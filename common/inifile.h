/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_INIFILE_H
#define CRONCTL_INIFILE_H

#include <stddef.h>

#include "common/error.h"

/*
 * The INI form of job files and of cronctld.conf (spec section 3): sections,
 * comment lines beginning with ";" or "#", KEY=VALUE with the value exactly
 * as written from the first "=" to the end of its line, blanks at both ends
 * trimmed; a line ending in an odd number of "\" goes on in the next.
 * Bytes and lines are checked here; the section and key syntax is libinih's,
 * which is handed a short token for each value so that none of its limits
 * applies to values.
 */
#define INIFILE_LINE_MAX	(64 * 1024)
#define INIFILE_FILE_MAX	(16 * 1024 * 1024)
#define INIFILE_KEY_MAX		128
#define INIFILE_ERRORS_MAX	1000	/* one more says that there are more */

struct inifile_entry {
	const char	*section;	/* NULL-free; shared by its entries */
	const char	*key;		/* NULL: this entry begins the section */
	const char	*value;		/* as written, trimmed; NULL with key NULL */
	size_t		 value_len;	/* bytes of value */
	int		 line;		/* where it begins, from 1 */
};

struct inifile_error {
	int		 line;		/* from 1; 0: the file as a whole */
	const char	*section;	/* "" when before the first */
	const char	*key;		/* "" when no key is concerned */
	char		*text;		/* the sentence */
};

struct inifile {
	struct inifile_entry	*entries;	/* in file order */
	size_t			 n_entries;	/* of these */
	struct inifile_error	*errors;	/* all of them, by line */
	size_t			 n_errors;	/* of these */
	void			*storage;	/* what the pointers point into */
};

/*
 * Comment lines do not continue; a line that continues at the end of the file
 * is an error.  "[defaults]" may stand more than once, any other section only
 * once.  Names of sections and of keys are the caller's to judge; a key is
 * letters, digits, "_", "." and "-".
 *
 * Never NULL.  With n_errors > 0 the entries are those that could be read. */
struct inifile	*inifile_parse(const char *data, size_t len);
void		 inifile_free(struct inifile *);

#endif
