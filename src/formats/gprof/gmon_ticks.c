/*
 * Ticks of bins to ticks of functions.  See gmon_ticks.h.
 *
 * All splitting is by running sums: part k of a whole gets what the rounded share of parts 1 … k
 * has more than that of parts 1 … k-1.  So parts always sum to the whole, and none is off by more
 * than one.
 */
#include "formats/gprof/gmon_ticks.h"

#include <stdlib.h>

#include "base/word.h"
#include "obj/function_symbols.h"

#define UNIT	   2u
#define SHARE_BITS 16

/* whole × part / parts, which must not be more than whole. */
static uint64_t portion(uint64_t whole, uint64_t part, uint64_t parts)
{
	return (uint64_t)((unsigned __int128)whole * part / parts);
}

/* One bin on its way to functions. */
struct bin {
	uint64_t low, high; /* in units */
	uint64_t ticks, time_ns;
	uint64_t given; /* units that have been given to functions */
};

/* The next `units` units of the bin, at addr. */
static void give(
	struct gmon_ticks *t, struct bin *b, uint64_t units, uint64_t addr, uint32_t function)
{
	uint64_t width = b->high - b->low, until = b->given + units;
	uint64_t share = b->ticks << SHARE_BITS;
	struct gmon_place place = {.addr = addr,
		.function = function,
		.time_ns = portion(b->time_ns, until, width) - portion(b->time_ns, b->given, width),
		.share = portion(share, until, width) - portion(share, b->given, width)};

	b->given = until;
	if (place.share || place.time_ns)
		vec_push(&t->places, place);
}

static uint64_t at_least(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t at_most(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* To the functions that it overlaps; the rest is in none. */
static void give_bin(struct gmon_ticks *t, struct bin *b, const struct function_symbols *symbols)
{
	size_t i = function_symbols_from(symbols, b->low * UNIT);

	for (; i < function_symbols_count(symbols); i++) {
		struct function_symbol f = function_symbols_at(symbols, i);
		uint64_t low = at_least(b->low, f.low / UNIT);
		uint64_t high = at_most(b->high, f.high / UNIT);
		if (f.low / UNIT >= b->high)
			break;
		if (low < high)
			give(t, b, high - low, at_least(low * UNIT, f.low), (uint32_t)i);
	}
	if (b->given < b->high - b->low)
		give(t, b, b->high - b->low - b->given, b->low * UNIT, UINT32_MAX);
}

static void give_histogram(struct gmon_ticks *t, const struct gmon_histogram *h, bool is_big_endian,
	const struct function_symbols *symbols)
{
	uint64_t units = at_least((h->high - h->low) / UNIT, 1);
	uint64_t ticks = 0, time_ns = 0;

	for (uint32_t i = 0; i < h->bin_count; i++) {
		uint64_t count = word_read(h->ticks + (size_t)2 * i, 2, is_big_endian);
		if (count == 0)
			continue;
		uint64_t until_ns = portion(1000000000u, ticks + count, h->rate);
		struct bin b = {.low = h->low / UNIT + portion(units, i, h->bin_count),
			.high = h->low / UNIT + portion(units, (uint64_t)i + 1, h->bin_count),
			.ticks = count,
			.time_ns = until_ns - time_ns};
		/* More bins than units: some are as wide as one unit all the same. */
		if (b.high == b.low)
			b.high++;
		give_bin(t, &b, symbols);
		ticks += count;
		time_ns = until_ns;
	}
	t->total += ticks;
}

/* A function's, while whole ticks are dealt out. */
struct deal {
	uint32_t function;
	uint64_t share, seen; /* in all; of the places so far */
	uint64_t ticks;
};

static int deal_compare(const void *a, const void *b)
{
	const struct deal *x = a, *y = b;
	uint64_t rest_x = x->share & ((1u << SHARE_BITS) - 1);
	uint64_t rest_y = y->share & ((1u << SHARE_BITS) - 1);

	if (rest_x != rest_y)
		return rest_x < rest_y ? 1 : -1;
	return (x->function > y->function) - (x->function < y->function);
}

static int deal_by_function(const void *a, const void *b)
{
	const struct deal *x = a, *y = b;

	return (x->function > y->function) - (x->function < y->function);
}

static size_t deal_index(const struct gmon_place *place, size_t functions)
{
	return place->function == UINT32_MAX ? functions : place->function;
}

static void deal_ticks(struct gmon_ticks *t, size_t functions)
{
	struct deal *deals = xcalloc(functions + 1, sizeof(*deals));
	uint64_t left = t->total;

	for (size_t i = 0; i <= functions; i++)
		deals[i].function = (uint32_t)i;
	for (size_t i = 0; i < t->places.count; i++)
		deals[deal_index(&t->places.data[i], functions)].share += t->places.data[i].share;
	for (size_t i = 0; i <= functions; i++) {
		deals[i].ticks = deals[i].share >> SHARE_BITS;
		left -= deals[i].ticks;
	}
	qsort(deals, functions + 1, sizeof(*deals), deal_compare);
	for (size_t i = 0; i <= functions && left > 0; i++, left--)
		deals[i].ticks++;
	qsort(deals, functions + 1, sizeof(*deals), deal_by_function);
	for (size_t i = 0; i < t->places.count; i++) {
		struct gmon_place *place = &t->places.data[i];
		struct deal *d = &deals[deal_index(place, functions)];
		uint64_t before = d->share ? portion(d->ticks, d->seen, d->share) : 0;
		d->seen += place->share;
		place->ticks = d->share ? portion(d->ticks, d->seen, d->share) - before : 0;
	}
	t->outside = deals[functions].ticks;
	free(deals);
}

void gmon_ticks_init(
	struct gmon_ticks *t, const struct gmon_file *file, const struct function_symbols *symbols)
{
	*t = (struct gmon_ticks){0};
	for (size_t i = 0; i < file->histograms.count; i++)
		give_histogram(t, &file->histograms.data[i], file->words.is_big_endian, symbols);
	deal_ticks(t, function_symbols_count(symbols));
}

void gmon_ticks_deinit(struct gmon_ticks *t)
{
	vec_deinit(&t->places);
}
