/* SPDX-License-Identifier: ISC */
/* Values as lines of JSON on standard output; main checks the stream. */
#include "config.h"

#include "cli/output_json.h"

#include <stdio.h>
#include <stdlib.h>

void
output_json(const struct message *value)
{
	char *text = message_format(value);

	puts(text);
	free(text);
}

void
output_json_each(const struct message *array)
{
	for (size_t i = 0; i < message_count(array); i++)
		output_json(message_at(array, i));
}
