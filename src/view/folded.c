/*
 * Folded stacks out of the call tree.  The rows are in pre-order, so the path of a row is that of
 * the row before it, cut at the parent's end, and one name more.
 */
#include "view/folded.h"

#include <inttypes.h>
#include <stdlib.h>

#include "analysis/calltree.h"
#include "base/alloc.h"
#include "base/escape.h"

static void add_frame(const struct report *report, const struct entity *entity, struct strbuf *path)
{
	struct strbuf scratch = {0};

	if (report->query.with_modules && entity->module.data) {
		escape_folded(path, entity->module);
		strbuf_add_char(path, '`');
	}
	escape_folded(path, entity_label(entity, &scratch));
	strbuf_deinit(&scratch);
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

	for (size_t place = 0; place < report->count && sink_settle(sink); place++) {
		const struct calltree_row *row = &report->calltree->rows[report_row(report, place)];

		if (row->is_stub)
			continue;
		path_cut(&path, ends[row->level - 1]);
		if (row->level > 1)
			strbuf_add_char(&path, ';');
		add_frame(report, &report->tree->entities[row->entity], &path);
		ends[row->level] = path.size;
		if (row->in_only == 0)
			continue;
		strbuf_add(&sink->text, strbuf_str(&path));
		strbuf_printf(&sink->text, " %" PRId64 "\n", row->in_only);
	}
	strbuf_deinit(&path);
	free(ends);
}
