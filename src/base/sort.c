/*
 * Radix sort from the least significant digit: each pass distributes the items, in order, by one
 * digit.  Digits that are equal in all keys, such as the upper ones of addresses, need no pass.
 *
 * Items that come in ascending runs, such as the buffers of a few CPUs written one after the other,
 * are merged instead: each run is merged into the end of the sorted items before it, as far back as
 * it reaches.
 *
 * D. E. Knuth, The Art of Computer Programming, vol. 3, section 5.2.5 "Sorting by Distribution".
 */
#include "base/sort.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* Digits of many items, and of so few that counting a long digit would take longer than they do. */
enum { DIGIT_BITS = 11, SHORT_DIGIT_BITS = 6, SHORT_COUNT = 2048 };
/*
 * The average number of moves per item that merging may take before falling back to digits, except
 * for a few items.
 */
enum { MOVES_MAX = 4, FEW = 32 };

static size_t digit_of(uint64_t key, unsigned int shift, unsigned int bits)
{
	return key >> shift & ((1u << bits) - 1);
}

static void distribute(const struct sort_item *from, struct sort_item *to, size_t count,
	unsigned int shift, unsigned int bits)
{
	size_t place[1 << DIGIT_BITS], sum = 0;

	memset(place, 0, sizeof(*place) << bits);
	for (size_t i = 0; i < count; i++)
		place[digit_of(from[i].key, shift, bits)]++;
	for (size_t digit = 0; digit >> bits == 0; digit++) {
		size_t size = place[digit];

		place[digit] = sum;
		sum += size;
	}
	for (size_t i = 0; i < count; i++)
		to[place[digit_of(from[i].key, shift, bits)]++] = from[i];
}

/* The bits in which keys differ. */
static uint64_t differing_bits(const struct sort_item *items, size_t count)
{
	uint64_t bits = 0;

	for (size_t i = 1; i < count; i++)
		bits |= items[i].key ^ items[0].key;
	return bits;
}

/* The end of the run that begins at i. */
static size_t run_end(const struct sort_item *items, size_t count, size_t i)
{
	do
		i++;
	while (i < count && items[i - 1].key <= items[i].key);
	return i;
}

/*
 * Merges the run from middle to end into the sorted items before it, from the back; among equal
 * keys, the run's come last.  Returns the number of items moved.
 */
static size_t merge_run(struct sort_item *items, size_t middle, size_t end, struct sort_item *room)
{
	size_t left = middle, right = end - middle, to = end;

	memcpy(room, items + middle, right * sizeof(*room));
	while (left && right)
		items[--to] =
			room[right - 1].key < items[left - 1].key ? items[--left] : room[--right];
	memcpy(items, room, right * sizeof(*room));
	return end - to + right;
}

/* False: the runs reach back so far that digits are faster. */
static bool sort_by_runs(struct sort_item *items, size_t count, struct sort_item *room)
{
	size_t moves = 0;

	for (size_t end = run_end(items, count, 0); end < count;) {
		size_t middle = end;

		end = run_end(items, count, middle);
		moves += merge_run(items, middle, end, room);
		if (count > FEW && moves / MOVES_MAX > count)
			return false;
	}
	return true;
}

static void sort_by_digits(struct sort_item *items, size_t count, struct sort_item *room)
{
	struct sort_item *from = items, *to = room;
	uint64_t differing = differing_bits(items, count);
	unsigned int bits = count < SHORT_COUNT ? SHORT_DIGIT_BITS : DIGIT_BITS;

	for (unsigned int shift = 0; shift < 64; shift += bits) {
		if (digit_of(differing, shift, bits) == 0)
			continue;
		distribute(from, to, count, shift, bits);
		struct sort_item *done = to;

		to = from;
		from = done;
	}
	if (from != items)
		memcpy(items, from, count * sizeof(*items));
}

void sort_items(struct sort_item *items, size_t count)
{
	if (count == 0 || run_end(items, count, 0) == count)
		return;
	struct sort_item *room = xcalloc(count, sizeof(*room));

	if (!sort_by_runs(items, count, room))
		sort_by_digits(items, count, room);
	free(room);
}
