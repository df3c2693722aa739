/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_OUTPUT_TEXT_H
#define CRONCTL_OUTPUT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/strbuf.h"
#include "common/zone.h"

/*
 * Values as people read them: escaped, measured, cut and wrapped for a
 * terminal; counts, times and durations in words.  Everything appends to a
 * string; nothing is printed here.  Widths are columns of a terminal.
 */

/* What times are shown in, and what "ago" is counted from. */
struct text_clock {
	struct zone	*zone;	/* the caller's, or UTC */
	int64_t		 now;	/* UTC seconds */
};

/*
 * A value from outside, safe on a terminal: control characters and those
 * that turn the direction of writing become \n, \t, \x1b, \u202e; bytes that
 * are no UTF-8 become \xNN.
 */
void	text_escape(struct strbuf *, const char *);
/*
 * Output of a job for a terminal: lines, tabs and colours stay, other
 * control characters are escaped as above.
 */
void	text_escape_output(struct strbuf *, const char *, size_t len);
size_t	text_width(const char *);
/* At most width columns of a text; what is cut ends in an ellipsis. */
void	text_cut(struct strbuf *, const char *, size_t width);
/*
 * A paragraph, broken at blanks into lines of at most width columns; lines
 * after the first begin with indent blanks.  No newline at the end.
 */
void	text_wrap(struct strbuf *, const char *, size_t indent, size_t width);

/* "1,204" */
void	text_number(struct strbuf *, int64_t);
/* "1 job", "1,204 jobs" */
void	text_count(struct strbuf *, int64_t, const char *noun);
/* "312 B", "14 KiB", "1.5 MiB" */
void	text_bytes(struct strbuf *, int64_t);

/* "Tue 2026-12-01 02:30:00 CET" */
void	text_time(struct strbuf *, const struct text_clock *, int64_t);
/*
 * As short as the distance allows: "02:30" today, "Sun 04:00" within six
 * days, else "2027-03-01".  With exact always to the second, as for a column:
 * "02:30:00", "2027-03-01 04:00:00".
 */
void	text_time_near(struct strbuf *, const struct text_clock *, int64_t,
	    bool exact);
/* One unit: "in 44 min", "16 h ago", "now" within half a second. */
void	text_relative(struct strbuf *, double seconds_from_now);
/* Of what is past, whatever the clocks say: "16 h ago", or "now". */
void	text_ago(struct strbuf *, double seconds_ago);
/* Two units, for the line that answers a question: "in 8 h 12 min". */
void	text_relative_long(struct strbuf *, int64_t seconds_from_now);
/* One unit, rounded down: "14 s", "3 h", "2 d", "4 y". */
void	text_span(struct strbuf *, double seconds);
/* How long something took: "1 ms", "0.25 s", "12s", "4m12s", "2h05m". */
void	text_took(struct strbuf *, double seconds);
/* The same with more of it where it is small: "0.9 ms", "41 ms". */
void	text_late(struct strbuf *, double seconds);

#endif
