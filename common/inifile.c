/* SPDX-License-Identifier: ISC */
/*
 * INI text to entries.  The text is copied once and taken apart in place:
 * lines that continue are moved together, names and values are ended with
 * NULs, and every entry points into that copy.
 *
 * libinih, as packaged, cuts lines at 199 bytes and sections at 49, takes
 * " ;" for a comment, ":" for "=" and an indented line for more of the value
 * before, and passes over text behind a "]".  So lines are cut and judged
 * here, and it is given each section and each value as a short token, the
 * number of the line; what it makes of a line must be what was made of it
 * here.
 *
 * Cost: linear in the text.  Errors are bounded by INIFILE_ERRORS_MAX.
 */
#include "config.h"

#include "common/inifile.h"

#include <ini.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/hash.h"
#include "common/utf8.h"
#include "common/xmalloc.h"

#define TOKEN_MAX	12	/* a line number */
#define NAMES_FIRST	64	/* slots; a power of two */
#define ENTRIES_FIRST	64
#define SECTION_REPEATS	"defaults"

/* A section seen, in a hash table with open addressing. */
struct name {
	const char	*name;	/* NULL: a free slot */
	int		 line;	/* of its first section */
};

struct parser {
	struct inifile	*ini;		/* being filled */
	char		*at;		/* next byte to read */
	char		*end;		/* of the text */
	int		 line;		/* of the physical line last read */
	size_t		 cap_entries;	/* allocated */
	size_t		 cap_errors;	/* allocated */
	const char	*section;	/* present one; NULL before the first */
	int		 section_line;	/* where it began */
	bool		 section_empty;	/* nothing but comments so far */
	bool		 outside;	/* a key before the first was reported */
	struct name	*names;		/* sections seen */
	size_t		 n_names;	/* of these */
	size_t		 n_slots;	/* of names, a power of two */
	struct inifile_entry given;	/* what libinih was given last */
	bool		 awaited;	/* it has not handed that on yet */
};

/* One line as people see it: without its end, perhaps continued. */
struct line {
	char		*s;	/* first byte */
	size_t		 len;	/* bytes */
	int		 number; /* where it begins */
	bool		 bad;	/* reported already */
};

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* ASCII, whatever the locale says. */
static bool
is_key_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	    (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-';
}

static void
trim(char **s, size_t *len)
{
	while (*len > 0 && is_blank((*s)[*len - 1]))
		(*len)--;
	while (*len > 0 && is_blank(**s)) {
		(*s)++;
		(*len)--;
	}
}

/* Keeps errors in the order of their lines. */
static void
insert_error(struct parser *p, int line, const char *key, char *text)
{
	struct inifile *ini = p->ini;
	size_t i = ini->n_errors;

	if (ini->n_errors == p->cap_errors) {
		p->cap_errors = p->cap_errors > 0 ? 2 * p->cap_errors : 8;
		ini->errors = xreallocarray(ini->errors, p->cap_errors,
		    sizeof *ini->errors);
	}
	for (; i > 0 && ini->errors[i - 1].line > line; i--)
		ini->errors[i] = ini->errors[i - 1];
	ini->errors[i].line = line;
	ini->errors[i].section = p->section != NULL ? p->section : "";
	ini->errors[i].key = key;
	ini->errors[i].text = text;
	ini->n_errors++;
}

static void __attribute__((format(printf, 4, 5)))
add_error(struct parser *p, int line, const char *key, const char *fmt, ...)
{
	va_list ap;

	if (p->ini->n_errors > INIFILE_ERRORS_MAX)
		return;
	if (p->ini->n_errors == INIFILE_ERRORS_MAX) {
		insert_error(p, line, "", xasprintf("more than %d errors; "
		    "the others are not shown", INIFILE_ERRORS_MAX));
		return;
	}
	va_start(ap, fmt);
	insert_error(p, line, key, xvasprintf(fmt, ap));
	va_end(ap);
}

static void
add_entry(struct parser *p, const struct inifile_entry *entry)
{
	struct inifile *ini = p->ini;

	if (ini->n_entries == p->cap_entries) {
		p->cap_entries = p->cap_entries > 0 ? 2 * p->cap_entries :
		    ENTRIES_FIRST;
		ini->entries = xreallocarray(ini->entries, p->cap_entries,
		    sizeof *ini->entries);
	}
	ini->entries[ini->n_entries++] = *entry;
}

/* The slot of a name: where it is, or where it would go. */
static struct name *
find_slot(const struct parser *p, const char *name)
{
	size_t i = hash_bytes(name, strlen(name)) & (p->n_slots - 1);

	while (p->names[i].name != NULL && strcmp(p->names[i].name, name) != 0)
		i = (i + 1) & (p->n_slots - 1);
	return &p->names[i];
}

static void
grow_names(struct parser *p)
{
	struct name *old = p->names;
	size_t n_old = p->n_slots;

	p->n_slots = n_old > 0 ? 2 * n_old : NAMES_FIRST;
	p->names = xcalloc(p->n_slots, sizeof *p->names);
	for (size_t i = 0; i < n_old; i++)
		if (old[i].name != NULL)
			*find_slot(p, old[i].name) = old[i];
	free(old);
}

/* Reports a section that was there before. */
static void
check_repeated(struct parser *p, const char *name, int line)
{
	struct name *slot;

	if (strcmp(name, SECTION_REPEATS) == 0)
		return;
	if (2 * p->n_names >= p->n_slots)
		grow_names(p);
	slot = find_slot(p, name);
	if (slot->name != NULL) {
		add_error(p, line, "", "this section is in line %d already; "
		    "rename or join them", slot->line);
		return;
	}
	slot->name = name;
	slot->line = line;
	p->n_names++;
}

/* Reports what no line may hold.  s is without the line's end. */
static bool
check_bytes(struct parser *p, const char *s, size_t len)
{
	size_t good;

	if (len > INIFILE_LINE_MAX) {
		add_error(p, p->line, "", "a line of %zu bytes; at most %d "
		    "are allowed", len, INIFILE_LINE_MAX);
		return false;
	}
	if (len > 0 && memchr(s, '\0', len) != NULL) {
		add_error(p, p->line, "", "a NUL byte at column %zu",
		    (size_t)((const char *)memchr(s, '\0', len) - s) + 1);
		return false;
	}
	if (len > 0 && memchr(s, '\r', len) != NULL) {
		add_error(p, p->line, "", "a carriage return at column %zu "
		    "that does not end a line",
		    (size_t)((const char *)memchr(s, '\r', len) - s) + 1);
		return false;
	}
	good = utf8_valid_prefix(s, len);
	if (good < len) {
		add_error(p, p->line, "", "byte \\x%02x at column %zu is not "
		    "UTF-8; save the file as UTF-8", (unsigned char)s[good],
		    good + 1);
		return false;
	}
	return true;
}

/* The next physical line, its bytes checked; false at the end. */
static bool
take_physical(struct parser *p, struct line *line)
{
	char *nl;

	if (p->at == p->end)
		return false;
	nl = memchr(p->at, '\n', (size_t)(p->end - p->at));
	line->s = p->at;
	line->len = (size_t)((nl != NULL ? nl : p->end) - p->at);
	line->number = ++p->line;
	p->at = nl != NULL ? nl + 1 : p->end;
	if (nl != NULL && line->len > 0 && line->s[line->len - 1] == '\r')
		line->len--;
	line->bad = !check_bytes(p, line->s, line->len);
	return true;
}

/*
 * Whether a line ends in an odd number of backslashes, trailing blanks aside;
 * if so those blanks and one backslash are cut off.
 */
static bool
cut_continuation(struct line *line)
{
	size_t len = line->len, slashes = 0;

	while (len > 0 && is_blank(line->s[len - 1]))
		len--;
	while (slashes < len && line->s[len - 1 - slashes] == '\\')
		slashes++;
	if (slashes % 2 == 0)
		return false;
	line->len = len - 1;
	return true;
}

/* Moves the lines that a line continues on up to its end. */
static void
join_continuations(struct parser *p, struct line *line)
{
	struct line next;
	bool more = cut_continuation(line);

	while (more) {
		if (!take_physical(p, &next)) {
			add_error(p, p->line, "", "the line ends in \"\\\" "
			    "and so goes on, but the file ends here");
			line->bad = true;
			return;
		}
		more = cut_continuation(&next);
		while (next.len > 0 && is_blank(*next.s)) {
			next.s++;
			next.len--;
		}
		memmove(line->s + line->len, next.s, next.len);
		line->len += next.len;
		line->bad |= next.bad;
	}
}

static void
end_section(struct parser *p)
{
	if (p->section != NULL && p->section_empty)
		add_error(p, p->section_line, "", "the section is empty; "
		    "give it keys or remove it");
}

/* What was said about the bytes of this line is not about the one before. */
static void
forget_section(struct parser *p, int line)
{
	size_t i = p->ini->n_errors;

	while (i-- > 0 && p->ini->errors[i].line == line)
		p->ini->errors[i].section = "";
}

/* A line beginning with "[": the section is entered whatever is wrong. */
static void
begin_section(struct parser *p, struct line *line)
{
	struct inifile_entry entry = { .line = line->number };
	char *name = line->s + 1, *rest;
	size_t len = line->len - 1;
	char *close = memchr(name, ']', len);

	end_section(p);
	p->section = "";
	p->section_line = line->number;
	p->section_empty = false;
	if (line->bad) {
		forget_section(p, line->number);
		return;
	}
	rest = close != NULL ? close + 1 : name + len;
	len -= (size_t)(rest - name);
	trim(&rest, &len);
	*(close != NULL ? close : rest) = '\0';
	p->section = name;
	p->section_empty = close != NULL && len == 0;
	if (close == NULL)
		add_error(p, line->number, "", "no \"]\" at the end of the "
		    "section's name");
	else if (len > 0)
		add_error(p, line->number, "", "text after \"]\"; write it on "
		    "a line of its own");
	else if (*name == '\0')
		add_error(p, line->number, "", "a section without a name");
	else
		check_repeated(p, name, line->number);
	entry.section = name;
	add_entry(p, &entry);
}

static size_t
key_prefix(const char *s, size_t len)
{
	size_t n = 0;

	while (n < len && is_key_char(s[n]))
		n++;
	return n;
}

/* Reports a key that can't be one. */
static bool
check_key(struct parser *p, const struct line *line, const char *key,
    size_t len, bool has_equals)
{
	char quoted[ERROR_QUOTE_MAX];

	error_quote(quoted, key, len);
	if (!has_equals)
		add_error(p, line->number, "", "%s has no \"=\"; write "
		    "KEY = VALUE", quoted);
	else if (len == 0)
		add_error(p, line->number, "", "no key before \"=\"");
	else if (key_prefix(key, len) < len)
		add_error(p, line->number, "", "%s is not a key; keys are "
		    "letters, digits, \"_\", \".\" and \"-\"", quoted);
	else if (len > INIFILE_KEY_MAX)
		add_error(p, line->number, "", "%s is not a key; it has more "
		    "than %d characters", quoted, INIFILE_KEY_MAX);
	else
		return true;
	return false;
}

/* Names the key in what was said about the bytes of its line. */
static void
name_key(struct parser *p, const struct line *line, char *key, size_t len)
{
	size_t i = p->ini->n_errors;

	if (len == 0 || len > INIFILE_KEY_MAX || key_prefix(key, len) < len)
		return;
	key[len] = '\0';
	while (i-- > 0 && p->ini->errors[i].line >= line->number)
		p->ini->errors[i].key = key;
}

/* A line with a key: true when it is to be handed on. */
static bool
take_key(struct parser *p, struct line *line)
{
	char *equals, *key = line->s, *value;
	size_t key_len, len;

	join_continuations(p, line);
	p->section_empty = false;
	equals = memchr(line->s, '=', line->len);
	key_len = equals != NULL ? (size_t)(equals - key) : line->len;
	trim(&key, &key_len);
	if (line->bad) {
		if (equals != NULL)
			name_key(p, line, key, key_len);
		return false;
	}
	if (!check_key(p, line, key, key_len, equals != NULL))
		return false;
	value = equals + 1;
	len = line->len - (size_t)(value - line->s);
	trim(&value, &len);
	key[key_len] = '\0';
	value[len] = '\0';
	if (p->section != NULL) {
		p->given = (struct inifile_entry){ p->section, key, value,
		    len, line->number };
		return true;
	}
	if (!p->outside)
		add_error(p, line->number, key, "stands before the first "
		    "[section]; put it into one");
	p->outside = true;
	return false;
}

/* libinih did not hand on what it was given. */
static void
check_handed_on(struct parser *p)
{
	if (p->awaited)
		add_error(p, p->given.line, p->given.key, "the INI library "
		    "can't read this line");
	p->awaited = false;
}

/*
 * Reader of ini_parse_stream: the next section or key as a line of a few
 * bytes, values and sections replaced by the number of their line.
 */
static char *
read_line(char *buf, int size, void *stream)
{
	struct parser *p = stream;
	struct line line;

	check_handed_on(p);
	while (take_physical(p, &line)) {
		char *s = line.s;
		size_t len = line.len;

		trim(&s, &len);
		if (len == 0 || *s == ';' || *s == '#')
			continue;
		if (is_blank(*line.s)) {
			p->section_empty = false;
			add_error(p, line.number, "", "the line is indented, "
			    "but the line before it does not end in \"\\\"; "
			    "add that there, or unindent this one");
			join_continuations(p, &line);
		} else if (*s == '[') {
			begin_section(p, &line);
			snprintf(buf, (size_t)size, "[%d]\n", line.number);
			return buf;
		} else if (take_key(p, &line)) {
			p->awaited = true;
			snprintf(buf, (size_t)size, "%s=%d\n", p->given.key,
			    p->given.line);
			return buf;
		}
	}
	return NULL;
}

/* Handler of ini_parse_stream; returns nonzero on success. */
static int
take_pair(void *user, const char *section, const char *key, const char *value)
{
	struct parser *p = user;
	char token[TOKEN_MAX];

	snprintf(token, sizeof token, "%d", p->section_line);
	if (!p->awaited || strcmp(section, token) != 0 ||
	    strcmp(key, p->given.key) != 0)
		return 0;
	snprintf(token, sizeof token, "%d", p->given.line);
	if (strcmp(value, token) != 0)
		return 0;
	p->awaited = false;
	add_entry(p, &p->given);
	return 1;
}

struct inifile *
inifile_parse(const char *data, size_t len)
{
	struct inifile *ini = xcalloc(1, sizeof *ini);
	struct parser p = { .ini = ini };

	if (len > INIFILE_FILE_MAX) {
		add_error(&p, 0, "", "%zu bytes; a file may have at most %d",
		    len, INIFILE_FILE_MAX);
		return ini;
	}
	ini->storage = p.at = xmalloc(len + 1);
	if (len > 0)
		memcpy(p.at, data, len);
	p.end = p.at + len;
	if (len >= 3 && memcmp(p.at, "\xef\xbb\xbf", 3) == 0)
		p.at += 3;
	if (ini_parse_stream(read_line, &p, take_pair, &p) != 0 &&
	    ini->n_errors == 0)
		add_error(&p, 0, "", "the INI library can't read the file");
	check_handed_on(&p);
	end_section(&p);
	free(p.names);
	return ini;
}

void
inifile_free(struct inifile *ini)
{
	if (ini == NULL)
		return;
	for (size_t i = 0; i < ini->n_errors; i++)
		free(ini->errors[i].text);
	free(ini->errors);
	free(ini->entries);
	free(ini->storage);
	free(ini);
}
