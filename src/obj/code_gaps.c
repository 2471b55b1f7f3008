/*
 * Finds code without rules: its ranges, the parts that are not padding, and the starts of its
 * functions.
 */
#include "obj/code_gaps.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "obj/cfi_rows.h"

/* Smaller gaps between functions are padding. */
#define GAP_MIN ((uint64_t)16)
/*
 * For a gap of at least this size, symbols are read to find function starts.  What compilers add to
 * each program is smaller.  A few assembly functions are larger, and only symbols give their
 * starts.
 */
#define SYMBOLS_FROM ((uint64_t)256)
/*
 * Largest size decoded as a whole, if avoidable and if not; distance to search for a function
 * start.
 */
#define WHOLE_SMALL ((uint64_t)16 << 10)
#define WHOLE_MAX   ((uint64_t)2 << 20)
#define NEAR	    ((uint64_t)16 << 10)
#define WINDOW	    ((uint64_t)32 << 10)

struct span {
	uint64_t low, high;
};

void code_gaps_init(struct code_gaps *gaps, const struct cfi_object *object)
{
	*gaps = (struct code_gaps){.code = object->code};
	for (size_t i = 0; i < object->distrusted_count; i++)
		vec_push(&gaps->symbols.addrs, object->distrusted[i]);
	code_starts_sort(&gaps->symbols);
}

void code_gaps_deinit(struct code_gaps *gaps)
{
	for (size_t i = 0; i < CODE_REGIONS; i++)
		code_starts_deinit(&gaps->regions[i].starts);
	code_starts_deinit(&gaps->symbols);
}

size_t code_gaps_size_bytes(const struct code_gaps *gaps)
{
	size_t size = gaps->symbols.addrs.capacity * sizeof(uint64_t);

	for (size_t i = 0; i < CODE_REGIONS; i++)
		size += gaps->regions[i].starts.addrs.capacity * sizeof(uint64_t);
	return size;
}

/* ---- pieces ---- */

/*
 * Finds the piece of code in the gap around obj_addr.  False: obj_addr is not in code, and *span is
 * the part of the gap without code.
 */
static bool find_piece(const struct code_gaps *gaps, uint64_t obj_addr, struct span *span)
{
	const struct cfi_code *code = gaps->code;

	for (size_t i = 0; code && i < code->count; i++) {
		uint64_t from = code->ranges[i].low, to = code->ranges[i].high;

		if (to <= obj_addr) {
			span->low = to > span->low ? to : span->low;
			continue;
		}
		if (from > obj_addr) {
			span->high = from < span->high ? from : span->high;
			return false;
		}
		bool is_all = span->low <= from && to <= span->high;
		span->low = from > span->low ? from : span->low;
		span->high = to < span->high ? to : span->high;
		return is_all || span->high - span->low >= GAP_MIN;
	}
	return false;
}

/* Returns a copy of code, to be freed; NULL if it cannot be read completely. */
static uint8_t *copy_code(const struct code_gaps *gaps, struct span span)
{
	uint8_t *bytes = xcalloc(span.high - span.low, 1);

	if (gaps->code->read(gaps->code->context, span.low, bytes, span.high - span.low))
		return bytes;
	free(bytes);
	return NULL;
}

/* ---- regions ---- */

static struct span near(struct span piece, uint64_t obj_addr, uint64_t distance)
{
	if (obj_addr - piece.low > distance)
		piece.low = obj_addr - distance;
	if (piece.high - obj_addr > distance)
		piece.high = obj_addr + distance;
	return piece;
}

/* Whether at least two bytes of fill precede an offset and other code begins there. */
static bool follows_fill(uint8_t fill, const uint8_t *bytes, uint64_t at)
{
	return at >= 2 && bytes[at - 1] == fill && bytes[at - 2] == fill && bytes[at] != fill;
}

/* Narrows a span to the code between fill before and after obj_addr, as far as there is fill. */
static struct span between_fill(
	uint8_t fill, const uint8_t *bytes, uint64_t obj_addr, struct span span)
{
	uint64_t low = span.low, at = obj_addr & ~(uint64_t)15;

	for (; at > low; at -= 16)
		if (follows_fill(fill, bytes, at - low)) {
			span.low = at;
			break;
		}
	for (at = (obj_addr | 15) + 1; at < span.high; at += 16)
		if (follows_fill(fill, bytes, at - low)) {
			span.high = at;
			break;
		}
	return span;
}

/* The same, reading only the code near obj_addr; false: there is no fill before it. */
static bool find_fill(
	const struct code_gaps *gaps, struct span piece, uint64_t obj_addr, struct span *span)
{
	static const uint64_t distances[] = {NEAR / 4, NEAR};
	bool found = false;

	for (size_t i = 0; i < ARRAY_SIZE(distances); i++) {
		struct span all = near(piece, obj_addr, distances[i]);
		uint8_t *bytes = copy_code(gaps, all);
		if (bytes == NULL)
			return false;
		*span = between_fill(gaps->code->arch->fill_byte, bytes, obj_addr, all);
		free(bytes);
		if (span->low > all.low && (span->high < all.high || all.high == piece.high))
			return true;
		found = span->low > all.low;
	}
	return found;
}

/* Narrows a span to the range between symbols; returns whether one precedes obj_addr. */
static bool narrow_by_symbols(const struct code_gaps *gaps, uint64_t obj_addr, struct span *span)
{
	uint64_t before = code_starts_before(&gaps->symbols, obj_addr + 1);
	uint64_t next = code_starts_from(&gaps->symbols, obj_addr + 1);

	if (next < span->high)
		span->high = next;
	if (before == UINT64_MAX || before < span->low)
		return false;
	span->low = before;
	return true;
}

/* The span to decode to find the function at obj_addr; *is_begin: it begins at a function start. */
static struct span choose(
	const struct code_gaps *gaps, struct span piece, uint64_t obj_addr, bool *is_begin)
{
	uint64_t size = piece.high - piece.low;
	struct span span;

	*is_begin = true;
	if (size <= WHOLE_SMALL)
		return piece;
	if (find_fill(gaps, piece, obj_addr, &span))
		return span;
	if (size <= WHOLE_MAX)
		return piece;
	span = near(piece, obj_addr, NEAR);
	if (narrow_by_symbols(gaps, obj_addr, &span))
		return span;
	span = near(piece, obj_addr, WINDOW);
	*is_begin = span.low == piece.low;
	return span;
}

static void add_symbols(const struct code_gaps *gaps, struct span span, struct code_starts *starts)
{
	uint64_t at = code_starts_from(&gaps->symbols, span.low);

	for (; at < span.high; at = code_starts_from(&gaps->symbols, at + 1))
		vec_push(&starts->addrs, at);
}

static void read_symbols(struct code_gaps *gaps)
{
	gaps->has_symbols = true;
	gaps->code->add_starts(gaps->code->context, &gaps->symbols);
	code_starts_sort(&gaps->symbols);
}

/*
 * A region that may not begin at a function start is valid from its first start on, if that is not
 * after obj_addr.
 */
static void trim(struct code_region *region, uint64_t obj_addr)
{
	uint64_t first = code_starts_from(&region->starts, region->low);

	if (first <= obj_addr)
		region->low = first;
}

static void fill_region(const struct code_gaps *gaps, struct span span, struct code_region *region)
{
	uint8_t *bytes = copy_code(gaps, span);
	struct code_piece piece = {span.low, bytes, span.high - span.low, gaps->code->arch};

	*region = (struct code_region){.low = span.low, .high = span.high};
	if (bytes == NULL || !code_frames_wanted(&piece)) {
		free(bytes);
		return;
	}
	region->wanted = true;
	code_frames_find_starts(&piece, &region->starts);
	add_symbols(gaps, span, &region->starts);
	code_starts_sort(&region->starts);
	free(bytes);
}

/* The region of a piece of code that contains obj_addr. */
static const struct code_region *find_region(
	struct code_gaps *gaps, struct span piece, uint64_t obj_addr)
{
	for (size_t i = 0; i < CODE_REGIONS; i++)
		if (gaps->regions[i].low <= obj_addr && obj_addr < gaps->regions[i].high)
			return &gaps->regions[i];
	if (!gaps->has_symbols && piece.high - piece.low >= SYMBOLS_FROM)
		read_symbols(gaps);
	struct code_region *region = &gaps->regions[gaps->next_region++ % CODE_REGIONS];
	code_starts_deinit(&region->starts);
	bool is_begin;
	struct span span = choose(gaps, piece, obj_addr, &is_begin);
	fill_region(gaps, span, region);
	if (!is_begin)
		trim(region, obj_addr);
	return region;
}

/* The function in a region that contains obj_addr. */
static struct span function_at(const struct code_region *region, uint64_t obj_addr)
{
	uint64_t before = code_starts_before(&region->starts, obj_addr + 1);
	uint64_t next = code_starts_from(&region->starts, obj_addr + 1);
	struct span f = {.low = region->low, .high = next < region->high ? next : region->high};

	if (before != UINT64_MAX && before > f.low)
		f.low = before;
	return f;
}

/* Narrows a gap to the function at obj_addr; returns its region, or NULL if there is no code. */
static const struct code_region *narrow(
	struct code_gaps *gaps, uint64_t obj_addr, uint64_t *low, uint64_t *high)
{
	struct span piece = {*low, *high};
	bool is_code = find_piece(gaps, obj_addr, &piece);
	const struct code_region *region = is_code ? find_region(gaps, piece, obj_addr) : NULL;
	struct span f = region ? function_at(region, obj_addr) : piece;

	*low = f.low > *low ? f.low : *low;
	*high = f.high < *high ? f.high : *high;
	return region;
}

bool code_gaps_function(struct code_gaps *gaps, uint64_t obj_addr, uint64_t *low, uint64_t *high)
{
	const struct code_region *region = narrow(gaps, obj_addr, low, high);

	return region && region->wanted;
}

uint64_t code_gaps_next_start(
	struct code_gaps *gaps, uint64_t obj_addr, uint64_t low, uint64_t high)
{
	struct span piece = {low, high};

	if (!find_piece(gaps, obj_addr, &piece))
		return UINT64_MAX;
	return code_starts_from(&find_region(gaps, piece, obj_addr)->starts, obj_addr + 1);
}

void code_gaps_add_rows(struct code_gaps *gaps, uint64_t obj_addr, uint64_t *low, uint64_t *high,
	struct cfi_rows *rows)
{
	const struct code_region *region = narrow(gaps, obj_addr, low, high);

	cfi_rows_add_gap(rows, *low);
	if (region == NULL || !region->wanted)
		return;
	struct span f = {*low, *high};
	uint8_t *bytes = copy_code(gaps, f);
	if (bytes)
		code_frames_add_rows(
			&(struct code_piece){f.low, bytes, f.high - f.low, gaps->code->arch}, rows);
	free(bytes);
}
