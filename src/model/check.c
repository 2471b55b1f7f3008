/*
 * Checks the invariants that profile.h states.  Linear in its size: children of one parent are
 * checked together (sorted by parent), with one mark per frame to detect duplicates.
 *
 * A failure here means that a reader has a bug or let bad input pass; so the message names table
 * and row, in the words of profile.h.
 */
#include "model/profile.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/sort.h"
#include "model/weight_rows.h"

enum { SAMPLES_PART = 512 };

#define BROKEN(...) error_new(ERROR_INPUT, "broken profile: " __VA_ARGS__)

static bool has_string(const struct profile *p, string_id id)
{
	return id.i < p->string_count;
}

static struct error *check_strings(const struct profile *p)
{
	if (p->string_count == 0 || p->strings[0].size != 0)
		return BROKEN("string 0 is not the empty string");
	for (size_t i = 0; i < p->string_count; i++)
		if (p->strings[i].data == NULL || p->strings[i].data[p->strings[i].size] != '\0')
			return BROKEN("string %zu does not end in NUL", i);
	const string_id header[] = {p->source, p->format, p->command, p->host, p->when};
	for (size_t i = 0; i < ARRAY_SIZE(header); i++)
		if (!has_string(p, header[i]))
			return BROKEN("header string %zu is out of range", i);
	return NULL;
}

static struct error *check_objects(const struct profile *p)
{
	for (size_t i = 0; i < p->object_count; i++) {
		const struct object *o = &p->objects[i];
		if (!has_string(p, o->path) || !has_string(p, o->build_id))
			return BROKEN("object %zu has a string out of range", i);
		if ((unsigned int)o->kind >= OBJECT_KIND_COUNT)
			return BROKEN("object %zu has an unknown kind", i);
	}
	return NULL;
}

static struct error *check_functions(const struct profile *p)
{
	for (size_t i = 0; i < p->function_count; i++) {
		const struct function *f = &p->functions[i];
		if (!has_string(p, f->name) || !has_string(p, f->file) ||
			!has_string(p, f->aliases))
			return BROKEN("function %zu has a string out of range", i);
		if (f->object.i != NO_ID && f->object.i >= p->object_count)
			return BROKEN("function %zu has an object out of range", i);
	}
	return NULL;
}

static struct error *check_frames(const struct profile *p)
{
	for (size_t i = 0; i < p->frame_count; i++) {
		const struct frame *f = &p->frames[i];
		if (f->function.i >= p->function_count)
			return BROKEN("frame %zu has a function out of range", i);
		if (!has_string(p, f->file))
			return BROKEN("frame %zu has a string out of range", i);
	}
	return NULL;
}

/* Whether the counts match the bits, for numbers up to `size`. */
static bool ranks_hold(const struct rank_set *s, size_t size)
{
	uint32_t count = 0;

	if (s->bits == NULL || s->before == NULL || s->size != size)
		return false;
	for (size_t i = 0; i <= size / 64; i++) {
		if (s->before[i] != count)
			return false;
		count += count_bits(s->bits[i]);
	}
	return s->count == count && s->bits[size / 64] >> size % 64 == 0;
}

/* Each run begins where the set says so, and nowhere else. */
static bool runs_hold(const struct profile *p)
{
	const struct tree_runs *r = &p->runs;

	if (r->count == 0 || r->first[0] != 0 || r->first[r->count] != p->stack_count ||
		!ranks_hold(&r->begins, p->stack_count) || r->begins.count != r->count)
		return false;
	for (size_t k = 0; k < r->count; k++)
		if (r->first[k] >= r->first[k + 1] || !rank_set_has(&r->begins, r->first[k]))
			return false;
	return true;
}

static struct error *check_depth(const struct profile *p)
{
	const struct tree_runs *r = &p->runs;
	uint32_t *depth = tree_runs_depths(r), most = 0;

	for (size_t i = 0; i < r->count; i++)
		if (depth[i] + (r->first[i + 1] - r->first[i] - 1) > most)
			most = depth[i] + (r->first[i + 1] - r->first[i] - 1);
	free(depth);
	return most == p->depth_max ? NULL
				    : BROKEN("depth_max is %u, the deepest stack has %u frames",
					      p->depth_max, most);
}

/* Each stack comes after its parent: within a run by definition. */
static struct error *check_tree(const struct profile *p)
{
	const struct tree_runs *r = &p->runs;
	bool in_range = true;

	if (p->stack_count == 0 || p->stack_frame[0].i != NO_ID)
		return BROKEN("stack 0 is not the empty stack");
	if (!runs_hold(p))
		return BROKEN("its runs are not those of its stacks");
	if (r->parent[0] != 0)
		return BROKEN("stack 0 is not the empty stack");
	for (size_t k = 1; k < r->count; k++)
		if (r->parent[k] + 1 >= r->first[k])
			return BROKEN("stack %u does not come after its parent", r->first[k]);
	for (size_t i = 1; i < p->stack_count; i++)
		in_range &= p->stack_frame[i].i < p->frame_count;
	return in_range ? check_depth(p) : BROKEN("a stack has a frame out of range");
}

static struct error *check_arcs(const struct profile *p)
{
	struct map pairs = {0};
	uint64_t sum = 0;
	bool is_new = true;
	struct error *err = NULL;

	if (!p->has_stacks && p->depth_max > 1)
		return BROKEN("a stack has callers, though there are no stacks");
	for (size_t i = 0; i < p->arc_count && err == NULL; i++) {
		const struct arc *a = &p->arcs[i];
		if (a->callee.i >= p->function_count ||
			(a->caller.i != NO_ID && a->caller.i >= p->function_count)) {
			err = BROKEN("arc %zu has a function out of range", i);
			break;
		}
		(void)map_at(&pairs, a->caller.i, a->callee.i, 0, &is_new);
		if (!is_new)
			err = BROKEN("arc %zu repeats a pair of functions", i);
		else if (__builtin_add_overflow(sum, a->calls, &sum) || sum > INT64_MAX)
			err = BROKEN("the number of calls exceeds 64 bits");
	}
	map_deinit(&pairs);
	return err;
}

/* Runs by the stack that they are called from. */
static struct sort_item *runs_by_parent(const struct tree_runs *r)
{
	struct sort_item *items = xcalloc(r->count, sizeof(*items));

	for (uint32_t i = 1; i < r->count; i++)
		items[i - 1] = (struct sort_item){r->parent[i], i};
	sort_items(items, r->count - 1);
	return items;
}

/*
 * Stacks with siblings begin a run, or continue from the parent of one.  Needs check_tree's ranges.
 */
static struct error *check_siblings(const struct profile *p)
{
	const struct tree_runs *r = &p->runs;
	struct sort_item *items = runs_by_parent(r);
	uint32_t *seen_under = xcalloc(p->frame_count, sizeof(*seen_under)); /* parent + 1 */
	struct error *err = NULL;

	for (size_t k = 0; k + 1 < r->count && err == NULL; k++) {
		uint32_t parent = (uint32_t)items[k].key, stack = r->first[items[k].index];
		uint32_t next = parent + 1; /* before the runs, if it is called from there */
		uint32_t *seen = &seen_under[p->stack_frame[stack].i];

		if ((k == 0 || items[k - 1].key != parent) &&
			profile_stack_parent(p, next) == parent)
			seen_under[p->stack_frame[next].i] = parent + 1;
		if (*seen == parent + 1)
			err = BROKEN("stack %u repeats a frame under its parent", stack);
		*seen = parent + 1;
	}
	free(items);
	free(seen_under);
	return err;
}

static struct error *check_metrics(const struct profile *p)
{
	if (p->metric_count == 0)
		return BROKEN("it has no metric");
	for (size_t m = 0; m < p->metric_count; m++)
		if (!has_string(p, p->metrics[m].name) || !has_string(p, p->metrics[m].unit))
			return BROKEN("metric %zu has a string out of range", m);
	if (p->default_metric.i >= p->metric_count)
		return BROKEN("the default metric is out of range");
	return NULL;
}

static struct error *check_tasks(const struct profile *p)
{
	for (size_t i = 0; i < p->process_count; i++)
		if (!has_string(p, p->processes[i].name))
			return BROKEN("process %zu has a string out of range", i);
	for (size_t i = 0; i < p->thread_count; i++) {
		if (p->threads[i].process.i >= p->process_count)
			return BROKEN("thread %zu has a process out of range", i);
		if (!has_string(p, p->threads[i].name))
			return BROKEN("thread %zu has a string out of range", i);
	}
	return NULL;
}

static struct error *check_notes(const struct profile *p)
{
	for (size_t i = 0; i < p->note_count; i++) {
		if ((unsigned int)p->notes[i].kind >= NOTE_KIND_COUNT)
			return BROKEN("note %zu has an unknown kind", i);
		if (!has_string(p, p->notes[i].text))
			return BROKEN("note %zu has a string out of range", i);
	}
	return NULL;
}

static struct error *check_labels(const struct profile *p)
{
	for (size_t i = 0; i < p->label_count; i++) {
		const struct label *l = &p->labels[i];
		if (!has_string(p, l->key) || !has_string(p, l->text) || !has_string(p, l->unit))
			return BROKEN("label %zu has a string out of range", i);
	}
	if (p->label_set_count == 0 || p->label_sets[0].rest.i != 0 ||
		p->label_sets[0].label.i != NO_ID)
		return BROKEN("label set 0 is not the empty set");
	return NULL;
}

/* Needs check_labels. */
static struct error *check_label_sets(const struct profile *p)
{
	const struct label_set *sets = p->label_sets;
	struct map pairs = {0};
	bool is_new = true;
	struct error *err = NULL;

	for (size_t i = 1; i < p->label_set_count && err == NULL; i++) {
		const struct label_set *s = &sets[i];
		if (s->rest.i >= i)
			err = BROKEN("label set %zu does not come after its rest", i);
		else if (s->label.i >= p->label_count)
			err = BROKEN("label set %zu has a label out of range", i);
		else if (s->rest.i && sets[s->rest.i].label.i >= s->label.i)
			err = BROKEN("label set %zu is out of order", i);
		if (err)
			break;
		(void)map_at(&pairs, s->rest.i, s->label.i, 0, &is_new);
		if (!is_new)
			err = BROKEN("label set %zu comes twice", i);
	}
	map_deinit(&pairs);
	return err;
}

static struct error *check_samples(const struct profile *p)
{
	const struct samples *s = &p->samples;

	if (s->count == 0)
		return NULL;
	if (s->stack == NULL || s->weight == NULL)
		return BROKEN("samples without stacks or weights");
	for (size_t m = 0; m < p->metric_count; m++)
		if (s->weight[m] == NULL)
			return BROKEN("samples without weights of metric %zu", m);
	for (size_t i = 0; i < s->count; i++) {
		if (s->stack[i].i >= p->stack_count)
			return BROKEN("sample %zu has a stack out of range", i);
		if (s->thread && s->thread[i].i >= p->thread_count)
			return BROKEN("sample %zu has a thread out of range", i);
		if (s->zone && s->zone[i].i >= p->stack_count)
			return BROKEN("sample %zu has a zone out of range", i);
		if (s->labels && s->labels[i].i >= p->label_set_count)
			return BROKEN("sample %zu has labels out of range", i);
	}
	return NULL;
}

/* As numbers: below 0, 0, above 0. */
static int tick_order(const struct tick *a, const struct tick *b)
{
	return COMPARE(a->process.i, b->process.i) ?: COMPARE(a->stream.i, b->stream.i) ?:
	       COMPARE(a->start_ns, b->start_ns);
}

static struct error *check_ticks(const struct profile *p)
{
	for (size_t i = 0; i < p->tick_count; i++) {
		const struct tick *t = &p->ticks[i];
		if (t->process.i >= p->process_count)
			return BROKEN("tick %zu has a process out of range", i);
		if (!has_string(p, t->stream))
			return BROKEN("tick %zu has a string out of range", i);
		if (t->thread.i != NO_ID && t->thread.i >= p->thread_count)
			return BROKEN("tick %zu has a thread out of range", i);
		if (t->end_ns < t->start_ns)
			return BROKEN("tick %zu ends before it starts", i);
		if (i && tick_order(&p->ticks[i - 1], t) > 0)
			return BROKEN("tick %zu is out of order", i);
	}
	return NULL;
}

static struct error *check_zone_events(const struct profile *p)
{
	const struct zone_events *e = &p->zone_events;

	if (e->count && (e->thread == NULL || e->time_ns == NULL || e->stack == NULL))
		return BROKEN("zone events without threads, times or stacks");
	for (size_t i = 0; i < e->count; i++) {
		if (e->thread[i].i >= p->thread_count)
			return BROKEN("zone event %zu has a thread out of range", i);
		if (e->stack[i].i >= p->stack_count)
			return BROKEN("zone event %zu has a stack out of range", i);
		if (i && (e->thread[i - 1].i > e->thread[i].i ||
				 (e->thread[i - 1].i == e->thread[i].i &&
					 e->time_ns[i - 1] > e->time_ns[i])))
			return BROKEN("zone event %zu is out of order", i);
	}
	return NULL;
}

static struct weight_bounds bounds_of(const int64_t *weight, size_t count)
{
	struct weight_bounds bounds = {0};

	weight_bounds_add_all(&bounds, weight, count);
	return bounds;
}

static struct error *check_sum(const struct profile *p, size_t metric)
{
	const int64_t *weight = p->row_weight[metric];

	if (weight == NULL)
		return BROKEN("stacks without weights of metric %zu", metric);
	if (weight[0] != 0)
		return BROKEN("weights of metric %zu at no stack", metric);
	struct weight_bounds bounds = bounds_of(weight, p->row_count);
	if (!weight_bounds_fit(&bounds))
		return BROKEN("the sum of metric %zu exceeds 64 bits", metric);
	if ((int64_t)(bounds.of[0] - bounds.of[1]) != p->total[metric])
		return BROKEN("total of metric %zu is not the sum over stacks", metric);
	return NULL;
}

/* Sums over samples. */
struct sample_sums {
	struct weight_bounds *bounds; /* [metric] */
	int64_t **of_row;	      /* [metric][row], wrapped where the bounds do not fit */
	uint64_t *count;	      /* [row] */
};

/* Adds a block of samples, whose rows are looked up once for all metrics. */
static void sums_add(const struct profile *p, struct sample_sums *sums, const int64_t *counts,
	size_t from, size_t count)
{
	uint32_t row[SAMPLES_PART];

	for (size_t i = 0; i < count; i++) {
		row[i] = profile_row(p, p->samples.stack[from + i].i);
		sums->count[row[i]] += sample_count(counts ? &counts[from + i] : NULL);
	}
	for (size_t m = 0; m < p->metric_count; m++) {
		const int64_t *weight = p->samples.weight[m] + from;
		uint64_t *of_row = (uint64_t *)sums->of_row[m];

		weight_bounds_add_all(&sums->bounds[m], weight, count);
		for (size_t i = 0; i < count; i++)
			of_row[row[i]] += (uint64_t)weight[i];
	}
}

/* Needs check_samples' ranges. */
static struct sample_sums sums_make(const struct profile *p)
{
	struct sample_sums sums = {xcalloc(p->metric_count, sizeof(*sums.bounds)),
		xcalloc(p->metric_count, sizeof(*sums.of_row)),
		xcalloc(p->row_count, sizeof(*sums.count))};
	const int64_t *counts = profile_sample_counts(p);

	for (size_t m = 0; m < p->metric_count; m++)
		sums.of_row[m] = xcalloc(p->row_count, sizeof(**sums.of_row));
	for (size_t i = 0; i < p->samples.count; i += SAMPLES_PART)
		sums_add(p, &sums, counts, i,
			p->samples.count - i < SAMPLES_PART ? p->samples.count - i : SAMPLES_PART);
	return sums;
}

static void sums_free(const struct profile *p, struct sample_sums *sums)
{
	for (size_t m = 0; m < p->metric_count; m++)
		free(sums->of_row[m]);
	free(sums->of_row);
	free(sums->bounds);
	free(sums->count);
}

static struct error *check_sample_sum(
	const struct profile *p, const struct sample_sums *sums, size_t metric)
{
	if (!weight_bounds_fit(&sums->bounds[metric]))
		return BROKEN("the sum of metric %zu exceeds 64 bits", metric);
	for (size_t i = 0; i < p->row_count; i++)
		if (sums->of_row[metric][i] != p->row_weight[metric][i])
			return BROKEN(
				"row %zu: metric %zu is not the sum of its samples", i, metric);
	return NULL;
}

static struct error *check_rows(const struct profile *p)
{
	if (p->weighted.bits == NULL || p->row_count == 0)
		return BROKEN("it has no weights");
	if (!ranks_hold(&p->weighted, p->stack_count))
		return BROKEN("its stacks with weight are not counted right");
	if (p->weighted.count + 1 != p->row_count)
		return BROKEN("it has %zu rows of weights for %u stacks", p->row_count - 1,
			p->weighted.count);
	return NULL;
}

static struct error *check_arc_costs(const struct profile *p)
{
	for (size_t m = 0; p->arc_cost && m < p->metric_count; m++) {
		if (p->arc_cost[m] == NULL)
			return BROKEN("arcs without costs of metric %zu", m);
		struct weight_bounds bounds = bounds_of(p->arc_cost[m], p->arc_count);
		struct weight_bounds own = bounds_of(p->row_weight[m], p->row_count);

		weight_bounds_join(&bounds, &own);
		if (!weight_bounds_fit(&bounds))
			return BROKEN("the costs of arcs in metric %zu exceed 64 bits", m);
	}
	return NULL;
}

static struct error *check_sample_counts(const struct profile *p, const struct sample_sums *sums)
{
	uint64_t sum = 0;

	if (p->row_samples == NULL)
		return p->samples.count ? BROKEN("samples, but no counts of them by stack") : NULL;
	if (p->row_samples[0] != 0)
		return BROKEN("samples at no stack");
	for (size_t i = 0; i < p->row_count; i++)
		if (__builtin_add_overflow(sum, p->row_samples[i], &sum))
			return BROKEN("the number of samples exceeds 64 bits");
	if (p->stats.counted != sum)
		return BROKEN("stats.counted is not the sum over stacks");
	for (size_t i = 0; sums && i < p->row_count; i++)
		if (sums->count[i] != p->row_samples[i])
			return BROKEN("row %zu does not count its samples", i);
	return NULL;
}

static struct error *check_weights_of(const struct profile *p, const struct sample_sums *sums)
{
	struct error *err = NULL;

	for (size_t m = 0; m < p->metric_count && err == NULL; m++) {
		err = check_sum(p, m);
		if (err == NULL && sums)
			err = check_sample_sum(p, sums, m);
	}
	if (err == NULL)
		err = check_arc_costs(p);
	return err ? err : check_sample_counts(p, sums);
}

static struct error *check_weights(const struct profile *p)
{
	struct error *err = check_rows(p);

	if (err == NULL && (p->row_weight == NULL || p->total == NULL))
		return BROKEN("it has no weights");
	if (err || p->samples.count == 0)
		return err ? err : check_weights_of(p, NULL);
	struct sample_sums sums = sums_make(p);
	err = check_weights_of(p, &sums);
	sums_free(p, &sums);
	return err;
}

struct error *profile_check(const struct profile *p)
{
	/* In order: some need ranges that an earlier one has checked. */
	static struct error *(*const checks[])(const struct profile *) = {check_strings,
		check_objects, check_functions, check_frames, check_tree, check_siblings,
		check_arcs, check_metrics, check_tasks, check_notes, check_labels, check_label_sets,
		check_samples, check_ticks, check_zone_events, check_weights};

	for (size_t i = 0; i < ARRAY_SIZE(checks); i++) {
		struct error *err = checks[i](p);
		if (err)
			return err;
	}
	return NULL;
}
