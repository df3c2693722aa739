/* SPDX-License-Identifier: ISC */
/*
 * Watches of inotify(7) on what was read.  They are set here, beside the
 * loop, because naming a path may hang; jobdir_watch has the descriptors and
 * takes the events.  Each reading sets them before it reads, so what changes
 * afterwards makes an event, whatever has become of the directory since.
 *
 * A directory that is missing is waited for in the nearest one above it that
 * is there.  Setting a watch that is there already changes nothing.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>

#include "common/log.h"
#include "common/xmalloc.h"
#include "daemon/files_internal.h"

#define SUBSYSTEM	"files"
#define ZONE_DIR	"/usr/share/zoneinfo"

/* Of jobs.d. */
#define DIRECTORY_EVENTS (IN_CREATE | IN_MODIFY | IN_CLOSE_WRITE | \
	IN_ATTRIB | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE | \
	IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR)
/* Of a directory above it. */
#define PARENT_EVENTS (IN_CREATE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE | \
	IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR)
/* Of directories of the zone database. */
#define ZONE_EVENTS (IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE | IN_ONLYDIR)

/* False when there is no such directory. */
static bool
watch(int fd, const char *path, uint32_t events)
{
	if (inotify_add_watch(fd, path, events) != -1)
		return true;
	if (errno == ENOENT || errno == ENOTDIR)
		return false;
	log_warning(SUBSYSTEM, "can't watch %s: %s; after changes there run "
	    "cronctl reload", path, errno == ENOSPC ?
	    "too many watches (fs.inotify.max_user_watches)" :
	    strerrordesc_np(errno));
	return true;
}

/* Cuts the last part off; false when nothing is left above it. */
static bool
go_up(char *path)
{
	size_t len = strlen(path);

	while (len > 1 && path[len - 1] == '/')
		len--;
	while (len > 0 && path[len - 1] != '/')
		len--;
	while (len > 1 && path[len - 1] == '/')
		len--;
	if (len == 0 || strlen(path) == len)
		return false;
	path[len] = '\0';
	return true;
}

void
files_watch_jobs(const struct files_context *context)
{
	char *path;

	if (context->watch_jobs <= 0)
		return;
	(void)watch(context->watch_jobs, context->jobs_dir, DIRECTORY_EVENTS);
	path = xstrdup(context->jobs_dir);
	while (go_up(path))
		if (watch(context->watch_jobs, path, PARENT_EVENTS))
			break;
	free(path);
}

void
files_watch_zone(const struct files_context *context, const char *zone)
{
	char *path;

	/* UTC is built in; a zone out of TZ may be no name at all. */
	if (context->watch_zones <= 0 || strcmp(zone, "UTC") == 0)
		return;
	path = xasprintf(ZONE_DIR "/%s", zone);
	if (go_up(path))
		(void)watch(context->watch_zones, path, ZONE_EVENTS);
	free(path);
}
