/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_OUTPUT_JSON_H
#define CRONCTL_OUTPUT_JSON_H

#include "common/message.h"

/*
 * --json: one value on a line, with the members doc/protocol.md names, so
 * that "head", "grep" and line-wise readers work.
 */
void	output_json(const struct message *);
/* Each element of an array on a line of its own. */
void	output_json_each(const struct message *array);

#endif
