/*
 * gmon.out, and its ticks by function.  See gmon_file.h.
 */
#include "formats/gprof/gmon_file.h"

#include <stdlib.h>

#include "base/cursor.h"
#include "base/sort.h"
#include "base/word.h"
#include "obj/function_symbols.h"

/* ---- the file ---- */

/*
 * gmon.out: a header of 20 bytes ("gmon", version 1, 12 bytes of nothing), then records: a byte for
 * the kind, and its data.  Nothing marks the beginning of a record, so reading ends at the first
 * invalid one.
 *
 * Source: the gprof manual, "Profiling Data File Format"; sys/gmon_out.h of glibc.
 */

enum gmon_tag { TAG_HISTOGRAM, TAG_ARC, TAG_BLOCKS };

#define HEADER_SIZE    20u
#define DIMENSION_SIZE 15u
#define RATE_MAX       1000000000u
#define BIN_SIZE       2u

struct gmon_cursor {
	struct cursor bytes;
	struct gmon_words words;
};

static uint64_t read_number(struct gmon_cursor *c, size_t size)
{
	const uint8_t *bytes = cursor_bytes(&c->bytes, size);

	return bytes ? word_read(bytes, size, c->words.is_big_endian) : 0;
}

static uint64_t read_address(struct gmon_cursor *c)
{
	return read_number(c, c->words.size);
}

static struct str read_dimension(struct gmon_cursor *c)
{
	const char *text = (const char *)cursor_bytes(&c->bytes, DIMENSION_SIZE);

	cursor_skip(&c->bytes, 1); /* the abbreviation of the dimension */
	return text ? (struct str){text, strnlen(text, DIMENSION_SIZE)} : STR("");
}

static void read_histogram(struct gmon_cursor *c, struct gmon_file *file)
{
	struct gmon_histogram h = {.low = read_address(c), .high = read_address(c)};

	h.bin_count = (uint32_t)read_number(c, 4);
	h.rate = (uint32_t)read_number(c, 4);
	h.dimension = read_dimension(c);
	if (cursor_ok(&c->bytes) && (h.rate == 0 || h.rate > RATE_MAX))
		cursor_fail(&c->bytes, "a histogram with an impossible number of ticks a second");
	if (h.low > h.high || (h.low == h.high && h.bin_count))
		cursor_fail(&c->bytes, "a histogram without addresses");
	h.ticks = cursor_bytes(&c->bytes, (uint64_t)h.bin_count * BIN_SIZE);
	if (!cursor_ok(&c->bytes) || h.bin_count == 0)
		return;
	if (file->histograms.count < GMON_HISTOGRAMS_MAX)
		vec_push(&file->histograms, h);
	else
		file->histograms_over++;
}

static void read_arc(struct gmon_cursor *c, struct gmon_file *file)
{
	struct gmon_arc arc = {.from = read_address(c), .self = read_address(c)};

	arc.calls = (uint32_t)read_number(c, 4);
	if (cursor_ok(&c->bytes))
		vec_push(&file->arcs, arc);
}

/* Skips basic blocks: an address and a count each. */
static void read_blocks(struct gmon_cursor *c, struct gmon_file *file)
{
	uint64_t count = read_number(c, 4);

	cursor_skip(&c->bytes, count * 2 * c->words.size);
	if (cursor_ok(&c->bytes))
		file->block_count += count;
}

static void read_record(struct gmon_cursor *c, struct gmon_file *file)
{
	switch (cursor_u8(&c->bytes)) {
	case TAG_HISTOGRAM:
		read_histogram(c, file);
		break;
	case TAG_ARC:
		read_arc(c, file);
		break;
	case TAG_BLOCKS:
		read_blocks(c, file);
		break;
	default:
		cursor_fail(&c->bytes, "a record of unknown kind");
		break;
	}
}

static struct error *read_header(struct gmon_cursor *c, const char *name)
{
	const uint8_t *magic = cursor_bytes(&c->bytes, 4);
	uint64_t version = read_number(c, 4);

	cursor_skip(&c->bytes, HEADER_SIZE - 8);
	if (!cursor_ok(&c->bytes) || memcmp(magic, "gmon", 4) != 0)
		return error_new(ERROR_INPUT, "%s: not a gmon.out file", name);
	if (version == 1)
		return NULL;
	if (version == 1u << 24)
		return error_new(ERROR_INPUT,
			"%s: written by a program of the other byte order than that of --exe",
			name);
	return error_new(ERROR_UNSUPPORTED, "%s: a gmon.out file of version %u, not of 1", name,
		(unsigned int)version);
}

struct error *gmon_file_read(struct gmon_file *file, const uint8_t *data, size_t size,
	struct gmon_words words, const char *name)
{
	struct gmon_cursor c = {.words = words};
	uint64_t begin = HEADER_SIZE;

	*file = (struct gmon_file){.words = words};
	cursor_init(&c.bytes, data, size, name, 0);
	struct error *err = read_header(&c, name);
	if (err)
		return err;
	while (cursor_ok(&c.bytes) && !cursor_at_end(&c.bytes)) {
		begin = cursor_offset(&c.bytes);
		read_record(&c, file);
	}
	if (cursor_ok(&c.bytes))
		return NULL;
	if (begin == HEADER_SIZE)
		return error_input(name, begin, "%s; is it of another program than --exe names?",
			c.bytes.problem);
	file->problem = c.bytes.problem;
	file->problem_offset = begin;
	return NULL;
}

void gmon_file_deinit(struct gmon_file *file)
{
	vec_deinit(&file->histograms);
	vec_deinit(&file->arcs);
}

/* ---- ticks ---- */

/*
 * Distributes ticks of bins to functions.
 *
 * All splitting is by running sums: part k of a whole gets the rounded share of parts 1 … k minus
 * that of parts 1 … k-1.  So parts always add up to the whole, and none is off by more than one.
 */

#define UNIT	   2u
#define SHARE_BITS 16

/* whole × part / parts, which must not exceed whole. */
static uint64_t portion(uint64_t whole, uint64_t part, uint64_t parts)
{
	return (uint64_t)((unsigned __int128)whole * part / parts);
}

/* One bin being distributed. */
struct bin {
	uint64_t low, high; /* in units */
	uint64_t ticks, time_ns;
	uint64_t given; /* units already distributed */
};

/* Gives the next `units` units of the bin to a function, at addr. */
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

/* Gives a bin to the functions that it overlaps; the rest belongs to no function. */
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
		/* If there are more bins than units, some are empty; make them one unit wide. */
		if (b.high == b.low)
			b.high++;
		give_bin(t, &b, symbols);
		ticks += count;
		time_ns = until_ns;
	}
	t->total += ticks;
}

/* A function while whole ticks are distributed. */
struct deal {
	uint32_t function;
	uint64_t share, seen; /* in total; of the places so far */
	uint64_t ticks;
};

static int deal_compare(const void *a, const void *b)
{
	const struct deal *x = a, *y = b;
	uint64_t rest_x = x->share & ((1u << SHARE_BITS) - 1);
	uint64_t rest_y = y->share & ((1u << SHARE_BITS) - 1);

	if (rest_x != rest_y)
		return rest_x < rest_y ? 1 : -1;
	return COMPARE(x->function, y->function);
}

static int deal_by_function(const void *a, const void *b)
{
	const struct deal *x = a, *y = b;

	return COMPARE(x->function, y->function);
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
