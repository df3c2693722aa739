/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_EVENT_TEXT_H
#define CRONCTL_EVENT_TEXT_H

#include "cli/output_text.h"
#include "common/message.h"
#include "common/strbuf.h"

/*
 * An event (doc/protocol.md, "Events") as one line without its newline:
 * "1042  18:00:00  backup: run 12 started, pid 411 (schedule)".
 */
void	event_text(struct strbuf *, const struct text_clock *,
	    const struct message *event);

#endif
