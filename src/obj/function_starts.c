/*
 * Function boundaries from unwind entries; for objects with hardly any, from the code.
 *
 * .eh_frame_hdr has a sorted table of (start, entry), so a function is found by bisection, and one
 * entry is read for its end.  A table is used only if it is completely sorted and fits its section;
 * without one, all entries are read and sorted.  The table's row of a function counts only if the
 * entry itself confirms it.
 *
 * Sources: LSB Core 5.0 section 10.6.2 (.eh_frame_hdr); the encoding of the table is the one that
 * all linkers write, the only one that can be bisected.
 */
#include "obj/function_starts.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/search.h"
#include "obj/cfi_parse.h"
#include "obj/code_frames.h"
#include "obj/code_gaps.h"
#include "obj/objfile.h"

#define ENTRY_BYTES 8
/* A file with fewer entries has rules for its start-up code only.  Larger code is not decoded. */
#define ENTRIES_FEW 16
#define CODE_MAX    ((uint64_t)64 << 20)
/* Functions without rules and without a size are short; longer code is not followed. */
#define FOLLOWED_MAX ((size_t)4 << 10)

struct function_starts {
	struct cfi_section sections[2];
	size_t section_count;
	struct cfi_object object;
	/* The table of count entries; if it is not usable, all functions by start. */
	const uint8_t *table; /* NULL: not usable */
	uint64_t table_addr;  /* the base of its numbers */
	VEC(struct function_extent) extents;
	size_t count;
	/* The code between the functions. */
	struct cfi_code code;
	struct code_gaps gaps;
};

/* Number `column` of table entry i. */
static uint64_t table_addr_at(const struct function_starts *s, size_t i, size_t column)
{
	int32_t distance;

	memcpy(&distance, s->table + i * ENTRY_BYTES + column * sizeof(distance), sizeof(distance));
	return s->table_addr + (uint64_t)(int64_t)distance;
}

/* Where function i begins. */
static uint64_t start_at(const struct function_starts *s, size_t i)
{
	return s->table ? table_addr_at(s, i, 0) : s->extents.data[i].low;
}

static bool table_is_sorted(const struct function_starts *s)
{
	for (size_t i = 1; i < s->count; i++)
		if (start_at(s, i - 1) > start_at(s, i))
			return false;
	return true;
}

/* Uses the table of a header if it is valid. */
static bool take_table(struct function_starts *s, const struct objfile_section *header)
{
	const struct cfi_object base = {.data_addr = header->obj_addr};
	struct cursor c;

	cursor_init(&c, header->bytes, header->size, ".eh_frame_hdr", 0);
	uint8_t version = cursor_u8(&c), frame_encoding = cursor_u8(&c);
	uint8_t count_encoding = cursor_u8(&c), table_encoding = cursor_u8(&c);
	if (version != 1 || table_encoding != (DW_EH_PE_datarel | DW_EH_PE_sdata4))
		return false;
	(void)cfi_read_address(&c, frame_encoding, header->obj_addr, &base);
	uint64_t count = cfi_read_address(&c, count_encoding, header->obj_addr, &base);
	if (!cursor_ok(&c) || count == 0 || count > cursor_left(&c) / ENTRY_BYTES)
		return false;
	s->table = c.at;
	s->table_addr = header->obj_addr;
	s->count = count;
	if (table_is_sorted(s))
		return true;
	s->table = NULL;
	s->count = 0;
	return false;
}

/* Reads all entries. */
static void walk(struct function_starts *s)
{
	struct cfi_entries entries = {.object = &s->object};

	for (size_t i = 0; i < s->section_count; i++)
		cfi_entries_add(&entries, &s->sections[i]);
	cfi_entries_sort(&entries);
	for (size_t i = 0; i < entries.fdes.count; i++)
		vec_push(&s->extents, (struct function_extent){.low = entries.fdes.data[i].low,
					      .high = entries.fdes.data[i].high});
	s->count = s->extents.count;
	cfi_entries_deinit(&entries);
}

static void add_code_starts(const struct cfi_code *code, size_t range, struct code_starts *starts)
{
	uint64_t low = code->ranges[range].low, size = code->ranges[range].high - low;

	if (size > CODE_MAX)
		return;
	uint8_t *bytes = xalloc(size);
	struct code_piece piece = {low, bytes, size, code->arch};

	if (code->read(code->context, low, bytes, size))
		code_frames_find_starts(&piece, starts);
	free(bytes);
}

static void add_extents(
	struct function_starts *s, const struct cfi_code *code, const struct code_starts *starts)
{
	for (size_t i = 0; i < code->count; i++) {
		uint64_t low = code->ranges[i].low;
		while (low < code->ranges[i].high) {
			uint64_t next = code_starts_from(starts, low + 1);
			uint64_t high = next < code->ranges[i].high ? next : code->ranges[i].high;
			vec_push(
				&s->extents, (struct function_extent){low, high, .is_guess = true});
			low = high;
		}
	}
}

/* Replaces the few entries there are. */
static void look_through_code(struct function_starts *s, struct objfile *object)
{
	struct code_starts starts = {0};

	for (size_t i = 0; i < s->code.count; i++)
		add_code_starts(&s->code, i, &starts);
	if (starts.addrs.count == 0)
		return;
	objfile_add_relocated(object, &starts);
	for (size_t i = 0; i < s->count; i++)
		vec_push(&starts.addrs, start_at(s, i));
	code_starts_sort(&starts);
	s->extents.count = 0;
	s->table = NULL;
	add_extents(s, &s->code, &starts);
	s->count = s->extents.count;
	code_starts_deinit(&starts);
}

struct function_starts *function_starts_create_from_rules(struct objfile *object)
{
	struct function_starts *s = xalloc(sizeof(*s));
	struct objfile_section header;

	s->section_count = objfile_cfi_sections(object, s->sections, &s->object);
	bool has_eh_frame = s->section_count && s->sections[0].kind != CFI_DEBUG_FRAME;
	if (!has_eh_frame || !objfile_eh_frame_hdr(object, &header) || !take_table(s, &header))
		walk(s);
	objfile_code(object, &s->code);
	return s;
}

struct function_starts *function_starts_create(struct objfile *object)
{
	struct function_starts *s = function_starts_create_from_rules(object);

	if (s->count < ENTRIES_FEW)
		look_through_code(s, object);
	struct cfi_object with_code = s->object;

	with_code.code = &s->code;
	code_gaps_init(&s->gaps, &with_code);
	return s;
}

void function_starts_destroy(struct function_starts *s)
{
	if (s == NULL)
		return;
	vec_deinit(&s->extents);
	code_gaps_deinit(&s->gaps);
	free(s);
}

/* Counts the functions that begin at or before obj_addr. */
static size_t count_until(const struct function_starts *s, uint64_t obj_addr)
{
	return partition_point(i, 0, s->count, start_at(s, i) <= obj_addr);
}

static bool extent_at(const struct function_starts *s, size_t i, struct function_extent *extent)
{
	if (s->table == NULL) {
		*extent = s->extents.data[i];
		return true;
	}
	*extent = (struct function_extent){0};
	uint64_t offset = table_addr_at(s, i, 1) - s->sections[0].obj_addr;
	return offset < s->sections[0].size &&
	       cfi_fde_read(&s->sections[0], &s->object, offset, &extent->low, &extent->high) &&
	       extent->low == table_addr_at(s, i, 0);
}

/* The last function that begins at or before obj_addr; false: none, or one that was dropped. */
static bool last_extent(
	const struct function_starts *s, uint64_t obj_addr, struct function_extent *extent)
{
	size_t until = count_until(s, obj_addr);

	/* For functions that they dropped, linkers leave entries with address 0. */
	return until > 0 && extent_at(s, until - 1, extent) && extent->low != 0;
}

bool function_starts_find_from(struct function_starts *s, uint64_t obj_addr, uint64_t floor,
	struct function_extent *extent)
{
	size_t until = count_until(s, obj_addr);
	uint64_t low = until > 0 ? start_at(s, until - 1) : 0;
	uint64_t high = until < s->count ? start_at(s, until) : UINT64_MAX;
	struct function_extent found;

	if (last_extent(s, obj_addr, &found)) {
		if (obj_addr < found.high && !(found.is_guess && found.low < floor)) {
			*extent = found;
			return true;
		}
		if (obj_addr < found.high)
			high = found.high;
		else
			low = found.high;
	}
	if (low < floor)
		low = floor;
	/* At 0 is the file's header. */
	if (!code_gaps_function(&s->gaps, obj_addr, &low, &high) || low == 0)
		return false;
	*extent = (struct function_extent){low, high, .is_guess = true};
	return true;
}

bool function_starts_find(
	struct function_starts *s, uint64_t obj_addr, struct function_extent *extent)
{
	return function_starts_find_from(s, obj_addr, 0, extent);
}

uint64_t function_starts_after(const struct function_starts *s, uint64_t obj_addr)
{
	size_t until = count_until(s, obj_addr);

	return until < s->count ? start_at(s, until) : UINT64_MAX;
}

/*
 * The end of the code that can be reached from low without leaving [low, high): the end of the
 * first instruction behind which nothing is reached; high if that is not known.
 */
static uint64_t code_end(const struct cfi_code *code, uint64_t low, uint64_t high)
{
	uint8_t bytes[FOLLOWED_MAX];
	uint64_t furthest = low;
	size_t size = high - low < sizeof(bytes) ? (size_t)(high - low) : sizeof(bytes);

	if (code->arch == NULL || code->arch->decode == NULL ||
		!code->read(code->context, low, bytes, size))
		return high;
	for (size_t at = 0; at < size;) {
		struct arch_instruction i = code->arch->decode(bytes + at, size - at, low + at);
		bool is_end = i.kind == INSTRUCTION_JUMP || i.kind == INSTRUCTION_RETURN ||
			      i.kind == INSTRUCTION_STOP;

		if (i.kind == INSTRUCTION_BAD || (i.kind == INSTRUCTION_JUMP && !i.has_target))
			return high;
		if (i.has_target && i.target < high && i.target > furthest)
			furthest = i.target;
		at += i.size;
		if (is_end && furthest < low + at)
			return low + at;
	}
	return high;
}

uint64_t function_starts_end_of(struct function_starts *s, uint64_t low, uint64_t high)
{
	struct function_extent own;
	uint64_t next = function_starts_after(s, low);

	if (last_extent(s, low, &own) && low < own.high)
		return next < high ? next : high;
	uint64_t end = code_end(&s->code, low, high);
	/* Rules that begin within its code are its own, less the first instructions. */
	if (next < end && end < high)
		return end;
	return next < end ? next : end;
}
