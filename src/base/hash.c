/*
 * Hashes. hash_bytes takes eight or sixteen bytes a step through a multiply-fold (the core step of
 * wyhash); crc32c is table-driven, eight bytes a step ("slicing by 8", Kounavis and Berry 2005), so
 * that it is the same on every machine, and fast compared with zstd.
 */
#include "base/hash.h"

#include <string.h>

static uint64_t fold(uint64_t a, uint64_t b)
{
	unsigned __int128 p = (unsigned __int128)a * b;

	return (uint64_t)p ^ (uint64_t)(p >> 64);
}

/* Two chains of sixteen bytes per step, since one chain would wait for each multiplication. */
static const unsigned char *hash_blocks(const unsigned char *p, size_t *size, uint64_t *h)
{
	uint64_t other = *h ^ 0x4b33a62ed433d4a3u;
	uint64_t words[4];

	for (; *size >= 32; *size -= 32, p += 32) {
		memcpy(words, p, 32);
		*h = fold(*h ^ words[0], words[1] ^ 0x8bb84b93962eacc9u);
		other = fold(other ^ words[2], words[3] ^ 0x8bb84b93962eacc9u);
	}
	*h = fold(*h ^ (other >> 32 | other << 32), 0x9e3779b97f4a7c15u);
	return p;
}

uint64_t hash_bytes(const void *data, size_t size)
{
	const unsigned char *p = data;
	uint64_t h = 0x2d358dccaa6c78a5u ^ size;
	uint64_t word;

	if (size >= 32)
		p = hash_blocks(p, &size, &h);
	for (; size >= 8; size -= 8, p += 8) {
		memcpy(&word, p, 8);
		h = fold(h ^ word, 0x8bb84b93962eacc9u);
	}
	word = 0;
	if (size)
		memcpy(&word, p, size);
	return hash_u64(fold(h ^ word, 0x4b33a62ed433d4a3u));
}

static uint32_t crc_tables[8][256];

static void crc_init(void)
{
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t c = i;
		for (int bit = 0; bit < 8; bit++)
			c = (c >> 1) ^ (c & 1 ? 0x82f63b78u : 0);
		crc_tables[0][i] = c;
	}
	for (uint32_t i = 0; i < 256; i++)
		for (int t = 1; t < 8; t++)
			crc_tables[t][i] = (crc_tables[t - 1][i] >> 8) ^
					   crc_tables[0][crc_tables[t - 1][i] & 0xff];
}

uint32_t crc32c(uint32_t crc, const void *data, size_t size)
{
	const unsigned char *p = data;

	if (crc_tables[0][1] == 0)
		crc_init();
	crc = ~crc;
	for (; size >= 8; size -= 8, p += 8) {
		uint32_t lo, hi;
		memcpy(&lo, p, 4);
		memcpy(&hi, p + 4, 4);
		lo ^= crc;
		crc = crc_tables[7][lo & 0xff] ^ crc_tables[6][(lo >> 8) & 0xff] ^
		      crc_tables[5][(lo >> 16) & 0xff] ^ crc_tables[4][lo >> 24] ^
		      crc_tables[3][hi & 0xff] ^ crc_tables[2][(hi >> 8) & 0xff] ^
		      crc_tables[1][(hi >> 16) & 0xff] ^ crc_tables[0][hi >> 24];
	}
	for (; size; size--, p++)
		crc = (crc >> 8) ^ crc_tables[0][(crc ^ *p) & 0xff];
	return ~crc;
}
