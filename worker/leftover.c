/* SPDX-License-Identifier: ISC */
/* Pipes that nobody wants to hear from any more. */
#include "config.h"

#include "worker/leftover.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "common/xmalloc.h"

#define READ_BLOCK 16384

struct pipe_end {
	struct source	 source;	/* fd -1: free place */
	struct leftover	*leftover;	/* it is part of */
	uint64_t	 serial;	/* the oldest has the least */
};

struct leftover {
	struct poller	*poller;		/* borrowed */
	struct pipe_end	*v;			/* LEFTOVER_MAX, made late */
	uint64_t	 serial;		/* of the one added last */
};

struct leftover *
leftover_new(struct poller *poller)
{
	struct leftover *leftover = xcalloc(1, sizeof *leftover);

	leftover->poller = poller;
	return leftover;
}

static void
close_end(struct pipe_end *end)
{
	if (end->source.fd == -1)
		return;
	poller_remove(end->leftover->poller, &end->source);
	close(end->source.fd);
	end->source.fd = -1;
}

void
leftover_free(struct leftover *leftover)
{
	if (leftover == NULL)
		return;
	for (size_t i = 0; leftover->v != NULL && i < LEFTOVER_MAX; i++)
		close_end(&leftover->v[i]);
	free(leftover->v);
	free(leftover);
}

static void
throw_away(struct source *source, uint32_t events)
{
	struct pipe_end *end = (struct pipe_end *)(void *)((char *)source -
	    offsetof(struct pipe_end, source));
	char block[READ_BLOCK];
	ssize_t n = read(source->fd, block, sizeof block);

	(void)events;
	if (n == 0 || (n == -1 && errno != EAGAIN && errno != EINTR))
		close_end(end);
}

/* A free place, else that of the oldest. */
static struct pipe_end *
take_place(struct leftover *leftover)
{
	struct pipe_end *best = &leftover->v[0];

	for (size_t i = 0; i < LEFTOVER_MAX; i++) {
		struct pipe_end *end = &leftover->v[i];

		if (end->source.fd == -1) {
			best = end;
			break;
		}
		if (end->serial < best->serial)
			best = end;
	}
	close_end(best);
	best->serial = ++leftover->serial;
	return best;
}

void
leftover_add(struct leftover *leftover, int fd)
{
	struct pipe_end *end;

	if (leftover->v == NULL) {
		leftover->v = xcalloc(LEFTOVER_MAX, sizeof *leftover->v);
		for (size_t i = 0; i < LEFTOVER_MAX; i++)
			leftover->v[i].source.fd = -1;
	}
	end = take_place(leftover);
	end->leftover = leftover;
	end->source = (struct source){ .fd = fd, .ready = throw_away };
	if (poller_set(leftover->poller, &end->source, EPOLLIN, NULL) == -1)
		close_end(end);
}
