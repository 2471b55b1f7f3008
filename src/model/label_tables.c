/*
 * Labels of samples while a profile is built.  A set is a chain of interned pairs, the highest
 * label first: so each set has one form, whatever order its labels come in, and chains share the
 * labels seen early, which are on many samples.
 */
#include "model/label_tables.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"

static uint64_t label_hash(const void *row)
{
	const struct label *l = row;
	uint64_t words = (uint64_t)l->key.i << 32 | l->text.i;

	return hash_pair(hash_pair(words, (uint64_t)l->number), l->unit.i);
}

static bool label_same(const void *a, const void *b)
{
	const struct label *x = a, *y = b;

	return x->key.i == y->key.i && x->text.i == y->text.i && x->number == y->number &&
	       x->unit.i == y->unit.i;
}

static uint64_t set_hash(const void *row)
{
	const struct label_set *s = row;

	return hash_u64((uint64_t)s->rest.i << 32 | s->label.i);
}

static bool set_same(const void *a, const void *b)
{
	const struct label_set *x = a, *y = b;

	return x->rest.i == y->rest.i && x->label.i == y->label.i;
}

static const struct row_kind label_rows = {sizeof(struct label), label_hash, label_same};
static const struct row_kind set_rows = {sizeof(struct label_set), set_hash, set_same};

void label_tables_init(struct label_tables *t, struct budget *budget)
{
	struct label_set none = {{0}, {NO_ID}};

	*t = (struct label_tables){.budget = budget};
	(void)row_table_intern(&t->sets, &set_rows, &none);
	vec_push(&t->sizes, 0);
}

void label_tables_deinit(struct label_tables *t)
{
	row_table_deinit(&t->labels);
	row_table_deinit(&t->sets);
	vec_deinit(&t->sizes);
	vec_deinit(&t->scratch);
	vec_deinit(&t->of_sample);
}

bool label_tables_takes(const struct label_tables *t, const struct label *label)
{
	uint32_t row;

	return budget_has(t->budget, BUDGET_LABEL_BYTES) ||
	       row_table_find(&t->labels, &label_rows, label, &row);
}

/* The row, paid for if it is new. */
static uint32_t intern_paid(struct label_tables *t, struct row_table *table,
	const struct row_kind *kind, const void *row)
{
	size_t before = table->count;
	uint32_t number = row_table_intern(table, kind, row);

	if (table->count > before)
		budget_take(t->budget, BUDGET_LABEL_BYTES);
	return number;
}

label_id label_tables_label(struct label_tables *t, const struct label *label)
{
	return (label_id){intern_paid(t, &t->labels, &label_rows, label)};
}

static int label_compare(const void *a, const void *b)
{
	const label_id *x = a, *y = b;

	return x->i < y->i ? -1 : x->i > y->i;
}

static bool is_ascending(const label_id *labels, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (labels[i - 1].i >= labels[i].i)
			return false;
	return true;
}

static label_set_id set_add(struct label_tables *t, label_set_id rest, label_id label)
{
	struct label_set set = {rest, label};
	uint32_t row;

	if (!budget_has(t->budget, BUDGET_LABEL_BYTES) &&
		!row_table_find(&t->sets, &set_rows, &set, &row)) {
		t->budget->refused[BUDGET_LABEL]++;
		return rest;
	}
	row = intern_paid(t, &t->sets, &set_rows, &set);
	if (row == t->sizes.count)
		vec_push(&t->sizes, (uint16_t)(t->sizes.data[rest.i] + 1));
	return (label_set_id){row};
}

/* Makes the set of ascending labels, perhaps with duplicates. */
static label_set_id set_of_sorted(struct label_tables *t, const label_id *labels, size_t count)
{
	label_set_id set = {0};

	for (size_t i = 0; i < count; i++) {
		assert(labels[i].i < t->labels.count);
		if (i && labels[i].i == labels[i - 1].i)
			continue;
		if (t->sizes.data[set.i] < SAMPLE_LABELS_MAX)
			set = set_add(t, set, labels[i]);
		else
			t->left_out++;
	}
	return set;
}

static label_set_id set_of_scratch(struct label_tables *t)
{
	qsort(t->scratch.data, t->scratch.count, sizeof(*t->scratch.data), label_compare);
	return set_of_sorted(t, t->scratch.data, t->scratch.count);
}

label_set_id label_tables_set(struct label_tables *t, const label_id *labels, size_t count)
{
	if (is_ascending(labels, count))
		return set_of_sorted(t, labels, count);
	t->scratch.count = 0;
	for (size_t i = 0; i < count; i++)
		vec_push(&t->scratch, labels[i]);
	return set_of_scratch(t);
}

static bool set_has(const struct label_tables *t, label_set_id set, label_id label)
{
	const struct label_set *sets = t->sets.rows;

	while (set.i && sets[set.i].label.i > label.i)
		set = sets[set.i].rest;
	return set.i && sets[set.i].label.i == label.i;
}

label_set_id label_tables_with(struct label_tables *t, label_set_id set, label_id label)
{
	const struct label_set *sets = t->sets.rows;

	assert(set.i < t->sets.count && label.i < t->labels.count);
	if (t->sizes.data[set.i] == SAMPLE_LABELS_MAX) {
		t->left_out += !set_has(t, set, label);
		return set;
	}
	if (set.i == 0 || label.i > sets[set.i].label.i)
		return set_add(t, set, label);
	t->scratch.count = 0;
	vec_push(&t->scratch, label);
	for (; set.i; set = sets[set.i].rest)
		vec_push(&t->scratch, sets[set.i].label);
	return set_of_scratch(t);
}

void label_tables_freeze(struct label_tables *t, struct profile *p)
{
	size_t given = t->of_sample.count;

	p->label_count = t->labels.count;
	void *labels = row_table_take(&t->labels, &label_rows);
	arena_adopt(p->arena, labels, p->label_count * sizeof(struct label));
	p->labels = labels;
	p->label_set_count = t->sets.count;
	void *sets = row_table_take(&t->sets, &set_rows);
	arena_adopt(p->arena, sets, p->label_set_count * sizeof(struct label_set));
	p->label_sets = sets;
	if (given == 0)
		return;
	label_set_id *of_sample = ARENA_ARRAY(p->arena, label_set_id, p->samples.count);
	memcpy(of_sample, t->of_sample.data, given * sizeof(*of_sample));
	p->samples.labels = of_sample;
}
