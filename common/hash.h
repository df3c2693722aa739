/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_HASH_H
#define CRONCTL_HASH_H

#include <stddef.h>
#include <stdint.h>

/* SipHash-2-4 (Aumasson and Bernstein, 2012). */
uint64_t	hash_siphash(const uint8_t key[16], const void *data,
		    size_t len);
/* The same with a key of 16 zero bytes (semantics.md 7). */
uint64_t	hash_bytes(const void *data, size_t len);
/*
 * The stable value behind H, ~ and jitter (semantics.md 7): over host_id,
 * a zero byte, job name, a zero byte, word, a zero byte, and number as a
 * 64-bit little-endian integer.
 */
uint64_t	hash_schedule(const char *host_id, const char *job,
		    const char *word, uint64_t number);

#define SHA256_SIZE 32
void		hash_sha256(const void *data, size_t len,
		    uint8_t out[SHA256_SIZE]);
/* As 64 lower-case hexadecimal digits and a NUL. */
void		hash_sha256_hex(const void *data, size_t len, char out[65]);

#endif
