/*
 * The page around the views: colours, titles, what was left out, notes.
 */
#include "view/text/text.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/escape.h"
#include "view/brief.h"
#include "view/text/brief_text.h"
#include "view/text/fit.h"
#include "view/text/heading.h"
#include "view/text/lines.h"
#include "view/text/units.h"
#include "view/views.h"

void text_ink(struct text *text, enum ink ink)
{
	static const char *const sequences[] = {
		[INK_PLAIN] = "\033[0m",
		[INK_TITLE] = "\033[1m",
		[INK_DIM] = "\033[2m",
		[INK_HOT] = "\033[1;31m",
		[INK_WARM] = "\033[33m",
		[INK_STUB] = "\033[36m",
		[INK_NOTE] = "\033[1;33m",
		[INK_KEYWORD] = "\033[1m",
		[INK_STRING] = "\033[32m",
		[INK_NUMBER] = "\033[35m",
	};

	if (ink == text->ink)
		return;
	if (text->lines) {
		text_lines_ink(text->lines, text->sink->text.size, ink);
		text->ink = ink;
		return;
	}
	if (!text->style->color)
		return;
	if (text->ink != INK_PLAIN && ink != INK_PLAIN)
		strbuf_add(&text->sink->text, str_from(sequences[INK_PLAIN]));
	strbuf_add(&text->sink->text, str_from(sequences[ink]));
	text->ink = ink;
}

void text_row(const struct text *text, size_t row)
{
	if (text->lines)
		text_lines_row(text->lines, text->sink->text.size, row);
}

bool text_is_narrower(const struct text *text, size_t width)
{
	return text->style->width && text->style->width < width;
}

void text_title(struct text *text, const char *format, ...)
{
	struct strbuf *out = &text->sink->text;
	va_list args;
	char *title;

	va_start(args, format);
	title = xvasprintf(format, args);
	va_end(args);
	strbuf_add_char(out, '\n');
	text_ink(text, INK_TITLE);
	escape_text(out, str_from(title));
	text_ink(text, INK_PLAIN);
	strbuf_add_char(out, '\n');
	free(title);
}

void text_more_rows(struct text *text, const struct report *report)
{
	struct strbuf *out = &text->sink->text;
	size_t more = report->entry_count - report->entries_shown;

	if (more == 0 && report->lines_left_out) {
		strbuf_printf(out, "and %zu more callers and callees (--budget 0 shows all)\n",
			report->lines_left_out);
		return;
	}
	if (more == 0)
		return;
	text_ink(text, INK_DIM);
	strbuf_add(out, STR("and "));
	number_put(out, more);
	if (report->query.view->parts)
		strbuf_add(out, more == 1 ? STR(" more entry") : STR(" more entries"));
	else
		strbuf_add(out, more == 1 ? STR(" more row") : STR(" more rows"));
	if (text->lines == NULL)
		strbuf_add(out, STR(" (--limit 0 shows all)"));
	if (report->lines_left_out)
		strbuf_printf(
			out, "; %zu more callers and callees of these", report->lines_left_out);
	text_ink(text, INK_PLAIN);
	strbuf_add_char(out, '\n');
}

#define NOTE_HEAD "note: "
/* On narrower terminals nothing is broken. */
#define NOTE_WIDTH_MIN 40u

/* Wraps words to the terminal's width; further lines are indented to the first line's text. */
static void put_words(struct text *text, struct str words)
{
	const size_t indent = strlen(NOTE_HEAD);
	struct strbuf *out = &text->sink->text;
	size_t width = text->style->width;
	bool breaks = width >= NOTE_WIDTH_MIN;
	size_t used = indent;

	while (words.size > 0) {
		const char *space = memchr(words.data, ' ', words.size);
		size_t size = space ? (size_t)(space - words.data) : words.size;
		struct str word = {words.data, size};
		size_t word_columns = utf8_width(word);

		if (breaks && used > indent && used + 1 + word_columns > width) {
			strbuf_printf(out, "\n%*s", (int)indent, "");
			used = indent;
		} else if (used > indent) {
			strbuf_add_char(out, ' ');
			used++;
		}
		strbuf_add(out, word);
		used += word_columns;
		size += space != NULL;
		words = (struct str){words.data + size, words.size - size};
	}
}

void text_note(struct text *text, struct str words)
{
	struct strbuf *out = &text->sink->text;

	text_ink(text, INK_NOTE);
	strbuf_add(out, STR(NOTE_HEAD));
	text_ink(text, INK_PLAIN);
	put_words(text, words);
	strbuf_add_char(out, '\n');
}

void text_report_notes(struct text *text, const struct report *report)
{
	for (size_t i = 0; i < report->note_count; i++)
		text_note(text, str_from(report->notes[i]));
}

static void draw_note(struct text *text, const struct profile *profile, const struct note *note)
{
	struct strbuf line = {0};

	if (note_shows_count(note)) {
		number_put(&line, note->count);
		strbuf_add_char(&line, ' ');
	}
	escape_text(&line, profile_string(profile, note->text));
	text_note(text, strbuf_str(&line));
	strbuf_deinit(&line);
}

/* Draws what is missing in the report itself. */
static void draw_remark(struct text *text, const char *remark)
{
	struct strbuf line = {0};

	escape_text(&line, str_from(remark));
	text_note(text, strbuf_str(&line));
	strbuf_deinit(&line);
}

/* Notes of losses and truncation are always shown; if there are none, the first other note is. */
static bool shows_note(const struct text *text, const struct report *report, size_t i)
{
	const struct note *notes = report->profile->notes;

	/* Statistics show all notes. */
	if (text->style->all_notes || report->query.view == &view_stats ||
		note_is_of_loss(&notes[i]))
		return true;
	for (size_t k = 0; k < report->profile->note_count; k++)
		if (note_is_of_loss(&notes[k]))
			return false;
	return i == 0;
}

static void draw_profile_notes(struct text *text, const struct report *report)
{
	const struct profile *profile = report->profile;
	size_t more = 0;

	for (size_t i = 0; i < profile->note_count; i++)
		if (shows_note(text, report, i))
			draw_note(text, profile, &profile->notes[i]);
		else
			more++;
	if (more == 0)
		return;
	text_ink(text, INK_DIM);
	strbuf_printf(&text->sink->text, "and %zu more note%s (--notes shows all)", more,
		more == 1 ? "" : "s");
	text_ink(text, INK_PLAIN);
	strbuf_add_char(&text->sink->text, '\n');
}

void text_notes(struct text *text, const struct report *report)
{
	const struct profile *profile = report->profile;

	if (profile->note_count || report->query.remark_count)
		strbuf_add_char(&text->sink->text, '\n');
	draw_profile_notes(text, report);
	for (size_t i = 0; i < report->query.remark_count; i++)
		draw_remark(text, report->query.remarks[i]);
}

/* One note of a brief report; a longer text ends in dots. */
static void draw_brief_note(struct text *text, const char *words)
{
	struct strbuf line = {0}, fitted = {0};

	escape_text(&line, str_from(words));
	fit_start(&fitted, strbuf_str(&line), BRIEF_NOTE_MAX, text->style->utf8);
	text_note(text, strbuf_str(&fitted));
	strbuf_deinit(&line);
	strbuf_deinit(&fitted);
}

void text_brief_notes(struct text *text, const struct report *report)
{
	struct arena *arena = arena_create();
	struct brief_note notes[BRIEF_NOTES];
	size_t left_out, count = brief_notes(report, arena, notes, &left_out);

	if (count)
		strbuf_add_char(&text->sink->text, '\n');
	for (size_t i = 0; i < count; i++)
		draw_brief_note(text, notes[i].text);
	if (left_out)
		strbuf_printf(&text->sink->text, "and %zu more note%s (--notes shows all)\n",
			left_out, left_out == 1 ? "" : "s");
	arena_destroy(arena);
}

static void draw_hint(struct text *text)
{
	struct strbuf *out = &text->sink->text;

	if (text->style->hint == NULL)
		return;
	strbuf_add_char(out, '\n');
	text_ink(text, INK_DIM);
	escape_text(out, str_from(text->style->hint));
	text_ink(text, INK_PLAIN);
	strbuf_add_char(out, '\n');
}

void text_draw(struct sink *sink, const struct text_style *style,
	const struct report *const *reports, size_t count)
{
	struct text text = {.sink = sink, .style = style};

	if (reports[0]->query.budget) {
		brief_text_draw(sink, style, reports, count);
		return;
	}
	heading_draw(&text, reports[0]);
	for (size_t i = 0; i < count; i++)
		reports[i]->query.view->draw(&text, reports[i]);
	text_notes(&text, reports[0]);
	draw_hint(&text);
}
