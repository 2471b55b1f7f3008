/*
 * The last entity tree of a session.  It is the same for another question if profile, filters,
 * level and metrics are; these are compared as text, which is exact.  Trees that refer to the
 * question itself (rules that merge functions), those of differences, and sums, which cost little,
 * are not kept.
 */
#include "session/kept_tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

struct kept_tree {
	size_t references;
	char *key;
	struct arena *arena;
	const struct entity_tree *tree;
};

void kept_tree_release(struct kept_tree *kept)
{
	if (kept == NULL || --kept->references > 0)
		return;
	arena_destroy(kept->arena);
	free(kept->key);
	free(kept);
}

static bool is_worth_it(const struct report_query *query)
{
	return query->same_count == 0 && query->difference == NULL && !query->confidence &&
	       query->level != LEVEL_ZONE && !report_wants_sums(query);
}

static char *make_key(const struct selection *selection, const struct report_query *query,
	enum when_modules modules, struct arena *arena)
{
	struct entity_spec spec = report_spec(selection->profile, query, arena);
	struct strbuf key = {0};

	strbuf_printf(&key, "%p %d %d %d %d %zu", (const void *)selection->profile, spec.level,
		query->spread, query->invert, modules, spec.order_count);
	for (size_t i = 0; i < spec.metric_count; i++)
		strbuf_printf(&key, " %u", spec.metrics[i].i);
	for (size_t i = 0; i < selection->step_count; i++) {
		const struct filter *filter = selection->steps[i].filter;

		strbuf_printf(&key, "\n%d %d %s", filter->kind, filter->kernel,
			filter->text ? filter->text : "");
	}
	return key.data;
}

const struct entity_tree *kept_tree_get(struct kept_tree **kept, const struct selection *selection,
	const struct report_query *query, enum when_modules modules, struct arena *arena,
	struct kept_tree **used)
{
	*used = NULL;
	if (kept == NULL || !is_worth_it(query))
		return report_tree(selection, query, arena);
	char *key = make_key(selection, query, modules, arena);

	if (*kept == NULL || strcmp((*kept)->key, key) != 0) {
		/* First, so that there are never two large ones. */
		kept_tree_release(*kept);
		*kept = xcalloc(1, sizeof(**kept));
		(*kept)->references = 1;
		(*kept)->key = key;
		(*kept)->arena = arena_create();
		(*kept)->tree = report_tree(selection, query, (*kept)->arena);
	} else {
		free(key);
	}
	*used = *kept;
	(*used)->references++;
	return (*used)->tree;
}
