/*
 * Folded stacks out of the call tree.  The words are those of formats/folded/writer.c;
 * docs/formats/folded.md describes both.  Entities that differ only in what the text leaves out,
 * such as their file, are the same there, so equal paths are summed.
 */
#include "view/folded.h"

#include <stdlib.h>

#include "analysis/calltree.h"
#include "base/alloc.h"
#include "base/escape.h"
#include "base/folded_lines.h"
#include "view/text/place.h"

static uint32_t make_text(
	const struct report *report, const struct entity *entity, struct folded_lines *lines)
{
	/* A load object's own name needs no module before it. */
	bool with_module = report->query.with_modules && report->query.level != LEVEL_MODULE;
	struct strbuf label = {0}, frame = {0}, name = {0};

	strbuf_add(&name, entity_label(entity, &label));
	place_put(&name, report->query.level, entity);
	escape_folded(&frame, strbuf_str(&name), entity->module, with_module);
	uint32_t text = folded_lines_text(lines, strbuf_str(&frame));
	strbuf_deinit(&frame);
	strbuf_deinit(&label);
	strbuf_deinit(&name);
	return text;
}

void folded_draw(struct sink *sink, const struct report *report)
{
	const struct calltree *tree = report->calltree;
	uint32_t *at = xcalloc((size_t)tree->level_max + 1, sizeof(*at)); /* [level] the stack */
	/* [entity] Index of its text plus 1; 0: not made yet. */
	uint32_t *text = xcalloc(report->tree->entity_count + 1, sizeof(*text));
	struct folded_lines lines;

	folded_lines_init(&lines);
	/* Samples without any frame have no row in the tree. */
	folded_lines_add(&lines, 0, entity_tree_weight(report->tree, 0));
	for (size_t place = 0; place < report->count; place++) {
		const struct calltree_row *row = &tree->rows[report_row(report, place)];

		if (row->is_stub)
			continue;
		if (text[row->entity] == 0)
			text[row->entity] =
				1 + make_text(report, &report->tree->entities[row->entity], &lines);
		at[row->level] =
			folded_lines_stack(&lines, at[row->level - 1], text[row->entity] - 1);
		folded_lines_add(&lines, at[row->level], row->in_only);
	}
	folded_lines_write(&lines, sink);
	folded_lines_deinit(&lines);
	free(text);
	free(at);
}
