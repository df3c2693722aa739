/* SPDX-License-Identifier: ISC */
/* Base 64 against the vectors of RFC 4648 section 10 and its section 3. */
#include "config.h"

#include "common/base64.h"

#include <check.h>
#include <string.h>

#include "tests/check_main.h"

static const struct {
	const char	*bytes;	/* as a string */
	const char	*text;	/* RFC 4648 section 10 */
} vectors[] = {
	{ "", "" },
	{ "f", "Zg==" },
	{ "fo", "Zm8=" },
	{ "foo", "Zm9v" },
	{ "foob", "Zm9vYg==" },
	{ "fooba", "Zm9vYmE=" },
	{ "foobar", "Zm9vYmFy" },
};

#define N_VECTORS (int)(sizeof vectors / sizeof *vectors)

START_TEST(encodes_the_vectors_of_the_rfc)
{
	struct strbuf sb = STRBUF_INIT;

	base64_encode(&sb, vectors[_i].bytes, strlen(vectors[_i].bytes));
	ck_assert_str_eq(sb.buf, vectors[_i].text);
	strbuf_release(&sb);
}
END_TEST

START_TEST(decodes_the_vectors_of_the_rfc)
{
	struct strbuf sb = STRBUF_INIT;

	ck_assert_int_eq(base64_decode(&sb, vectors[_i].text,
	    strlen(vectors[_i].text), NULL), 0);
	ck_assert_str_eq(sb.buf, vectors[_i].bytes);
	strbuf_release(&sb);
}
END_TEST

START_TEST(every_byte_survives)
{
	struct strbuf text = STRBUF_INIT, back = STRBUF_INIT;
	unsigned char bytes[256];

	for (int i = 0; i < 256; i++)
		bytes[i] = (unsigned char)(255 - i);
	base64_encode(&text, bytes, sizeof bytes);
	/* 0xff 0xfe 0xfd: 111111 111111 111011 111101 */
	ck_assert(strncmp(text.buf, "//79", 4) == 0);
	ck_assert_int_eq(base64_decode(&back, text.buf, text.len, NULL), 0);
	ck_assert_uint_eq(back.len, sizeof bytes);
	ck_assert_mem_eq(back.buf, bytes, sizeof bytes);
	strbuf_release(&text);
	strbuf_release(&back);
}
END_TEST

START_TEST(what_no_encoder_writes_is_refused)
{
	static const char *const rows[] = {
		"Z", "Zg", "Zg=", "Zg==Zg==", "Zm9v\nZm9v", "Zm9-", "====",
		"Z===", "Zm=v", " Zg==",
		"Zh==",		/* stray bits: RFC 4648 section 3.5 */
		"Zm9=",
	};
	struct strbuf sb = STRBUF_INIT;
	struct error err;

	strbuf_addstr(&sb, "kept");
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		ck_assert_int_eq(base64_decode(&sb, rows[i], strlen(rows[i]),
		    &err), -1);
		ck_assert_str_eq(sb.buf, "kept");
	}
	strbuf_release(&sb);
}
END_TEST

static Suite *
base64_suite(void)
{
	Suite *s = suite_create("base64");
	TCase *t = tcase_create("base64");

	tcase_add_loop_test(t, encodes_the_vectors_of_the_rfc, 0, N_VECTORS);
	tcase_add_loop_test(t, decodes_the_vectors_of_the_rfc, 0, N_VECTORS);
	tcase_add_test(t, every_byte_survives);
	tcase_add_test(t, what_no_encoder_writes_is_refused);
	suite_add_tcase(s, t);
	return s;
}

int
main(void)
{
	return check_main(base64_suite());
}
