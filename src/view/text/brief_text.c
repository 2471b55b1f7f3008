/*
 * Brief reports as text.  Each section is drawn in full and then cut at the end of a line, with a
 * line that counts what is missing.  The sections that must not be missing (fitness, notes of
 * losses, the next questions) are bounded by themselves and come out of the budget first; what
 * remains is the views'.
 */
#include "view/text/brief_text.h"

#include <stdlib.h>

#include "base/escape.h"
#include "view/brief.h"
#include "view/text/heading.h"
#include "view/views.h"

/* Columns of a table if the caller does not limit them. */
#define WIDTH 100u
/* The heading's part of the budget: one in so many. */
#define HEADING_PART 4u
/* The part of the notes and the next questions: two in so many. */
#define TAIL_PART 5u
/* Room that the line about missing lines takes. */
#define CUT_LINE 90u

/* How many bytes of text are whole lines that fit into `most`. */
static size_t whole_lines(struct str text, size_t most)
{
	while (most > 0 && text.data[most - 1] != '\n')
		most--;
	return most;
}

static size_t count_lines(struct str text)
{
	size_t lines = 0;

	for (size_t i = 0; i < text.size; i++)
		lines += text.data[i] == '\n';
	return lines;
}

/* Adds text, or its first lines and how many are missing. */
static void add_cut(struct strbuf *out, struct str text, size_t most)
{
	if (text.size <= most) {
		strbuf_add(out, text);
		return;
	}
	size_t kept = whole_lines(text, most > CUT_LINE ? most - CUT_LINE : 0);
	size_t lines = count_lines((struct str){text.data + kept, text.size - kept});

	strbuf_add(out, (struct str){text.data, kept});
	strbuf_printf(out, "(%zu more line%s: --budget N shows N characters, 0 all)\n", lines,
		lines == 1 ? "" : "s");
}

/* Cuts a text in place. */
static void bound(struct strbuf *text, size_t most)
{
	struct strbuf cut = {0};

	add_cut(&cut, strbuf_str(text), most);
	strbuf_deinit(text);
	*text = cut;
}

/* "recording: fit as evidence: …" */
static void add_recording(struct strbuf *out, const struct report *report, struct arena *arena)
{
	strbuf_add(out, STR("recording: "));
	escape_text(out, str_from(brief_recording(report, arena)));
	strbuf_add_char(out, '\n');
}

static void add_next(struct strbuf *out, const struct report *report, struct arena *arena)
{
	struct brief_step steps[BRIEF_STEPS_MAX];
	size_t count = brief_next(report, arena, steps);

	strbuf_add(out, count ? STR("\nnext:\n") : STR(""));
	for (size_t i = 0; i < count; i++) {
		struct strbuf line = {0};

		brief_step_put(&line, report, &steps[i]);
		strbuf_add(out, STR("  "));
		escape_text(out, strbuf_str(&line));
		strbuf_add(out, STR("   "));
		escape_text(out, str_from(steps[i].shows));
		strbuf_add_char(out, '\n');
		strbuf_deinit(&line);
	}
}

/* A sink in memory for one section. */
static struct text section(struct sink *sink, const struct text_style *style)
{
	sink_init_memory(sink);
	return (struct text){.sink = sink, .style = style};
}

void brief_text_draw(struct sink *sink, const struct text_style *style,
	const struct report *const *reports, size_t count)
{
	size_t budget = reports[0]->query.budget;
	struct text_style plain = {.width = style->width ? style->width : WIDTH,
		.utf8 = style->utf8,
		.brief = true,
		.all_notes = style->all_notes};
	struct arena *arena = arena_create();
	struct sink head, tail, body;
	struct text text = section(&tail, &plain);

	text_brief_notes(&text, reports[0]);
	add_next(&tail.text, reports[0], arena);
	bound(&tail.text, 2 * budget / TAIL_PART);
	text = section(&head, &plain);
	heading_draw(&text, reports[0]);

	struct strbuf *out = &sink->text;
	size_t begin = out->size;

	add_cut(out, strbuf_str(&head.text), budget / HEADING_PART);
	add_recording(out, reports[0], arena);
	for (size_t i = 0; i < count; i++) {
		size_t used = out->size - begin + tail.text.size;
		size_t rest = budget > used ? (budget - used) / (count - i) : 0;

		text = section(&body, &plain);
		reports[i]->query.view->draw(&text, reports[i]);
		add_cut(out, strbuf_str(&body.text), rest);
		strbuf_deinit(&body.text);
	}
	strbuf_add(out, strbuf_str(&tail.text));
	strbuf_deinit(&head.text);
	strbuf_deinit(&tail.text);
	arena_destroy(arena);
}
