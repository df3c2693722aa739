/* SPDX-License-Identifier: ISC */
/* The part of cronctld.conf that matters without a daemon. */
#include "config.h"

#include "cli/daemon_config.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/host_id.h"
#include "common/inifile.h"
#include "common/strbuf.h"
#include "common/xmalloc.h"

#define READ_SIZE 65536

/* False when there is nothing to read, or too much. */
static bool
read_file(const char *path, struct strbuf *text)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char bytes[READ_SIZE];
	struct stat st;
	ssize_t n = -1;

	if (fd == -1)
		return false;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		do {
			n = read(fd, bytes, sizeof bytes);
			if (n > 0)
				strbuf_add(text, bytes, (size_t)n);
		} while (n > 0 && text->len <= INIFILE_FILE_MAX);
	close(fd);
	return n == 0;
}

static void
take_entry(struct daemon_config *config, const struct inifile_entry *e)
{
	char **place = NULL;

	if (e->key == NULL)
		return;
	if (strcmp(e->section, "defaults") == 0) {
		/* A wrong one is for "cronctld --check" to report. */
		(void)jobdef_settings_add(&config->defaults, e->key, e->value,
		    e->line, NULL);
		return;
	}
	if (strcmp(e->section, "daemon") != 0)
		return;
	if (strcmp(e->key, "timezone") == 0)
		place = &config->timezone;
	else if (strcmp(e->key, "host_id") == 0)
		place = &config->host_id;
	if (place == NULL || *e->value == '\0')
		return;
	free(*place);
	*place = xstrdup(e->value);
}

void
daemon_config_load(struct daemon_config *config, const char *path)
{
	struct strbuf text = STRBUF_INIT;

	config->timezone = NULL;
	config->host_id = host_id_make();
	jobdef_settings_init(&config->defaults);
	if (read_file(path, &text)) {
		struct inifile *ini = inifile_parse(text.buf, text.len);

		for (size_t i = 0; i < ini->n_entries; i++)
			take_entry(config, &ini->entries[i]);
		inifile_free(ini);
	}
	strbuf_release(&text);
}

void
daemon_config_release(struct daemon_config *config)
{
	free(config->timezone);
	free(config->host_id);
	jobdef_settings_release(&config->defaults);
}

char *
daemon_config_directory(bool user)
{
	const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");

	if (!user)
		return xstrdup(SYSCONFDIR "/cronctl");
	if (config != NULL && config[0] == '/')
		return xasprintf("%s/cronctl", config);
	if (home != NULL && home[0] == '/')
		return xasprintf("%s/.config/cronctl", home);
	return NULL;
}
