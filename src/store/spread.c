/*
 * The phases are multiples of the golden ratio, modulo 1: they fill a gap evenly, however many
 * stacks there are (Knuth, The Art of Computer Programming, volume 3, section 6.4).
 */
#include "store/spread.h"

#define PIECES_MAX 60

struct spread spread_over(uint64_t length_ns, uint64_t wanted, uint32_t stack)
{
	const uint64_t golden = UINT64_C(0x9e3779b97f4a7c15);
	struct spread s = {.count = 1};

	if (length_ns && wanted > 1)
		s.count = wanted < PIECES_MAX ? wanted : PIECES_MAX;
	s.gap_ns = length_ns / s.count;
	s.phase_ns = (uint64_t)(((unsigned __int128)(stack * golden) * s.gap_ns) >> 64);
	return s;
}

int64_t spread_part(const struct spread *s, int64_t whole, uint64_t i)
{
	__int128 count = (__int128)s->count;

	return (int64_t)((__int128)whole * (__int128)(i + 1) / count -
			 (__int128)whole * (__int128)i / count);
}

uint64_t spread_time_ns(const struct spread *s, uint64_t i)
{
	return i * s->gap_ns + s->phase_ns;
}
