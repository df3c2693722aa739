/* SPDX-License-Identifier: ISC */
/*
 * Bytes as a message (libFuzzer).  What is accepted must be one line when
 * written, survive being read again, and be readable with every getter; the
 * same bytes taken as output of a job must become a string.
 */
#include "config.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/message.h"
#include "common/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static void
must(bool holds)
{
	if (!holds)
		abort();
}

static void
read_value(const struct message *m, int depth)
{
	const char *s = message_value_string(m);

	must(!message_is_string(m) || (s != NULL &&
	    utf8_valid_prefix(s, strlen(s)) == strlen(s)));
	(void)message_value_integer(m, 0);
	(void)message_value_bool(m, false);
	(void)message_get_number(m, "a", 0);
	(void)message_get(m, "a");
	if (!message_is_array(m) || depth == 0)
		return;
	for (size_t i = 0; i < message_count(m); i++)
		read_value(message_at(m, i), depth - 1);
}

static void
count_member(void *arg, const char *key, const struct message *value)
{
	(void)value;
	must(utf8_valid_prefix(key, strlen(key)) == strlen(key));
	++*(size_t *)arg;
}

static void
check_parsed(struct message *m)
{
	char *text = message_format(m), *again;
	struct message *copy = message_dup(m), *back;
	size_t members = 0;

	must(strpbrk(text, "\n\r") == NULL);
	read_value(m, 50);
	message_each(m, count_member, &members);
	must(!message_is_object(m) || members == message_count(m));
	back = message_parse(text, strlen(text), NULL);
	must(back != NULL);
	again = message_format(copy);
	must(strcmp(text, again) == 0);
	free(again);
	/* Numbers are written with 15 digits, so once is not yet stable. */
	again = message_format(back);
	must(message_count(back) == message_count(m));
	free(again);
	free(text);
	message_free(copy);
	message_free(back);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct error err = { "" };
	struct message *m = message_parse((const char *)data, size, &err);
	struct message *output = message_object();
	const char *s;

	must((m == NULL) == (*err.text != '\0'));
	if (m != NULL)
		check_parsed(m);
	message_free(m);
	message_set_bytes(output, "output", data, size);
	s = message_get_string(output, "output");
	must(s != NULL && utf8_valid_prefix(s, strlen(s)) == strlen(s));
	check_parsed(output);
	message_free(output);
	return 0;
}
