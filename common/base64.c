/* SPDX-License-Identifier: ISC */
/* Base 64 by RFC 4648 section 4, strict in both directions; one pass. */
#include "config.h"

#include "common/base64.h"

#include <stdint.h>
#include <string.h>

static const char alphabet[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void
base64_encode(struct strbuf *out, const void *data, size_t len)
{
	const uint8_t *p = data;

	strbuf_grow(out, (len + 2) / 3 * 4);
	for (size_t i = 0; i < len; i += 3) {
		size_t left = len - i;
		uint32_t v = (uint32_t)p[i] << 16;
		char group[4];

		if (left > 1)
			v |= (uint32_t)p[i + 1] << 8;
		if (left > 2)
			v |= p[i + 2];
		group[0] = alphabet[v >> 18];
		group[1] = alphabet[v >> 12 & 63];
		group[2] = left > 1 ? alphabet[v >> 6 & 63] : '=';
		group[3] = left > 2 ? alphabet[v & 63] : '=';
		strbuf_add(out, group, sizeof group);
	}
}

/* 0 to 63, or -1 for a byte that is no digit. */
static int
digit_value(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* One group of four; bytes it holds, or -1. */
static int
decode_group(const char *s, uint8_t out[3])
{
	int padding = s[3] != '=' ? 0 : s[2] != '=' ? 1 : 2;
	uint32_t v = 0;

	for (int i = 0; i < 4 - padding; i++) {
		int digit = digit_value(s[i]);

		if (digit < 0)
			return -1;
		v |= (uint32_t)digit << (18 - 6 * i);
	}
	out[0] = (uint8_t)(v >> 16);
	out[1] = (uint8_t)(v >> 8);
	out[2] = (uint8_t)v;
	if ((padding == 1 && out[2] != 0) ||
	    (padding == 2 && (out[1] != 0 || out[2] != 0)))
		return -1;
	return 3 - padding;
}

int
base64_decode(struct strbuf *out, const char *s, size_t len,
    struct error *err)
{
	size_t before = out->len;

	if (len % 4 != 0)
		return error_set(err, "base 64: %zu characters are no whole "
		    "number of groups of four", len);
	strbuf_grow(out, len / 4 * 3);
	for (size_t i = 0; i < len; i += 4) {
		uint8_t bytes[3];
		int n = decode_group(s + i, bytes);

		if (n < 0 || (n < 3 && i + 4 < len)) {
			strbuf_setlen(out, before);
			return error_set(err,
			    "base 64: characters %zu to %zu are no group",
			    i + 1, i + 4);
		}
		strbuf_add(out, bytes, (size_t)n);
	}
	return 0;
}
