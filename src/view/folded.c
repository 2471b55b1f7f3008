/*
 * Folded stacks out of the call tree.  The rows are in pre-order, so the path of a row is that of
 * the row before it, cut at the parent's end, and one name more.  The words are those of
 * writers/folded.c; docs/formats/folded.md describes both.
 */
#include "view/folded.h"

#include <inttypes.h>
#include <stdlib.h>

#include "analysis/calltree.h"
#include "base/alloc.h"
#include "base/escape.h"
#include "view/text/place.h"

static void add_frame(const struct report *report, const struct entity *entity, struct strbuf *path)
{
	/* A load object's own name needs none before it. */
	bool with_module = report->query.with_modules && report->query.level != LEVEL_MODULE;
	struct strbuf label = {0}, frame = {0}, name = {0};

	strbuf_add(&name, entity_label(entity, &label));
	place_put(&name, report->query.level, entity);
	escape_folded(&frame, strbuf_str(&name), entity->module, with_module);
	if (path->size == 0)
		escape_folded_first(path, strbuf_str(&frame));
	else
		strbuf_add(path, strbuf_str(&frame));
	strbuf_deinit(&frame);
	strbuf_deinit(&label);
	strbuf_deinit(&name);
}

static void add_line(struct strbuf *out, struct str path, int64_t weight)
{
	if (weight == 0)
		return;
	strbuf_add(out, path);
	strbuf_printf(out, " %" PRId64 "\n", weight);
}

static void path_cut(struct strbuf *path, size_t size)
{
	if (path->size == 0)
		return;
	path->size = size;
	path->data[size] = '\0';
}

void folded_draw(struct sink *sink, const struct report *report)
{
	size_t level_count = (size_t)report->calltree->level_max + 1;
	size_t *ends = xcalloc(level_count, sizeof(*ends)); /* [level] bytes of the path */
	struct strbuf path = {0};

	/* Samples without any frame have no row in the tree. */
	add_line(&sink->text, STR("[unknown]"), entity_tree_weight(report->tree, 0));
	for (size_t place = 0; place < report->count && sink_settle(sink); place++) {
		const struct calltree_row *row = &report->calltree->rows[report_row(report, place)];

		if (row->is_stub)
			continue;
		path_cut(&path, ends[row->level - 1]);
		if (row->level > 1)
			strbuf_add_char(&path, ';');
		add_frame(report, &report->tree->entities[row->entity], &path);
		ends[row->level] = path.size;
		add_line(&sink->text, strbuf_str(&path), row->in_only);
	}
	strbuf_deinit(&path);
	free(ends);
}
