/*
 * The choice goes from the largest group of equal recordings to the smallest, and takes each that
 * agrees with those before.  Groups whose units are all the usual ones come first, so that many
 * small groups outweigh one that is large and odd.
 */
#include "store/fit.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/escape.h"
#include "base/wire.h"

/* So many owners are named; the rest is counted. */
#define OWNERS_SHOWN 8

void fit_init(struct fit *f)
{
	*f = (struct fit){.arena = arena_create()};
	str_table_init(&f->keys, f->arena);
	str_table_init(&f->owner_keys, f->arena);
	str_table_init(&f->names, f->arena);
	str_table_init(&f->words, f->arena);
}

void fit_deinit(struct fit *f)
{
	str_table_deinit(&f->keys);
	str_table_deinit(&f->owner_keys);
	str_table_deinit(&f->names);
	str_table_deinit(&f->words);
	map_deinit(&f->unit_of);
	vec_deinit(&f->groups);
	vec_deinit(&f->owners);
	vec_deinit(&f->units);
	arena_destroy(f->arena);
}

/* ---- shapes ---- */

bool fit_is_change(const struct str *names, size_t count)
{
	struct strbuf old = {0};
	bool has_old = false;

	if (count == 0)
		return false;
	strbuf_add(&old, names[0]);
	strbuf_add(&old, STR(" (old)"));
	for (size_t i = 1; i < count && !has_old; i++)
		has_old = str_equal(names[i], strbuf_str(&old));
	strbuf_deinit(&old);
	return has_old;
}

struct fit_shape fit_shape_of(const struct profile *p, struct arena *arena)
{
	struct str *names = ARENA_ARRAY(arena, struct str, p->metric_count);
	struct str *units = ARENA_ARRAY(arena, struct str, p->metric_count);

	for (size_t i = 0; i < p->metric_count; i++) {
		names[i] = profile_string(p, p->metrics[i].name);
		units[i] = profile_string(p, p->metrics[i].unit);
	}
	return (struct fit_shape){.when = profile_string(p, p->when),
		.has_stacks = p->has_stacks,
		.is_change = fit_is_change(names, p->metric_count),
		.names = names,
		.units = units,
		.metric_count = p->metric_count};
}

static void put_key(const struct fit_shape *shape, struct strbuf *key)
{
	wire_put_u8(key, shape->has_stacks);
	wire_put_u8(key, shape->is_change);
	wire_put_str(key, shape->when);
	for (size_t i = 0; i < shape->metric_count; i++) {
		wire_put_str(key, shape->names[i]);
		wire_put_str(key, shape->units[i]);
	}
}

static struct fit_shape copy_shape(const struct fit_shape *shape, struct arena *arena)
{
	struct fit_shape copy = *shape;
	struct str *names = ARENA_ARRAY(arena, struct str, shape->metric_count);
	struct str *units = ARENA_ARRAY(arena, struct str, shape->metric_count);

	for (size_t i = 0; i < shape->metric_count; i++) {
		names[i] = arena_str(arena, shape->names[i]);
		units[i] = arena_str(arena, shape->units[i]);
	}
	copy.when = arena_str(arena, shape->when);
	copy.names = names;
	copy.units = units;
	return copy;
}

/* ---- what there is ---- */

static void add_owner(
	struct fit *f, uint32_t group, struct str service, struct str host, bool is_new)
{
	struct strbuf key = {0};

	wire_put_u32(&key, group);
	wire_put_str(&key, service);
	wire_put_str(&key, host);
	uint32_t owner = str_table_intern(&f->owner_keys, strbuf_str(&key));

	strbuf_deinit(&key);
	if (owner == f->owners.count)
		vec_push(&f->owners, (struct fit_owner){group, arena_str(f->arena, service),
					     arena_str(f->arena, host), 0});
	f->owners.data[owner].count += is_new;
}

static bool has_same_base(const struct fit_shape *a, const struct fit_shape *b)
{
	return a->has_stacks == b->has_stacks && a->is_change == b->is_change &&
	       str_equal(a->when, b->when);
}

/* Whether a new group does not go with all before: f->is_mixed. */
static void look_for_dispute(struct fit *f, const struct fit_shape *shape)
{
	f->is_mixed |= !has_same_base(shape, &f->groups.data[0].shape);
	for (size_t i = 0; i < shape->metric_count; i++) {
		uint32_t unit = str_table_intern(&f->words, shape->units[i]);
		bool added;

		f->is_mixed |= *map_at(&f->unit_of, str_table_intern(&f->words, shape->names[i]), 0,
				       unit, &added) != unit;
	}
}

void fit_add(struct fit *f, const struct fit_shape *shape, struct str service, struct str host,
	bool is_new)
{
	struct strbuf key = {0};

	put_key(shape, &key);
	uint32_t group = str_table_intern(&f->keys, strbuf_str(&key));

	strbuf_deinit(&key);
	if (group == f->groups.count) {
		vec_push(&f->groups, (struct fit_group){.shape = copy_shape(shape, f->arena),
					     .key = f->keys.strings[group]});
		look_for_dispute(f, shape);
	}
	f->groups.data[group].count += is_new;
	add_owner(f, group, service, host, is_new);
}

/* ---- units ---- */

/* How many recordings have a unit for a metric. */
struct vote {
	struct str unit;
	uint64_t count;
};

/* A count is what is left where a reader knows nothing better. */
static bool is_better(const struct vote *a, const struct vote *b)
{
	bool a_counts = str_equal(a->unit, STR("count")),
	     b_counts = str_equal(b->unit, STR("count"));

	if (a->count != b->count)
		return a->count > b->count;
	if (a_counts != b_counts)
		return b_counts;
	return str_compare(a->unit, b->unit) < 0;
}

/* Finds which groups have only usual units.  Interns all names of metrics. */
static void find_usual(struct fit *f)
{
	struct str_table units;
	struct map index = {0}; /* by name and unit, into votes */
	VEC(struct vote) votes = {0};
	VEC(struct vote) best = {0}; /* [name] */

	str_table_init(&units, f->arena);
	for (int pass = 0; pass < 2; pass++) {
		for (size_t g = 0; g < f->groups.count; g++) {
			struct fit_group *group = &f->groups.data[g];

			group->is_usual = true;
			for (size_t i = 0; i < group->shape.metric_count; i++) {
				struct str unit = group->shape.units[i];
				uint32_t name = str_table_intern(&f->names, group->shape.names[i]);
				bool added;
				uint32_t *at = map_at(&index, name, str_table_intern(&units, unit),
					(uint32_t)votes.count, &added);

				if (added)
					vec_push(&votes, (struct vote){unit, 0});
				if (pass == 0)
					votes.data[*at].count += group->count;
				vec_extend(&best, f->names.count);
				if (pass == 0)
					continue;
				if (best.data[name].unit.data == NULL ||
					is_better(&votes.data[*at], &best.data[name]))
					best.data[name] = votes.data[*at];
			}
		}
	}
	for (size_t g = 0; g < f->groups.count; g++) {
		const struct fit_shape *shape = &f->groups.data[g].shape;

		for (size_t i = 0; i < shape->metric_count; i++) {
			uint32_t name = str_table_intern(&f->names, shape->names[i]);

			f->groups.data[g].is_usual &=
				str_equal(best.data[name].unit, shape->units[i]);
		}
	}
	map_deinit(&index);
	str_table_deinit(&units);
	vec_deinit(&votes);
	vec_deinit(&best);
}

/*
 * The first metric whose unit differs from that of the sum, or from its own other one;
 * metric_count: none.
 */
static size_t disputed_metric(const struct fit *f, const struct fit_shape *shape)
{
	size_t i;

	for (i = 0; i < shape->metric_count; i++) {
		uint32_t name;

		if (str_table_find(&f->names, shape->names[i], &name) &&
			f->units.data[name].unit.data &&
			!str_equal(f->units.data[name].unit, shape->units[i]))
			break;
	}
	return i;
}

/* Gives the metrics of the shape, which agrees with the sum, their units in it. */
static void take_units(struct fit *f, const struct fit_shape *shape)
{
	for (size_t i = 0; i < shape->metric_count; i++) {
		struct fit_unit *unit =
			&f->units.data[str_table_intern(&f->names, shape->names[i])];

		if (unit->unit.data == NULL)
			*unit = (struct fit_unit){shape->names[i], shape->units[i], false};
	}
}

/* ---- the choice ---- */

/* How many recordings have the base of a group: call stacks or not, changes or not, a pattern. */
static void count_bases(struct fit *f, uint64_t *counts)
{
	struct str_table bases;
	VEC(uint64_t) sums = {0};
	uint32_t *base = ARENA_ARRAY(f->arena, uint32_t, f->groups.count);

	str_table_init(&bases, f->arena);
	for (size_t g = 0; g < f->groups.count; g++) {
		struct fit_shape plain = f->groups.data[g].shape;
		struct strbuf key = {0};

		plain.metric_count = 0;
		put_key(&plain, &key);
		base[g] = str_table_intern(&bases, strbuf_str(&key));
		strbuf_deinit(&key);
		vec_extend(&sums, bases.count);
		sums.data[base[g]] += f->groups.data[g].count;
	}
	for (size_t g = 0; g < f->groups.count; g++)
		counts[g] = sums.data[base[g]];
	str_table_deinit(&bases);
	vec_deinit(&sums);
}

/* Whether the base of a is preferred to that of b, if equally many recordings have it. */
static bool is_plainer(const struct fit_shape *a, const struct fit_shape *b)
{
	if (a->has_stacks != b->has_stacks)
		return a->has_stacks;
	if (a->is_change != b->is_change)
		return b->is_change;
	return str_compare(a->when, b->when) < 0;
}

static int compare_groups(const void *a, const void *b)
{
	const struct fit_group *x = *(const struct fit_group *const *)a,
			       *y = *(const struct fit_group *const *)b;

	if (x->is_usual != y->is_usual)
		return x->is_usual ? -1 : 1;
	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return str_compare(x->key, y->key);
}

void fit_choose(struct fit *f)
{
	size_t count = f->groups.count, chosen = 0;
	struct fit_group **order = xcalloc(count + 1, sizeof(*order));
	uint64_t *base_counts = xcalloc(count + 1, sizeof(*base_counts));

	find_usual(f);
	vec_extend(&f->units, f->names.count);
	count_bases(f, base_counts);
	size_t first = 0;

	for (size_t g = 1; g < count; g++) {
		if (base_counts[g] > base_counts[first] ||
			(base_counts[g] == base_counts[first] &&
				is_plainer(&f->groups.data[g].shape, &f->groups.data[first].shape)))
			first = g;
	}
	f->first = count ? &f->groups.data[first] : NULL;
	for (size_t g = 0; g < count; g++) {
		f->groups.data[g].is_chosen = false;
		if (has_same_base(&f->groups.data[g].shape, &f->first->shape))
			order[chosen++] = &f->groups.data[g];
	}
	qsort(order, chosen, sizeof(*order), compare_groups);
	for (size_t i = 0; i < chosen; i++) {
		const struct fit_shape *shape = &order[i]->shape;
		size_t odd = disputed_metric(f, shape);

		if (odd == shape->metric_count) {
			take_units(f, shape);
			/* It may have a metric in two units. */
			odd = disputed_metric(f, shape);
		}
		order[i]->is_chosen = odd == shape->metric_count;
	}
	for (size_t g = 0; g < count; g++) {
		const struct fit_shape *shape = &f->groups.data[g].shape;

		for (size_t i = 0; i < shape->metric_count; i++) {
			struct fit_unit *unit =
				&f->units.data[str_table_intern(&f->names, shape->names[i])];

			unit->is_disputed |=
				unit->unit.data && !str_equal(unit->unit, shape->units[i]);
		}
	}
	free(order);
	free(base_counts);
}

bool fit_has(const struct fit *f, const struct fit_shape *shape)
{
	struct strbuf key = {0};
	uint32_t group;

	put_key(shape, &key);
	bool has = str_table_find(&f->keys, strbuf_str(&key), &group) &&
		   f->groups.data[group].is_chosen;

	strbuf_deinit(&key);
	return has;
}

/* ---- notes ---- */

/* "--when 'A' --when 'B'", or "no --when". */
static void put_when(struct str when, struct strbuf *out)
{
	if (when.size == 0)
		strbuf_add(out, STR("no --when"));
	for (bool is_first = true; when.size; is_first = false) {
		strbuf_add(out, is_first ? STR("--when ") : STR(" --when "));
		quote_shell(out, str_take_item(&when));
	}
}

static void put_reason(const struct fit *f, const struct fit_shape *shape, struct strbuf *out)
{
	const struct fit_shape *first = &f->first->shape;
	size_t odd = disputed_metric(f, shape);

	if (shape->has_stacks != first->has_stacks) {
		strbuf_add(out, first->has_stacks ? STR("without call stacks; most have them")
						  : STR("with call stacks; most have none"));
	} else if (shape->is_change != first->is_change) {
		strbuf_add(out, first->is_change ? STR("not a difference; most are differences")
						 : STR("a difference of two profiles"));
	} else if (!str_equal(shape->when, first->when)) {
		strbuf_add(out, STR("recorded with "));
		put_when(shape->when, out);
		strbuf_add(out, STR("; most, with "));
		put_when(first->when, out);
	} else if (odd < shape->metric_count) {
		struct str name = shape->names[odd], usual;
		uint32_t number;

		(void)str_table_find(&f->names, name, &number);
		usual = f->units.data[number].unit;
		strbuf_printf(out, "%.*s in %.*s; most have it in %.*s", STR_ARG(name),
			STR_ARG(shape->units[odd]), STR_ARG(usual));
	}
}

/* "2 recordings of service api on host web1 are left out: …" */
static void put_owner(const struct fit *f, const struct fit_owner *owner, struct strbuf *out)
{
	strbuf_printf(out, "%llu recording%s of ", (unsigned long long)owner->count,
		owner->count == 1 ? "" : "s");
	if (owner->service.size)
		strbuf_printf(out, "service %.*s", STR_ARG(owner->service));
	else
		strbuf_add(out, STR("several services"));
	strbuf_printf(out, " on host %.*s %s left out: ", STR_ARG(owner->host),
		owner->count == 1 ? "is" : "are");
	put_reason(f, &f->groups.data[owner->group].shape, out);
}

void fit_note(const struct fit *f, struct common_notes *notes)
{
	struct strbuf text = {0};
	uint64_t named = 0, more = 0;

	for (size_t i = 0; i < f->owners.count; i++) {
		const struct fit_owner *owner = &f->owners.data[i];

		/* Parts of a recording that another of its parts counts. */
		if (f->groups.data[owner->group].is_chosen || owner->count == 0)
			continue;
		if (named++ >= OWNERS_SHOWN) {
			more += owner->count;
			continue;
		}
		strbuf_clear(&text);
		put_owner(f, owner, &text);
		common_notes_add(notes, NOTE_LOST, 1, strbuf_str(&text));
	}
	if (more) {
		strbuf_clear(&text);
		strbuf_printf(&text,
			"%llu more recording%s left out for such reasons; --service '!NAME' and "
			"--host '!NAME' exclude them",
			(unsigned long long)more, more == 1 ? " is" : "s are");
		common_notes_add(notes, NOTE_LOST, 1, strbuf_str(&text));
	}
	strbuf_deinit(&text);
}
