/*
 * The additional data of OTLP samples: attributes, links, and their resource.  See reader.h.
 *
 * Attributes with the semantic conventions' keys for threads and processes go into those tables;
 * all others become labels, one for each value of an array.  Samples repeat the same few lists of
 * attributes, so the result of a list is cached by its bytes.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "formats/otlp/reader.h"

enum role { ROLE_LABEL, ROLE_TID, ROLE_THREAD, ROLE_PID, ROLE_PROCESS, ROLE_HOST, ROLE_COMMAND };

static const struct {
	const char *key;
	enum role role;
} known_keys[] = {
	{"thread.id", ROLE_TID},
	{"thread.name", ROLE_THREAD},
	{"process.pid", ROLE_PID},
	{"process.executable.name", ROLE_PROCESS},
	{"host.name", ROLE_HOST},
	{"process.command_line", ROLE_COMMAND},
	{"process.command", ROLE_COMMAND},
};

/* Who was sampled, as far as known from attributes. */
struct who {
	bool has_tid, has_pid;
	int64_t tid, pid;
	string_id thread, process; /* names; empty: unknown */
};

struct otlp_labels {
	struct arena *arena;
	/* The current resource. */
	uint32_t resource;
	struct who resource_who;
	label_set_id resource_labels;
	struct str_table lists;
	VEC(struct otlp_identity) identities; /* by list */
	uint32_t last;			      /* the one found last; UINT32_MAX: none */
	struct map processes;		      /* (pid, 0), or (name, 1) → process */
	struct map threads; /* (process << 1, tid), or (process << 1 | 1, name) → thread */
	struct strbuf key, text;
};

static enum role role_of(struct str key)
{
	for (size_t i = 0; i < ARRAY_SIZE(known_keys); i++)
		if (str_equal(key, str_from(known_keys[i].key)))
			return known_keys[i].role;
	return ROLE_LABEL;
}

bool otlp_key_is_thread(struct str key)
{
	enum role role = role_of(key);

	return role != ROLE_LABEL && role < ROLE_HOST;
}

void otlp_labels_init(struct otlp *o)
{
	o->labels = xalloc(sizeof(*o->labels));
	o->labels->arena = arena_create();
	o->labels->last = UINT32_MAX;
	str_table_init(&o->labels->lists, o->labels->arena);
}

void otlp_labels_deinit(struct otlp *o)
{
	struct otlp_labels *l = o->labels;

	str_table_deinit(&l->lists);
	vec_deinit(&l->identities);
	map_deinit(&l->processes);
	map_deinit(&l->threads);
	strbuf_deinit(&l->key);
	strbuf_deinit(&l->text);
	arena_destroy(l->arena);
	free(l);
}

/* ---- attributes ---- */

bool otlp_attribute(
	struct otlp *o, struct cursor row, bool is_resource, struct otlp_attribute *attribute)
{
	struct proto_field f;

	*attribute = (struct otlp_attribute){STR(""), STR(""), row};
	attribute->value.at = attribute->value.end;
	while (otlp_next(o, &row, &f)) {
		if (f.number == ATTRIBUTE_KEY && is_resource)
			attribute->key = f.bytes;
		else if (f.number == ATTRIBUTE_KEY)
			attribute->key = otlp_string(o, f.value, f.offset);
		else if (f.number == ATTRIBUTE_VALUE)
			attribute->value = proto_message(&row, &f);
		else if (f.number == KEY_VALUE_STRINDEX && is_resource)
			attribute->key = otlp_string(o, f.value, f.offset);
		else if (f.number == ATTRIBUTE_UNIT)
			attribute->unit = otlp_string(o, f.value, f.offset);
	}
	return attribute->key.size > 0;
}

static struct str hex_text(struct str bytes, struct strbuf *text)
{
	strbuf_clear(text);
	for (size_t i = 0; i < bytes.size; i++)
		strbuf_printf(text, "%02x", (unsigned char)bytes.data[i]);
	return strbuf_str(text);
}

static struct str double_text(uint64_t bits, struct strbuf *text)
{
	double value;

	memcpy(&value, &bits, sizeof(value));
	strbuf_clear(text);
	strbuf_printf(text, "%.17g", value);
	return strbuf_str(text);
}

bool otlp_scalar(
	struct otlp *o, struct cursor value, struct strbuf *text, struct otlp_value *scalar)
{
	struct proto_field f;
	bool found = false;

	*scalar = (struct otlp_value){.text = STR("")};
	while (otlp_next(o, &value, &f)) {
		found = f.number != VALUE_ARRAY && f.number != VALUE_MAP;
		scalar->is_number = f.number == VALUE_INT;
		scalar->number = (int64_t)f.value;
		if (f.number == VALUE_STRING)
			scalar->text = f.bytes;
		else if (f.number == VALUE_STRINDEX)
			scalar->text = otlp_string(o, f.value, f.offset);
		else if (f.number == VALUE_BOOL)
			scalar->text = f.value ? STR("true") : STR("false");
		else if (f.number == VALUE_DOUBLE)
			scalar->text = double_text(f.value, text);
		else if (f.number == VALUE_BYTES)
			scalar->text = hex_text(f.bytes, text);
	}
	return found;
}

static label_set_id add_label(struct otlp *o, label_set_id set,
	const struct otlp_attribute *attribute, const struct otlp_value *value)
{
	struct builder *b = o->builder;

	/* An empty text is the same as none; as a label it would become the number 0. */
	if (!value->is_number && value->text.size == 0)
		return set;
	struct label label = {.key = builder_string(b, attribute->key)};

	if (value->is_number) {
		label.number = value->number;
		label.unit = builder_string(b, attribute->unit);
	} else {
		label.text = builder_string(b, value->text);
	}
	return builder_label_set_with(b, set, builder_label(b, &label));
}

/* Adds a label for a value, or for each value in an array. */
static label_set_id add_labels(
	struct otlp *o, label_set_id set, const struct otlp_attribute *attribute)
{
	struct cursor value = attribute->value;
	struct otlp_value scalar;
	struct proto_field f, element;

	if (otlp_scalar(o, value, &o->labels->text, &scalar))
		return add_label(o, set, attribute, &scalar);
	while (otlp_next(o, &value, &f)) {
		struct cursor array = proto_message(&value, &f);

		if (f.number != VALUE_ARRAY)
			fault_add(&o->faults[FAULT_ATTRIBUTE], f.offset);
		while (f.number == VALUE_ARRAY && otlp_next(o, &array, &element)) {
			if (otlp_scalar(
				    o, proto_message(&array, &element), &o->labels->text, &scalar))
				set = add_label(o, set, attribute, &scalar);
			else
				fault_add(&o->faults[FAULT_ATTRIBUTE], element.offset);
		}
	}
	return set;
}

/* A number, or a text that contains one. */
static bool number_of(const struct otlp_value *value, int64_t *number)
{
	char *end;

	if (value->is_number) {
		*number = value->number;
		return true;
	}
	if (value->text.size == 0 || value->text.size > 19)
		return false;
	char *text = xstrndup(value->text.data, value->text.size);
	*number = strtoll(text, &end, 10);
	bool is_number = *end == '\0';
	free(text);
	return is_number;
}

/* Takes an attribute about who was sampled; false: it is a label. */
static bool take_who(
	struct otlp *o, const struct otlp_attribute *attribute, enum role role, struct who *who)
{
	struct otlp_value value;

	if (role == ROLE_LABEL || role >= ROLE_HOST ||
		!otlp_scalar(o, attribute->value, &o->labels->text, &value))
		return false;
	if (role == ROLE_TID)
		return who->has_tid = number_of(&value, &who->tid);
	if (role == ROLE_PID)
		return who->has_pid = number_of(&value, &who->pid);
	if (value.is_number)
		return false;
	*(role == ROLE_THREAD ? &who->thread : &who->process) =
		builder_string(o->builder, value.text);
	return true;
}

/* ---- resources ---- */

/* Stores an attribute in the header, from the first resource that has it; false: it is a label. */
static bool take_header(struct otlp *o, const struct otlp_attribute *attribute, enum role role)
{
	struct builder_header *header = builder_header(o->builder);
	string_id *field = role == ROLE_HOST ? &header->host : &header->command;
	struct otlp_value value;

	if (role < ROLE_HOST || !otlp_scalar(o, attribute->value, &o->labels->text, &value) ||
		value.is_number)
		return false;
	string_id text = builder_string(o->builder, value.text);

	if (field->i == 0)
		*field = text;
	return field->i == text.i;
}

void otlp_labels_resource(struct otlp *o, struct cursor resource)
{
	struct otlp_labels *l = o->labels;
	struct otlp_attribute attribute;
	struct proto_field f;

	l->resource++;
	l->last = UINT32_MAX;
	l->resource_who = (struct who){0};
	l->resource_labels = (label_set_id){0};
	while (otlp_next(o, &resource, &f)) {
		if (f.number != RESOURCE_ATTRIBUTE ||
			!otlp_attribute(o, proto_message(&resource, &f), true, &attribute))
			continue;
		enum role role = role_of(attribute.key);

		if (!take_who(o, &attribute, role, &l->resource_who) &&
			!take_header(o, &attribute, role) && o->keeps_samples)
			l->resource_labels = add_labels(o, l->resource_labels, &attribute);
	}
}

/* ---- samples ---- */

static process_id process_of(struct otlp *o, const struct who *who)
{
	struct otlp_labels *l = o->labels;
	uint64_t key = who->has_pid ? (uint64_t)who->pid : who->process.i;
	bool added;
	uint32_t *process = map_at(&l->processes, key, !who->has_pid, 0, &added);

	if (added)
		*process = builder_process(o->builder, who->has_pid ? who->pid : 0, 0,
			builder_string_bytes(o->builder, who->process))
				   .i;
	return (process_id){*process};
}

/* A thread without an id is identified by its name; without both, it is the process's first. */
static thread_id thread_of(struct otlp *o, const struct who *who)
{
	struct otlp_labels *l = o->labels;
	process_id process = process_of(o, who);
	bool by_name = !who->has_tid && who->thread.i;
	int64_t tid = who->has_tid ? who->tid : who->has_pid && !by_name ? who->pid : 0;
	string_id name = who->thread.i ? who->thread : who->process;
	bool added;
	uint32_t *thread = map_at(&l->threads, (uint64_t)process.i << 1 | by_name,
		by_name ? who->thread.i : (uint64_t)tid, 0, &added);

	if (added)
		*thread = builder_thread(
			o->builder, tid, process, 0, builder_string_bytes(o->builder, name))
				  .i;
	return (thread_id){*thread};
}

/* Adds trace_id and span_id, as hexadecimal digits. */
static label_set_id add_link(struct otlp *o, label_set_id set, uint64_t link, uint64_t offset)
{
	struct otlp_attribute attribute = {.unit = STR("")};
	struct otlp_value value = {0};
	struct proto_field f;
	struct cursor row;

	if (link == 0 || !otlp_row(o, TABLE_LINK, link, &row, offset))
		return set;
	while (otlp_next(o, &row, &f)) {
		if (f.number != LINK_TRACE && f.number != LINK_SPAN)
			continue;
		attribute.key = f.number == LINK_TRACE ? STR("trace_id") : STR("span_id");
		value.text = hex_text(f.bytes, &o->labels->text);
		set = add_label(o, set, &attribute, &value);
	}
	return set;
}

static struct otlp_identity make_identity(
	struct otlp *o, const uint32_t *attributes, size_t count, uint64_t link, uint64_t offset)
{
	struct otlp_labels *l = o->labels;
	struct otlp_identity identity = {{NO_ID}, l->resource_labels};
	struct who who = l->resource_who;
	struct otlp_attribute attribute;
	struct cursor row;

	for (size_t i = 0; i < count; i++) {
		if (attributes[i] == 0 ||
			!otlp_row(o, TABLE_ATTRIBUTE, attributes[i], &row, offset) ||
			!otlp_attribute(o, row, false, &attribute))
			continue;
		if (!take_who(o, &attribute, role_of(attribute.key), &who))
			identity.labels = add_labels(o, identity.labels, &attribute);
	}
	identity.labels = add_link(o, identity.labels, link, offset);
	if (o->has_threads)
		identity.thread = thread_of(o, &who);
	return identity;
}

struct otlp_identity otlp_identify(
	struct otlp *o, const uint32_t *attributes, size_t count, uint64_t link, uint64_t offset)
{
	struct otlp_labels *l = o->labels;
	const uint64_t around[] = {l->resource, link};

	strbuf_clear(&l->key);
	strbuf_add(&l->key, (struct str){(const char *)around, sizeof(around)});
	strbuf_add(&l->key, (struct str){(const char *)attributes, count * sizeof(*attributes)});
	if (l->last != UINT32_MAX && str_equal(l->lists.strings[l->last], strbuf_str(&l->key)))
		return l->identities.data[l->last];
	l->last = str_table_intern(&l->lists, strbuf_str(&l->key));
	if (l->last == l->identities.count)
		vec_push(&l->identities, make_identity(o, attributes, count, link, offset));
	return l->identities.data[l->last];
}
