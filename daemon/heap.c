/* SPDX-License-Identifier: ISC */
/*
 * What is due next.  Three structures over the same nodes, one node for each
 * distinct instant:
 *
 *	array	4-ary min-heap of {key, node}; the keys lie side by side, so
 *		that the four children of a place are one cache line
 *	table	open hash from key to node, at most half full; deletion moves
 *		later entries back, so there are no tombstones
 *	ring	the items of a node, linked through themselves
 *
 * Invariants: a node has at least one item; array[node->place].node == node;
 * each node is in the table once; node->sorted says that the ring is in order
 * of sequence, and only a pop cares: it sorts then, once for many.
 *
 * Neither array nor table shrinks: they are as large as the largest number of
 * distinct instants so far asked for (48 bytes each, and a node).
 */
#include "config.h"

#include "daemon/heap.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/xmalloc.h"

#define ARITY		4
#define FIRST_SIZE	16		/* places at first; a power of two */
#define HASH_FACTOR	UINT64_C(0x9e3779b97f4a7c15)	/* 2^64 / golden ratio */

struct heap_node {
	int64_t			 key;	/* the instant */
	size_t			 place;	/* index in the array */
	struct heap_item	*first;	/* ring: first->prev is the last */
	bool			 sorted; /* ring is in order of sequence */
};

/* An entry of array or table. */
struct heap_entry {
	int64_t			 key;	/* of the node */
	struct heap_node	*node;	/* NULL: empty (table only) */
};

struct heap {
	struct heap_entry	*array;	/* the 4-ary heap */
	size_t			 used;	/* entries in the array: instants */
	size_t			 size;	/* entries allocated for the array */
	struct heap_entry	*table;	/* hash; 2 * size entries */
	unsigned int		 shift;	/* 64 - log2 of the table's size */
	size_t			 items;	/* in all rings */
};

struct heap *
heap_new(void)
{
	struct heap *heap = xcalloc(1, sizeof(*heap));

	heap->size = FIRST_SIZE;
	heap->array = xcalloc(heap->size, sizeof(*heap->array));
	heap->table = xcalloc(2 * heap->size, sizeof(*heap->table));
	heap->shift = 64 - 5;	/* 32 entries */
	return heap;
}

void
heap_free(struct heap *heap)
{
	if (heap == NULL)
		return;
	for (size_t i = 0; i < heap->used; i++)
		free(heap->array[i].node);
	free(heap->array);
	free(heap->table);
	free(heap);
}

/* Where a key belongs in the table (Fibonacci hashing). */
static size_t
home_of(const struct heap *heap, int64_t key)
{
	return ((uint64_t)key * HASH_FACTOR) >> heap->shift;
}

/* The entry of a key, or the empty one where it goes. */
static struct heap_entry *
table_find(const struct heap *heap, int64_t key)
{
	size_t mask = 2 * heap->size - 1;
	size_t i = home_of(heap, key);

	while (heap->table[i].node != NULL && heap->table[i].key != key)
		i = (i + 1) & mask;
	return &heap->table[i];
}

/*
 * Empties an entry, then moves back each later one of the same cluster that
 * could be found no longer: those whose home is not in (hole, its place].
 */
static void
table_remove(struct heap *heap, int64_t key)
{
	size_t mask = 2 * heap->size - 1;
	size_t hole = (size_t)(table_find(heap, key) - heap->table);
	size_t i = hole, home;

	assert(heap->table[hole].node != NULL);
	for (;;) {
		i = (i + 1) & mask;
		if (heap->table[i].node == NULL)
			break;
		home = home_of(heap, heap->table[i].key);
		if (((i - home) & mask) >= ((i - hole) & mask)) {
			heap->table[hole] = heap->table[i];
			hole = i;
		}
	}
	heap->table[hole].node = NULL;
}

static void
grow(struct heap *heap)
{
	heap->size *= 2;
	heap->shift--;
	heap->array = xreallocarray(heap->array, heap->size,
	    sizeof(*heap->array));
	free(heap->table);
	heap->table = xcalloc(2 * heap->size, sizeof(*heap->table));
	for (size_t i = 0; i < heap->used; i++)
		*table_find(heap, heap->array[i].key) = heap->array[i];
}

static void
put(struct heap *heap, size_t place, struct heap_entry entry)
{
	heap->array[place] = entry;
	entry.node->place = place;
}

static void
sift_up(struct heap *heap, size_t place, struct heap_entry entry)
{
	size_t parent;

	while (place > 0) {
		parent = (place - 1) / ARITY;
		if (heap->array[parent].key < entry.key)
			break;
		put(heap, place, heap->array[parent]);
		place = parent;
	}
	put(heap, place, entry);
}

static void
sift_down(struct heap *heap, size_t place, struct heap_entry entry)
{
	size_t child, last, least;

	for (;;) {
		child = place * ARITY + 1;
		if (child >= heap->used)
			break;
		last = child + ARITY;
		if (last > heap->used)
			last = heap->used;
		least = child;
		for (child++; child < last; child++) {
			if (heap->array[child].key < heap->array[least].key)
				least = child;
		}
		if (entry.key < heap->array[least].key)
			break;
		put(heap, place, heap->array[least]);
		place = least;
	}
	put(heap, place, entry);
}

/* Takes a node with an empty ring out of array and table. */
static void
node_remove(struct heap *heap, struct heap_node *node)
{
	size_t place = node->place;
	struct heap_entry moved = heap->array[--heap->used];

	table_remove(heap, node->key);
	if (moved.node != node) {
		if (moved.key < node->key)
			sift_up(heap, place, moved);
		else
			sift_down(heap, place, moved);
	}
	free(node);
}

static struct heap_node *
node_of(struct heap *heap, int64_t key)
{
	struct heap_entry *entry = table_find(heap, key);
	struct heap_node *node = entry->node;

	if (node != NULL)
		return node;
	if (heap->used == heap->size) {
		grow(heap);
		entry = table_find(heap, key);
	}
	node = xmalloc(sizeof(*node));
	*node = (struct heap_node){ .key = key, .sorted = true };
	*entry = (struct heap_entry){ key, node };
	sift_up(heap, heap->used++, *entry);
	return node;
}

void
heap_add(struct heap *heap, struct heap_item *item, int64_t key)
{
	struct heap_node *node;
	struct heap_item *last;

	assert(item->node == NULL);
	node = node_of(heap, key);
	item->node = node;
	heap->items++;
	if (node->first == NULL) {
		node->first = item->prev = item->next = item;
		return;
	}
	last = node->first->prev;
	if (item->sequence < last->sequence)
		node->sorted = false;
	item->prev = last;
	item->next = node->first;
	last->next = node->first->prev = item;
}

void
heap_remove(struct heap *heap, struct heap_item *item)
{
	struct heap_node *node = item->node;

	if (node == NULL)
		return;
	heap->items--;
	if (item->next == item) {
		node_remove(heap, node);
	} else {
		item->prev->next = item->next;
		item->next->prev = item->prev;
		if (node->first == item)
			node->first = item->next;
	}
	item->node = NULL;
	item->prev = item->next = NULL;
}

bool
heap_peek(const struct heap *heap, int64_t *key)
{
	if (heap->used == 0)
		return false;
	*key = heap->array[0].key;
	return true;
}

/* Two NULL-ended chains by sequence become one; equal ones: a before b. */
static struct heap_item *
merge(struct heap_item *a, struct heap_item *b)
{
	struct heap_item *head, **tail = &head;

	while (a != NULL && b != NULL) {
		if (b->sequence < a->sequence) {
			*tail = b;
			b = b->next;
		} else {
			*tail = a;
			a = a->next;
		}
		tail = &(*tail)->next;
	}
	*tail = a != NULL ? a : b;
	return head;
}

/* Merge sort from the bottom up: runs[i] is a chain of 2^i items, or NULL. */
static struct heap_item *
sort_chain(struct heap_item *chain)
{
	struct heap_item *runs[64] = { NULL }, *item;
	size_t i;

	while (chain != NULL) {
		item = chain;
		chain = chain->next;
		item->next = NULL;
		for (i = 0; runs[i] != NULL; i++) {
			item = merge(runs[i], item);
			runs[i] = NULL;
		}
		runs[i] = item;
	}
	for (i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
		if (runs[i] != NULL)
			chain = merge(runs[i], chain);
	}
	return chain;
}

static void
sort_ring(struct heap_node *node)
{
	struct heap_item *item;

	if (node->sorted)
		return;
	node->first->prev->next = NULL;
	node->first = sort_chain(node->first);
	for (item = node->first; item->next != NULL; item = item->next)
		item->next->prev = item;
	item->next = node->first;
	node->first->prev = item;
	node->sorted = true;
}

/* The first node, its ring in order, if it is due by limit. */
static struct heap_node *
first_due(struct heap *heap, int64_t limit, int64_t *key)
{
	if (heap->used == 0 || heap->array[0].key > limit)
		return NULL;
	*key = heap->array[0].key;
	sort_ring(heap->array[0].node);
	return heap->array[0].node;
}

struct heap_item *
heap_pop_all(struct heap *heap, int64_t limit, int64_t *key)
{
	struct heap_node *node = first_due(heap, limit, key);
	struct heap_item *chain;

	if (node == NULL)
		return NULL;
	chain = node->first;
	chain->prev->next = NULL;
	for (struct heap_item *item = chain; item != NULL; item = item->next) {
		item->node = NULL;
		item->prev = NULL;
		heap->items--;
	}
	node_remove(heap, node);
	return chain;
}

struct heap_item *
heap_pop(struct heap *heap, int64_t limit, int64_t *key)
{
	struct heap_node *node = first_due(heap, limit, key);
	struct heap_item *item;

	if (node == NULL)
		return NULL;
	item = node->first;
	heap_remove(heap, item);
	return item;
}

size_t
heap_count(const struct heap *heap)
{
	return heap->items;
}
