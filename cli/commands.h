/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_COMMANDS_H
#define CRONCTL_COMMANDS_H

#include "cli/command.h"

/* The entries of the commands, each on top of a cmd_NAME.c; see main.c. */
extern const struct command command_add;
extern const struct command command_check;
extern const struct command command_completion;
extern const struct command command_explain;
extern const struct command command_events;
extern const struct command command_help;
extern const struct command command_history;
extern const struct command command_keys;
extern const struct command command_kill;
extern const struct command command_list;
extern const struct command command_logs;
extern const struct command command_next;
extern const struct command command_pause;
extern const struct command command_reload;
extern const struct command command_remove;
extern const struct command command_resume;
extern const struct command command_run;
extern const struct command command_show;
extern const struct command command_status;
extern const struct command command_stop;
extern const struct command command_version;
extern const struct command command_wait;

#endif
