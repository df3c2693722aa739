/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_HEAP_H
#define CRONCTL_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What is due next: a 4-ary min-heap of distinct instants, each with a list
 * of its items, and a hash from instant to node, because cron jobs share
 * instants.  Items are embedded in what they stand for (struct job).
 *
 * Cost: peek O(1); add and remove O(1) on an instant that is there already,
 * else O(log n) of the distinct instants.  One allocation per instant.
 */
struct heap;
struct heap_node;

struct heap_item {
	struct heap_node *node;		/* its instant; NULL: not in a heap */
	struct heap_item *prev, *next;	/* ring of the same instant */
	uint64_t	  sequence;	/* breaks ties: lower first */
};

struct heap	*heap_new(void);
void		 heap_free(struct heap *);	/* items are not touched */
/* key: any instant, one unit per heap. */
void		 heap_add(struct heap *, struct heap_item *, int64_t key);
/* Nothing happens when the item is in no heap. */
void		 heap_remove(struct heap *, struct heap_item *);
bool		 heap_peek(const struct heap *, int64_t *key);
/*
 * Takes all items of the first instant out, as a NULL-ended chain through
 * next, by sequence; NULL when the heap is empty or key > limit.
 */
struct heap_item *heap_pop_all(struct heap *, int64_t limit, int64_t *key);
/* One item: the first by (key, sequence); NULL as above. */
struct heap_item *heap_pop(struct heap *, int64_t limit, int64_t *key);
size_t		 heap_count(const struct heap *);	/* items */
static inline bool
heap_has(const struct heap_item *item)
{
	return item->node != NULL;
}

#endif
