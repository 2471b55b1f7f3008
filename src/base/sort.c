/*
 * Radix sort, from the least significant digit: each pass distributes the items, in order, by one
 * digit.  Digits that are the same in all keys, as the upper ones of addresses are, take no pass.
 *
 * D. E. Knuth, The Art of Computer Programming, vol. 3, section 5.2.5 "Sorting by Distribution".
 */
#include "base/sort.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };

static size_t digit_of(uint64_t key, unsigned int shift)
{
	return key >> shift & (DIGITS - 1);
}

static void distribute(
	const struct sort_item *from, struct sort_item *to, size_t count, unsigned int shift)
{
	size_t place[DIGITS] = {0}, sum = 0;

	for (size_t i = 0; i < count; i++)
		place[digit_of(from[i].key, shift)]++;
	for (size_t digit = 0; digit < DIGITS; digit++) {
		size_t size = place[digit];

		place[digit] = sum;
		sum += size;
	}
	for (size_t i = 0; i < count; i++)
		to[place[digit_of(from[i].key, shift)]++] = from[i];
}

/* The bits in which keys differ; *sorted: whether the items are in order as they are. */
static uint64_t differing_bits(const struct sort_item *items, size_t count, bool *sorted)
{
	uint64_t bits = 0;

	*sorted = true;
	for (size_t i = 1; i < count; i++) {
		bits |= items[i].key ^ items[0].key;
		*sorted &= items[i - 1].key <= items[i].key;
	}
	return bits;
}

void sort_items(struct sort_item *items, size_t count)
{
	bool sorted;
	uint64_t bits = differing_bits(items, count, &sorted);

	if (sorted)
		return;
	struct sort_item *room = xcalloc(count, sizeof(*room)), *from = items, *to = room;

	for (unsigned int shift = 0; shift < 64; shift += DIGIT_BITS) {
		if (digit_of(bits, shift) == 0)
			continue;
		distribute(from, to, count, shift);
		struct sort_item *done = to;

		to = from;
		from = done;
	}
	if (from != items)
		memcpy(items, from, count * sizeof(*items));
	free(room);
}
