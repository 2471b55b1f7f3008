/*
 * Arcs in the making.  Costs stand by arc while they come in, since calls add to all metrics of one
 * arc; a profile has a column of each metric.
 */
#include "model/arc_table.h"

#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/hash.h"

static uint64_t arc_hash(const void *row)
{
	const struct arc *a = row;

	return hash_u64((uint64_t)a->caller.i << 32 | a->callee.i);
}

/* Calls are not part of what an arc is. */
static bool arc_same(const void *a, const void *b)
{
	const struct arc *x = a, *y = b;

	return x->caller.i == y->caller.i && x->callee.i == y->callee.i;
}

static const struct row_kind arc_rows = {sizeof(struct arc), arc_hash, arc_same};

void arc_table_deinit(struct arc_table *t)
{
	row_table_deinit(&t->arcs);
	vec_deinit(&t->costs);
	free(t->cost_sum);
}

static void add_saturating(uint64_t *sum, uint64_t more)
{
	if (__builtin_add_overflow(*sum, more, sum))
		*sum = UINT64_MAX;
}

/* Makes room for the costs of the arcs up to that one, the new ones zero. */
static void extend_costs(struct arc_table *t, size_t arc_count)
{
	size_t count = arc_count * t->metric_count, before = t->costs.count;

	if (count <= before)
		return;
	vec_reserve(&t->costs, count);
	memset(t->costs.data + before, 0, (count - before) * sizeof(*t->costs.data));
	t->costs.count = count;
}

static void add_cost(struct arc_table *t, uint32_t arc, const int64_t *cost)
{
	extend_costs(t, (size_t)arc + 1);
	for (size_t m = 0; m < t->metric_count; m++) {
		int64_t *sum = &t->costs.data[arc * t->metric_count + m];
		uint64_t more = (uint64_t)cost[m];

		add_saturating(&t->cost_sum[m], cost[m] < 0 ? 0 - more : more);
		/* Wraps where arc_table_costs_fit will say no. */
		*sum = (int64_t)((uint64_t)*sum + more);
	}
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
	if (t->cost_sum == NULL) {
		t->metric_count = metric_count;
		t->cost_sum = xcalloc(metric_count, sizeof(*t->cost_sum));
	}
	assert(t->metric_count == metric_count);
	add_cost(t, row, cost);
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

bool arc_table_costs_fit(const struct arc_table *t, size_t metric)
{
	return t->cost_sum == NULL || t->cost_sum[metric] <= INT64_MAX;
}

static void freeze_costs(struct arc_table *t, struct profile *p)
{
	const int64_t **column = ARENA_ARRAY(p->arena, const int64_t *, t->metric_count);

	extend_costs(t, p->arc_count);
	for (size_t m = 0; m < t->metric_count; m++) {
		int64_t *cost = ARENA_ARRAY(p->arena, int64_t, p->arc_count);

		for (size_t i = 0; i < p->arc_count; i++)
			cost[i] = t->costs.data[i * t->metric_count + m];
		column[m] = cost;
	}
	p->arc_cost = column;
}

void arc_table_freeze(struct arc_table *t, struct profile *p)
{
	p->arc_count = t->arcs.count;
	if (t->cost_sum)
		freeze_costs(t, p);
	void *rows = row_table_take(&t->arcs, &arc_rows);
	arena_adopt(p->arena, rows, p->arc_count * sizeof(struct arc));
	p->arcs = rows;
}
