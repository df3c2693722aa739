/* SPDX-License-Identifier: ISC */
/*
 * Zones: files made by hand, byte for byte, whole and damaged; rules of
 * footers; the zone database against the C library, which reads the same
 * files by code of its own.
 *
 * ZONE_TEST_DIR names another directory of zone files, for instance one made
 * with zic -b slim.
 */
#include "config.h"

#include "common/zone.h"

#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/strbuf.h"
#include "common/timestamp.h"
#include "common/xmalloc.h"
#include "common/zone_rule.h"
#include "tests/check_main.h"

#define HOUR	INT64_C(3600)
#define DAY	INT64_C(86400)
#define N(table) ((int)(sizeof(table) / sizeof(table[0])))

static struct zone *
must_load(const char *name)
{
	struct error err = { "" };
	struct zone *z = zone_load(name, &err);

	ck_assert_msg(z != NULL, "%s: %s", name, err.text);
	return z;
}

/* --- files ------------------------------------------------------------- */

static void
add_be(struct strbuf *b, int64_t v, int size)
{
	for (int i = size - 1; i >= 0; i--)
		strbuf_addch(b, (char)((uint64_t)v >> 8 * i));
}

static void
add_header(struct strbuf *b, char version, int leaps, int times, int types,
    int chars)
{
	strbuf_add(b, "TZif", 4);
	strbuf_addch(b, version);
	for (int i = 0; i < 15; i++)
		strbuf_addch(b, '\0');
	add_be(b, 0, 4);
	add_be(b, 0, 4);
	add_be(b, leaps, 4);
	add_be(b, times, 4);
	add_be(b, types, 4);
	add_be(b, chars, 4);
}

/* One change, at 1000, from AAA (0 s) to BBB (3,600 s, DST). */
static void
add_block(struct strbuf *b, int size)
{
	add_be(b, 1000, size);
	strbuf_addch(b, 1);
	add_be(b, 0, 4);
	strbuf_add(b, "\0\0", 2);
	add_be(b, 3600, 4);
	strbuf_add(b, "\1\4", 2);
	strbuf_add(b, "AAA\0BBB\0", 8);
}

/* A file of a version, with a footer from version 2 on. */
static void
make_file(struct strbuf *b, char version, const char *footer)
{
	strbuf_reset(b);
	add_header(b, version, 0, 1, 2, 8);
	add_block(b, 4);
	if (version == '\0')
		return;
	add_header(b, version, 0, 1, 2, 8);
	add_block(b, 8);
	strbuf_addf(b, "\n%s\n", footer);
}

START_TEST(files_of_every_version_are_read)
{
	static const char versions[] = { '\0', '2', '3', '4' };
	struct error err = { "" };
	struct strbuf b = STRBUF_INIT;
	char abbr[ZONE_ABBR_MAX];
	struct zone *z;
	bool dst;

	make_file(&b, versions[_i], "");
	z = zone_parse("Test/One", b.buf, b.len, &err);
	ck_assert_msg(z != NULL, "%s", err.text);
	ck_assert_str_eq(zone_name(z), "Test/One");
	ck_assert_int_eq(zone_info(z, 999, &dst, abbr), 0);
	ck_assert(!dst);
	ck_assert_str_eq(abbr, "AAA");
	ck_assert_int_eq(zone_info(z, 1000, &dst, abbr), 3600);
	ck_assert(dst);
	ck_assert_str_eq(abbr, "BBB");
	ck_assert_int_eq(zone_offset(z, INT64_MIN), 0);
	ck_assert_int_eq(zone_offset(z, INT64_MAX), 3600);
	zone_unref(z);
	strbuf_release(&b);
}
END_TEST

START_TEST(footer_is_in_force_after_the_last_change)
{
	struct error err = { "" };
	struct strbuf b = STRBUF_INIT;
	char abbr[ZONE_ABBR_MAX];
	struct zone *z;

	make_file(&b, '2', "CCC-2");
	z = zone_parse("Test/One", b.buf, b.len, &err);
	ck_assert_msg(z != NULL, "%s", err.text);
	ck_assert_int_eq(zone_info(z, 999, NULL, abbr), 0);
	ck_assert_int_eq(zone_info(z, 1000, NULL, abbr), 7200);
	ck_assert_str_eq(abbr, "CCC");
	zone_unref(z);
	strbuf_release(&b);
}
END_TEST

START_TEST(every_cut_off_file_is_refused)
{
	static const char versions[] = { '\0', '2' };
	struct strbuf b = STRBUF_INIT;

	make_file(&b, versions[_i], "AAA0BBB,M3.5.0,M10.5.0");
	for (size_t len = 0; len < b.len; len++) {
		struct error err = { "" };
		/* In a block of its own, so that a byte too far is noticed. */
		char *part = xmemdup(b.buf, len + 1);

		part = xreallocarray(part, len == 0 ? 1 : len, 1);
		ck_assert_msg(zone_parse("x", part, len, &err) == NULL,
		    "%zu bytes of %zu are accepted", len, b.len);
		ck_assert_str_ne(err.text, "");
		free(part);
	}
	strbuf_release(&b);
}
END_TEST

/* Whatever one byte becomes, what is accepted can be asked anything. */
START_TEST(changed_bytes_do_no_harm)
{
	static const uint8_t values[] = { 0x00, 0x01, 0x7f, 0x80, 0xff, ',' };
	struct zone_transition t;
	struct strbuf b = STRBUF_INIT;

	make_file(&b, '2', "AAA0BBB,M3.5.0,M10.5.0");
	for (size_t i = 0; i < b.len; i++) {
		char was = b.buf[i];

		for (int v = 0; v < N(values); v++) {
			struct zone *z;

			b.buf[i] = (char)values[v];
			z = zone_parse("x", b.buf, b.len, NULL);
			if (z == NULL)
				continue;
			zone_next_transition(z, 0, &t);
			zone_previous_transition(z, 5000 * DAY, &t);
			zone_local_to_utc(z, 90 * DAY);
			zone_unref(z);
		}
		b.buf[i] = was;
	}
	strbuf_release(&b);
}
END_TEST

static const struct {
	size_t		 at;	/* byte of a file of version 1 */
	const char	*bytes;	/* put there */
	size_t		 len;	/* how many */
	const char	*says;	/* part of the refusal */
} damage[] = {
	{ 0, "TZig", 4, "not a time zone file" },
	{ 4, "1", 1, "version byte 0x31" },
	{ 20, "\0\0\0\1", 4, "number of UT flags" },
	{ 24, "\0\0\0\3", 4, "number of standard time flags" },
	{ 28, "\0\0\0\1", 4, "leap seconds" },
	{ 32, "\xff\xff\xff\xff", 4, "4294967295 changes" },
	{ 36, "\0\0\0\0", 4, "0 time types" },
	{ 36, "\0\0\2\0", 4, "512 time types" },
	{ 40, "\0\0\0\0", 4, "0 bytes of abbreviations" },
	{ 40, "\xff\xff\xff\xff", 4, "bytes of abbreviations" },
	{ 48, "\2", 1, "time type 2 of 2" },
	{ 49, "\x7f\0\0\0", 4, "out of all bounds" },
	{ 49, "\x80\0\0\0", 4, "out of all bounds" },
	{ 53, "\2", 1, "daylight saving flag" },
	{ 54, "\x08", 1, "abbreviation of time type 0 is not in the file" },
	{ 62, "\n", 1, "no letter, digit or sign" },
	{ 68, "BB", 2, "has no end" },
};

START_TEST(damage_is_named)
{
	struct error err = { "" };
	struct strbuf b = STRBUF_INIT;

	make_file(&b, '\0', NULL);
	memcpy(b.buf + damage[_i].at, damage[_i].bytes, damage[_i].len);
	ck_assert_ptr_null(zone_parse("x", b.buf, b.len, &err));
	ck_assert_msg(strstr(err.text, damage[_i].says) != NULL, "\"%s\"",
	    err.text);
	strbuf_release(&b);
}
END_TEST

START_TEST(changes_must_rise)
{
	struct error err = { "" };
	struct strbuf b = STRBUF_INIT;

	add_header(&b, '\0', 0, 2, 1, 4);
	add_be(&b, 1000, 4);
	add_be(&b, 1000, 4);
	strbuf_add(&b, "\0\0", 2);
	add_be(&b, 0, 4);
	strbuf_add(&b, "\0\0AAA\0", 6);
	ck_assert_ptr_null(zone_parse("x", b.buf, b.len, &err));
	ck_assert_ptr_nonnull(strstr(err.text, "not later than the one"));
	strbuf_release(&b);
}
END_TEST

START_TEST(bad_footers_are_refused)
{
	static const char *const footers[] = {
		"A", "AA0", "AAA", "AAAx", "AAA25", "AAA0:60", "AAA0BBB",
		"AAA0BBB,", "AAA0BBB,M3.5.0", "AAA0BBB,M13.5.0,M10.5.0",
		"AAA0BBB,M3.6.0,M10.5.0", "AAA0BBB,M3.5.7,M10.5.0",
		"AAA0BBB,J0,J5", "AAA0BBB,J366,J5", "AAA0BBB,366,5",
		"AAA0BBB,M3.5.0/168,M10.5.0", "AAA0BBB,M3.5.0,M10.5.0x",
		"<AA0", "<A!A>0", "AAAAAAAAAAAAAAAA0"
	};
	struct error err = { "" };
	struct strbuf b = STRBUF_INIT;

	make_file(&b, '3', footers[_i]);
	ck_assert_msg(zone_parse("x", b.buf, b.len, &err) == NULL, "%s",
	    footers[_i]);
	ck_assert_ptr_nonnull(strstr(err.text, "TZ string"));
	strbuf_release(&b);
}
END_TEST

/* --- rules ------------------------------------------------------------- */

static const struct {
	const char	*rule;	/* TZ string */
	int64_t		 utc;	/* instant */
	int32_t		 offset; /* then */
	const char	*abbr;	/* then */
} rules[] = {
	{ "UTC0", 0, 0, "UTC" },
	{ "<-0330>3:30", 0, -12600, "-0330" },
	{ "<+1245>-12:45:00", 0, 45900, "+1245" },
	/* Second Sunday in March, first in November; 2027-03-14 07:00 UTC. */
	{ "EST5EDT,M3.2.0,M11.1.0", 20891 * DAY + 7 * HOUR - 1, -18000,
	    "EST" },
	{ "EST5EDT,M3.2.0,M11.1.0", 20891 * DAY + 7 * HOUR, -14400, "EDT" },
	{ "EST5EDT,M3.2.0,M11.1.0", 21129 * DAY + 6 * HOUR - 1, -14400,
	    "EDT" },
	{ "EST5EDT,M3.2.0,M11.1.0", 21129 * DAY + 6 * HOUR, -18000, "EST" },
	/* Southern: summer is around the turn of the year. */
	{ "AEST-10AEDT,M10.1.0,M4.1.0/3", 20820 * DAY, 39600, "AEDT" },
	{ "AEST-10AEDT,M10.1.0,M4.1.0/3", 21000 * DAY, 36000, "AEST" },
	/* Ireland: the winter is what is called daylight saving. */
	{ "IST-1GMT0,M10.5.0,M3.5.0/1", 20820 * DAY, 0, "GMT" },
	{ "IST-1GMT0,M10.5.0,M3.5.0/1", 21000 * DAY, 3600, "IST" },
	/* RFC 9636 3.3.1: the Saturday before the last Sunday, 22:00. */
	{ "<-03>3<-02>,M3.5.0/-2,M10.5.0/-1", 20905 * DAY + HOUR - 1, -10800,
	    "-03" },
	{ "<-03>3<-02>,M3.5.0/-2,M10.5.0/-1", 20905 * DAY + HOUR, -7200,
	    "-02" },
	/* Fourth Thursday of March 2027 is the 25th; 26:00 is the 26th. */
	{ "IST-2IDT,M3.4.4/26,M10.5.0", 20903 * DAY - 1, 7200, "IST" },
	{ "IST-2IDT,M3.4.4/26,M10.5.0", 20903 * DAY, 10800, "IDT" },
	/* J60 is 1 March in any year; 59 is that in common years. */
	{ "AAA0BBB,J60/0,J300/0", 19782 * DAY + 1, 0, "AAA" },
	{ "AAA0BBB,J60/0,J300/0", 19783 * DAY, 3600, "BBB" },
	{ "AAA0BBB,59/0,299/0", 19782 * DAY, 3600, "BBB" },
	{ "AAA0BBB,59/0,299/0", 19782 * DAY - 1, 0, "AAA" },
	/* RFC 9636 3.3.1: daylight saving time all year. */
	{ "XXX3EDT4,0/0,J365/23", 20820 * DAY, -14400, "EDT" },
	{ "XXX3EDT4,0/0,J365/23", 20819 * DAY + 3 * HOUR, -14400, "EDT" },
	{ "EST5EDT,0/0,J365/25", 20819 * DAY + 5 * HOUR - 1, -14400, "EDT" },
	{ "EST5EDT,0/0,J365/25", 20819 * DAY + 5 * HOUR, -14400, "EDT" },
	/* Far from the year they belong to. */
	{ "AAA0BBB,J1/-167,J1/167", 20819 * DAY - 167 * HOUR - 1, 0, "AAA" },
	{ "AAA0BBB,J1/-167,J1/167", 20819 * DAY - 167 * HOUR, 3600, "BBB" },
	{ "AAA0BBB,J1/-167,J1/167", 20819 * DAY + 166 * HOUR - 1, 3600,
	    "BBB" },
	{ "AAA0BBB,J1/-167,J1/167", 20819 * DAY + 166 * HOUR, 0, "AAA" },
	/* Any year: 1 July 1 and 9999, and far beyond. */
	{ "EST5EDT,M3.2.0,M11.1.0", -718981 * DAY, -14400, "EDT" },
	{ "EST5EDT,M3.2.0,M11.1.0", INT64_C(2932713) * DAY, -14400, "EDT" },
	{ "EST5EDT,M3.2.0,M11.1.0", INT64_C(146097) * DAY * 1000000 +
	    20820 * DAY, -18000, "EST" },
};

START_TEST(rules_of_footers_hold)
{
	struct error err = { "" };
	struct zone_rule r;
	struct zone_span span;
	bool dst;

	ck_assert_msg(zone_rule_parse(&r, rules[_i].rule,
	    strlen(rules[_i].rule), &err) == 0, "%s", err.text);
	dst = zone_rule_span(&r, rules[_i].utc, &span);
	ck_assert_int_eq(span.offset, rules[_i].offset);
	ck_assert_str_eq(dst && r.has_dst ? r.dst_abbr : r.std_abbr,
	    rules[_i].abbr);
	ck_assert_int_le(span.start, rules[_i].utc);
	ck_assert_int_gt(span.end, rules[_i].utc);
}
END_TEST

/* --- names ------------------------------------------------------------- */

static const struct {
	const char	*name;	/* as given */
	const char	*says;	/* part of the refusal */
} bad_names[] = {
	{ "", "is empty" },
	{ "Europe/Berln", "unknown time zone \"Europe/Berln\"; did you mean "
	    "Europe/Berlin?" },
	{ "europe/berlin", "did you mean Europe/Berlin?" },
	{ "America/New York", "has a blank in it; did you mean "
	    "America/New_York?" },
	{ "Berlin", "did you mean Europe/Berlin?" },
	{ "Europe/Buenos_Aires", "Buenos_Aires?" },
	{ "Europe", "unknown time zone \"Europe\"" },
	{ "Europe/", "is a path" },
	{ "../zoneinfo/UTC", "is a path" },
	{ "Europe/../UTC", "is a path" },
	{ "./UTC", "is a path" },
	{ "Europe/..", "is a path" },
	{ "Europe//Berlin", "is a path" },
	{ "/usr/share/zoneinfo/UTC", "is a path" },
	{ "UTC\n", "has a character that no zone has" },
	{ "Mars/Olympus", "zones are named like Europe/Berlin" },
	{ "tzdata.zi", "not a time zone file" },
	{ "zone.tab", "not a time zone file" },
};

START_TEST(bad_names_are_refused)
{
	struct error err = { "" };

	ck_assert_ptr_null(zone_load(bad_names[_i].name, &err));
	ck_assert_msg(strstr(err.text, bad_names[_i].says) != NULL, "%s",
	    err.text);
}
END_TEST

START_TEST(b126_no_bad_name_means_utc)
{
	static const char *const names[] = {
		" Europe/Paris ", "Europe/Pariss", "../../etc/passwd", "",
		" ", "Europe/Paris "
	};
	struct error err = { "" };

	ck_assert_ptr_null(zone_load(names[_i], &err));
	ck_assert_str_ne(err.text, "");
}
END_TEST

START_TEST(overlong_names_are_refused)
{
	char name[5000];
	struct error err = { "" };

	memset(name, 'A', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	ck_assert_ptr_null(zone_load(name, &err));
	ck_assert_ptr_nonnull(strstr(err.text, "is too long"));
}
END_TEST

START_TEST(tables_of_leap_seconds_are_refused)
{
	struct error err = { "" };
	struct zone *z = zone_load("right/Europe/Berlin", &err);

	ck_assert_ptr_null(z);
	ck_assert_str_ne(err.text, "");
}
END_TEST

START_TEST(local_zone_follows_tz)
{
	static const struct {
		const char	*tz;	/* in the environment */
		const char	*name;	/* of the zone */
		int32_t		 offset; /* on 1970-01-01 */
	} rows[] = {
		{ "Asia/Tokyo", "Asia/Tokyo", 32400 },
		{ ":Asia/Tokyo", "Asia/Tokyo", 32400 },
		{ "/usr/share/zoneinfo/Asia/Tokyo", "Asia/Tokyo", 32400 },
		{ "UTC", "UTC", 0 },
		{ "UTC0", "UTC0", 0 },
		{ "XYZ-2XYT,M3.5.0,M10.5.0", "XYZ-2XYT,M3.5.0,M10.5.0", 7200 },
	};
	struct error err = { "" };
	struct zone *z = zone_load_local(rows[_i].tz, &err);

	ck_assert_msg(z != NULL, "%s", err.text);
	ck_assert_str_eq(zone_name(z), rows[_i].name);
	ck_assert_int_eq(zone_offset(z, 0), rows[_i].offset);
	zone_unref(z);
}
END_TEST

START_TEST(local_zone_refuses_a_bad_tz_and_knows_one_without)
{
	struct error err = { "" };
	struct zone *z;

	ck_assert_ptr_null(zone_load_local("Europe/Pariss", &err));
	ck_assert_ptr_nonnull(strstr(err.text, "Europe/Paris?"));
	z = zone_load_local(NULL, &err);
	ck_assert_msg(z != NULL, "%s", err.text);
	zone_unref(z);
}
END_TEST

START_TEST(cache_gives_one_zone_for_one_name)
{
	struct zone_cache *c = zone_cache_new();
	struct error err = { "" };
	struct zone *a = zone_cache_get(c, "Europe/Berlin", &err);
	struct zone *b = zone_cache_get(c, "Asia/Tokyo", &err);

	ck_assert_ptr_nonnull(a);
	ck_assert_ptr_nonnull(b);
	ck_assert_ptr_ne(a, b);
	ck_assert_ptr_eq(zone_cache_get(c, "Europe/Berlin", &err), a);
	ck_assert_ptr_null(zone_cache_get(c, "Nowhere", &err));
	ck_assert_uint_ne(zone_hash(a), zone_hash(b));
	zone_ref(a);
	zone_cache_free(c);
	ck_assert_str_eq(zone_name(a), "Europe/Berlin");
	zone_unref(a);
}
END_TEST

/* --- changes and local times ------------------------------------------- */

static const struct {
	const char	*zone;	/* IANA name */
	int64_t		 from;	/* ask from here */
	int64_t		 at;	/* the first change at or after it */
	int32_t		 before; /* offset */
	int32_t		 after;	/* offset */
} changes[] = {
	/* Dates of the changes are those of the zone database's sources. */
	{ "Europe/Berlin", 20800 * DAY, 20905 * DAY + HOUR, 3600, 7200 },
	{ "Europe/Berlin", 20905 * DAY + HOUR, 20905 * DAY + HOUR, 3600,
	    7200 },
	{ "Europe/Berlin", 20905 * DAY + HOUR + 1, 21122 * DAY + HOUR, 7200,
	    3600 },
	/* 2200-03-30, by the footer. */
	{ "Europe/Berlin", 84090 * DAY, 84094 * DAY + HOUR, 3600, 7200 },
	/* Half an hour. */
	{ "Australia/Lord_Howe", 19800 * DAY, 19819 * DAY + 15 * HOUR,
	    39600, 37800 },
	/* A whole day left out: 2011-12-30 10:00 UTC, -10 to +14. */
	{ "Pacific/Apia", 15330 * DAY, 15338 * DAY + 10 * HOUR, -36000,
	    50400 },
};

START_TEST(changes_are_found_both_ways)
{
	struct zone *z = must_load(changes[_i].zone);
	struct zone_transition t;

	ck_assert(zone_next_transition(z, changes[_i].from, &t));
	ck_assert_int_eq(t.at, changes[_i].at);
	ck_assert_int_eq(t.before, changes[_i].before);
	ck_assert_int_eq(t.after, changes[_i].after);
	memset(&t, 0, sizeof(t));
	ck_assert(zone_previous_transition(z, changes[_i].at + 1, &t));
	ck_assert_int_eq(t.at, changes[_i].at);
	ck_assert_int_eq(t.before, changes[_i].before);
	ck_assert(zone_previous_transition(z, changes[_i].at, &t));
	ck_assert_int_lt(t.at, changes[_i].at);
	zone_unref(z);
}
END_TEST

START_TEST(utc_has_no_changes)
{
	struct zone *z = zone_utc();
	struct zone_transition t;

	ck_assert(!zone_next_transition(z, 0, &t));
	ck_assert(!zone_previous_transition(z, 0, &t));
	ck_assert_int_eq(zone_local_to_utc(z, 12345), 12345);
	zone_unref(z);
}
END_TEST

static const struct {
	const char	*zone;	/* IANA name */
	int64_t		 local;	/* wall clock, as seconds */
	int64_t		 utc;	/* instant */
} locals[] = {
	{ "Asia/Tokyo", 0, -9 * HOUR },
	/* 2027-03-28 in Berlin: before, in and after the gap. */
	{ "Europe/Berlin", 20905 * DAY + 2 * HOUR - 1,
	    20905 * DAY + HOUR - 1 },
	{ "Europe/Berlin", 20905 * DAY + 2 * HOUR, 20905 * DAY + HOUR },
	{ "Europe/Berlin", 20905 * DAY + 3 * HOUR - 1, 20905 * DAY + HOUR },
	{ "Europe/Berlin", 20905 * DAY + 3 * HOUR, 20905 * DAY + HOUR },
	{ "Europe/Berlin", 20905 * DAY + 3 * HOUR + 1,
	    20905 * DAY + HOUR + 1 },
	/* 2026-10-25: 02:30 is shown at 00:30 and 01:30 UTC. */
	{ "Europe/Berlin", 20751 * DAY + 2 * HOUR + 1800,
	    20751 * DAY + 1800 },
	{ "Europe/Berlin", 20751 * DAY + 3 * HOUR, 20751 * DAY + 2 * HOUR },
	/* 2011-12-30 noon was left out in Apia. */
	{ "Pacific/Apia", 15338 * DAY + 12 * HOUR, 15338 * DAY + 10 * HOUR },
};

START_TEST(local_times_become_instants)
{
	struct zone *z = must_load(locals[_i].zone);

	ck_assert_int_eq(zone_local_to_utc(z, locals[_i].local),
	    locals[_i].utc);
	zone_unref(z);
}
END_TEST

/* --- against the C library --------------------------------------------- */

#define YEAR_1970	INT64_C(0)
#define YEAR_2101	(INT64_C(47847) * DAY)

static const char *
zone_dir(void)
{
	const char *dir = getenv("ZONE_TEST_DIR");

	return dir == NULL ? "/usr/share/zoneinfo" : dir;
}

static void
compare_at(const struct zone *z, int64_t utc)
{
	time_t t = (time_t)utc;
	char abbr[ZONE_ABBR_MAX];
	struct tm tm;
	bool dst;
	int32_t offset = zone_info(z, utc, &dst, abbr);

	ck_assert_ptr_nonnull(localtime_r(&t, &tm));
	if (offset == tm.tm_gmtoff && dst == (tm.tm_isdst > 0) &&
	    strcmp(abbr, tm.tm_zone) == 0)
		return;
	ck_abort_msg("%s at %" PRId64 ": %" PRId32 " %s dst %d, the C "
	    "library has %ld %s dst %d", zone_name(z), utc, offset, abbr,
	    dst, tm.tm_gmtoff, tm.tm_zone, tm.tm_isdst);
}

/* Each change and an hour around it; then instants at random. */
static void
compare_zone(const char *name, int at_random, uint64_t *seed)
{
	static const int64_t around[] = { -HOUR, -1, 0, 1, HOUR };
	char *path = xasprintf("%s/%s", zone_dir(), name), *data;
	struct error err = { "" };
	struct zone_transition t = { .at = YEAR_1970 - 1 };
	FILE *f = fopen(path, "r");
	struct zone *z;
	size_t len;

	ck_assert_msg(f != NULL, "%s", path);
	data = xmalloc(65536);
	len = fread(data, 1, 65536, f);
	fclose(f);
	z = zone_parse(name, data, len, &err);
	ck_assert_msg(z != NULL, "%s: %s", path, err.text);
	setenv("TZ", name, 1);
	tzset();
	while (zone_next_transition(z, t.at + 1, &t) && t.at < YEAR_2101)
		for (int i = 0; i < N(around); i++)
			compare_at(z, t.at + around[i]);
	for (int i = 0; i < at_random; i++) {
		*seed = *seed * UINT64_C(6364136223846793005) + 1442695;
		compare_at(z, (int64_t)(*seed >> 20) % YEAR_2101);
	}
	zone_unref(z);
	free(data);
	free(path);
}

/* Calls for each name in the database's own list: zones and links. */
static int
compare_all(int at_random)
{
	FILE *f = fopen("/usr/share/zoneinfo/tzdata.zi", "r");
	char *line = NULL, a[128], b[128];
	uint64_t seed = 1;
	size_t cap = 0;
	int n = 0;

	if (f == NULL)
		return 0;
	while (getline(&line, &cap, f) > 0) {
		if (sscanf(line, "Z %127s", a) == 1) {
			compare_zone(a, at_random, &seed);
			n++;
		} else if (sscanf(line, "L %127s %127s", b, a) == 2) {
			compare_zone(a, at_random / 10, &seed);
			n++;
		}
	}
	free(line);
	fclose(f);
	return n;
}

START_TEST(all_zones_agree_with_the_c_library)
{
	const char *many = getenv("CHECK_LONG");
	int n;

	setenv("TZDIR", zone_dir(), 1);
	n = compare_all(many != NULL ? 10000 : 100);
	/* Without the list at least these. */
	if (n == 0) {
		uint64_t seed = 1;

		compare_zone("America/New_York", 300, &seed);
		compare_zone("Europe/Dublin", 300, &seed);
		compare_zone("Africa/Casablanca", 300, &seed);
		compare_zone("Pacific/Apia", 300, &seed);
		n = 4;
	}
	ck_assert_int_gt(n, 3);
}
END_TEST

static Suite *
zone_suite(void)
{
	Suite *s = suite_create("zone");
	TCase *t = tcase_create("zone");

	tcase_set_timeout(t, 300);
	tcase_add_loop_test(t, files_of_every_version_are_read, 0, 4);
	tcase_add_test(t, footer_is_in_force_after_the_last_change);
	tcase_add_loop_test(t, every_cut_off_file_is_refused, 0, 2);
	tcase_add_test(t, changed_bytes_do_no_harm);
	tcase_add_loop_test(t, damage_is_named, 0, N(damage));
	tcase_add_test(t, changes_must_rise);
	tcase_add_loop_test(t, bad_footers_are_refused, 0, 20);
	tcase_add_loop_test(t, rules_of_footers_hold, 0, N(rules));
	tcase_add_loop_test(t, bad_names_are_refused, 0, N(bad_names));
	tcase_add_loop_test(t, b126_no_bad_name_means_utc, 0, 6);
	tcase_add_test(t, overlong_names_are_refused);
	tcase_add_test(t, tables_of_leap_seconds_are_refused);
	tcase_add_loop_test(t, local_zone_follows_tz, 0, 6);
	tcase_add_test(t, local_zone_refuses_a_bad_tz_and_knows_one_without);
	tcase_add_test(t, cache_gives_one_zone_for_one_name);
	tcase_add_loop_test(t, changes_are_found_both_ways, 0, N(changes));
	tcase_add_test(t, utc_has_no_changes);
	tcase_add_loop_test(t, local_times_become_instants, 0, N(locals));
	tcase_add_test(t, all_zones_agree_with_the_c_library);
	suite_add_tcase(s, t);
	return s;
}

int
main(void)
{
	return check_main(zone_suite());
}
