/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_MESSAGE_H
#define CRONCTL_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

/*
 * JSON values, as the control socket and --json speak them (RFC 8259).  The
 * one door to the JSON library.  A message is an object, an array, a string,
 * an integer, a number, true, false or null.
 *
 * Strings are UTF-8.  Bytes from outside that may be anything else (output
 * of jobs, error texts) go in through message_set_bytes, which replaces what
 * is no UTF-8 by U+FFFD.
 */
struct message;

#define MESSAGE_LINE_MAX	(64 * 1024)	/* a request */
#define MESSAGE_DEFINITION_MAX	(128 * 1024)	/* one that defines a job */

struct message	*message_object(void);
struct message	*message_array(void);
struct message	*message_string(const char *);
struct message	*message_integer(int64_t);
struct message	*message_dup(const struct message *);
void		 message_free(struct message *);	/* accepts NULL */

/* Depth is limited; trailing text is an error, as are duplicate keys. */
struct message	*message_parse(const char *text, size_t len, struct error *);
/* Compact, on one line, without a newline; free(). */
char		*message_format(const struct message *);

/*
 * Setters copy strings and take messages over.  A NULL string or message
 * sets null.
 */
void	message_set(struct message *object, const char *key, struct message *);
void	message_set_string(struct message *, const char *key, const char *);
void	message_set_bytes(struct message *, const char *key, const void *,
	    size_t len);
void	message_set_integer(struct message *, const char *key, int64_t);
void	message_set_number(struct message *, const char *key, double);
void	message_set_bool(struct message *, const char *key, bool);
void	message_set_null(struct message *, const char *key);
void	message_append(struct message *array, struct message *);
void	message_append_string(struct message *array, const char *);

bool	message_is_object(const struct message *);
bool	message_is_array(const struct message *);
bool	message_is_string(const struct message *);
bool	message_is_integer(const struct message *);
bool	message_is_bool(const struct message *);
bool	message_is_null(const struct message *);

/* Getters borrow; NULL or the fallback when missing or of another type. */
const struct message *message_get(const struct message *, const char *key);
const char *message_get_string(const struct message *, const char *key);
int64_t	message_get_integer(const struct message *, const char *key,
	    int64_t fallback);
double	message_get_number(const struct message *, const char *key,
	    double fallback);
bool	message_get_bool(const struct message *, const char *key,
	    bool fallback);
size_t	message_count(const struct message *);	/* of an array or object */
const struct message *message_at(const struct message *array, size_t i);
const char *message_value_string(const struct message *);
int64_t	message_value_integer(const struct message *, int64_t fallback);
bool	message_value_bool(const struct message *, bool fallback);
/* Calls each member of an object, in the order they were set. */
void	message_each(const struct message *object,
	    void (*member)(void *arg, const char *key,
	    const struct message *value), void *arg);

#endif
