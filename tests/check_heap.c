/* SPDX-License-Identifier: ISC */
/*
 * The heap of instants: each rule of its header by hand, then random
 * operations beside a model that is nothing but an array searched from end to
 * end.
 */
#include "config.h"

#include "daemon/heap.h"

#include <check.h>
#include <stdlib.h>

#include "tests/check_main.h"

/* What heaps are made of here. */
struct thing {
	struct heap_item item;	/* first: a thing is its item */
	int64_t		 key;	/* where it was added */
	uint64_t	 order;	/* when it was added: breaks equal ties */
};

static struct thing
thing_of(uint64_t sequence)
{
	return (struct thing){ .item = { .sequence = sequence } };
}

START_TEST(new_heap_is_empty)
{
	struct heap *heap = heap_new();
	int64_t key = 7;

	ck_assert_uint_eq(heap_count(heap), 0);
	ck_assert(!heap_peek(heap, &key));
	ck_assert_ptr_null(heap_pop(heap, INT64_MAX, &key));
	ck_assert_ptr_null(heap_pop_all(heap, INT64_MAX, &key));
	ck_assert_int_eq(key, 7);
	heap_free(heap);
}
END_TEST

START_TEST(peek_gives_the_least_instant)
{
	struct heap *heap = heap_new();
	struct thing things[] = { thing_of(1), thing_of(2), thing_of(3) };
	int64_t key;

	heap_add(heap, &things[0].item, 30);
	heap_add(heap, &things[1].item, -10);
	heap_add(heap, &things[2].item, 20);
	ck_assert(heap_peek(heap, &key));
	ck_assert_int_eq(key, -10);
	ck_assert_uint_eq(heap_count(heap), 3);
	heap_free(heap);
}
END_TEST

START_TEST(pop_takes_nothing_past_the_limit)
{
	struct heap *heap = heap_new();
	struct thing thing = thing_of(1);
	int64_t key;

	heap_add(heap, &thing.item, 100);
	ck_assert_ptr_null(heap_pop(heap, 99, &key));
	ck_assert_ptr_null(heap_pop_all(heap, 99, &key));
	ck_assert(heap_has(&thing.item));
	ck_assert_ptr_eq(heap_pop(heap, 100, &key), &thing.item);
	ck_assert_int_eq(key, 100);
	ck_assert(!heap_has(&thing.item));
	heap_free(heap);
}
END_TEST

/* Added in an order that is neither forward nor backward. */
static void
add_shuffled(struct heap *heap, struct thing *things, size_t n, int64_t key)
{
	size_t i;

	for (i = 0; i < n; i++)
		things[i] = thing_of(i);
	for (i = 0; i < n; i++)
		heap_add(heap, &things[i * 7 % n].item, key);
}

START_TEST(equal_instants_come_out_one_by_one_by_sequence)
{
	struct heap *heap = heap_new();
	struct thing things[50];
	int64_t key;

	add_shuffled(heap, things, 50, 5);
	for (size_t i = 0; i < 50; i++)
		ck_assert_ptr_eq(heap_pop(heap, 5, &key), &things[i].item);
	ck_assert_uint_eq(heap_count(heap), 0);
	heap_free(heap);
}
END_TEST

START_TEST(equal_instants_come_out_together_by_sequence)
{
	struct heap *heap = heap_new();
	struct thing things[50], later = thing_of(0);
	struct heap_item *item;
	int64_t key;

	add_shuffled(heap, things, 50, 5);
	heap_add(heap, &later.item, 6);
	item = heap_pop_all(heap, 6, &key);
	ck_assert_int_eq(key, 5);
	for (size_t i = 0; i < 50; i++, item = item->next) {
		ck_assert_ptr_eq(item, &things[i].item);
		ck_assert(!heap_has(item));
	}
	ck_assert_ptr_null(item);
	ck_assert_uint_eq(heap_count(heap), 1);
	heap_free(heap);
}
END_TEST

START_TEST(item_added_while_its_instant_is_served_comes_in_its_turn)
{
	struct heap *heap = heap_new();
	struct thing a = thing_of(1), b = thing_of(3), c = thing_of(2);
	int64_t key;

	heap_add(heap, &a.item, 5);
	heap_add(heap, &b.item, 5);
	ck_assert_ptr_eq(heap_pop(heap, 5, &key), &a.item);
	heap_add(heap, &c.item, 5);
	ck_assert_ptr_eq(heap_pop(heap, 5, &key), &c.item);
	ck_assert_ptr_eq(heap_pop(heap, 5, &key), &b.item);
	heap_free(heap);
}
END_TEST

START_TEST(removal_of_what_is_in_no_heap_is_nothing)
{
	struct heap *heap = heap_new();
	struct thing in = thing_of(1), out = thing_of(2);

	heap_add(heap, &in.item, 5);
	heap_remove(heap, &out.item);
	heap_remove(heap, &in.item);
	heap_remove(heap, &in.item);
	ck_assert_uint_eq(heap_count(heap), 0);
	heap_free(heap);
}
END_TEST

START_TEST(instant_goes_with_its_last_item)
{
	struct heap *heap = heap_new();
	struct thing a = thing_of(1), b = thing_of(2), c = thing_of(3);
	int64_t key;

	heap_add(heap, &a.item, 5);
	heap_add(heap, &b.item, 5);
	heap_add(heap, &c.item, 9);
	heap_remove(heap, &a.item);
	ck_assert(heap_peek(heap, &key));
	ck_assert_int_eq(key, 5);
	heap_remove(heap, &b.item);
	ck_assert(heap_peek(heap, &key));
	ck_assert_int_eq(key, 9);
	heap_free(heap);
}
END_TEST

START_TEST(ends_of_the_range_are_instants_like_others)
{
	struct heap *heap = heap_new();
	struct thing first = thing_of(1), last = thing_of(2);
	int64_t key;

	heap_add(heap, &last.item, INT64_MAX);
	heap_add(heap, &first.item, INT64_MIN);
	ck_assert_ptr_eq(heap_pop(heap, INT64_MIN, &key), &first.item);
	ck_assert_int_eq(key, INT64_MIN);
	ck_assert_ptr_null(heap_pop(heap, INT64_MAX - 1, &key));
	ck_assert_ptr_eq(heap_pop(heap, INT64_MAX, &key), &last.item);
	heap_free(heap);
}
END_TEST

#define MODEL_THINGS	400
#define MODEL_STEPS	100000

/* The first in the model by (key, sequence, order of adding), or NULL. */
static struct thing *
model_first(struct thing *things)
{
	struct thing *first = NULL, *t;

	for (t = things; t < things + MODEL_THINGS; t++) {
		if (t->order == 0)
			continue;
		if (first == NULL || t->key < first->key ||
		    (t->key == first->key &&
		    (t->item.sequence < first->item.sequence ||
		    (t->item.sequence == first->item.sequence &&
		    t->order < first->order))))
			first = t;
	}
	return first;
}

static size_t
model_count(const struct thing *things)
{
	size_t n = 0;

	for (size_t i = 0; i < MODEL_THINGS; i++)
		n += things[i].order != 0;
	return n;
}

static void
check_pop(struct heap *heap, struct thing *things, int64_t limit)
{
	struct thing *want = model_first(things);
	int64_t key;

	if (want != NULL && want->key > limit)
		want = NULL;
	ck_assert_ptr_eq(heap_pop(heap, limit, &key), (void *)want);
	if (want != NULL) {
		ck_assert_int_eq(key, want->key);
		want->order = 0;
	}
}

static void
check_pop_all(struct heap *heap, struct thing *things, int64_t limit)
{
	struct thing *want = model_first(things);
	struct heap_item *item, *next;
	int64_t first, key;

	item = heap_pop_all(heap, limit, &key);
	if (want == NULL || want->key > limit) {
		ck_assert_ptr_null(item);
		return;
	}
	first = want->key;
	ck_assert_int_eq(key, first);
	for (; item != NULL; item = next) {
		next = item->next;
		want = model_first(things);
		ck_assert_ptr_eq(item, (void *)want);
		want->order = 0;
	}
	want = model_first(things);
	ck_assert(want == NULL || want->key != first);
}

START_TEST(random_operations_agree_with_a_plain_search)
{
	static const unsigned int spreads[] = { 3, 60, 1000000 };
	struct heap *heap = heap_new();
	struct thing things[MODEL_THINGS], *t;
	uint64_t order = 0;
	int64_t key;

	srand48(20260101 + _i);
	for (size_t i = 0; i < MODEL_THINGS; i++)
		things[i] = thing_of((uint64_t)(lrand48() % 50));
	for (size_t step = 0; step < MODEL_STEPS; step++) {
		t = &things[lrand48() % MODEL_THINGS];
		if (lrand48() % 16 == 0) {
			check_pop(heap, things, lrand48() % spreads[_i]);
		} else if (lrand48() % 64 == 0) {
			check_pop_all(heap, things, lrand48() % spreads[_i]);
		} else if (heap_has(&t->item)) {
			heap_remove(heap, &t->item);
			t->order = 0;
		} else {
			t->key = lrand48() % spreads[_i];
			t->order = ++order;
			heap_add(heap, &t->item, t->key);
		}
		if (step % 16 != 0)
			continue;
		t = model_first(things);
		ck_assert(heap_peek(heap, &key) == (t != NULL));
		if (t != NULL)
			ck_assert_int_eq(key, t->key);
		ck_assert_uint_eq(heap_count(heap), model_count(things));
	}
	while (heap_count(heap) > 0)
		check_pop(heap, things, INT64_MAX);
	ck_assert_ptr_null(model_first(things));
	heap_free(heap);
}
END_TEST

Suite *heap_suite(void);

Suite *
heap_suite(void)
{
	Suite *suite = suite_create("heap");
	TCase *rules = tcase_create("rules"), *model = tcase_create("model");

	tcase_add_test(rules, new_heap_is_empty);
	tcase_add_test(rules, peek_gives_the_least_instant);
	tcase_add_test(rules, pop_takes_nothing_past_the_limit);
	tcase_add_test(rules, equal_instants_come_out_one_by_one_by_sequence);
	tcase_add_test(rules, equal_instants_come_out_together_by_sequence);
	tcase_add_test(rules,
	    item_added_while_its_instant_is_served_comes_in_its_turn);
	tcase_add_test(rules, removal_of_what_is_in_no_heap_is_nothing);
	tcase_add_test(rules, instant_goes_with_its_last_item);
	tcase_add_test(rules, ends_of_the_range_are_instants_like_others);
	tcase_add_loop_test(model,
	    random_operations_agree_with_a_plain_search, 0, 3);
	tcase_set_timeout(model, 60);
	suite_add_tcase(suite, rules);
	suite_add_tcase(suite, model);
	return suite;
}

int
main(void)
{
	return check_main(heap_suite());
}
