/*
 * The call graph's index: names in alphabetical order, down the columns, so that an entry is found
 * from its name as it is from its number.
 */
#include "view/text/graph_index.h"

#include <stdlib.h>

#include "base/escape.h"
#include "base/vec.h"
#include "view/graph_rows.h"
#include "view/text/fit.h"
#include "view/text/place.h"
#include "view/views.h"

#define GAP 2u
/* The width if lines may have any length. */
#define WIDTH_UNBOUND 100u
/* Names get this width before there are two columns. */
#define NAME_WIDTH_MAX 40u

struct item {
	const struct entity *entity;
	enum level level;
	size_t number;	/* of the entry */
	uint32_t cycle; /* the entry's cycle; 0: none */
};

struct index {
	VEC(struct item) items;
	size_t number_width; /* of "[12] " */
	size_t name_width;   /* of the longest name, as shown */
};

static int items_compare(const void *a, const void *b)
{
	const struct item *x = a, *y = b;
	int order = entity_compare(x->entity, y->entity);

	return order ? order : (x->number > y->number) - (x->number < y->number);
}

static void index_init(struct index *index, const struct report *report)
{
	*index = (struct index){0};
	for (size_t place = 0; place < report->count; place++) {
		size_t row = report_row(report, place);
		struct graph_row r = graph_row(report, row);

		if (r.line == NULL)
			vec_push(&index->items,
				(struct item){.entity = report->query.view->entity(report, row),
					.level = report->query.level,
					.number = r.index + 1,
					.cycle = r.entry->entity == NO_ID ? 0 : r.entry->cycle});
	}
	qsort(index->items.data, index->items.count, sizeof(*index->items.data), items_compare);
}

/* The whole name, followed by its cycle. */
static void item_put(const struct item *item, struct strbuf *out)
{
	struct strbuf scratch = {0};

	strbuf_clear(out);
	escape_text(out, entity_label_apart(item->entity, &scratch));
	place_put(out, item->level, item->entity);
	if (item->cycle)
		strbuf_printf(out, " <cycle %u>", item->cycle);
	strbuf_deinit(&scratch);
}

static void index_measure(struct index *index, const struct text_style *style)
{
	size_t most = style->width ? NAME_WIDTH_MAX : SIZE_MAX, number_max = 0;
	struct strbuf name = {0};

	for (size_t i = 0; i < index->items.count; i++) {
		size_t width;

		item_put(&index->items.data[i], &name);
		width = utf8_width(strbuf_str(&name));
		if (index->name_width < width)
			index->name_width = width;
		if (number_max < index->items.data[i].number)
			number_max = index->items.data[i].number;
	}
	if (index->name_width > most)
		index->name_width = most;
	strbuf_clear(&name);
	strbuf_printf(&name, "[%zu] ", number_max);
	index->number_width = name.size;
	strbuf_deinit(&name);
}

static void pad(struct strbuf *out, size_t from, size_t to)
{
	for (; from < to; from++)
		strbuf_add_char(out, ' ');
}

/* pads: another item follows in the line. */
static void item_draw(struct text *text, const struct index *index, const struct item *item,
	bool pads, struct strbuf *scratch)
{
	struct strbuf *out = &text->sink->text;
	size_t before;

	strbuf_clear(scratch);
	strbuf_printf(scratch, "[%zu] ", item->number);
	pad(out, scratch->size, index->number_width);
	text_ink(text, INK_DIM);
	strbuf_add(out, strbuf_str(scratch));
	text_ink(text, INK_PLAIN);
	item_put(item, scratch);
	before = out->size;
	fit_text(out, strbuf_str(scratch), index->name_width, text->style->utf8);
	if (pads)
		pad(out, utf8_width((struct str){out->data + before, out->size - before}),
			index->name_width + GAP);
}

static void index_draw(struct text *text, const struct index *index)
{
	size_t count = index->items.count;
	size_t width = text->style->width ? text->style->width : WIDTH_UNBOUND;
	size_t across = (width + GAP) / (index->number_width + index->name_width + GAP);
	size_t lines = across ? (count + across - 1) / across : count;
	struct strbuf scratch = {0};

	for (size_t line = 0; line < lines; line++) {
		for (size_t i = line; i < count; i += lines)
			item_draw(text, index, &index->items.data[i], i + lines < count, &scratch);
		strbuf_add_char(&text->sink->text, '\n');
		if (!sink_settle(text->sink))
			break;
	}
	strbuf_deinit(&scratch);
}

void graph_index_draw(struct text *text, const struct report *report)
{
	struct index index;

	index_init(&index, report);
	index_measure(&index, text->style);
	text_title(text, "Index by name");
	index_draw(text, &index);
	vec_deinit(&index.items);
}
