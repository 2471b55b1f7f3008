/*
 * Source and instructions as text.  Figures come first, in columns as in every table.  On a narrow
 * terminal the code is cut at its end, unlike names.
 */
#include "view/text/listing_text.h"

#include <inttypes.h>
#include <stdio.h>

#include "analysis/listing.h"
#include "base/escape.h"
#include "view/text/fit.h"
#include "view/text/highlight.h"
#include "view/text/table.h"
#include "view/text/units.h"

/* Narrower terminals show percentages only. */
#define WEIGHTS_WIDTH_MIN  120u
#define WEIGHTS_WIDTH_MORE 40u
/* Code gets this width even if lines become longer than the terminal. */
#define CODE_WIDTH_MIN 20u
/* Source lines are cut at this width. */
#define CODE_WIDTH_MAX 400u
#define TAB_WIDTH      8u

struct listing_text {
	struct text *text;
	const struct report *report;
	const struct listing *listing;
	struct table table;
	size_t room; /* columns for line number and code */
	int number_width;
	struct highlight highlight;
	uint32_t file, line; /* of the source shown last, up to which highlight knows the file */
	const struct listing_instruction *before; /* whose source was last shown; NULL: none */
	struct strbuf scratch;
};

static void add_blanks(struct strbuf *out, size_t count)
{
	while (count--)
		strbuf_add_char(out, ' ');
}

/* ---- code ---- */

static enum ink ink_of(enum source_syntax syntax)
{
	static const enum ink inks[] = {
		[SOURCE_PLAIN] = INK_PLAIN,
		[SOURCE_KEYWORD] = INK_KEYWORD,
		[SOURCE_STRING] = INK_STRING,
		[SOURCE_NUMBER] = INK_NUMBER,
		[SOURCE_COMMENT] = INK_DIM,
		[SOURCE_DIRECTIVE] = INK_STUB,
	};

	return inks[syntax];
}

/*
 * Adds code in an ink from *column on, tabs as blanks, as far as there is room; returns whether all
 * fitted.
 */
static bool put_code(
	struct listing_text *t, struct str code, enum ink ink, size_t *column, size_t room)
{
	struct strbuf *out = &t->text->sink->text;

	text_ink(t->text, ink);
	while (code.size) {
		const char *tab = memchr(code.data, '\t', code.size);
		size_t size = tab ? (size_t)(tab - code.data) : code.size;

		strbuf_clear(&t->scratch);
		escape_text(&t->scratch, (struct str){code.data, size});
		if (tab)
			add_blanks(&t->scratch,
				TAB_WIDTH - (*column + utf8_width(strbuf_str(&t->scratch))) %
						    TAB_WIDTH);
		size_t width = utf8_width(strbuf_str(&t->scratch));

		if (*column + width > room) {
			fit_start(
				out, strbuf_str(&t->scratch), room - *column, t->text->style->utf8);
			text_ink(t->text, INK_PLAIN);
			return false;
		}
		strbuf_add(out, strbuf_str(&t->scratch));
		*column += width;
		size += tab != NULL;
		code = (struct str){code.data + size, code.size - size};
	}
	text_ink(t->text, INK_PLAIN);
	return true;
}

static size_t code_room(const struct listing_text *t, size_t used)
{
	size_t room = t->room == 0 ? CODE_WIDTH_MAX : t->room;

	room = room > used ? room - used : 0;
	return room > CODE_WIDTH_MIN ? room : CODE_WIDTH_MIN;
}

static void put_plain(struct listing_text *t, struct str code, enum ink ink, size_t used)
{
	size_t column = 0;

	put_code(t, code, ink, &column, code_room(t, used));
}

/* Advances the highlighter to a line of a file; a comment there may have begun far above. */
static void highlight_to(struct listing_text *t, uint32_t file, uint32_t line)
{
	const struct listing_file *f = &t->listing->code->files[file];

	if (file != t->file || line <= t->line) {
		highlight_deinit(&t->highlight);
		t->highlight = (struct highlight){0};
		t->file = file;
		t->line = 0;
	}
	while (t->line < line)
		highlight_line(&t->highlight, f->lines[t->line++]);
}

static void put_source(struct listing_text *t, const struct listing_row *row, size_t used)
{
	size_t column = 0, room = code_room(t, used);
	struct str rest = row->text;

	if (!t->text->style->color || row->file == NO_FILE) {
		put_code(t, rest, INK_PLAIN, &column, room);
		return;
	}
	highlight_to(t, row->file, row->line);
	for (size_t i = 0; i < t->highlight.spans.count; i++) {
		struct syntax_span span = t->highlight.spans.data[i];

		if (!put_code(t, (struct str){rest.data, span.size}, ink_of(span.syntax), &column,
			    room))
			break;
		rest = (struct str){rest.data + span.size, rest.size - span.size};
	}
}

/* ---- rows ---- */

/* "g (list.h:44)"; unknown parts are left out. */
static void put_place_name(struct strbuf *out, struct str function, struct str file, uint32_t line)
{
	escape_text(out, function.size ? function : STR("[unknown]"));
	if (file.size == 0)
		return;
	strbuf_add(out, STR(" ("));
	escape_text(out, str_base_name(file));
	if (line)
		strbuf_printf(out, ":%" PRIu32, line);
	strbuf_add_char(out, ')');
}

/* The part before the code, as wide as line numbers are, and two blanks. */
static void put_number(struct listing_text *t, uint64_t number, const char *format)
{
	struct strbuf *out = &t->text->sink->text;

	strbuf_clear(&t->scratch);
	if (number)
		strbuf_printf(&t->scratch, format[0] == 'x' ? "%" PRIx64 : "%" PRIu64, number);
	text_ink(t->text, INK_DIM);
	strbuf_printf(out, "%*s  ", t->number_width, t->scratch.size ? t->scratch.data : "");
	text_ink(t->text, INK_PLAIN);
}

static void draw_line(struct listing_text *t, const struct listing_row *row)
{
	put_number(t, row->line, "u");
	if (row->text.data)
		put_source(t, row, (size_t)t->number_width + 2);
	else if (row->line == 0)
		put_plain(t, STR("(no line is known for this code)"), INK_DIM, 0);
}

static void draw_inline(struct listing_text *t, const struct listing_row *row)
{
	struct strbuf name = {0};
	struct str trimmed = row->text;
	size_t indent = 2 * (size_t)row->depth, used;

	put_number(t, 0, "u");
	add_blanks(&name, indent);
	strbuf_add(&name, STR("inlined: "));
	put_place_name(&name, row->function, row->file_path, row->line);
	used = (size_t)t->number_width + 2;
	size_t column = 0;

	/* Template names would leave no room for the code. */
	text_ink(t->text, INK_STUB);
	fit_text(&t->text->sink->text, strbuf_str(&name), code_room(t, used), t->text->style->utf8);
	text_ink(t->text, INK_PLAIN);
	used += utf8_width(strbuf_str(&name)) + 2;
	while (trimmed.size && (trimmed.data[0] == ' ' || trimmed.data[0] == '\t'))
		trimmed = (struct str){trimmed.data + 1, trimmed.size - 1};
	if (trimmed.size && code_room(t, used) > CODE_WIDTH_MIN) {
		strbuf_add(&t->text->sink->text, STR("  "));
		put_code(t, trimmed, INK_DIM, &column, code_room(t, used));
	}
	strbuf_deinit(&name);
}

static bool same_frame(const struct listing_frame *a, const struct listing_frame *b)
{
	return a->line == b->line && str_equal(a->file, b->file) &&
	       str_equal(a->function, b->function);
}

static struct str frame_text(const struct listing_text *t, const struct listing_frame *frame)
{
	const struct listing_code *code = t->listing->code;

	for (size_t i = 0; i < code->file_count; i++)
		if (str_equal(code->files[i].recorded, frame->file) && frame->line > 0 &&
			frame->line <= code->files[i].line_count)
			return code->files[i].lines[frame->line - 1];
	return STR("");
}

/* The line that the instructions below came from, inside `depth` levels of inlined calls. */
static void draw_frame(struct listing_text *t, const struct listing_frame *frame, size_t depth)
{
	struct strbuf *out = &t->text->sink->text;
	struct str code = frame_text(t, frame);
	struct strbuf place = {0};
	size_t used = 2 * depth;

	add_blanks(out, table_figures_width(&t->table));
	add_blanks(out, used);
	if (depth)
		put_place_name(&place, frame->function, frame->file, frame->line);
	else if (frame->line)
		strbuf_printf(
			&place, "%.*s:%" PRIu32, STR_ARG(str_base_name(frame->file)), frame->line);
	else
		strbuf_add(&place, STR("(no line is known)"));
	while (code.size && (code.data[0] == ' ' || code.data[0] == '\t'))
		code = (struct str){code.data + 1, code.size - 1};
	if (depth == 0) {
		struct strbuf raw = place;

		place = (struct strbuf){0};
		escape_text(&place, strbuf_str(&raw));
		strbuf_deinit(&raw);
	}
	text_ink(t->text, INK_STUB);
	fit_text(out, strbuf_str(&place), code_room(t, used), t->text->style->utf8);
	text_ink(t->text, INK_PLAIN);
	used += utf8_width(strbuf_str(&place)) + 2;
	if (code.size && code_room(t, used) > CODE_WIDTH_MIN) {
		strbuf_add(out, STR("  "));
		put_plain(t, code, INK_DIM, used);
	}
	strbuf_add_char(out, '\n');
	strbuf_deinit(&place);
}

/* The origin, if it differs from the previous instruction's: the line, or a call inlined in it. */
static void draw_origin(struct listing_text *t, const struct listing_instruction *now)
{
	const struct listing_instruction *before = t->before;
	bool differs = before == NULL;

	for (uint32_t depth = 0; depth < now->frame_count; depth++) {
		const struct listing_frame *frame = &now->frames[now->frame_count - 1 - depth];

		if (!differs && depth < before->frame_count)
			differs = !same_frame(
				frame, &before->frames[before->frame_count - 1 - depth]);
		if (differs || depth >= before->frame_count)
			draw_frame(t, frame, depth);
	}
	/* Back from an inlined call: the line must be shown again. */
	if (!differs && now->frame_count && now->frame_count < before->frame_count)
		draw_frame(t, &now->frames[0], now->frame_count - 1);
	t->before = now;
}

static void draw_instruction(struct listing_text *t, const struct listing_row *row)
{
	put_number(t, row->obj_addr, "x");
	if (row->text.data)
		put_plain(t, row->text, INK_PLAIN, (size_t)t->number_width + 2);
}

/* Drops the invisible blanks of empty lines. */
static void end_line(struct listing_text *t)
{
	struct strbuf *out = &t->text->sink->text;

	while (out->size && out->data[out->size - 1] == ' ')
		out->size--;
	strbuf_add_char(out, '\n');
}

static void draw_row(struct listing_text *t, size_t index)
{
	const struct listing_row *row = &t->listing->rows[index];

	if (row->instruction != NO_ID)
		draw_origin(t, &t->listing->code->instructions[row->instruction]);
	text_row(t->text, index);
	table_draw_figures(&t->table, index);
	switch (row->kind) {
	case LISTING_LINE:
		draw_line(t, row);
		break;
	case LISTING_INLINE:
		draw_inline(t, row);
		break;
	case LISTING_INSTRUCTION:
		draw_instruction(t, row);
		break;
	case LISTING_KIND_COUNT:
		break;
	}
	end_line(t);
}

/* ---- the page ---- */

static void put_figures(struct listing_text *t, const char *what, struct annotate_figures f)
{
	const struct report *report = t->report;
	struct strbuf *out = &t->text->sink->text;
	int64_t total = report->annotation->total;
	struct str unit = profile_string(report->profile, report_metric(report).unit);
	const struct scale *scale = scale_for(unit, total < 0 ? -(uint64_t)total : (uint64_t)total);

	strbuf_printf(out, "%sexclusive ", what);
	scale_put(out, scale, f.exclusive);
	strbuf_add(out, STR(", "));
	percent_put(out, f.exclusive, total);
	if (report->profile->has_stacks) {
		strbuf_add(out, STR("; inclusive "));
		scale_put(out, scale, f.inclusive);
		strbuf_add(out, STR(", "));
		percent_put(out, f.inclusive, total);
	}
	strbuf_add_char(out, '\n');
}

static void put_part(struct listing_text *t, int64_t weight)
{
	int64_t total = t->report->annotation->total;
	struct str unit = profile_string(t->report->profile, report_metric(t->report).unit);
	struct strbuf *out = &t->text->sink->text;

	scale_put(out, scale_for(unit, total < 0 ? -(uint64_t)total : (uint64_t)total), weight);
	strbuf_add(out, STR(", "));
	percent_put(out, weight, total);
}

/* "hottest line: list.c:15, 98.000 ms, 98.0%; inlined mix (list.h:11) takes 60.000 ms, 60.0%" */
static void put_hottest(struct listing_text *t)
{
	const struct profile *p = t->report->profile;
	const struct annotation *a = t->report->annotation;
	struct strbuf *out = &t->text->sink->text;
	struct annotate_hottest hottest;

	if (!annotate_find_hottest(a, &hottest))
		return;
	const struct annotate_place *line = &a->places[hottest.place];

	strbuf_add(out, STR("hottest line: "));
	escape_text(out, str_base_name(profile_string(p, line->file)));
	strbuf_printf(out, ":%" PRIu32 ", ", line->line);
	put_part(t, hottest.exclusive);
	if (hottest.inlined != NO_ID) {
		const struct annotate_place *in = &a->places[hottest.inlined];

		strbuf_add(out, STR("; inlined "));
		put_place_name(out, profile_string(p, p->functions[in->function.i].name),
			profile_string(p, in->file), in->line);
		strbuf_add(out, STR(" takes "));
		put_part(t, hottest.inlined_exclusive);
	}
	strbuf_add_char(out, '\n');
}

static void draw_title(struct listing_text *t)
{
	const struct report *report = t->report;
	const struct profile *p = report->profile;
	const struct annotation *a = report->annotation;
	const struct function *f = &p->functions[a->function.i];
	struct str module = profile_module(p, f->object);
	struct str metric = profile_string(p, report_metric(report).name);

	text_title(t->text, "%.*s%s%.*s%s by %.*s", STR_ARG(profile_string(p, f->name)),
		module.size ? "  [" : "", STR_ARG(module), module.size ? "]" : "", STR_ARG(metric));
	put_figures(t, "", a->own);
	if (a->code.exclusive != a->own.exclusive && a->code.inclusive != 0)
		put_figures(t, "its code, with what is inlined there: ", a->code);
	put_hottest(t);
}

static void add_columns(struct listing_text *t)
{
	const struct report_query *query = &t->report->query;
	bool percent = query->percent != PERCENT_RAW;
	bool inclusive = t->report->profile->has_stacks;
	size_t others = query->other_count;
	bool weights = !percent ||
		       !text_is_narrower(t->text, WEIGHTS_WIDTH_MIN + WEIGHTS_WIDTH_MORE * others);

	for (size_t m = 0; m <= others; m++) {
		if (weights)
			table_add_of(&t->table, m, COLUMN_LISTING_EXCLUSIVE);
		if (percent)
			table_add_of(&t->table, m, COLUMN_LISTING_EXCLUSIVE_PERCENT);
		if (t->report->margins && m == 0)
			table_add(&t->table, COLUMN_LISTING_EXCLUSIVE_MARGIN);
		if (weights && inclusive)
			table_add_of(&t->table, m, COLUMN_LISTING_INCLUSIVE);
		if (percent && inclusive)
			table_add_of(&t->table, m, COLUMN_LISTING_INCLUSIVE_PERCENT);
		if (t->report->margins && m == 0 && inclusive)
			table_add(&t->table, COLUMN_LISTING_INCLUSIVE_MARGIN);
	}
	table_add(&t->table, COLUMN_LISTING_TEXT);
}

/* Line numbers and addresses share a column. */
static int number_width(const struct report *report)
{
	size_t width = 4;

	for (size_t place = 0; place < report->count; place++) {
		const struct listing_row *row = &report->listing->rows[report_row(report, place)];
		char digits[32];
		int size = row->kind == LISTING_INSTRUCTION
				   ? snprintf(digits, sizeof(digits), "%" PRIx64, row->obj_addr)
				   : snprintf(digits, sizeof(digits), "%" PRIu32, row->line);

		if ((size_t)size > width)
			width = (size_t)size;
	}
	return (int)width;
}

/* Above the first row of a file, and of the instructions. */
static void draw_section(struct listing_text *t, const struct listing_row *row)
{
	const struct profile *p = t->report->profile;
	object_id object = p->functions[t->listing->annotation->function.i].object;
	struct strbuf *out = &t->text->sink->text;
	struct str path = row->file_path;
	size_t width = t->text->style->width;

	if (row->kind == LISTING_INSTRUCTION)
		path = object.i == NO_ID ? (struct str){NULL, 0}
					 : profile_string(p, p->objects[object.i].path);
	else if (row->file != NO_FILE && t->listing->code->files[row->file].found.size)
		path = t->listing->code->files[row->file].found;
	strbuf_add_char(out, '\n');
	text_ink(t->text, INK_TITLE);
	strbuf_clear(&t->scratch);
	escape_text(&t->scratch, path);
	if (path.size)
		fit_text(out, strbuf_str(&t->scratch), width ? width : SIZE_MAX,
			t->text->style->utf8);
	else
		strbuf_add(out, row->kind == LISTING_INSTRUCTION ? STR("instructions")
								 : STR("no source file is known"));
	text_ink(t->text, INK_PLAIN);
	strbuf_add_char(out, '\n');
}

/* Whether a row is of another file than the previous row, or the first instruction. */
static bool begins_section(const struct listing_row *row, const struct listing_row *before)
{
	if (before == NULL || before->kind == LISTING_INSTRUCTION)
		return before == NULL;
	if (row->kind == LISTING_INSTRUCTION)
		return true;
	return row->kind == LISTING_LINE && !str_equal(row->file_path, before->file_path);
}

/* Marks rows or lines of a file that are left out. */
static void draw_gap(struct listing_text *t)
{
	struct strbuf *out = &t->text->sink->text;

	text_ink(t->text, INK_DIM);
	add_blanks(out, table_figures_width(&t->table) + (size_t)t->number_width - 1);
	strbuf_add(out, t->text->style->utf8 ? STR("⋮") : STR(":"));
	text_ink(t->text, INK_PLAIN);
	strbuf_add_char(out, '\n');
}

/* line: the last row before that is not inlined. */
static bool is_gap(
	const struct listing *listing, size_t row, size_t before, const struct listing_row *line)
{
	const struct listing_row *r = &listing->rows[row];

	if (r->kind == LISTING_INSTRUCTION)
		return row != before + 1;
	if (r->kind == LISTING_INLINE)
		return false;
	return r->text.data && line->text.data ? r->line > line->line + 1 : row != before + 1;
}

static void draw_rows(struct listing_text *t)
{
	const struct report *report = t->report;
	const struct listing *listing = t->listing;
	const struct listing_row *line = NULL; /* the last row that is not inlined */
	size_t before = 0;

	for (size_t place = 0; place < report->count && sink_settle(t->text->sink); place++) {
		size_t row = report_row(report, place);
		const struct listing_row *r = &listing->rows[row];

		if (begins_section(r, line)) {
			draw_section(t, r);
			table_draw_headings(&t->table);
		} else if (is_gap(listing, row, before, line)) {
			draw_gap(t);
			t->before = NULL;
		}
		draw_row(t, row);
		if (r->kind != LISTING_INLINE)
			line = r;
		before = row;
	}
}

static void draw_more(struct listing_text *t)
{
	struct strbuf *out = &t->text->sink->text;
	size_t more = t->report->row_count - t->report->count;

	if (more == 0)
		return;
	text_ink(t->text, INK_DIM);
	strbuf_add(out, STR("\nand "));
	number_put(out, more);
	strbuf_add(out, STR(" more lines and instructions (--limit 0 shows all)"));
	text_ink(t->text, INK_PLAIN);
	strbuf_add_char(out, '\n');
}

void listing_text_draw(struct text *text, const struct report *report)
{
	struct listing_text t = {
		.text = text, .report = report, .listing = report->listing, .file = NO_FILE};
	size_t width = text->style->width, used;

	table_init(&t.table, text, report);
	draw_title(&t);
	if (report->row_count == 0)
		strbuf_add(&text->sink->text, STR("no rows: no stack holds it\n"));
	add_columns(&t);
	table_measure(&t.table);
	used = table_figures_width(&t.table);
	t.number_width = number_width(report);
	t.room = width == 0 ? 0 : width > used ? width - used : 1;
	draw_rows(&t);
	draw_more(&t);
	highlight_deinit(&t.highlight);
	strbuf_deinit(&t.scratch);
	table_deinit(&t.table);
}
