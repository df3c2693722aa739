/* SPDX-License-Identifier: ISC */
/*
 * A list of results in the order of their ends; they are mostly taken from
 * its front, which only moves then.  Finding one is a pass over the list.
 * The spool is written to a second name, synced, renamed, and
 * the directory synced, so that a reader finds all of it or nothing.
 */
#include "config.h"

#include "worker/results.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/strbuf.h"
#include "common/xmalloc.h"

#define NAME_SIZE 32

struct results {
	struct protocol_ended	**v;	/* owned, strings too */
	size_t			 first;	/* taken away at the front */
	size_t			 n;	/* end of those in use */
	size_t			 cap;	/* allocated */
};

struct results *
results_new(void)
{
	return xcalloc(1, sizeof(struct results));
}

static void
free_result(struct protocol_ended *ended)
{
	free((char *)(uintptr_t)ended->tag.job_name);
	free((char *)(uintptr_t)ended->detail);
	free(ended);
}

void
results_free(struct results *results)
{
	if (results == NULL)
		return;
	for (size_t i = results->first; i < results->n; i++)
		free_result(results->v[i]);
	free(results->v);
	free(results);
}

void
results_add(struct results *results, const struct protocol_ended *ended)
{
	struct protocol_ended *copy = xmemdup(ended, sizeof *ended);

	assert(results_find(results, ended->tag.run_id) == NULL);
	copy->tag.job_name = xstrdup(ended->tag.job_name);
	if (ended->detail != NULL)
		copy->detail = xstrdup(ended->detail);
	if (results->n == results->cap && results->first > results->n / 2) {
		results->n -= results->first;
		memmove(results->v, results->v + results->first,
		    results->n * sizeof *results->v);
		results->first = 0;
	}
	if (results->n == results->cap) {
		results->cap = results->cap == 0 ? 16 : results->cap * 2;
		results->v = xreallocarray(results->v, results->cap,
		    sizeof *results->v);
	}
	results->v[results->n++] = copy;
}

/* n when there is none. */
static size_t
index_of(const struct results *results, uint64_t run_id)
{
	size_t i = results->first;

	while (i < results->n && results->v[i]->tag.run_id != run_id)
		i++;
	return i;
}

const struct protocol_ended *
results_find(const struct results *results, uint64_t run_id)
{
	size_t i = index_of(results, run_id);

	return i < results->n ? results->v[i] : NULL;
}

void
results_remove(struct results *results, uint64_t run_id)
{
	size_t i = index_of(results, run_id);

	if (i == results->n)
		return;
	free_result(results->v[i]);
	if (i == results->first) {
		results->first++;
		return;
	}
	results->n--;
	memmove(results->v + i, results->v + i + 1,
	    (results->n - i) * sizeof *results->v);
}

size_t
results_count(const struct results *results)
{
	return results->n - results->first;
}

const struct protocol_ended *
results_get(const struct results *results, size_t i)
{
	assert(i < results->n - results->first);
	return results->v[results->first + i];
}

static int
write_and_sync(int fd, const struct strbuf *sb)
{
	size_t done = 0;

	while (done < sb->len) {
		ssize_t n = write(fd, sb->buf + done, sb->len - done);

		if (n == -1 && errno == EINTR)
			continue;
		if (n == 0)
			errno = EIO;
		if (n <= 0)
			return -1;
		done += (size_t)n;
	}
	return fsync(fd);
}

static int
write_file(int dirfd, const char *name, const struct strbuf *sb,
    struct error *err)
{
	int fd, errnum = 0;

	fd = openat(dirfd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC |
	    O_NOFOLLOW, 0600);
	if (fd == -1)
		return error_set_errno(err, errno,
		    "spool file %s can't be made", name);
	if (write_and_sync(fd, sb) == -1)
		errnum = errno;
	if (close(fd) == -1 && errnum == 0)
		errnum = errno;
	if (errnum != 0)
		return error_set_errno(err, errnum,
		    "spool file %s can't be written", name);
	return 0;
}

int
results_spool(const struct results *results, int dirfd, uint64_t number,
    struct error *err)
{
	char name[NAME_SIZE], fresh[NAME_SIZE + 4];
	struct strbuf sb = STRBUF_INIT;
	int result;

	snprintf(name, sizeof name, "%llu", (unsigned long long)number);
	snprintf(fresh, sizeof fresh, "%s.tmp", name);
	for (size_t i = results->first; i < results->n; i++)
		protocol_spool_add(&sb, results->v[i]);
	result = write_file(dirfd, fresh, &sb, err);
	if (result == 0 && (renameat(dirfd, fresh, dirfd, name) == -1 ||
	    fsync(dirfd) == -1))
		result = error_set_errno(err, errno,
		    "spool file %s can't be put in place", name);
	strbuf_release(&sb);
	return result;
}
