/*
 * Rows of source and of instructions.
 *
 * The function's lines are those that its instructions came from, if known, and those at which it
 * was seen; between the first and the last its own file nearly always has nothing else.  Its lines
 * in other files (included tables, macros) are islands.
 */
#include "analysis/listing.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/vec.h"

const char *const listing_kind_names[LISTING_KIND_COUNT + 1] = {
	"line", "inline", "instruction", NULL};

/* Lines before and after one that has figures, in a file that is not the function's. */
#define CONTEXT_LINES 2u

struct line_range {
	uint32_t first, last; /* first 0: none */
};

struct lister {
	const struct profile *profile;
	const struct annotation *annotation;
	const struct listing_code *code;
	struct str own_file; /* of the definition; may be empty */
	VEC(struct listing_row) rows;
};

static uint32_t find_file(const struct listing_code *code, struct str recorded)
{
	for (uint32_t i = 0; i < code->file_count; i++)
		if (recorded.size && str_equal(code->files[i].recorded, recorded))
			return i;
	return NO_FILE;
}

static struct str line_text(const struct listing_code *code, uint32_t file, uint32_t line)
{
	if (file == NO_FILE || line == 0 || line > code->files[file].line_count)
		return (struct str){NULL, 0};
	struct str text = code->files[file].lines[line - 1];

	/* Unknown is different from empty. */
	return text.data ? text : STR("");
}

static struct str known(struct str s)
{
	return s.size ? s : (struct str){NULL, 0};
}

/* ---- source ---- */

static void push_place(struct lister *l, uint32_t place)
{
	const struct annotate_place *p = &l->annotation->places[place];
	struct str path = profile_string(l->profile, p->file);
	uint32_t file = find_file(l->code, path);

	vec_push(&l->rows, (struct listing_row){
				   .kind = p->depth ? LISTING_INLINE : LISTING_LINE,
				   .place = place,
				   .address = NO_ID,
				   .instruction = NO_ID,
				   .file = file,
				   .line = p->line,
				   .depth = p->depth,
				   .function = known(profile_string(
					   l->profile, l->profile->functions[p->function.i].name)),
				   .file_path = known(path),
				   .text = line_text(l->code, file, p->line),
			   });
}

/* A line without figures. */
static void push_line(struct lister *l, uint32_t file, uint32_t line)
{
	vec_push(&l->rows, (struct listing_row){
				   .kind = LISTING_LINE,
				   .place = NO_ID,
				   .address = NO_ID,
				   .instruction = NO_ID,
				   .file = file,
				   .line = line,
				   .function = known(profile_string(l->profile,
					   l->profile->functions[l->annotation->function.i].name)),
				   .file_path = l->code->files[file].recorded,
				   .text = line_text(l->code, file, line),
			   });
}

static void range_add(struct line_range *range, uint32_t line)
{
	if (line == 0)
		return;
	if (range->first == 0 || line < range->first)
		range->first = line;
	if (line > range->last)
		range->last = line;
}

/* The function's lines in its own file, as far as they were found. */
static struct line_range own_range(const struct lister *l, uint32_t file)
{
	const struct function *f = &l->profile->functions[l->annotation->function.i];
	struct line_range range = {0};

	range_add(&range, f->line);
	for (size_t i = 0; i < l->annotation->place_count; i++) {
		const struct annotate_place *p = &l->annotation->places[i];

		if (p->depth == 0 && str_equal(profile_string(l->profile, p->file), l->own_file))
			range_add(&range, p->line);
	}
	for (size_t i = 0; i < l->code->instruction_count; i++) {
		const struct listing_instruction *x = &l->code->instructions[i];
		const struct listing_frame *own =
			x->frame_count ? &x->frames[x->frame_count - 1] : NULL;

		if (own && str_equal(own->file, l->own_file))
			range_add(&range, own->line);
	}
	if (range.last > l->code->files[file].line_count)
		range.last = (uint32_t)l->code->files[file].line_count;
	return range;
}

/* Given a line's place, where the places of the next line begin. */
static size_t next_line(const struct annotation *a, size_t i)
{
	do
		i++;
	while (i < a->place_count && a->places[i].depth > 0);
	return i;
}

/* Places [from, to) are the lines, all of one file, with what is inlined there. */
static void push_lines(
	struct lister *l, uint32_t file, struct line_range range, size_t from, size_t to)
{
	const struct annotation *a = l->annotation;
	uint32_t line = range.first ? range.first : 1;

	for (size_t i = from; i < to; i = next_line(a, i)) {
		for (; line < a->places[i].line && line <= range.last; line++)
			push_line(l, file, line);
		for (size_t k = i; k < next_line(a, i); k++)
			push_place(l, (uint32_t)k);
		if (line == a->places[i].line)
			line++;
	}
	for (; range.first && line <= range.last; line++)
		push_line(l, file, line);
}

/* The same for islands: lines with figures and some around them. */
static void push_islands(struct lister *l, uint32_t file, size_t from, size_t to)
{
	const struct annotation *a = l->annotation;
	uint32_t count = (uint32_t)l->code->files[file].line_count, done = 0;

	for (size_t i = from; i < to; i = next_line(a, i)) {
		uint32_t line = a->places[i].line, most = line + CONTEXT_LINES;
		size_t next = next_line(a, i);
		uint32_t first = line > CONTEXT_LINES ? line - CONTEXT_LINES : 1;

		if (next < to && a->places[next].line <= most)
			most = a->places[next].line - 1;
		for (uint32_t k = first > done ? first : done + 1; k < line && k <= count; k++)
			push_line(l, file, k);
		for (size_t k = i; k < next; k++)
			push_place(l, (uint32_t)k);
		for (uint32_t k = line + 1; line && k <= most && k <= count; k++)
			push_line(l, file, k);
		done = most > line ? most : line;
	}
}

/* The lines of one file, places [from, to). */
static void push_file(struct lister *l, size_t from, size_t to)
{
	struct str path = profile_string(l->profile, l->annotation->places[from].file);
	uint32_t file = find_file(l->code, path);

	if (file == NO_FILE || l->code->files[file].line_count == 0)
		for (size_t i = from; i < to; i++)
			push_place(l, (uint32_t)i);
	else if (str_equal(path, l->own_file))
		push_lines(l, file, own_range(l, file), from, to);
	else
		push_islands(l, file, from, to);
}

static void push_source(struct lister *l)
{
	const struct annotation *a = l->annotation;
	size_t from = 0;

	while (from < a->place_count) {
		string_id file = a->places[from].file;
		size_t to = next_line(a, from);

		while (to < a->place_count && a->places[to].file.i == file.i)
			to = next_line(a, to);
		push_file(l, from, to);
		from = to;
	}
}

/* ---- instructions ---- */

static void push_instruction(struct lister *l, uint32_t instruction, uint32_t address)
{
	const struct listing_instruction *x = &l->code->instructions[instruction];
	const struct listing_frame *at = x->frame_count ? &x->frames[0] : NULL;

	vec_push(&l->rows, (struct listing_row){
				   .kind = LISTING_INSTRUCTION,
				   .place = NO_ID,
				   .address = address,
				   .instruction = instruction,
				   .file = at ? find_file(l->code, at->file) : NO_FILE,
				   .line = at ? at->line : 0,
				   .obj_addr = x->code.obj_addr,
				   .function = known(at ? at->function : STR("")),
				   .file_path = known(at ? at->file : STR("")),
				   .text = x->text,
			   });
}

/* An address that stacks contain and about which nothing else is known. */
static void push_address(struct lister *l, uint32_t address)
{
	vec_push(&l->rows, (struct listing_row){
				   .kind = LISTING_INSTRUCTION,
				   .place = NO_ID,
				   .address = address,
				   .instruction = NO_ID,
				   .file = NO_FILE,
				   .obj_addr = l->annotation->addresses[address],
			   });
}

static void push_instructions(struct lister *l)
{
	const struct annotation *a = l->annotation;
	uint32_t address = 0;

	for (uint32_t i = 0; i < l->code->instruction_count; i++) {
		uint64_t low = l->code->instructions[i].code.obj_addr;

		while (address < a->address_count && a->addresses[address] < low)
			push_address(l, address++);
		bool is_there = address < a->address_count && a->addresses[address] == low;

		push_instruction(l, i, is_there ? address++ : NO_ID);
	}
	while (address < a->address_count)
		push_address(l, address++);
}

struct listing *listing_create(const struct profile *profile, const struct annotation *annotation,
	const struct listing_code *code, struct arena *arena)
{
	struct listing *result = ARENA_NEW(arena, struct listing);
	const struct function *f = &profile->functions[annotation->function.i];
	struct lister l = {.profile = profile,
		.annotation = annotation,
		.code = code,
		.own_file = profile_string(profile, f->file)};

	if (!code->without_source)
		push_source(&l);
	result->source_count = l.rows.count;
	if (!code->without_instructions)
		push_instructions(&l);
	struct listing_row *rows = ARENA_ARRAY(arena, struct listing_row, l.rows.count);

	for (size_t i = 0; i < l.rows.count; i++)
		rows[i] = l.rows.data[i];
	result->annotation = annotation;
	result->code = code;
	result->rows = rows;
	result->row_count = l.rows.count;
	vec_deinit(&l.rows);
	return result;
}

struct annotate_figures listing_figures(
	const struct listing_row *row, const struct annotation *annotation)
{
	if (row->place != NO_ID)
		return annotation->place_figures[row->place];
	if (row->address != NO_ID)
		return annotation->address_figures[row->address];
	return (struct annotate_figures){0, 0};
}

/* ---- which to show ---- */

/* Rows before and after a heavy one. */
#define CONTEXT_ROWS 3u

struct ranked_row {
	uint64_t exclusive, inclusive; /* magnitudes */
	uint32_t row;
};

static int compare_ranks(const void *px, const void *py)
{
	const struct ranked_row *x = px, *y = py;

	if (x->inclusive != y->inclusive)
		return (x->inclusive < y->inclusive) - (x->inclusive > y->inclusive);
	if (x->exclusive != y->exclusive)
		return (x->exclusive < y->exclusive) - (x->exclusive > y->exclusive);
	return (x->row > y->row) - (x->row < y->row);
}

/* Comparing figures of all metrics would mix units: only the first metric's rank. */
static size_t rank_rows(
	const struct listing *listing, size_t from, size_t to, struct ranked_row *ranked)
{
	size_t count = 0;

	for (size_t i = from; i < to; i++) {
		struct annotate_figures f = listing_figures(&listing->rows[i], listing->annotation);
		uint64_t exclusive = (uint64_t)llabs(f.exclusive);
		uint64_t inclusive = (uint64_t)llabs(f.inclusive);

		if (listing->rows[i].place != NO_ID || listing->rows[i].address != NO_ID)
			ranked[count++] = (struct ranked_row){exclusive, inclusive, (uint32_t)i};
	}
	qsort(ranked, count, sizeof(*ranked), compare_ranks);
	return count;
}

static size_t mark(bool *is_shown, size_t row)
{
	bool was_shown = is_shown[row];

	is_shown[row] = true;
	return !was_shown;
}

/* Marks a row, those that it is inlined at, and its neighbours; returns how many are new. */
static size_t mark_around(
	const struct listing *listing, size_t from, size_t to, size_t row, bool *is_shown)
{
	size_t first = row - from < CONTEXT_ROWS ? from : row - CONTEXT_ROWS;
	size_t last = to - row <= CONTEXT_ROWS ? to - 1 : row + CONTEXT_ROWS;
	uint32_t depth = listing->rows[row].depth;
	size_t count = 0;

	for (size_t i = first; i <= last; i++)
		if (i == row || listing->rows[i].kind != LISTING_INLINE)
			count += mark(is_shown, i);
	for (size_t i = row; depth > 0 && i > from; i--) {
		if (listing->rows[i].depth >= depth)
			continue;
		count += mark(is_shown, i);
		depth = listing->rows[i].depth;
	}
	return count;
}

static void mark_heaviest(
	const struct listing *listing, size_t from, size_t to, size_t limit, bool *is_shown)
{
	struct ranked_row *ranked = xcalloc(to - from, sizeof(*ranked));
	size_t count = rank_rows(listing, from, to, ranked), shown = 0;

	for (size_t i = 0; i < count && shown < limit; i++)
		shown += mark_around(listing, from, to, ranked[i].row, is_shown);
	/* Saying that one row is left out would also take a row. */
	for (size_t i = from + 1; i + 1 < to; i++)
		is_shown[i] |= is_shown[i - 1] && is_shown[i + 1];
	free(ranked);
}

size_t listing_select(const struct listing *listing, size_t limit, uint32_t *rows)
{
	const size_t bounds[] = {0, listing->source_count, listing->row_count};
	bool *is_shown = xcalloc(listing->row_count, sizeof(*is_shown));
	size_t count = 0;

	for (size_t part = 0; part < 2; part++) {
		size_t from = bounds[part], to = bounds[part + 1];

		if (to - from > limit)
			mark_heaviest(listing, from, to, limit, is_shown);
		for (size_t i = from; i < to && to - from <= limit; i++)
			is_shown[i] = true;
	}
	for (size_t i = 0; i < listing->row_count; i++)
		if (is_shown[i])
			rows[count++] = (uint32_t)i;
	free(is_shown);
	return count;
}
