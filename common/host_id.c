/* SPDX-License-Identifier: ISC */
/*
 * The default host_id.  The raw machine id identifies the host and is not to
 * be shown or stored by applications (machine-id(5)), so this is a hash of
 * it, with a salt of our own.
 */
#include "config.h"

#include "common/host_id.h"

#include <fcntl.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "common/hash.h"
#include "common/strbuf.h"
#include "common/xmalloc.h"

#define HEX_DIGITS	32	/* of the made id */
#define MACHINE_ID_FILE	"/etc/machine-id"
#define MACHINE_ID_LEN	32

/* -1 when there is no machine id. */
static int
read_machine_id(char id[MACHINE_ID_LEN + 1])
{
	int fd = open(MACHINE_ID_FILE, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n;

	if (fd == -1)
		return -1;
	n = read(fd, id, MACHINE_ID_LEN);
	close(fd);
	if (n != MACHINE_ID_LEN)
		return -1;
	id[n] = '\0';
	return strspn(id, "0123456789abcdef") == MACHINE_ID_LEN ? 0 : -1;
}

char *
host_id_make(void)
{
	static const char salt[] = "cronctl host_id";	/* with its NUL */
	char machine[MACHINE_ID_LEN + 1], hex[2 * SHA256_SIZE + 1];
	struct strbuf text = STRBUF_INIT;
	struct utsname host;

	strbuf_add(&text, salt, sizeof salt);
	if (read_machine_id(machine) == 0)
		strbuf_addstr(&text, machine);
	else if (uname(&host) == 0)
		strbuf_addstr(&text, host.nodename);
	hash_sha256_hex(text.buf, text.len, hex);
	strbuf_release(&text);
	return xstrndup(hex, HEX_DIGITS);
}
