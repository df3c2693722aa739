/* SPDX-License-Identifier: ISC */
/*
 * Values as people read them.  Widths come from wcwidth(3) by way of the
 * locale's UTF-8, which main sets; what wcwidth does not know is one column
 * wide.
 */
#include "config.h"

#include "cli/output_text.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

#include "common/duration.h"
#include "common/timestamp.h"
#include "common/utf8.h"

#define ELLIPSIS "\xe2\x80\xa6"		/* U+2026 */
#define MINUTE	INT64_C(60)
#define HOUR	(60 * MINUTE)
#define DAY	(24 * HOUR)
#define YEAR	(365 * DAY)

static const char weekdays[7][4] = {
	"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"
};

/* The code point of one well-formed sequence. */
static uint32_t
code_point(const char *s, size_t len)
{
	uint32_t c = (unsigned char)s[0];

	if (len == 1)
		return c;
	c &= 0x7fU >> len;
	for (size_t i = 1; i < len; i++)
		c = c << 6 | ((unsigned char)s[i] & 0x3f);
	return c;
}

/* C0, DEL and C1 controls; marks and overrides of bidirectional writing. */
static bool
is_unsafe(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x061c ||
	    (c >= 0x200e && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
	    (c >= 0x2066 && c <= 0x2069) || c == 0xfeff;
}

static void
escape_bytes(struct strbuf *out, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		strbuf_addf(out, "\\x%02x", (unsigned char)s[i]);
}

/* Appends the character at s, escaped if need be; its length. */
static size_t
escape_character(struct strbuf *out, const char *s, size_t left)
{
	bool valid;
	size_t n = utf8_sequence(s, left, &valid);
	uint32_t c;

	if (!valid) {
		escape_bytes(out, s, n);
		return n;
	}
	c = code_point(s, n);
	if (!is_unsafe(c))
		strbuf_add(out, s, n);
	else if (c == '\n')
		strbuf_addstr(out, "\\n");
	else if (c == '\t')
		strbuf_addstr(out, "\\t");
	else if (c < 0x100)
		strbuf_addf(out, "\\x%02x", (unsigned)c);
	else
		strbuf_addf(out, "\\u%04x", (unsigned)c);
	return n;
}

void
text_escape(struct strbuf *out, const char *s)
{
	size_t left = strlen(s), n;

	for (; left > 0; s += n, left -= n)
		n = escape_character(out, s, left);
}

/* Length of a sequence that sets colours (ECMA-48, SGR), or 0. */
static size_t
color_sequence(const char *s, size_t left)
{
	size_t n = 2;

	if (left < 3 || s[0] != '\033' || s[1] != '[')
		return 0;
	while (n < left && (s[n] == ';' || s[n] == ':' ||
	    (s[n] >= '0' && s[n] <= '9')))
		n++;
	return n < left && s[n] == 'm' ? n + 1 : 0;
}

void
text_escape_output(struct strbuf *out, const char *s, size_t len)
{
	size_t n;

	for (; len > 0; s += n, len -= n) {
		n = *s == '\n' || *s == '\t' ? 1 :
		    *s == '\r' && len > 1 && s[1] == '\n' ? 2 :
		    color_sequence(s, len);
		if (n > 0)
			strbuf_add(out, s, n);
		else
			n = escape_character(out, s, len);
	}
}

/* Bytes and columns of the character that s, not empty, begins with. */
static size_t
character(const char *s, size_t *columns)
{
	bool valid;
	size_t n = utf8_sequence(s, strlen(s), &valid);
	int w = valid ? wcwidth((wchar_t)code_point(s, n)) : 1;

	*columns = w < 0 ? 1 : (size_t)w;
	return n;
}

size_t
text_width(const char *s)
{
	size_t width = 0, columns;

	for (; *s != '\0'; width += columns)
		s += character(s, &columns);
	return width;
}

void
text_cut(struct strbuf *out, const char *s, size_t width)
{
	size_t used = 0, columns;

	if (text_width(s) <= width) {
		strbuf_addstr(out, s);
		return;
	}
	if (width == 0)
		return;
	for (;;) {
		size_t n = character(s, &columns);

		if (used + columns > width - 1)
			break;
		strbuf_add(out, s, n);
		s += n;
		used += columns;
	}
	strbuf_addstr(out, ELLIPSIS);
}

void
text_wrap(struct strbuf *out, const char *s, size_t indent, size_t width)
{
	size_t column = indent;
	bool first = true;

	while (*s != '\0') {
		size_t len = strcspn(s, " "), columns = 0, w;

		for (const char *p = s; p < s + len; columns += w)
			p += character(p, &w);
		if (!first && column + 1 + columns > width) {
			strbuf_addf(out, "\n%*s", (int)indent, "");
			column = indent;
		} else if (!first) {
			strbuf_addch(out, ' ');
			column++;
		}
		strbuf_add(out, s, len);
		column += columns;
		first = false;
		s += len;
		s += strspn(s, " ");
	}
}

void
text_number(struct strbuf *out, int64_t n)
{
	char digits[32];
	size_t len;

	snprintf(digits, sizeof digits, "%" PRId64, n);
	len = strlen(digits);
	for (size_t i = 0; i < len; i++) {
		if (i > 0 && (len - i) % 3 == 0 && digits[i - 1] != '-')
			strbuf_addch(out, ',');
		strbuf_addch(out, digits[i]);
	}
}

void
text_count(struct strbuf *out, int64_t n, const char *noun)
{
	text_number(out, n);
	strbuf_addf(out, " %s%s", noun, n == 1 ? "" : "s");
}

void
text_bytes(struct strbuf *out, int64_t n)
{
	static const char *const units[] = { "KiB", "MiB", "GiB", "TiB" };
	double v = (double)n;
	size_t unit = 0;

	if (n < 1024) {
		strbuf_addf(out, "%" PRId64 " B", n);
		return;
	}
	/* 1023.5 and more would be shown as 1024. */
	for (v /= 1024; v >= 1023.5 && unit < 3; unit++)
		v /= 1024;
	strbuf_addf(out, v < 9.95 ? "%.1f %s" : "%.0f %s", v, units[unit]);
}

void
text_time(struct strbuf *out, const struct text_clock *clock, int64_t t)
{
	char abbr[ZONE_ABBR_MAX];
	int64_t local = t + zone_info(clock->zone, t, NULL, abbr);
	struct civil c;

	civil_from_seconds(&c, local);
	strbuf_addf(out, "%s %04" PRId64 "-%02d-%02d %02d:%02d:%02d %s",
	    weekdays[civil_weekday(civil_days(c.year, c.month, c.day))],
	    c.year, c.month, c.day, c.hour, c.minute, c.second, abbr);
}

void
text_time_near(struct strbuf *out, const struct text_clock *clock, int64_t t,
    bool exact)
{
	int64_t now = clock->now;
	struct civil c, today;
	int64_t days;

	civil_from_seconds(&c, t + zone_offset(clock->zone, t));
	civil_from_seconds(&today, now + zone_offset(clock->zone, now));
	days = civil_days(c.year, c.month, c.day) -
	    civil_days(today.year, today.month, today.day);
	if (days < -6 || days > 6)
		strbuf_addf(out, "%04" PRId64 "-%02d-%02d", c.year, c.month,
		    c.day);
	else if (days != 0)
		strbuf_addstr(out, weekdays[civil_weekday(
		    civil_days(c.year, c.month, c.day))]);
	if ((days < -6 || days > 6) && !exact)
		return;
	strbuf_addf(out, "%s%02d:%02d", days != 0 ? " " : "", c.hour,
	    c.minute);
	if (c.second != 0 || exact)
		strbuf_addf(out, ":%02d", c.second);
}

void
text_span(struct strbuf *out, double seconds)
{
	static const struct {
		int64_t		 below;	/* the unit serves up to here */
		int64_t		 size;	/* seconds in one of it */
		const char	*name;
	} units[] = {
		{ MINUTE, 1, "s" },
		{ HOUR, MINUTE, "min" },
		{ 2 * DAY, HOUR, "h" },
		{ 2 * YEAR, DAY, "d" },
		{ INT64_MAX, YEAR, "y" },
	};
	int64_t s = seconds > 0 ? (int64_t)seconds : 0;
	size_t i = 0;

	while (s >= units[i].below)
		i++;
	strbuf_addf(out, "%" PRId64 " %s", s / units[i].size, units[i].name);
}

void
text_relative(struct strbuf *out, double seconds_from_now)
{
	bool past = seconds_from_now < 0;
	double s = past ? -seconds_from_now : seconds_from_now;

	if (s < 0.5) {
		strbuf_addstr(out, "now");
		return;
	}
	if (!past)
		strbuf_addstr(out, "in ");
	text_span(out, s < 1 ? 1 : s);
	if (past)
		strbuf_addstr(out, " ago");
}

void
text_ago(struct strbuf *out, double seconds_ago)
{
	text_relative(out, seconds_ago > 0 ? -seconds_ago : 0);
}

void
text_relative_long(struct strbuf *out, int64_t seconds_from_now)
{
	char words[DURATION_MAX_LEN];
	int64_t s = seconds_from_now;

	if (s == 0) {
		strbuf_addstr(out, "now");
		return;
	}
	duration_format_human(words, (s < 0 ? -s : s) * 1000);
	strbuf_addf(out, s > 0 ? "in %s" : "%s ago", words);
}

void
text_took(struct strbuf *out, double s)
{
	int64_t whole = (int64_t)(s + 0.5);

	if (s < 0)
		s = whole = 0;
	if (s < 0.0995)
		strbuf_addf(out, "%.0f ms", s * 1000);
	else if (s < 9.95)
		strbuf_addf(out, s < 0.995 ? "%.2f s" : "%.1f s", s);
	else if (whole < 60)
		strbuf_addf(out, "%" PRId64 "s", whole);
	else if (whole < 3600)
		strbuf_addf(out, "%" PRId64 "m%02" PRId64 "s", whole / 60,
		    whole % 60);
	else if (whole < 86400)
		strbuf_addf(out, "%" PRId64 "h%02" PRId64 "m", whole / 3600,
		    whole % 3600 / 60);
	else
		strbuf_addf(out, "%" PRId64 "d%02" PRId64 "h", whole / 86400,
		    whole % 86400 / 3600);
}

void
text_late(struct strbuf *out, double s)
{
	if (s < 0)
		s = 0;
	if (s < 0.00995)
		strbuf_addf(out, "%.1f ms", s * 1000);
	else
		text_took(out, s);
}
