/* SPDX-License-Identifier: ISC */
/*
 * Any bytes as what a client sends: whatever they are, each answer is one
 * line of JSON-RPC with either a result or an error, there are no more
 * answers than lines, and the daemon is there for the next one.
 *
 * The parts behind the socket are real; they are made anew when they have
 * grown, and what one input has done is there for the next.
 */
#include "config.h"

#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/log.h"
#include "tests/support/control_rig.h"

#define ANSWER_MS	50	/* what waits for something never comes */
#define JOBS_MAX	200	/* then all is made anew */
#define STARTS_MAX	900	/* of RIG_STARTS_MAX */

int	LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int	LLVMFuzzerInitialize(int *argc, char ***argv);

static struct rig *rig;
static size_t ended;	/* of rig->starts */

static void
no_log(void *arg, enum log_level level, const char *subsystem,
    const char *text)
{
	(void)arg;
	(void)level;
	(void)subsystem;
	(void)text;
}

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	log_set_sink(no_log, NULL);
	return 0;
}

static void
check_answer(const char *line)
{
	struct message *m;
	struct error err;

	m = message_parse(line, strlen(line), &err);
	assert(m != NULL);
	assert(strcmp(message_get_string(m, "jsonrpc"), "2.0") == 0);
	assert(message_get(m, "id") != NULL);
	assert((message_get(m, "result") != NULL) !=
	    (message_get(m, "error") != NULL));
	message_free(m);
}

static size_t
lines_of(const uint8_t *data, size_t size)
{
	size_t n = 0;

	for (size_t i = 0; i < size; i++)
		n += data[i] == '\n';
	return n;
}

static void
renew(void)
{
	if (rig != NULL && jobtable_count(rig->jobs) < JOBS_MAX &&
	    rig->n_starts < STARTS_MAX &&
	    !scheduler_is_stopping(rig->scheduler))
		return;
	if (rig != NULL)
		rig_free(rig);
	rig = rig_new(geteuid());
	ended = 0;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t answers = 0;
	char *line;
	int fd;

	renew();
	fd = rig_connect(rig);
	rig_write(rig, fd, data, size);
	rig_write(rig, fd, "\n", 1);
	shutdown(fd, SHUT_WR);
	while ((line = rig_read(rig, fd, ANSWER_MS)) != NULL) {
		check_answer(line);
		free(line);
		answers++;
	}
	assert(answers <= lines_of(data, size) + 1);
	close(fd);
	rig_turn(rig);
	while (ended < rig->n_starts)
		rig_exited(rig, ended++, 0);
	message_free(rig_call(rig, "daemon.status", NULL));
	return 0;
}
