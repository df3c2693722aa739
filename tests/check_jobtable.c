/* SPDX-License-Identifier: ISC */
/*
 * The job table against a model that is a plain list: names, ids, order, and
 * what becomes of them when jobs come and go.
 */
#include "config.h"

#include "daemon/jobtable.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/xmalloc.h"
#include "tests/check_main.h"

static struct job *
make_job(const char *name, int64_t id)
{
	struct jobdef *def = xcalloc(1, sizeof(*def));
	struct job *job;

	def->name = xstrdup(name);
	job = job_new(def);
	job->id = id;
	return job;
}

static struct job *
add(struct jobtable *table, const char *name, int64_t id)
{
	struct job *job = make_job(name, id);

	jobtable_add(table, job);
	return job;
}

static void
drop(struct jobtable *table, struct job *job)
{
	jobtable_remove(table, job);
	job_free(job);
}

/* All names in the table's order, a blank between. */
static const char *
names(struct jobtable *table, char *buf, size_t size)
{
	size_t len = 0;
	struct job *job;

	buf[0] = '\0';
	for (size_t i = 0; (job = jobtable_at(table, i)) != NULL; i++)
		len += (size_t)snprintf(buf + len, size - len, "%s%s",
		    len > 0 ? " " : "", job->def->name);
	return buf;
}

START_TEST(an_empty_table_has_nothing)
{
	struct jobtable *table = jobtable_new();

	ck_assert_uint_eq(jobtable_count(table), 0);
	ck_assert_ptr_null(jobtable_find(table, "a"));
	ck_assert_ptr_null(jobtable_find_id(table, 1));
	ck_assert_ptr_null(jobtable_at(table, 0));
	ck_assert_uint_eq(jobtable_position(table, NULL), 0);
	ck_assert_uint_eq(jobtable_position(table, "x"), 0);
	ck_assert_ptr_null(jobtable_nearest(table, "a"));
	jobtable_free(table);
}
END_TEST

START_TEST(finds_by_name_and_by_id)
{
	struct jobtable *table = jobtable_new();
	struct job *backup = add(table, "backup", 7);
	struct job *web = add(table, "web", 71);	/* 7 + 64: same bucket */

	ck_assert_ptr_eq(jobtable_find(table, "backup"), backup);
	ck_assert_ptr_eq(jobtable_find(table, "web"), web);
	ck_assert_ptr_null(jobtable_find(table, "we"));
	ck_assert_ptr_null(jobtable_find(table, "Web"));
	ck_assert_ptr_eq(jobtable_find_id(table, 7), backup);
	ck_assert_ptr_eq(jobtable_find_id(table, 71), web);
	ck_assert_ptr_null(jobtable_find_id(table, 8));
	jobtable_free(table);
}
END_TEST

START_TEST(orders_by_the_bytes_of_names)
{
	struct jobtable *table = jobtable_new();
	char buf[256];

	add(table, "b", 1);
	add(table, "a.1", 2);
	add(table, "B", 3);
	add(table, "a-1", 4);
	add(table, "anna/b", 5);
	/* ASCII: '-' 2D, '.' 2E, 'B' 42, 'a' 61 */
	ck_assert_str_eq(names(table, buf, sizeof(buf)),
	    "B a-1 a.1 anna/b b");
	add(table, "a", 6);
	add(table, "z", 7);
	ck_assert_str_eq(names(table, buf, sizeof(buf)),
	    "B a a-1 a.1 anna/b b z");
	jobtable_free(table);
}
END_TEST

START_TEST(a_page_goes_on_after_a_name)
{
	struct jobtable *table = jobtable_new();

	add(table, "d", 1);
	add(table, "b", 2);
	add(table, "f", 3);
	ck_assert_uint_eq(jobtable_position(table, NULL), 0);
	ck_assert_uint_eq(jobtable_position(table, "a"), 0);
	ck_assert_uint_eq(jobtable_position(table, "b"), 1);
	ck_assert_uint_eq(jobtable_position(table, "c"), 1);
	ck_assert_uint_eq(jobtable_position(table, "e"), 2);
	ck_assert_uint_eq(jobtable_position(table, "f"), 3);
	/* The job that a page ended with may be gone by the next one. */
	drop(table, jobtable_find(table, "d"));
	ck_assert_uint_eq(jobtable_position(table, "d"), 1);
	ck_assert_str_eq(jobtable_at(table, 1)->def->name, "f");
	jobtable_free(table);
}
END_TEST

START_TEST(a_removed_job_is_handed_back)
{
	struct jobtable *table = jobtable_new();
	struct job *a = add(table, "a", 1), *b = add(table, "b", 2);
	char buf[64];

	jobtable_remove(table, a);
	ck_assert_ptr_null(jobtable_find(table, "a"));
	ck_assert_ptr_null(jobtable_find_id(table, 1));
	ck_assert_uint_eq(jobtable_count(table), 1);
	ck_assert_str_eq(names(table, buf, sizeof(buf)), "b");
	jobtable_add(table, a);
	ck_assert_str_eq(names(table, buf, sizeof(buf)), "a b");
	/* Both ends of the sorted part, then the last one of all. */
	drop(table, a);
	drop(table, b);
	ck_assert_str_eq(names(table, buf, sizeof(buf)), "");
	add(table, "c", 3);
	ck_assert_str_eq(names(table, buf, sizeof(buf)), "c");
	jobtable_free(table);
}
END_TEST

START_TEST(a_new_definition_of_the_same_name_stays_found)
{
	struct jobtable *table = jobtable_new();
	struct job *job = add(table, "backup", 1);
	struct jobdef *old = job->def, *new = xcalloc(1, sizeof(*new));

	new->name = xstrdup("backup");
	job->def = new;
	jobdef_free(old);
	ck_assert_ptr_eq(jobtable_find(table, "backup"), job);
	drop(table, job);
	ck_assert_uint_eq(jobtable_count(table), 0);
	jobtable_free(table);
}
END_TEST

START_TEST(suggests_the_nearest_name)
{
	struct jobtable *table = jobtable_new();

	add(table, "web", 1);
	add(table, "backup", 2);
	add(table, "rotate", 3);
	ck_assert_str_eq(jobtable_nearest(table, "bakcup"), "backup");
	ck_assert_str_eq(jobtable_nearest(table, "rotat"), "rotate");
	ck_assert_ptr_null(jobtable_nearest(table, "unrelated"));
	jobtable_free(table);
}
END_TEST

START_TEST(counts_jobs_by_where_they_come_from)
{
	struct jobtable *table = jobtable_new();
	struct job *file = make_job("f", 1), *control = make_job("c", 2);

	file->origin = ORIGIN_FILE;
	control->origin = ORIGIN_CONTROL;
	jobtable_add(table, file);
	jobtable_add(table, control);
	ck_assert_uint_eq(jobtable_count_origin(table, ORIGIN_FILE), 1);
	ck_assert_uint_eq(jobtable_count_origin(table, ORIGIN_CONTROL), 1);
	drop(table, control);
	ck_assert_uint_eq(jobtable_count_origin(table, ORIGIN_FILE), 1);
	ck_assert_uint_eq(jobtable_count_origin(table, ORIGIN_CONTROL), 0);
	jobtable_free(table);
}
END_TEST

START_TEST(a_reserved_name_is_nobody_elses)
{
	struct jobtable *table = jobtable_new();

	add(table, "web", 1);
	ck_assert(!jobtable_reserve(table, "web"));
	ck_assert(jobtable_reserve(table, "backup"));
	ck_assert(jobtable_is_reserved(table, "backup"));
	ck_assert(!jobtable_is_reserved(table, "web"));
	ck_assert(!jobtable_reserve(table, "backup"));
	ck_assert(jobtable_reserve(table, "other"));
	/* It is not in force before it is added. */
	ck_assert_ptr_null(jobtable_find(table, "backup"));
	jobtable_unreserve(table, "backup");
	ck_assert(!jobtable_is_reserved(table, "backup"));
	ck_assert(jobtable_is_reserved(table, "other"));
	ck_assert(jobtable_reserve(table, "backup"));
	jobtable_free(table);
}
END_TEST

/* A plain list to compare with. */
#define MODEL_JOBS 4000

struct model {
	struct job	*jobs[MODEL_JOBS];	/* in no order */
	size_t		 n;			/* in use */
};

static int
by_name(const void *a, const void *b)
{
	return strcmp((*(struct job *const *)a)->def->name,
	    (*(struct job *const *)b)->def->name);
}

static void
compare_with(struct model *model, struct jobtable *table)
{
	qsort(model->jobs, model->n, sizeof(*model->jobs), by_name);
	ck_assert_uint_eq(jobtable_count(table), model->n);
	for (size_t i = 0; i < model->n; i++) {
		struct job *job = model->jobs[i];

		ck_assert_ptr_eq(jobtable_at(table, i), job);
		ck_assert_ptr_eq(jobtable_find(table, job->def->name), job);
		ck_assert_ptr_eq(jobtable_find_id(table, job->id), job);
		ck_assert_uint_eq(jobtable_position(table, job->def->name),
		    i + 1);
	}
	ck_assert_ptr_null(jobtable_at(table, model->n));
}

/* Names in rounds of additions and removals; pseudo-random, from a seed. */
START_TEST(keeps_its_order_whatever_comes_and_goes)
{
	struct jobtable *table = jobtable_new();
	struct model *model = xcalloc(1, sizeof(*model));
	uint64_t seed = 88172645463325252u + (uint64_t)_i;
	int64_t id = 1;

	for (int round = 0; round < 60; round++) {
		size_t adds, removals;

		/* xorshift64 (Marsaglia, 2003) */
		seed ^= seed << 13;
		seed ^= seed >> 7;
		seed ^= seed << 17;
		adds = seed % (round % 7 == 0 ? 900 : 5);
		removals = (seed >> 32) % (round % 5 == 0 ? 700 : 4);
		for (size_t i = 0; i < adds && model->n < MODEL_JOBS; i++) {
			char name[32];

			snprintf(name, sizeof(name), "j%llx",
			    (unsigned long long)(seed * (i + 1) >> 20));
			if (jobtable_find(table, name) != NULL)
				continue;
			model->jobs[model->n++] = add(table, name, id++);
		}
		for (size_t i = 0; i < removals && model->n > 0; i++) {
			size_t victim = (seed >> 16) * (i + 1) % model->n;

			drop(table, model->jobs[victim]);
			model->jobs[victim] = model->jobs[--model->n];
		}
		if (round % 3 == 0)
			compare_with(model, table);
	}
	compare_with(model, table);
	jobtable_free(table);
	free(model);
}
END_TEST

START_TEST(removing_all_in_order_leaves_nothing)
{
	struct jobtable *table = jobtable_new();
	char name[32];

	for (int i = 0; i < 3000; i++) {
		snprintf(name, sizeof(name), "job%05d", i);
		add(table, name, i + 1);
	}
	ck_assert_str_eq(jobtable_at(table, 2999)->def->name, "job02999");
	for (int i = 0; i < 3000; i++) {
		snprintf(name, sizeof(name), "job%05d",
		    _i == 0 ? i : 2999 - i);
		drop(table, jobtable_find(table, name));
	}
	ck_assert_uint_eq(jobtable_count(table), 0);
	ck_assert_ptr_null(jobtable_at(table, 0));
	jobtable_free(table);
}
END_TEST

static Suite *
jobtable_suite(void)
{
	Suite *suite = suite_create("jobtable");
	TCase *tc = tcase_create("jobtable");

	tcase_add_test(tc, an_empty_table_has_nothing);
	tcase_add_test(tc, finds_by_name_and_by_id);
	tcase_add_test(tc, orders_by_the_bytes_of_names);
	tcase_add_test(tc, a_page_goes_on_after_a_name);
	tcase_add_test(tc, a_removed_job_is_handed_back);
	tcase_add_test(tc, a_new_definition_of_the_same_name_stays_found);
	tcase_add_test(tc, suggests_the_nearest_name);
	tcase_add_test(tc, counts_jobs_by_where_they_come_from);
	tcase_add_test(tc, a_reserved_name_is_nobody_elses);
	tcase_add_loop_test(tc, keeps_its_order_whatever_comes_and_goes, 0, 8);
	tcase_add_loop_test(tc, removing_all_in_order_leaves_nothing, 0, 2);
	tcase_set_timeout(tc, 60);
	suite_add_tcase(suite, tc);
	return suite;
}

int
main(void)
{
	return check_main(jobtable_suite());
}
