/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_SHELL_QUOTE_H
#define CRONCTL_SHELL_QUOTE_H

#include <stddef.h>

#include "common/strbuf.h"

/*
 * Appends the command that words after "--" stand for: one word is a shell
 * command as it stands; several are quoted, each where it needs it, so that
 * the shell passes on just these words (POSIX XCU 2.2.2).
 */
void	shell_quote_words(struct strbuf *, char *const *words, size_t n);

#endif
