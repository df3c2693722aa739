/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_COMMAND_H
#define CRONCTL_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/arguments.h"
#include "cli/connection.h"
#include "cli/exit_status.h"
#include "cli/output_text.h"
#include "common/error.h"
#include "common/message.h"
#include "common/zone.h"

/*
 * A command is data: one entry on top of its own file, listed in main.c.
 * The entry is all there is: parsing, --help, "help", and the completion of
 * shells work from it.
 */
struct cli;

struct command {
	const char	*name;		/* as typed */
	const char	*args;		/* what follows the name in a synopsis */
	const char	*summary;	/* one line for the list of commands */
	const char	*help;		/* paragraphs for --help, or NULL */
	size_t		 min_operands;	/* fewer is a usage error */
	size_t		 max_operands;	/* more is a usage error */
	bool		 takes_words;	/* "-- COMMAND..." belongs to it */
	const struct arguments_option *options;	/* its own, or NULL */
	enum exit_status (*exec)(struct cli *, const struct arguments *);
};

#define COMMAND_ANY ((size_t)-1)	/* no limit to the operands */

/* What a command works with. */
struct cli {
	const struct command *const *commands;	/* NULL-ended */
	const struct command *command;	/* the one being carried out */
	struct connection_place	 place;	/* where the daemon is */
	struct connection *connection;	/* opened by the first call */
	bool		 json;		/* --json */
	bool		 quiet;		/* --quiet */
	bool		 yes;		/* --yes */
	bool		 color;		/* standard output takes colours */
	bool		 terminal;	/* standard output is a terminal */
	struct text_clock clock;	/* zone of the times shown, and now */
	size_t		 width;		/* columns of the output */
};

/* Finds the command of a command line, carries it out. */
enum exit_status command_main(const struct command *const *commands,
		    int argc, char **argv);
const struct command *command_find(const struct cli *, const char *name);
/* The near command to a misspelled one, or NULL. */
const char	*command_nearest(const struct cli *, const char *name);
/* What --help prints; and the list of commands. */
void		 command_print_help(const struct command *, size_t width);
void		 command_print_overview(const struct cli *);
const struct arguments_option *command_global_options(void);

/* "cronctl: SENTENCE" on standard error; returns status. */
enum exit_status command_fail(enum exit_status status, const char *fmt, ...)
		    __attribute__((format(printf, 2, 3)));
/* "cronctl: COMMAND: SENTENCE; see cronctl COMMAND --help"; STATUS_USAGE. */
enum exit_status command_usage(const struct cli *, const char *fmt, ...)
		    __attribute__((format(printf, 2, 3)));
void		 command_warn(const char *fmt, ...)
		    __attribute__((format(printf, 1, 2)));

/*
 * One request to the daemon, which is connected to if need be.  On failure
 * the sentence has been printed.  params is taken over.
 */
enum exit_status command_call(struct cli *, const char *method,
		    struct message *params, struct message **result);
/* The same without a deadline and without printing, for those that wait. */
enum exit_status command_call_wait(struct cli *, const char *method,
		    struct message *params, struct message **result,
		    struct error *err);
/* A run's number; a job's name has at least one letter. */
bool		 command_run_number(const char *, int64_t *run);
/* Just connects. */
enum exit_status command_connect(struct cli *);

#endif
