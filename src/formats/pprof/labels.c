/*
 * The labels of pprof samples.  See reader.h.
 *
 * pprof has no threads and times; writers put them into labels, with names that perf_to_profile,
 * Datadog's tools and sonde's own writer more or less agree on.  If every sample has a label with a
 * thread id, these become threads and processes; if every sample has one with a time, it becomes
 * the sample's time.  All others remain labels.
 *
 * Samples repeat the same few labels, so sets are looked up by their bytes.
 */
#include "formats/pprof/reader.h"

#include <stdlib.h>

/* Sets remembered by their bytes; with more distinct ones, hardly any recurs. */
#define SETS_MAX ((size_t)1 << 16)

/* The meaning of a label. */
enum role { ROLE_LABEL, ROLE_TID, ROLE_THREAD, ROLE_PID, ROLE_PROCESS, ROLE_TIME, ROLE_COUNT };

static const struct {
	const char *key;
	enum role role;
} known_keys[] = {
	{"tid", ROLE_TID},
	{"thread_id", ROLE_TID},
	{"thread id", ROLE_TID},
	{"thread", ROLE_THREAD},
	{"thread_name", ROLE_THREAD},
	{"thread name", ROLE_THREAD},
	{"thread_comm", ROLE_THREAD},
	{"pid", ROLE_PID},
	{"process_id", ROLE_PID},
	{"process id", ROLE_PID},
	{"process", ROLE_PROCESS},
	{"process_name", ROLE_PROCESS},
	{"comm", ROLE_PROCESS},
	{"timestamp_ns", ROLE_TIME},
	{"end_timestamp_ns", ROLE_TIME},
};

struct label_row {
	uint64_t key, text, unit; /* indexes of strings */
	int64_t number;
	uint64_t offset;
};

/* The values of labels with a role; has: a bit for each role. */
struct roles {
	unsigned int has;
	int64_t tid, pid, time;
	uint64_t thread, process; /* indexes of strings */
};

struct pprof_labels {
	struct pprof *p;
	struct map role_of_key; /* index of a string → enum role */
	unsigned int roles;	/* bits of the roles in use */
	int64_t time_base;
	struct arena *arena;
	struct str_table sets; /* by the bytes of labels */
	VEC(label_set_id) set_ids;
	struct task_ids tasks;
	struct strbuf key; /* scratch */
	VEC(struct label) labels;
};

static struct label_row read_label(struct cursor message)
{
	struct label_row row = {.offset = cursor_offset(&message)};
	struct proto_field field;

	while (proto_next(&message, &field)) {
		if (field.number == LABEL_KEY)
			row.key = field.value;
		else if (field.number == LABEL_TEXT)
			row.text = field.value;
		else if (field.number == LABEL_NUMBER)
			row.number = (int64_t)field.value;
		else if (field.number == LABEL_UNIT)
			row.unit = field.value;
	}
	return row;
}

static enum role role_of(struct pprof_labels *l, const struct label_row *row)
{
	bool added;
	uint32_t *role = map_at(&l->role_of_key, row->key, 0, ROLE_LABEL, &added);

	if (!added)
		return (enum role) * role;
	struct str key = pprof_string(l->p, row->key, row->offset);
	for (size_t i = 0; i < ARRAY_SIZE(known_keys); i++)
		if (str_equal(key, str_from(known_keys[i].key)))
			*role = known_keys[i].role;
	return (enum role) * role;
}

/* Whether a label has the kind of value that its role needs. */
static bool fits(const struct label_row *row, enum role role)
{
	bool is_text = row->text != 0;

	switch (role) {
	case ROLE_TID:
	case ROLE_PID:
		return !is_text;
	case ROLE_TIME:
		return !is_text && row->number >= 0;
	case ROLE_THREAD:
	case ROLE_PROCESS:
		return is_text;
	case ROLE_LABEL:
	case ROLE_COUNT:
		break;
	}
	return false;
}

static void take_role(struct roles *roles, enum role role, const struct label_row *row)
{
	roles->has |= 1u << role;
	switch (role) {
	case ROLE_TID:
		roles->tid = row->number;
		break;
	case ROLE_PID:
		roles->pid = row->number;
		break;
	case ROLE_TIME:
		roles->time = row->number;
		break;
	case ROLE_THREAD:
		roles->thread = row->text;
		break;
	case ROLE_PROCESS:
		roles->process = row->text;
		break;
	case ROLE_LABEL:
	case ROLE_COUNT:
		break;
	}
}

/*
 * Splits a sample's labels: the first of each role goes into *roles, the bytes of all others, each
 * after its size, into l->key.
 */
static void split(struct pprof_labels *l, struct cursor sample, struct roles *roles)
{
	struct proto_field field;

	*roles = (struct roles){0};
	strbuf_clear(&l->key);
	while (proto_next(&sample, &field)) {
		if (field.number != SAMPLE_LABEL)
			continue;
		struct label_row row = read_label(proto_message(&sample, &field));
		enum role role = role_of(l, &row);
		unsigned int bit = 1u << role;
		if ((l->roles & bit) && !(roles->has & bit) && fits(&row, role))
			take_role(roles, role, &row);
		else
			proto_put_bytes(&l->key, SAMPLE_LABEL, field.bytes);
	}
}

/* ---- labels that all samples have ---- */

static void look_at_all(struct pprof_labels *l)
{
	struct pprof *p = l->p;
	struct proto_field field;
	struct roles roles;
	struct cursor c;
	unsigned int common = UINT32_MAX;
	int64_t time_min = INT64_MAX;

	l->roles = UINT32_MAX & ~(1u << ROLE_LABEL);
	cursor_init(&c, p->input->data, p->input->size, p->input->name, 0);
	while (proto_next(&c, &field)) {
		if (field.number != PROFILE_SAMPLE)
			continue;
		split(l, proto_message(&c, &field), &roles);
		common &= roles.has;
		if (roles.time < time_min)
			time_min = roles.time;
	}
	l->roles = common & 1u << ROLE_TIME;
	if (common & 1u << ROLE_TID)
		l->roles |=
			1u << ROLE_TID | 1u << ROLE_THREAD | 1u << ROLE_PID | 1u << ROLE_PROCESS;
	/* Times of day, or of a machine's clock. */
	int64_t start = (int64_t)builder_header(p->builder)->start_unix_ns;
	l->time_base = time_min >= start ? start : time_min;
}

struct pprof_labels *pprof_labels_create(struct pprof *p)
{
	if (!p->has_labels)
		return NULL;
	struct pprof_labels *l = xalloc(sizeof(*l));
	l->p = p;
	l->arena = arena_create();
	str_table_init(&l->sets, l->arena);
	look_at_all(l);
	return l;
}

void pprof_labels_destroy(struct pprof_labels *l)
{
	if (l == NULL)
		return;
	map_deinit(&l->role_of_key);
	str_table_deinit(&l->sets);
	vec_deinit(&l->set_ids);
	task_ids_deinit(&l->tasks);
	strbuf_deinit(&l->key);
	vec_deinit(&l->labels);
	arena_destroy(l->arena);
	free(l);
}

/* ---- labels of one sample ---- */

static string_id string_of(struct pprof_labels *l, uint64_t number, uint64_t offset)
{
	return builder_string(l->p->builder, pprof_string(l->p, number, offset));
}

/* A label without a value is ignored, as in Go's reader, unless it is a zero with a unit. */
static void add_label(struct pprof_labels *l, const struct label_row *row)
{
	if (row->text == 0 && row->number == 0 && row->unit == 0)
		return;
	struct label label = {.key = string_of(l, row->key, row->offset)};

	if (row->text) {
		label.text = string_of(l, row->text, row->offset);
	} else {
		label.number = row->number;
		label.unit = string_of(l, row->unit, row->offset);
	}
	vec_push(&l->labels, label);
}

static label_set_id make_set(struct pprof_labels *l, struct str bytes)
{
	struct proto_field field;
	struct cursor c;

	l->labels.count = 0;
	cursor_init(&c, bytes.data, bytes.size, l->p->input->name, 0);
	while (proto_next(&c, &field)) {
		struct label_row row = read_label(proto_message(&c, &field));
		add_label(l, &row);
	}
	return builder_label_set(l->p->builder, l->labels.data, l->labels.count);
}

static label_set_id set_of_key(struct pprof_labels *l)
{
	struct str bytes = strbuf_str(&l->key);
	uint32_t index;

	if (bytes.size == 0)
		return (label_set_id){0};
	if (str_table_find(&l->sets, bytes, &index))
		return l->set_ids.data[index];
	label_set_id set = make_set(l, bytes);
	if (l->sets.count < SETS_MAX) {
		(void)str_table_intern(&l->sets, bytes);
		vec_push(&l->set_ids, set);
	}
	return set;
}

/* Threads differ by their number and name, and by those of their process; -1: not known. */
static thread_id thread_of(struct pprof_labels *l, const struct roles *roles, uint64_t offset)
{
	struct builder *b = l->p->builder;
	int64_t pid = roles->has & 1u << ROLE_PID ? roles->pid : -1;
	string_id thread_name = string_of(l, roles->thread, offset);
	string_id process_name = string_of(l, roles->process, offset);
	process_id process = task_process(&l->tasks, b, pid, process_name, process_name);

	return task_thread(&l->tasks, b, process, roles->tid, thread_name, thread_name);
}

struct pprof_sample_labels pprof_labels_of(struct pprof_labels *l, struct cursor sample)
{
	struct pprof_sample_labels result = {.thread = {NO_ID}, .time_ns = UINT64_MAX};
	uint64_t offset = cursor_offset(&sample);
	struct roles roles;

	split(l, sample, &roles);
	result.set = set_of_key(l);
	if (l->roles & 1u << ROLE_TID)
		result.thread = thread_of(l, &roles, offset);
	if (l->roles & 1u << ROLE_TIME)
		result.time_ns = builder_time((uint64_t)(roles.time - l->time_base));
	return result;
}
