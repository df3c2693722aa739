/* SPDX-License-Identifier: ISC */
/*
 * Pages of a run's kept output.  How head, dropped bytes and tail are joined
 * is common/outputfile's; here it is only done beside the loop.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/outputfile.h"
#include "common/strbuf.h"
#include "common/xmalloc.h"
#include "daemon/files_internal.h"

struct output_request {
	struct files_request	 request;	/* first */
	uint64_t		 run_id;	/* whose output */
	int64_t			 offset;	/* of the joined text */
	struct files_output	 output;	/* the result */
	void	(*done)(void *arg, struct files_output *);
	void			*arg;		/* for done */
};

/* The directory; -1 with no error when there is none yet. */
static int
open_directory(const char *state_dir, struct error *err)
{
	char *path = xasprintf("%s/output", state_dir);
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 && errno != ENOENT)
		error_set_errno(err, errno, "%s: can't open it", path);
	free(path);
	return fd;
}

static void
work(const struct files_context *context, struct files_request *request)
{
	struct output_request *r = (struct output_request *)(void *)request;
	struct files_output *o = &r->output;
	struct strbuf page = STRBUF_INIT;
	int fd = open_directory(context->state_dir, &o->err);

	if (fd < 0) {
		o->end = true;
	} else {
		if (outputfile_read(fd, r->run_id, (uint64_t)r->offset,
		    FILES_OUTPUT_PAGE, &page, &o->end, &o->err) != 0)
			o->end = true;
		if (close(fd) != 0 && o->err.text[0] == '\0')
			error_set_errno(&o->err, errno,
			    "the output directory can't be closed");
	}
	o->len = page.len;
	o->next = r->offset + (int64_t)page.len;
	o->data = strbuf_detach(&page);
}

static void
on_done(struct files_request *request, struct files *f)
{
	struct output_request *r = (struct output_request *)(void *)request;

	(void)f;
	r->done(r->arg, &r->output);
	free(r->output.data);
	free(r);
}

bool
files_read_output(struct files *f, uint64_t run_id, int64_t offset,
    void (*done)(void *, struct files_output *), void *arg)
{
	struct output_request *r = xcalloc(1, sizeof *r);

	r->run_id = run_id;
	r->offset = offset > 0 ? offset : 0;
	r->done = done;
	r->arg = arg;
	if (files_submit(f, &r->request, "the output of a run", work,
	    on_done))
		return true;
	free(r);
	return false;
}
