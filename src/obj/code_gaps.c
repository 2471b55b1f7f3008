/*
 * Code without rules: which there is, what of it is more than fill, where its functions begin.
 *
 * Nearly all objects have none, and then no byte of their code is read.
 */
#include "obj/code_gaps.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "obj/cfi_rows.h"

/* Smaller gaps between functions are fill; what goes beyond the largest sum is left without rules.
 */
#define GAP_LEAST ((uint64_t)16)
#define GAPS_MOST ((uint64_t)64 << 20)
/* From here on it is worth to read the symbols for where functions begin. */
#define SYMBOLS_FROM ((uint64_t)4096)

void code_gaps_init(struct code_gaps *gaps, const struct cfi_object *object)
{
	*gaps = (struct code_gaps){.code = object->code};
	for (size_t i = 0; i < object->distrusted_count; i++)
		vec_push(&gaps->starts.addrs, object->distrusted[i]);
}

void code_gaps_deinit(struct code_gaps *gaps)
{
	for (size_t i = 0; i < gaps->pieces.count; i++)
		free((uint8_t *)(uintptr_t)gaps->pieces.data[i].bytes);
	vec_deinit(&gaps->pieces);
	code_starts_deinit(&gaps->starts);
}

static void add_piece(struct code_gaps *gaps, uint64_t low, uint64_t high)
{
	const struct cfi_code *code = gaps->code;
	uint64_t size = high - low;

	if (size > GAPS_MOST - gaps->size)
		return;
	uint8_t *bytes = xalloc(size);
	struct code_piece piece = {.obj_addr = low, .bytes = bytes, .size = size};

	if (!code->read(code->context, low, bytes, size) || !code_frames_wanted(&piece)) {
		free(bytes);
		return;
	}
	vec_push(&gaps->pieces, piece);
	gaps->size += size;
}

void code_gaps_add(struct code_gaps *gaps, uint64_t low, uint64_t high)
{
	for (size_t i = 0; gaps->code && i < gaps->code->count; i++) {
		uint64_t from = gaps->code->ranges[i].low, to = gaps->code->ranges[i].high;

		from = from > low ? from : low;
		to = to < high ? to : high;
		bool is_all = from == gaps->code->ranges[i].low && to == gaps->code->ranges[i].high;

		if (from < to && (is_all || to - from >= GAP_LEAST))
			add_piece(gaps, from, to);
	}
}

void code_gaps_finish(struct code_gaps *gaps)
{
	for (size_t i = 0; i < gaps->pieces.count; i++)
		code_frames_find_starts(&gaps->pieces.data[i], &gaps->starts);
	if (gaps->size >= SYMBOLS_FROM)
		gaps->code->add_starts(gaps->code->context, &gaps->starts);
	code_starts_sort(&gaps->starts);
}

static void add_functions(
	const struct code_gaps *gaps, const struct code_piece *piece, struct cfi_rows *rows)
{
	uint64_t low = piece->obj_addr, end = piece->obj_addr + piece->size;

	while (low < end) {
		uint64_t next = code_starts_from(&gaps->starts, low + 1);
		uint64_t high = next < end ? next : end;
		struct code_piece function = {.obj_addr = low,
			.bytes = piece->bytes + (low - piece->obj_addr),
			.size = high - low};

		cfi_rows_add_start(rows, low);
		code_frames_add_rows(&function, rows);
		low = high;
	}
	cfi_rows_add_gap(rows, end);
}

void code_gaps_add_rows(
	const struct code_gaps *gaps, uint64_t low, uint64_t high, struct cfi_rows *rows)
{
	for (size_t i = 0; i < gaps->pieces.count; i++) {
		struct code_piece piece = gaps->pieces.data[i];
		uint64_t from = piece.obj_addr > low ? piece.obj_addr : low;
		uint64_t end = piece.obj_addr + piece.size, to = end < high ? end : high;

		if (from >= to)
			continue;
		piece.bytes += from - piece.obj_addr;
		piece.obj_addr = from;
		piece.size = to - from;
		add_functions(gaps, &piece, rows);
	}
}
