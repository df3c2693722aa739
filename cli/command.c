/* SPDX-License-Identifier: ISC */
/*
 * What all commands share: from a command line to a command and what it
 * works with, requests to the daemon, and one way to fail.
 *
 * Global options may stand before or after the command's name.  Errors are
 * one sentence on standard error.  Whatever was printed is flushed and
 * checked at the end, so that a full disk is no success.
 */
#include "config.h"

#include "cli/command.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common/nearest.h"
#include "common/strbuf.h"
#include "common/timestamp.h"
#include "common/xmalloc.h"

#define WIDTH_DEFAULT	80
#define WIDTH_MIN	40
#define WIDTH_MAX	1000

static const struct arguments_option global_options[] = {
	{ "socket", 0, "PATH", "talk to the daemon at this socket" },
	{ "user", 0, NULL, "talk to your own daemon" },
	{ "system", 0, NULL, "talk to the system's daemon (the default)" },
	{ "json", 0, NULL, "print JSON, one object on a line" },
	{ "utc", 0, NULL, "show and read times in UTC" },
	{ "no-color", 0, NULL, "no colours (as with NO_COLOR set)" },
	{ "quiet", 'q', NULL, "no confirmations, only what was asked for" },
	{ "yes", 'y', NULL, "do not ask" },
	{ "help", 'h', NULL, "say what the command does" },
	{ NULL, 0, NULL, NULL }
};

const struct arguments_option *
command_global_options(void)
{
	return global_options;
}

static void	print_error(const char *, const char *, va_list)
		    __attribute__((format(printf, 2, 0)));

/* One line on standard error, safe on a terminal. */
static void
print_error(const char *prefix, const char *fmt, va_list ap)
{
	char *text = xvasprintf(fmt, ap);
	struct strbuf line = STRBUF_INIT;

	fflush(stdout);
	strbuf_addstr(&line, prefix);
	text_escape(&line, text);
	fprintf(stderr, "%s\n", line.buf);
	strbuf_release(&line);
	free(text);
}

enum exit_status
command_fail(enum exit_status status, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	print_error("cronctl: ", fmt, ap);
	va_end(ap);
	return status;
}

void
command_warn(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	print_error("warning: ", fmt, ap);
	va_end(ap);
}

enum exit_status
command_usage(const struct cli *cli, const char *fmt, ...)
{
	char *text;
	va_list ap;

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	command_fail(STATUS_USAGE, "%s: %s; see: cronctl %s --help",
	    cli->command->name, text, cli->command->name);
	free(text);
	return STATUS_USAGE;
}

enum exit_status
command_connect(struct cli *cli)
{
	enum exit_status status;
	struct error err;

	if (cli->connection != NULL)
		return STATUS_DONE;
	status = connection_open(&cli->connection, &cli->place, &err);
	if (status != STATUS_DONE)
		command_fail(status, "%s", err.text);
	return status;
}

/* The sentences of a refusal: several when a definition has several faults. */
static void
print_refusal(const struct cli *cli, const struct connection_refusal *refusal,
    const struct error *err)
{
	const struct message *errors = refusal->data != NULL ?
	    message_get(refusal->data, "errors") : NULL;
	size_t n = errors != NULL && message_is_array(errors) ?
	    message_count(errors) : 0;

	if (n == 0)
		command_fail(STATUS_REFUSED, "%s", err->text);
	for (size_t i = 0; i < n; i++) {
		const char *text = message_value_string(message_at(errors, i));

		if (text != NULL)
			command_fail(STATUS_REFUSED, "%s: %s",
			    cli->command->name, text);
	}
}

enum exit_status
command_call(struct cli *cli, const char *method, struct message *params,
    struct message **result)
{
	struct connection_refusal refusal = { 0 };
	enum exit_status status = command_connect(cli);
	struct error err;

	if (status != STATUS_DONE) {
		message_free(params);
		return status;
	}
	status = connection_call(cli->connection, method, params,
	    CONNECTION_TIMEOUT_MS, result, &refusal, &err);
	if (status != STATUS_DONE)
		print_refusal(cli, &refusal, &err);
	message_free(refusal.data);
	return status;
}

enum exit_status
command_call_wait(struct cli *cli, const char *method, struct message *params,
    struct message **result, struct error *err)
{
	return connection_call(cli->connection, method, params,
	    CONNECTION_NO_TIMEOUT, result, NULL, err);
}

bool
command_run_number(const char *text, int64_t *run)
{
	size_t len = strlen(text);

	if (len == 0 || len > 18 || strspn(text, "0123456789") != len)
		return false;
	*run = strtoll(text, NULL, 10);
	return true;
}

/* ---- the tables ---- */

const struct command *
command_find(const struct cli *cli, const char *name)
{
	for (size_t i = 0; cli->commands[i] != NULL; i++)
		if (strcmp(cli->commands[i]->name, name) == 0)
			return cli->commands[i];
	return NULL;
}

static const char *
command_name(const void *arg, size_t i)
{
	const struct command *const *commands = arg;

	return commands[i]->name;
}

const char *
command_nearest(const struct cli *cli, const char *name)
{
	size_t n = 0;

	while (cli->commands[n] != NULL)
		n++;
	return nearest_find(name, n, command_name, cli->commands);
}

/* ---- the environment of a command ---- */

static size_t
output_width(bool terminal)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;
	long n = 0;

	if (terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
		n = size.ws_col;
	else if (columns != NULL)
		n = strtol(columns, NULL, 10);
	if (n == 0)
		n = WIDTH_DEFAULT;
	return n < WIDTH_MIN ? WIDTH_MIN : n > WIDTH_MAX ? WIDTH_MAX :
	    (size_t)n;
}

static bool
wants_color(const struct cli *cli)
{
	const char *term = getenv("TERM"), *env = getenv("NO_COLOR");

	return cli->terminal && (env == NULL || *env == '\0') &&
	    term != NULL && strcmp(term, "dumb") != 0;
}

/* Global options of one part of the command line. */
static void
take_globals(struct cli *cli, const struct arguments *args)
{
	const char *socket = arguments_value(args, "socket");

	if (socket != NULL)
		cli->place.socket = socket;
	cli->place.user |= arguments_has(args, "user");
	cli->place.system |= arguments_has(args, "system");
	cli->json |= arguments_has(args, "json");
	cli->quiet |= arguments_has(args, "quiet");
	cli->yes |= arguments_has(args, "yes");
	if (arguments_has(args, "no-color"))
		cli->color = false;
}

static void
set_up(struct cli *cli, const struct command *const *commands)
{
	memset(cli, 0, sizeof *cli);
	cli->commands = commands;
	cli->place.env_socket = getenv("CRONCTL_SOCKET");
	cli->place.runtime_dir = getenv("XDG_RUNTIME_DIR");
	cli->terminal = isatty(STDOUT_FILENO);
	cli->color = wants_color(cli);
	cli->width = output_width(cli->terminal);
	cli->clock.now = walltime_seconds(walltime_now());
}

static void
set_zone(struct cli *cli, bool utc)
{
	struct error err;

	cli->clock.zone = utc ? zone_utc() :
	    zone_load_local(getenv("TZ"), &err);
	if (cli->clock.zone != NULL)
		return;
	cli->clock.zone = zone_utc();
	command_warn("%s; times are shown in UTC", err.text);
}

/* ---- from a command line to a command ---- */

static enum exit_status
check_operands(const struct cli *cli, const struct arguments *args)
{
	const struct command *command = cli->command;

	if (args->words != NULL && !command->takes_words)
		return command_usage(cli, "nothing may follow \"--\"");
	if (command->takes_words && args->n_words == 0)
		return command_usage(cli, "the command is missing: "
		    "cronctl %s %s", command->name, command->args);
	if (args->n_operands < command->min_operands)
		return command_usage(cli, "too few arguments: cronctl %s %s",
		    command->name, command->args);
	if (args->n_operands > command->max_operands)
		return command_usage(cli, "too many arguments, beginning with"
		    " \"%s\"", args->operands[command->max_operands]);
	return STATUS_DONE;
}

/* The part behind the command's name. */
static enum exit_status
carry_out(struct cli *cli, bool utc, bool help, int argc, char **argv)
{
	static const struct arguments_option none[] = {
		{ NULL, 0, NULL, NULL }
	};
	const struct command *command = cli->command;
	const struct arguments_option *const tables[] = {
		command->options != NULL ? command->options : none,
		global_options, NULL
	};
	struct arguments args;
	enum exit_status status;
	struct error err;
	int used;

	if (arguments_parse(&args, argc, argv, tables, false, &used,
	    &err) == -1)
		return command_usage(cli, "%s", err.text);
	take_globals(cli, &args);
	if (help || arguments_has(&args, "help")) {
		command_print_help(command, cli->width);
		arguments_release(&args);
		return STATUS_DONE;
	}
	status = check_operands(cli, &args);
	if (status == STATUS_DONE && cli->place.user && cli->place.system)
		status = command_usage(cli,
		    "--user and --system exclude each other");
	if (status == STATUS_DONE) {
		set_zone(cli, utc || arguments_has(&args, "utc"));
		status = command->exec(cli, &args);
	}
	arguments_release(&args);
	return status;
}

static enum exit_status
unknown_command(const struct cli *cli, const char *name)
{
	const char *near = command_nearest(cli, name);

	if (near != NULL)
		return command_fail(STATUS_USAGE, "no command \"%s\"; "
		    "did you mean %s?", name, near);
	return command_fail(STATUS_USAGE, "no command \"%s\"; "
	    "see: cronctl help", name);
}

static enum exit_status
dispatch(struct cli *cli, int argc, char **argv)
{
	const struct arguments_option *const tables[] = {
		global_options, NULL
	};
	struct arguments args;
	struct error err;
	const char *name;
	bool utc, help;
	int used;

	if (argc > 1 && strcmp(argv[1], "--version") == 0)
		argv[1] = (char *)(uintptr_t)"version";
	if (arguments_parse(&args, argc - 1, argv + 1, tables, true, &used,
	    &err) == -1)
		return command_fail(STATUS_USAGE, "%s; options of a "
		    "command come after its name, see: cronctl help",
		    err.text);
	take_globals(cli, &args);
	utc = arguments_has(&args, "utc");
	help = arguments_has(&args, "help");
	arguments_release(&args);
	argc -= used + 1;
	argv += used + 1;
	if (argc == 0 && help) {
		command_print_overview(cli);
		return STATUS_DONE;
	}
	if (argc == 0)
		return command_fail(STATUS_USAGE, "which command? "
		    "see: cronctl help");
	name = argv[0];
	cli->command = command_find(cli, name);
	if (cli->command == NULL)
		return unknown_command(cli, name);
	return carry_out(cli, utc, help, argc - 1, argv + 1);
}

enum exit_status
command_main(const struct command *const *commands, int argc, char **argv)
{
	enum exit_status status;
	struct cli cli;

	set_up(&cli, commands);
	status = dispatch(&cli, argc, argv);
	connection_close(cli.connection);
	zone_unref(cli.clock.zone);
	if (fflush(stdout) == EOF || ferror(stdout)) {
		command_fail(STATUS_REFUSED, "can't write the output: "
		    "%s", strerrordesc_np(errno));
		if (status == STATUS_DONE)
			status = STATUS_REFUSED;
	}
	return status;
}
