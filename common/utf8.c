/* SPDX-License-Identifier: ISC */
/*
 * UTF-8 by the table of well-formed byte sequences (Unicode 15, table 3-7):
 * only the second byte has a range of its own.  Runs of ASCII are passed
 * over a machine word at a time.
 */
#include "config.h"

#include "common/utf8.h"

#include <stdint.h>
#include <string.h>

struct lead {
	unsigned char	first;	/* lead bytes from here ... */
	unsigned char	last;	/* ... to here ... */
	unsigned char	len;	/* ... begin a character this long, ... */
	unsigned char	low;	/* ... whose second byte is from here ... */
	unsigned char	high;	/* ... to here; the others 0x80 to 0xbf */
};

static const struct lead leads[] = {
	{ 0xc2, 0xdf, 2, 0x80, 0xbf },
	{ 0xe0, 0xe0, 3, 0xa0, 0xbf },
	{ 0xe1, 0xec, 3, 0x80, 0xbf },
	{ 0xed, 0xed, 3, 0x80, 0x9f },
	{ 0xee, 0xef, 3, 0x80, 0xbf },
	{ 0xf0, 0xf0, 4, 0x90, 0xbf },
	{ 0xf1, 0xf3, 4, 0x80, 0xbf },
	{ 0xf4, 0xf4, 4, 0x80, 0x8f },
};

static const struct lead *
find_lead(unsigned char byte)
{
	for (size_t i = 0; i < sizeof leads / sizeof *leads; i++)
		if (byte >= leads[i].first && byte <= leads[i].last)
			return &leads[i];
	return NULL;
}

size_t
utf8_sequence(const char *s, size_t len, bool *valid)
{
	const unsigned char *p = (const unsigned char *)s;
	const struct lead *lead;
	size_t n;

	*valid = p[0] < 0x80;
	if (*valid)
		return 1;
	lead = find_lead(p[0]);
	if (lead == NULL || len < 2 || p[1] < lead->low || p[1] > lead->high)
		return 1;
	for (n = 2; n < lead->len; n++)
		if (n >= len || (p[n] & 0xc0) != 0x80)
			return n;
	*valid = true;
	return n;
}

size_t
utf8_valid_prefix(const char *s, size_t len)
{
	const uint64_t high = UINT64_C(0x8080808080808080);
	size_t i = 0;
	bool valid;

	while (i < len) {
		uint64_t word;
		size_t n;

		if (len - i >= sizeof word) {
			memcpy(&word, s + i, sizeof word);
			if ((word & high) == 0) {
				i += sizeof word;
				continue;
			}
		}
		n = utf8_sequence(s + i, len - i, &valid);
		if (!valid)
			break;
		i += n;
	}
	return i;
}
