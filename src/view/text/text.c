/*
 * The page around the views: colours, titles, what was left out, notes.
 */
#include "view/text/text.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/escape.h"
#include "view/text/heading.h"
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
	};

	if (!text->style->color || ink == text->ink)
		return;
	if (text->ink != INK_PLAIN && ink != INK_PLAIN)
		strbuf_add(&text->sink->text, str_from(sequences[INK_PLAIN]));
	strbuf_add(&text->sink->text, str_from(sequences[ink]));
	text->ink = ink;
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
	size_t more = report->row_count - report->count;

	if (more == 0)
		return;
	text_ink(text, INK_DIM);
	strbuf_add(out, STR("and "));
	number_put(out, more);
	strbuf_add(out, more == 1 ? STR(" more row") : STR(" more rows"));
	strbuf_add(out, STR(" (--limit 0 shows all)"));
	text_ink(text, INK_PLAIN);
	strbuf_add_char(out, '\n');
}

static void draw_note(struct text *text, const struct profile *profile, const struct note *note)
{
	struct strbuf *out = &text->sink->text;

	text_ink(text, INK_NOTE);
	strbuf_add(out, STR("note: "));
	text_ink(text, INK_PLAIN);
	if (note_shows_count(note)) {
		number_put(out, note->count);
		strbuf_add_char(out, ' ');
	}
	escape_text(out, profile_string(profile, note->text));
	strbuf_add_char(out, '\n');
}

static void draw_notes(struct text *text, const struct profile *profile)
{
	if (profile->note_count)
		strbuf_add_char(&text->sink->text, '\n');
	for (size_t i = 0; i < profile->note_count; i++)
		draw_note(text, profile, &profile->notes[i]);
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
	struct text text = {sink, style, INK_PLAIN};

	heading_draw(&text, reports[0]);
	for (size_t i = 0; i < count; i++)
		reports[i]->query.view->draw(&text, reports[i]);
	draw_notes(&text, reports[0]->profile);
	draw_hint(&text);
}
