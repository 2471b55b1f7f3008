#ifndef SONDE_BASE_HASH_H
#define SONDE_BASE_HASH_H

/*
 * Hashes for tables in memory (never written to a file) and CRC-32C for chunks (always the same).
 */

#include <stddef.h>
#include <stdint.h>

/* Mixes a 64-bit key so that its low bits are usable as a table index (Stafford's mix 13). */
static inline uint64_t hash_u64(uint64_t x)
{
	x ^= x >> 30;
	x *= 0xbf58476d1ce4e5b9u;
	x ^= x >> 27;
	x *= 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

static inline uint64_t hash_pair(uint64_t a, uint64_t b)
{
	return hash_u64(a * 0x9e3779b97f4a7c15u + hash_u64(b));
}

/*
 * For keys that are often added and looked up in runs (1, 2, 3 …): hash is that of all but the low
 * bits of `key`, which are added, so that the slots of a run are adjacent in memory.
 */
#define HASH_RUN_BITS 3
static inline uint64_t hash_run(uint64_t hash, uint64_t key)
{
	return hash + (key & ((1u << HASH_RUN_BITS) - 1));
}

/* Hash of size bytes. */
uint64_t hash_bytes(const void *data, size_t size);

/*
 * CRC-32C (Castagnoli, RFC 3720 appendix B.4), reflected, as iSCSI and ext4 use it.  To continue,
 * pass the result so far as crc; the first call passes 0.
 */
uint32_t crc32c(uint32_t crc, const void *data, size_t size);

#endif
