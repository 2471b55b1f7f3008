/*
 * Stacks written out.  See stack_list.h.
 */
#include "stack_list.h"

#include <inttypes.h>
#include <stdlib.h>

static void add_frame_text(struct strbuf *out, const struct profile *p, stack_id stack)
{
	const struct frame *f = &p->frames[p->stack_frame[stack.i].i];
	const struct function *fn = &p->functions[f->function.i];

	strbuf_add(out, profile_string(p, fn->name));
	if (fn->object.i != NO_ID)
		strbuf_printf(out, "@%s+%s+%d",
			profile_string(p, p->objects[fn->object.i].path).data,
			profile_string(p, p->objects[fn->object.i].build_id).data,
			(int)p->objects[fn->object.i].kind);
	strbuf_printf(out, "(%s:%u %s:%u %d %" PRIx64 ");", profile_string(p, fn->file).data,
		fn->line, profile_string(p, f->file).data, f->line, f->is_inline, f->obj_addr);
}

/* Leaf first: as good a name for a stack as any. */
static struct str path_text(struct stack_list *list, const struct profile *p, stack_id stack)
{
	struct strbuf text = {0};

	for (; stack.i; stack = profile_parent(p, stack))
		add_frame_text(&text, p, stack);
	struct str path = arena_str(list->arena, strbuf_str(&text));
	strbuf_deinit(&text);
	return path;
}

void stack_list_add(
	struct stack_list *list, const struct profile *p, struct str metric, int64_t sign)
{
	metric_id m;

	if (!profile_find_metric(p, metric, &m))
		return;
	for (uint32_t i = 0; i < p->stack_count; i++)
		if (profile_weight(p, m.i, i))
			vec_push(
				&list->lines, (struct stack_line){path_text(list, p, (stack_id){i}),
						      sign * profile_weight(p, m.i, i)});
}

static int line_compare(const void *a, const void *b)
{
	return str_compare(
		((const struct stack_line *)a)->path, ((const struct stack_line *)b)->path);
}

void stack_list_sum(struct stack_list *list)
{
	size_t kept = 0;

	if (list->lines.count)
		qsort(list->lines.data, list->lines.count, sizeof(*list->lines.data), line_compare);
	for (size_t i = 0; i < list->lines.count;) {
		struct stack_line sum = list->lines.data[i++];

		for (; i < list->lines.count && line_compare(&sum, &list->lines.data[i]) == 0; i++)
			sum.weight += list->lines.data[i].weight;
		if (sum.weight)
			list->lines.data[kept++] = sum;
	}
	list->lines.count = kept;
}
