/* SPDX-License-Identifier: ISC */
/*
 * Hashes against published values: the SipHash paper's appendix A and its
 * authors' list for the inputs 00 01 02 ..., FIPS 180-2 appendix B and the
 * examples of FIPS 180-4, and the worked values of the scheduling rules.
 */
#include "config.h"

#include "common/hash.h"

#include <check.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tests/check_main.h"

START_TEST(siphash_gives_the_values_of_its_authors)
{
	static const struct {
		size_t		len;	/* bytes 00 01 02 ... */
		uint64_t	want;	/* read as little-endian */
	} rows[] = {
		{ 0, UINT64_C(0x726fdb47dd0e0e31) },
		{ 1, UINT64_C(0x74f839c593dc67fd) },
		{ 7, UINT64_C(0xab0200f58b01d137) },
		{ 8, UINT64_C(0x93f5f5799a932462) },
		{ 15, UINT64_C(0xa129ca6149be45e5) },
	};
	uint8_t bytes[16];

	for (uint8_t i = 0; i < 16; i++)
		bytes[i] = i;
	ck_assert_uint_eq(hash_siphash(bytes, bytes, rows[_i].len),
	    rows[_i].want);
}
END_TEST

START_TEST(schedule_hash_gives_the_worked_values)
{
	static const struct {
		const char	*job;	/* on host_id "example" */
		const char	*word;	/* field, or jitter */
		uint64_t	 number; /* item, or nominal instant */
		uint64_t	 want;	/* semantics.md 7 */
	} rows[] = {
		{ "backup", "minute", 0, UINT64_C(16937824107540400142) },
		{ "backup", "hour", 0, UINT64_C(1558641155965970333) },
		{ "backup", "dom", 0, UINT64_C(5031814850306038593) },
		{ "backup", "jitter", 1700000000,
		    UINT64_C(2159967317410574661) },
		{ "web-01", "minute", 0, UINT64_C(16010988476201028496) },
		{ "web-01", "hour", 0, UINT64_C(1349511366750951883) },
		{ "web-01", "dom", 0, UINT64_C(9418760530679049422) },
		{ "web-01", "jitter", 1700000000,
		    UINT64_C(11362909645507346447) },
	};

	ck_assert_uint_eq(hash_schedule("example", rows[_i].job,
	    rows[_i].word, rows[_i].number), rows[_i].want);
}
END_TEST

START_TEST(schedule_hash_is_the_hash_of_its_parts_in_a_row)
{
	static const char row[] = "example\0backup\0minute\0\7\0\0\0\0\0\0\1";

	ck_assert_uint_eq(hash_schedule("example", "backup", "minute",
	    UINT64_C(0x0100000000000007)), hash_bytes(row, sizeof(row) - 1));
}
END_TEST

START_TEST(sha256_gives_the_values_of_fips_180)
{
	static const struct {
		const char	*text;	/* repeated */
		size_t		 times;	/* how often */
		const char	*want;	/* hexadecimal */
	} rows[] = {
		{ "", 1, "e3b0c44298fc1c149afbf4c8996fb924"
		    "27ae41e4649b934ca495991b7852b855" },
		{ "abc", 1, "ba7816bf8f01cfea414140de5dae2223"
		    "b00361a396177a9cb410ff61f20015ad" },
		{ "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
		    1, "248d6a61d20638b8e5c026930c3e6039"
		    "a33ce45964ff2167f6ecedd419db06c1" },
		{ "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
		    "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
		    1, "cf5b16a778af8380036ce59e7b049237"
		    "0b249b11e8f07a51afac45037afee9d1" },
		{ "aaaaaaaaaa", 100000, "cdc76e5c9914fb9281a1c7e284d73e67"
		    "f1809a48a497200e046d39ccc7112cd0" },
	};
	size_t one = strlen(rows[_i].text), len = one * rows[_i].times;
	char *data = malloc(len + 1), hex[65];

	ck_assert_ptr_nonnull(data);
	for (size_t i = 0; i < rows[_i].times; i++)
		memcpy(data + i * one, rows[_i].text, one);
	hash_sha256_hex(data, len, hex);
	free(data);
	ck_assert_str_eq(hex, rows[_i].want);
}
END_TEST

START_TEST(sha256_hex_spells_the_bytes)
{
	uint8_t sum[SHA256_SIZE];

	hash_sha256("abc", 3, sum);
	ck_assert_uint_eq(sum[0], 0xba);
	ck_assert_uint_eq(sum[1], 0x78);
	ck_assert_uint_eq(sum[31], 0xad);
}
END_TEST

static Suite *
hash_suite(void)
{
	Suite *s = suite_create("hash");
	TCase *t = tcase_create("hash");

	tcase_add_loop_test(t, siphash_gives_the_values_of_its_authors, 0, 5);
	tcase_add_loop_test(t, schedule_hash_gives_the_worked_values, 0, 8);
	tcase_add_test(t, schedule_hash_is_the_hash_of_its_parts_in_a_row);
	tcase_add_loop_test(t, sha256_gives_the_values_of_fips_180, 0, 5);
	tcase_add_test(t, sha256_hex_spells_the_bytes);
	suite_add_tcase(s, t);
	return s;
}

int
main(void)
{
	return check_main(hash_suite());
}
