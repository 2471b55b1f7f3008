/*
 * Turns a profile into rows of a store's tables.
 *
 * Samples are sorted by their profile in the store (a service, labels, an interval) and by their
 * stack, so that one pass sums each pair of profile and stack.  Rows refer to each other by hashes
 * of contents, so a profile gives the same rows wherever, and however often, it is sent.
 */
#include "store/rows.h"

#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/map.h"
#include "base/sort.h"
#include "base/wire.h"
#include "store/identity.h"
#include "store/schema.h"

#define PART_BYTES ((size_t)8 << 20)
/*
 * ClickHouse refuses an insert into more than 100 partitions, days or months.  Its days are those
 * of its time zone, so a day of UTC may be in two of them.
 */
#define PART_DAYS      50u
#define DAY_S	       86400u
#define HOST_NAME_MAX_ 256
#define NO_MODULE      UINT8_MAX

/* A profile in the store: the samples of one service, one set of labels and one interval. */
struct group {
	struct str service;
	const struct store_label *labels; /* sorted by key and value */
	size_t label_count;
	uint64_t interval; /* its number since 1970; 0 if the profile is not divided */
};

/* A stack of a service that has weight. */
struct used_stack {
	uint64_t hash;
	uint32_t stack;
};

struct maker {
	const struct profile *profile;
	const struct store_rows_options *options;
	struct store_rows *rows;
	struct arena *arena;
	struct str service, host, command; /* the profile's own */
	uint64_t source_id;
	uint64_t *frame_ids;	   /* [frame] */
	uint64_t *stack_hashes;	   /* [stack] in the service of the group at hand */
	struct str hashed_service; /* that service; data NULL: none yet */
	bool *is_used_frame;	   /* [frame] some row's stack has it */
	struct map used_stacks;	   /* hashes of the stacks in rows, and of their pieces */
	struct str_table groups;   /* by what identifies them */
	VEC(struct group) group_list;
	struct str_table services; /* of groups */
	VEC(uint32_t) parts;	   /* [service] its groups */
	/* The profile's, and "samples" if their number is known but no metric counts them. */
	size_t metric_count;
};

/* ---- metrics ---- */

bool store_counts_samples(const struct profile *p)
{
	for (size_t i = 0; i < p->metric_count; i++) {
		if (metric_counts_samples(profile_string(p, p->metrics[i].name),
			    profile_string(p, p->metrics[i].unit)))
			return true;
	}
	return false;
}

bool store_knows_samples(const struct profile *p)
{
	bool are_sums = p->samples.count && p->samples.time_ns == NULL;

	return p->row_samples && (!are_sums || store_counts_samples(p));
}

static struct str metric_name(const struct maker *m, size_t metric)
{
	const struct profile *p = m->profile;

	return metric < p->metric_count ? profile_string(p, p->metrics[metric].name)
					: STR("samples");
}

static struct str metric_unit(const struct maker *m, size_t metric)
{
	const struct profile *p = m->profile;

	return metric < p->metric_count ? profile_string(p, p->metrics[metric].unit) : STR("count");
}

/* ---- bodies ---- */

static bool part_has_day(const struct store_body *body, uint32_t day)
{
	for (size_t i = 0; i < body->days.count; i++)
		if (body->days.data[i] == day)
			return true;
	return false;
}

/* The part to which to append the next row, of that time. */
static struct strbuf *body_part_at(struct store_body *body, uint32_t time_s)
{
	size_t count = body->parts.count;
	uint32_t day = time_s / DAY_S;
	bool is_new_day = !part_has_day(body, day);

	if (count == 0 || body->parts.data[count - 1].size >= PART_BYTES ||
		(is_new_day && body->days.count == PART_DAYS)) {
		vec_push(&body->parts, (struct strbuf){0});
		body->days.count = 0;
		is_new_day = true;
	}
	if (is_new_day)
		vec_push(&body->days, day);
	return &body->parts.data[body->parts.count - 1];
}

/* The same, of rows that all go to one partition. */
static struct strbuf *body_part(struct store_body *body)
{
	return body_part_at(body, 0);
}

static void body_deinit(struct store_body *body)
{
	for (size_t i = 0; i < body->parts.count; i++)
		strbuf_deinit(&body->parts.data[i]);
	vec_deinit(&body->parts);
	vec_deinit(&body->days);
}

void store_rows_deinit(struct store_rows *rows)
{
	body_deinit(&rows->frames);
	body_deinit(&rows->stacks);
	body_deinit(&rows->profiles);
	body_deinit(&rows->commits);
	strbuf_deinit(&rows->left_labels);
	strbuf_deinit(&rows->host);
	vec_deinit(&rows->sent);
}

/* ---- frames and stacks ---- */

static void number_frames(struct maker *m)
{
	const struct profile *p = m->profile;
	struct strbuf scratch = {0};

	m->frame_ids = ARENA_ARRAY(m->arena, uint64_t, p->frame_count);
	m->is_used_frame = ARENA_ARRAY(m->arena, bool, p->frame_count);
	for (size_t i = 0; i < p->frame_count; i++)
		m->frame_ids[i] = identity_frame(p, &p->frames[i], &scratch);
	strbuf_deinit(&scratch);
}

/* Computes the hashes of all stacks, for a service. */
static void number_stacks(struct maker *m, struct str service)
{
	const struct profile *p = m->profile;

	if (m->hashed_service.data && str_equal(m->hashed_service, service))
		return;
	m->hashed_service = service;
	m->stack_hashes[0] = identity_service(service);
	for (uint32_t i = 1; i < p->stack_count; i++)
		m->stack_hashes[i] = identity_after(m->stack_hashes[profile_stack_parent(p, i)],
			m->frame_ids[p->stack_frame[i].i]);
}

static void put_frame(struct maker *m, uint32_t frame)
{
	const struct profile *p = m->profile;
	const struct frame *f = &p->frames[frame];
	const struct function *function = &p->functions[f->function.i];
	const struct object *object =
		function->object.i == NO_ID ? NULL : &p->objects[function->object.i];
	struct strbuf *b = body_part(&m->rows->frames);

	wire_put_u64(b, m->frame_ids[frame]);
	wire_put_u8(b, 0);  /* depth */
	wire_put_u32(b, 0); /* version */
	wire_put_u8(b, object ? (uint8_t)object->kind : NO_MODULE);
	wire_put_str(b, object ? profile_string(p, object->path) : STR(""));
	wire_put_str(b, object ? profile_string(p, object->build_id) : STR(""));
	wire_put_u64(b, f->obj_addr);
	wire_put_str(b, profile_string(p, function->name));
	wire_put_str(b, profile_string(p, function->aliases));
	wire_put_str(b, profile_string(p, function->file));
	wire_put_u32(b, function->line);
	wire_put_str(b, profile_string(p, f->file));
	wire_put_u32(b, f->line);
	wire_put_u8(b, f->is_inline);
	m->rows->frame_count++;
}

/* Whether the store needs the row with that hash; if so, it counts as sent. */
static bool is_needed(struct maker *m, uint64_t hash)
{
	if (m->options->known && known_has(m->options->known, hash))
		return false;
	vec_push(&m->rows->sent, hash);
	return true;
}

static void use_frame(struct maker *m, uint32_t frame)
{
	if (m->is_used_frame[frame])
		return;
	m->is_used_frame[frame] = true;
	if (is_needed(m, m->frame_ids[frame]))
		put_frame(m, frame);
}

/* Writes the piece of a stack from `stack`, its last frame, to the piece's first frame. */
static void put_piece(struct maker *m, uint32_t stack, uint32_t outer, size_t count, bool is_outer)
{
	const struct profile *p = m->profile;
	uint32_t frames[STORE_FRAMES_MAX];
	struct strbuf *b = body_part(&m->rows->stacks);
	uint32_t at = stack;

	for (size_t i = count; i > 0; i--, at = profile_stack_parent(p, at))
		frames[i - 1] = p->stack_frame[at].i;
	wire_put_str(b, m->hashed_service);
	wire_put_u64(b, m->stack_hashes[stack]);
	wire_put_u32(b, (uint32_t)m->options->received_s);
	wire_put_u64(b, outer ? m->stack_hashes[outer] : 0);
	wire_put_u8(b, is_outer);
	wire_put_uleb(b, count);
	for (size_t i = 0; i < count; i++) {
		use_frame(m, frames[i]);
		wire_put_u64(b, m->frame_ids[frames[i]]);
	}
	m->rows->stack_count++;
}

/* Writes a stack of the service at hand, and the pieces of its outer frames, each once. */
static void use_stack(struct maker *m, uint32_t stack)
{
	const struct profile *p = m->profile;
	VEC(uint32_t) ends = {0}; /* of the pieces, innermost first */
	size_t depth = 0, first;
	bool is_new = true;

	for (uint32_t at = stack; at; at = profile_stack_parent(p, at))
		depth++;
	/* The innermost piece has the rest. */
	first = depth ? (depth - 1) % STORE_FRAMES_MAX + 1 : 0;
	vec_push(&ends, stack);
	for (size_t left = depth, count = first; left > count; count = STORE_FRAMES_MAX) {
		uint32_t at = ends.data[ends.count - 1];

		left -= count;
		for (size_t i = 0; i < count; i++)
			at = profile_stack_parent(p, at);
		vec_push(&ends, at);
	}
	for (size_t i = 0; i < ends.count && is_new; i++) {
		uint32_t end = ends.data[i], outer = i + 1 < ends.count ? ends.data[i + 1] : 0;

		/* The whole stack and a piece of deeper ones are separate rows. */
		(void)map_at(&m->used_stacks, m->stack_hashes[end], i > 0, 0, &is_new);
		/* `known` must tell them apart too, though their hashes are equal. */
		if (is_new && is_needed(m, identity_after(m->stack_hashes[end], i > 0)))
			put_piece(m, end, outer, i ? STORE_FRAMES_MAX : first, i > 0);
	}
	vec_deinit(&ends);
}

/* ---- groups ---- */

static int compare_labels(const void *a, const void *b)
{
	const struct store_label *x = a, *y = b;
	int order = str_compare(x->key, y->key);

	return order ? order : str_compare(x->value, y->value);
}

static bool is_of_services(struct str key)
{
	return str_equal(key, STR("unit")) || str_equal(key, STR("container")) ||
	       str_equal(key, STR("command"));
}

static bool is_kept(const struct maker *m, label_id id)
{
	const struct profile *p = m->profile;
	const struct label *label = &p->labels[id.i];
	struct str key = profile_string(p, label->key);

	if (m->options->all_labels || is_of_services(key))
		return true;
	return m->options->few_labels && profile_string(p, label->text).size &&
	       !str_equal(key, STR("trace_id")) && !str_equal(key, STR("span_id"));
}

static void note_left_label(struct maker *m, struct str key)
{
	struct strbuf *left = &m->rows->left_labels;
	struct str rest = strbuf_str(left);

	while (rest.size) {
		const char *comma = memchr(rest.data, ',', rest.size);
		struct str item = {rest.data, comma ? (size_t)(comma - rest.data) : rest.size};

		if (str_equal(item, key))
			return;
		rest.data += item.size + (comma ? 2 : 0);
		rest.size -= item.size + (comma ? 2 : 0);
	}
	if (left->size)
		strbuf_add(left, STR(", "));
	strbuf_add(left, key);
}

static struct str arena_value(struct maker *m, label_id label)
{
	struct strbuf scratch = {0};
	struct str value = arena_str(m->arena, profile_label_value(m->profile, label, &scratch));

	strbuf_deinit(&scratch);
	return value;
}

/* The group, without its interval, of samples with that set of labels. */
static struct group make_group(struct maker *m, label_set_id set)
{
	const struct profile *p = m->profile;
	const struct store_rows_options *o = m->options;
	size_t own = profile_label_count(p, set), count = 0;
	label_id *ids = ARENA_ARRAY(m->arena, label_id, own);
	struct store_label *labels =
		ARENA_ARRAY(m->arena, struct store_label, own + o->label_count);
	struct group group = {.service = m->service, .labels = labels};

	profile_label_ids(p, set, ids);
	for (size_t i = 0; i < own; i++) {
		struct str key = profile_string(p, p->labels[ids[i].i].key);

		if (str_equal(key, STR("service"))) {
			if (o->service.size == 0)
				group.service = arena_value(m, ids[i]);
		} else if (str_equal(key, STR("host"))) {
			/* It repeats the profile's host, or --host replaces it. */
			continue;
		} else if (is_kept(m, ids[i])) {
			labels[count++] = (struct store_label){key, arena_value(m, ids[i])};
		} else {
			note_left_label(m, key);
		}
	}
	for (size_t i = 0; i < o->label_count; i++)
		labels[count++] = o->labels[i];
	qsort(labels, count, sizeof(*labels), compare_labels);
	for (size_t i = 0; i < count; i++) {
		if (group.label_count &&
			compare_labels(&labels[group.label_count - 1], &labels[i]) == 0)
			continue;
		labels[group.label_count++] = labels[i];
	}
	return group;
}

static void put_labels(const struct group *group, struct strbuf *b)
{
	wire_put_uleb(b, group->label_count);
	for (size_t i = 0; i < group->label_count; i++)
		wire_put_str(b, group->labels[i].key);
	wire_put_uleb(b, group->label_count);
	for (size_t i = 0; i < group->label_count; i++)
		wire_put_str(b, group->labels[i].value);
}

/* The number of a group; adds a new one. */
static uint32_t intern_group(struct maker *m, const struct group *group)
{
	struct strbuf key = {0};

	wire_put_str(&key, group->service);
	put_labels(group, &key);
	wire_put_u64(&key, group->interval);
	uint32_t number = str_table_intern(&m->groups, strbuf_str(&key));
	strbuf_deinit(&key);
	if (number < m->group_list.count)
		return number;
	uint32_t service = str_table_intern(&m->services, group->service);
	vec_extend(&m->parts, m->services.count);
	m->parts.data[service]++;
	vec_push(&m->group_list, *group);
	return number;
}

/* When the profile began, in ns since 1970. */
static uint64_t start_ns(const struct maker *m)
{
	return m->profile->start_unix_ns ? m->profile->start_unix_ns
					 : m->options->time_s * SECOND_NS;
}

static bool is_divided(const struct maker *m)
{
	return m->options->every_s && m->profile->samples.time_ns;
}

static uint64_t interval_of(const struct maker *m, size_t sample)
{
	const uint64_t *time_ns = m->profile->samples.time_ns;

	if (!is_divided(m))
		return 0;
	return (start_ns(m) + time_ns[sample]) / SECOND_NS / m->options->every_s;
}

/* The samples, sorted by group and stack; the caller frees them. */
static struct sort_item *sort_samples(struct maker *m)
{
	const struct samples *s = &m->profile->samples;
	struct sort_item *items = xcalloc(s->count, sizeof(*items));
	/* [label set] its group, without the interval. */
	struct group *of_set = ARENA_ARRAY(m->arena, struct group, m->profile->label_set_count);
	bool *is_made = ARENA_ARRAY(m->arena, bool, m->profile->label_set_count);
	/* Numbers of groups, by set and interval. */
	struct map numbers = {0};

	for (size_t i = 0; i < s->count; i++) {
		label_set_id set = s->labels ? s->labels[i] : (label_set_id){0};
		uint64_t interval = interval_of(m, i);
		bool added;
		uint32_t *number = map_at(&numbers, set.i, interval, 0, &added);

		if (added) {
			if (!is_made[set.i])
				of_set[set.i] = make_group(m, set);
			is_made[set.i] = true;
			struct group group = of_set[set.i];
			group.interval = interval;
			*number = intern_group(m, &group);
		}
		items[i] = (struct sort_item){(uint64_t)*number << 32 | s->stack[i].i, (uint32_t)i};
	}
	map_deinit(&numbers);
	sort_items(items, s->count);
	return items;
}

/* ---- profiles ---- */

/* The pairs of one group: its stacks, ascending, and their weights. */
struct pairs {
	VEC(uint32_t) stacks;
	VEC(int64_t) weights; /* [stack][metric] */
};

/* When the group's interval begins, in s since 1970.  Tables keep 32 bits, up to 2106. */
static uint32_t time_of(const struct maker *m, const struct group *group)
{
	uint64_t time_s =
		is_divided(m) ? group->interval * m->options->every_s : start_ns(m) / SECOND_NS;

	return time_s < UINT32_MAX ? (uint32_t)time_s : UINT32_MAX;
}

static uint32_t duration_of(const struct maker *m)
{
	uint64_t duration_ns = m->profile->stats.duration_ns;

	if (is_divided(m))
		return m->options->every_s;
	if (duration_ns == UINT64_MAX)
		return 0;
	uint64_t seconds = (duration_ns + SECOND_NS - 1) / SECOND_NS;
	return seconds > UINT32_MAX ? UINT32_MAX : (uint32_t)seconds;
}

static uint64_t profile_id(const struct maker *m, const struct group *group)
{
	struct strbuf b = {0};

	wire_put_u64(&b, m->source_id);
	wire_put_str(&b, group->service);
	put_labels(group, &b);
	wire_put_u64(&b, time_of(m, group));
	uint64_t id = identity_bytes(strbuf_str(&b));
	strbuf_deinit(&b);
	return id;
}

static int64_t pair_weight(
	const struct maker *m, const struct pairs *pairs, size_t i, size_t metric)
{
	return pairs->weights.data[i * m->metric_count + metric];
}

static uint64_t batch_id(const struct maker *m, const struct pairs *pairs)
{
	struct strbuf b = {0};

	for (size_t i = 0; i < pairs->stacks.count; i++) {
		wire_put_u64(&b, m->stack_hashes[pairs->stacks.data[i]]);
		for (size_t metric = 0; metric < m->metric_count; metric++)
			wire_put_u64(&b, (uint64_t)pair_weight(m, pairs, i, metric));
	}
	uint64_t id = identity_bytes(strbuf_str(&b));
	strbuf_deinit(&b);
	return id;
}

/* What the rows of one profile in one metric have in common. */
struct row_head {
	const struct group *group;
	struct str metric;
	uint64_t profile, batch;
	int64_t total;
};

static void put_chunk(struct maker *m, const struct row_head *head, uint32_t chunk,
	const uint64_t *stacks, const int64_t *values, size_t count)
{
	struct strbuf *b = body_part_at(&m->rows->profiles, time_of(m, head->group));

	wire_put_str(b, head->group->service);
	wire_put_str(b, head->metric);
	wire_put_u32(b, time_of(m, head->group));
	wire_put_u64(b, head->profile);
	wire_put_u64(b, head->batch);
	wire_put_u32(b, chunk);
	wire_put_str(b, m->host);
	put_labels(head->group, b);
	wire_put_u64(b, (uint64_t)head->total);
	wire_put_uleb(b, count);
	for (size_t i = 0; i < count; i++)
		wire_put_u64(b, stacks[i]);
	wire_put_uleb(b, count);
	for (size_t i = 0; i < count; i++)
		wire_put_u64(b, (uint64_t)values[i]);
	m->rows->pair_count += count;
}

static void put_metric(
	struct maker *m, struct row_head *head, const struct pairs *pairs, size_t metric)
{
	uint64_t stacks[STORE_PAIRS_MAX];
	int64_t values[STORE_PAIRS_MAX];
	uint32_t chunk = 0;
	size_t count = 0;

	head->total = 0;
	for (size_t i = 0; i < pairs->stacks.count; i++)
		head->total += pair_weight(m, pairs, i, metric);
	for (size_t i = 0; i < pairs->stacks.count; i++) {
		int64_t value = pair_weight(m, pairs, i, metric);

		if (value == 0)
			continue;
		use_stack(m, pairs->stacks.data[i]);
		stacks[count] = m->stack_hashes[pairs->stacks.data[i]];
		values[count++] = value;
		if (count == STORE_PAIRS_MAX) {
			put_chunk(m, head, chunk++, stacks, values, count);
			count = 0;
		}
	}
	if (count)
		put_chunk(m, head, chunk, stacks, values, count);
}

static void put_metrics(const struct maker *m, struct strbuf *b, const int64_t *totals)
{
	const struct profile *p = m->profile;

	wire_put_str(b, profile_string(p, p->metrics[p->default_metric.i].name));
	wire_put_uleb(b, m->metric_count);
	for (size_t i = 0; i < m->metric_count; i++)
		wire_put_str(b, metric_name(m, i));
	wire_put_uleb(b, m->metric_count);
	for (size_t i = 0; i < m->metric_count; i++)
		wire_put_str(b, metric_unit(m, i));
	wire_put_uleb(b, m->metric_count);
	for (size_t i = 0; i < m->metric_count; i++)
		wire_put_u64(b, (uint64_t)totals[i]);
}

static uint64_t stat_value(const struct profile *p, const struct stat_field *field)
{
	return *(const uint64_t *)((const char *)&p->stats + field->offset);
}

/* Statistics of a recording of several services belong to none of them. */
static void put_stats(const struct maker *m, struct strbuf *b)
{
	const struct profile *p = m->profile;
	bool has = m->services.count == 1;
	uint64_t count = 0;

	for (const struct stat_field *f = stat_fields; has && f->name; f++)
		count += stat_value(p, f) != UINT64_MAX;
	wire_put_uleb(b, count);
	for (const struct stat_field *f = stat_fields; has && f->name; f++) {
		if (stat_value(p, f) != UINT64_MAX)
			wire_put_str(b, str_from(f->name));
	}
	wire_put_uleb(b, count);
	for (const struct stat_field *f = stat_fields; has && f->name; f++) {
		if (stat_value(p, f) != UINT64_MAX)
			wire_put_u64(b, stat_value(p, f));
	}
}

static void put_notes(const struct maker *m, struct strbuf *b)
{
	const struct profile *p = m->profile;

	wire_put_uleb(b, p->note_count);
	for (size_t i = 0; i < p->note_count; i++)
		wire_put_str(b, str_from(note_kind_names[p->notes[i].kind]));
	wire_put_uleb(b, p->note_count);
	for (size_t i = 0; i < p->note_count; i++)
		wire_put_u64(b, p->notes[i].count);
	wire_put_uleb(b, p->note_count);
	for (size_t i = 0; i < p->note_count; i++)
		wire_put_str(b, profile_string(p, p->notes[i].text));
}

static void put_commit(
	struct maker *m, const struct row_head *head, const int64_t *totals, uint64_t pairs)
{
	struct strbuf *b = body_part_at(&m->rows->commits, time_of(m, head->group));
	uint32_t service = str_table_intern(&m->services, head->group->service);

	wire_put_str(b, head->group->service);
	wire_put_u32(b, time_of(m, head->group));
	wire_put_u64(b, head->profile);
	wire_put_u64(b, head->batch);
	wire_put_u32(b, (uint32_t)m->options->received_s);
	wire_put_u32(b, duration_of(m));
	wire_put_str(b, m->host);
	put_labels(head->group, b);
	wire_put_u64(b, m->source_id);
	wire_put_u32(b, m->parts.data[service]);
	wire_put_str(b, m->command);
	wire_put_str(b, profile_string(m->profile, m->profile->format));
	wire_put_str(b, profile_string(m->profile, m->profile->when));
	put_metrics(m, b, totals);
	put_stats(m, b);
	put_notes(m, b);
	wire_put_u64(b, pairs);
	m->rows->profile_count++;
}

static void put_group(struct maker *m, const struct group *group, const struct pairs *pairs)
{
	int64_t *totals = xcalloc(m->metric_count, sizeof(*totals));
	uint64_t pairs_before = m->rows->pair_count;

	number_stacks(m, group->service);
	struct row_head head = {
		.group = group, .profile = profile_id(m, group), .batch = batch_id(m, pairs)};
	for (size_t i = 0; i < m->metric_count; i++) {
		head.metric = metric_name(m, i);
		put_metric(m, &head, pairs, i);
		totals[i] = head.total;
	}
	put_commit(m, &head, totals, m->rows->pair_count - pairs_before);
	free(totals);
}

static void add_pair(struct pairs *pairs, uint32_t stack, size_t metric_count)
{
	vec_push(&pairs->stacks, stack);
	vec_extend(&pairs->weights, pairs->weights.count + metric_count);
}

/* Writes the sums of each group's samples. */
static void put_sampled(struct maker *m)
{
	const struct profile *p = m->profile;
	struct sort_item *items = sort_samples(m);
	struct pairs pairs = {0};
	size_t metrics = m->metric_count, at = 0;

	while (at < p->samples.count) {
		uint32_t number = (uint32_t)(items[at].key >> 32);

		pairs.stacks.count = pairs.weights.count = 0;
		for (; at < p->samples.count && items[at].key >> 32 == number; at++) {
			uint32_t stack = (uint32_t)items[at].key;
			size_t count = pairs.stacks.count;

			if (count == 0 || pairs.stacks.data[count - 1] != stack)
				add_pair(&pairs, stack, metrics);
			int64_t *weights = &pairs.weights.data[(pairs.stacks.count - 1) * metrics];
			for (size_t k = 0; k < p->metric_count; k++)
				weights[k] += p->samples.weight[k][items[at].index];
			if (metrics > p->metric_count)
				weights[p->metric_count]++;
		}
		put_group(m, &m->group_list.data[number], &pairs);
	}
	vec_deinit(&pairs.stacks);
	vec_deinit(&pairs.weights);
	free(items);
}

/* Writes a profile that only has totals. */
static void put_totals(struct maker *m)
{
	const struct profile *p = m->profile;
	struct group group = make_group(m, (label_set_id){0});
	struct pairs pairs = {0};
	uint32_t row;

	(void)intern_group(m, &group);
	for (uint32_t stack = 0; stack < p->stack_count; stack++) {
		if (profile_row(p, stack) == 0)
			continue;
		row = profile_row(p, stack);
		add_pair(&pairs, stack, m->metric_count);
		int64_t *weights = &pairs.weights.data[(pairs.stacks.count - 1) * m->metric_count];
		for (size_t k = 0; k < p->metric_count; k++)
			weights[k] = p->row_weight[k][row];
		if (m->metric_count > p->metric_count)
			weights[p->metric_count] = (int64_t)p->row_samples[row];
	}
	put_group(m, &group, &pairs);
	vec_deinit(&pairs.stacks);
	vec_deinit(&pairs.weights);
}

/* ---- the whole ---- */

struct str store_own_service(const struct profile *p)
{
	struct str command = profile_string(p, p->command);
	const char *blank = command.size ? memchr(command.data, ' ', command.size) : NULL;
	struct str name = str_base_name(
		(struct str){command.data, blank ? (size_t)(blank - command.data) : command.size});

	/* "[whole machine]": what has no service of its own, such as time without a sample. */
	if (str_starts_with(command, STR("[")))
		return STR("machine");
	return name.size ? name : STR("unknown");
}

struct str store_host(
	const struct profile *p, const struct store_rows_options *options, struct strbuf *scratch)
{
	struct str host = options->host.size ? options->host : profile_string(p, p->host);
	char name[HOST_NAME_MAX_] = "";

	if (host.size == 0 && gethostname(name, sizeof(name) - 1) == 0) {
		strbuf_add(scratch, str_from(name));
		host = strbuf_str(scratch);
	}
	return host;
}

static void describe(struct maker *m)
{
	const struct profile *p = m->profile;
	const struct store_rows_options *o = m->options;
	struct strbuf scratch = {0};

	m->command = profile_string(p, p->command);
	m->service = o->service.size ? o->service : store_own_service(p);
	strbuf_add(&m->rows->host, store_host(p, o, &scratch));
	m->host = strbuf_str(&m->rows->host);
	strbuf_deinit(&scratch);
}

struct error *store_rows_make(const struct profile *profile,
	const struct store_rows_options *options, struct store_rows *rows)
{
	struct maker m = {.profile = profile, .options = options, .rows = rows};
	struct error *err = profile_needs_stacks(profile, "a store");

	*rows = (struct store_rows){0};
	if (err)
		return err;
	m.metric_count = profile->metric_count +
			 (store_knows_samples(profile) && !store_counts_samples(profile));
	m.arena = arena_create();
	str_table_init(&m.groups, m.arena);
	str_table_init(&m.services, m.arena);
	m.stack_hashes = ARENA_ARRAY(m.arena, uint64_t, profile->stack_count);
	describe(&m);
	number_frames(&m);
	m.source_id = identity_recording(profile, m.host, start_ns(&m));
	if (profile->samples.count)
		put_sampled(&m);
	else
		put_totals(&m);
	rows->left_threads = profile->thread_count > 1;
	rows->left_ticks = profile->tick_count > 0;
	rows->left_calls = profile->arc_count > 0;
	map_deinit(&m.used_stacks);
	str_table_deinit(&m.groups);
	str_table_deinit(&m.services);
	vec_deinit(&m.parts);
	vec_deinit(&m.group_list);
	arena_destroy(m.arena);
	return NULL;
}
