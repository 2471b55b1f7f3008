/*
 * Arcs of a profile under construction.
 */
#include "model/arc_table.h"

#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/saturate.h"

static uint64_t arc_hash(const void *row)
{
	const struct arc *a = row;

	return hash_u64((uint64_t)a->caller.i << 32 | a->callee.i);
}

/* Calls are not part of an arc's identity. */
static bool arc_same(const void *a, const void *b)
{
	const struct arc *x = a, *y = b;

	return x->caller.i == y->caller.i && x->callee.i == y->callee.i;
}

static const struct row_kind arc_rows = {sizeof(struct arc), arc_hash, arc_same};

void arc_table_deinit(struct arc_table *t)
{
	row_table_deinit(&t->arcs);
	weight_rows_deinit(&t->costs);
}

uint32_t arc_table_add(struct arc_table *t, function_id caller, function_id callee, uint64_t calls,
	const int64_t *cost, size_t metric_count)
{
	struct arc arc = {.caller = caller, .callee = callee};
	uint32_t row = row_table_intern_after(&t->arcs, &arc_rows, &arc, t->before);

	t->before = row;
	add_saturating(&((struct arc *)t->arcs.rows)[row].calls, calls);
	add_saturating(&t->calls_sum, calls);
	if (cost == NULL)
		return row;
	weight_rows_begin(&t->costs, metric_count);
	assert(t->costs.metric_count == metric_count);
	weight_rows_add(&t->costs, row, cost);
	return row;
}

bool arc_table_has(const struct arc_table *t, function_id caller, function_id callee)
{
	struct arc arc = {.caller = caller, .callee = callee};
	uint32_t row;

	return row_table_find(&t->arcs, &arc_rows, &arc, &row);
}

bool arc_table_calls_fit(const struct arc_table *t)
{
	return t->calls_sum <= INT64_MAX;
}

bool arc_table_costs_fit(const struct arc_table *t, size_t metric, const struct weight_bounds *more)
{
	struct weight_bounds bounds = *more;

	if (t->costs.bounds == NULL)
		return true;
	weight_bounds_join(&bounds, &t->costs.bounds[metric]);
	return weight_bounds_fit(&bounds);
}

static void freeze_costs(struct arc_table *t, struct profile *p)
{
	size_t metrics = t->costs.metric_count;
	int64_t **column = ARENA_ARRAY(p->arena, int64_t *, metrics);

	weight_rows_take(&t->costs, column, p->arc_count);
	for (size_t m = 0; m < metrics; m++)
		arena_adopt(p->arena, column[m], p->arc_count * sizeof(*column[m]));
	p->arc_cost = (const int64_t *const *)column;
}

void arc_table_freeze(struct arc_table *t, struct profile *p)
{
	p->arc_count = t->arcs.count;
	if (t->costs.bounds)
		freeze_costs(t, p);
	void *rows = row_table_take(&t->arcs, &arc_rows);
	arena_adopt(p->arena, rows, p->arc_count * sizeof(struct arc));
	p->arcs = rows;
}
