/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_JOBDEF_INTERNAL_H
#define CRONCTL_JOBDEF_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "common/jobdef.h"

/* What the parts of jobdef share; for no other module. */

#define JOBDEF_ENV_PREFIX	"env."

/* Position of a row in the table; jobdef_row_count() when there is none. */
size_t	jobdef_row_find(const char *name);
size_t	jobdef_row_count(void);
/* Whether a key may be given more than once. */
bool	jobdef_can_repeat(const struct jobdef_key *);

/*
 * Checks a value, trimmed and not empty, as far as it can be without zones
 * and clock, and gives the number of types that are one.
 */
int	jobdef_value_check(const struct jobdef_key *, const char *value,
	    int64_t *number, struct error *err);
/* Checks a key: known, of this version, a usable variable name. */
int	jobdef_key_check(const char *key, struct error *err);

/*
 * Goes over the settings that count, the strongest of layers first: rows in
 * the order of the table, of each row the values of the strongest layer that
 * has it, each variable by itself.  layer is that layer's index.
 */
void	jobdef_settings_merge(const struct jobdef_settings *const *layers,
	    size_t n_layers, void (*take)(void *arg, size_t row, size_t layer,
	    const struct jobdef_setting *), void *arg);
/* Adds a pair without checking it. */
void	jobdef_settings_append(struct jobdef_settings *, const char *key,
	    const char *value, int line);
/* Bytes that a pair counts for in JOBDEF_SIZE_MAX. */
size_t	jobdef_setting_size(const char *key, const char *value);

#endif
