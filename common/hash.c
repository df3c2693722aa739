/* SPDX-License-Identifier: ISC */
/*
 * SipHash-2-4 (Aumasson and Bernstein, "SipHash: a fast short-input PRF",
 * 2012) and SHA-256 (FIPS 180-4).  Both are fed piece by piece inside, so
 * that hash_schedule() needs no buffer for its parts put together.
 *
 * The first serves stable choices (H, ~, jitter), the second names contents
 * of files.  Neither is used for secrets.  No allocation.  Cost: about one
 * nanosecond a byte for SipHash and five for SHA-256.
 */
#include "config.h"

#include "common/hash.h"

#include <string.h>

#define SIP_COMPRESS	2	/* rounds for each word: the 2 of 2-4 */
#define SIP_FINISH	4	/* rounds at the end: the 4 of 2-4 */
#define SHA256_BLOCK	64	/* bytes */

/* The state of one SipHash. */
struct sip {
	uint64_t	v[4];	/* the state words v0 to v3 */
	uint64_t	word;	/* bytes not yet compressed, lowest first */
	size_t		len;	/* bytes fed so far */
};

static uint64_t
rotl64(uint64_t x, unsigned n)
{
	return x << n | x >> (64 - n);
}

static void
sip_rounds(uint64_t v[4], int n)
{
	while (n-- > 0) {
		v[0] += v[1];
		v[2] += v[3];
		v[1] = rotl64(v[1], 13) ^ v[0];
		v[3] = rotl64(v[3], 16) ^ v[2];
		v[0] = rotl64(v[0], 32);
		v[2] += v[1];
		v[0] += v[3];
		v[1] = rotl64(v[1], 17) ^ v[2];
		v[3] = rotl64(v[3], 21) ^ v[0];
		v[2] = rotl64(v[2], 32);
	}
}

static uint64_t
load_le64(const uint8_t *p)
{
	uint64_t x = 0;

	for (int i = 7; i >= 0; i--)
		x = x << 8 | p[i];
	return x;
}

static void
sip_init(struct sip *s, const uint8_t key[16])
{
	uint64_t k0 = load_le64(key), k1 = load_le64(key + 8);

	s->v[0] = k0 ^ UINT64_C(0x736f6d6570736575);
	s->v[1] = k1 ^ UINT64_C(0x646f72616e646f6d);
	s->v[2] = k0 ^ UINT64_C(0x6c7967656e657261);
	s->v[3] = k1 ^ UINT64_C(0x7465646279746573);
	s->word = 0;
	s->len = 0;
}

static void
sip_compress(struct sip *s, uint64_t word)
{
	s->v[3] ^= word;
	sip_rounds(s->v, SIP_COMPRESS);
	s->v[0] ^= word;
}

static void
sip_add(struct sip *s, const void *data, size_t len)
{
	const uint8_t *p = data;

	for (size_t i = 0; i < len; i++) {
		s->word |= (uint64_t)p[i] << (s->len & 7) * 8;
		if ((++s->len & 7) == 0) {
			sip_compress(s, s->word);
			s->word = 0;
		}
	}
}

static uint64_t
sip_end(struct sip *s)
{
	sip_compress(s, s->word | (uint64_t)s->len << 56);
	s->v[2] ^= 0xff;
	sip_rounds(s->v, SIP_FINISH);
	return s->v[0] ^ s->v[1] ^ s->v[2] ^ s->v[3];
}

uint64_t
hash_siphash(const uint8_t key[16], const void *data, size_t len)
{
	struct sip s;

	sip_init(&s, key);
	sip_add(&s, data, len);
	return sip_end(&s);
}

uint64_t
hash_bytes(const void *data, size_t len)
{
	static const uint8_t zero[16];

	return hash_siphash(zero, data, len);
}

uint64_t
hash_schedule(const char *host_id, const char *job, const char *word,
    uint64_t number)
{
	static const uint8_t zero[16];
	uint8_t le[8];
	struct sip s;

	for (int i = 0; i < 8; i++)
		le[i] = (uint8_t)(number >> 8 * i);
	sip_init(&s, zero);
	sip_add(&s, host_id, strlen(host_id) + 1);
	sip_add(&s, job, strlen(job) + 1);
	sip_add(&s, word, strlen(word) + 1);
	sip_add(&s, le, sizeof(le));
	return sip_end(&s);
}

static const uint32_t sha256_k[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
	0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
	0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
	0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
	0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
	0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
	0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
	0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2
};

static uint32_t
rotr32(uint32_t x, unsigned n)
{
	return x >> n | x << (32 - n);
}

/* FIPS 180-4 6.2.2, steps 1 to 4, for one block. */
static void
sha256_block(uint32_t h[8], const uint8_t block[SHA256_BLOCK])
{
	uint32_t w[64], s[8];

	for (int t = 0; t < 16; t++)
		w[t] = (uint32_t)block[4 * t] << 24 |
		    (uint32_t)block[4 * t + 1] << 16 |
		    (uint32_t)block[4 * t + 2] << 8 | block[4 * t + 3];
	for (int t = 16; t < 64; t++) {
		uint32_t a = w[t - 15], b = w[t - 2];

		w[t] = w[t - 16] + w[t - 7] +
		    (rotr32(a, 7) ^ rotr32(a, 18) ^ a >> 3) +
		    (rotr32(b, 17) ^ rotr32(b, 19) ^ b >> 10);
	}
	memcpy(s, h, sizeof(s));
	for (int t = 0; t < 64; t++) {
		uint32_t t1 = s[7] + (rotr32(s[4], 6) ^ rotr32(s[4], 11) ^
		    rotr32(s[4], 25)) + ((s[4] & s[5]) ^ (~s[4] & s[6])) +
		    sha256_k[t] + w[t];
		uint32_t t2 = (rotr32(s[0], 2) ^ rotr32(s[0], 13) ^
		    rotr32(s[0], 22)) + ((s[0] & s[1]) ^ (s[0] & s[2]) ^
		    (s[1] & s[2]));

		memmove(s + 1, s, 7 * sizeof(s[0]));
		s[4] += t1;
		s[0] = t1 + t2;
	}
	for (int i = 0; i < 8; i++)
		h[i] += s[i];
}

void
hash_sha256(const void *data, size_t len, uint8_t out[SHA256_SIZE])
{
	uint32_t h[8] = {
		0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
		0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19
	};
	const uint8_t *p = data;
	uint8_t tail[2 * SHA256_BLOCK] = { 0 };
	uint64_t bits = (uint64_t)len * 8;
	size_t left = len % SHA256_BLOCK, end;

	for (size_t i = 0; i + SHA256_BLOCK <= len; i += SHA256_BLOCK)
		sha256_block(h, p + i);
	if (left > 0)
		memcpy(tail, p + (len - left), left);
	tail[left] = 0x80;
	end = left + 1 + 8 <= SHA256_BLOCK ? SHA256_BLOCK : sizeof(tail);
	for (size_t i = 0; i < 8; i++)
		tail[end - 1 - i] = (uint8_t)(bits >> 8 * i);
	for (size_t i = 0; i < end; i += SHA256_BLOCK)
		sha256_block(h, tail + i);
	for (size_t i = 0; i < SHA256_SIZE; i++)
		out[i] = (uint8_t)(h[i / 4] >> (24 - 8 * (i % 4)));
}

void
hash_sha256_hex(const void *data, size_t len, char out[65])
{
	static const char digits[] = "0123456789abcdef";
	uint8_t sum[SHA256_SIZE];

	hash_sha256(data, len, sum);
	for (size_t i = 0; i < SHA256_SIZE; i++) {
		out[2 * i] = digits[sum[i] >> 4];
		out[2 * i + 1] = digits[sum[i] & 15];
	}
	out[2 * SHA256_SIZE] = '\0';
}
