/*
 * The identity of an OTLP sample: its stack, its attributes and its link.  See writer.h.
 *
 * A key must be unique among the attributes of a sample, so labels with the same key become one
 * attribute, whose value is a list.
 */
#include "formats/otlp/writer.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/escape.h"

/* An attribute being built. */
struct entry {
	uint32_t key, unit;   /* strings */
	struct strbuf values; /* AnyValues, each after its tag and length, as in an ArrayValue */
	size_t count;
};

struct entries {
	VEC(struct entry) list;
	struct strbuf value;
};

static struct entry *entry_of(struct entries *e, uint32_t key)
{
	for (size_t i = 0; i < e->list.count; i++)
		if (e->list.data[i].key == key)
			return &e->list.data[i];
	vec_push(&e->list, (struct entry){.key = key});
	return &e->list.data[e->list.count - 1];
}

static void add_value(struct entries *e, uint32_t key, uint32_t unit)
{
	struct entry *entry = entry_of(e, key);

	entry->unit = unit ? unit : entry->unit;
	entry->count++;
	proto_put_bytes(&entry->values, ARRAY_VALUE, strbuf_str(&e->value));
}

static void add_text(struct entries *e, uint32_t key, struct str text)
{
	struct strbuf escaped = {0};

	if (text.size == 0)
		return;
	escape_text(&escaped, text);
	strbuf_clear(&e->value);
	proto_put_bytes(&e->value, VALUE_STRING, strbuf_str(&escaped));
	strbuf_deinit(&escaped);
	add_value(e, key, 0);
}

static void add_number(struct entries *e, uint32_t key, int64_t number, uint32_t unit)
{
	strbuf_clear(&e->value);
	proto_put_varint(&e->value, VALUE_INT, (uint64_t)number);
	add_value(e, key, unit);
}

static void add_thread(struct otlp_writer *w, struct entries *e, thread_id id)
{
	const struct profile *p = w->profile;

	if (id.i == NO_ID)
		return;
	const struct thread *t = &p->threads[id.i];
	const struct process *process = &p->processes[t->process.i];

	add_number(e, otlp_writer_text(w, STR("thread.id")), t->tid, 0);
	add_number(e, otlp_writer_text(w, STR("process.pid")), process->pid, 0);
	if (t->name.i)
		add_text(e, otlp_writer_text(w, STR("thread.name")), profile_string(p, t->name));
	if (process->name.i)
		add_text(e, otlp_writer_text(w, STR("process.executable.name")),
			profile_string(p, process->name));
}

/* ---- links ---- */

/*
 * Decodes a label with that key and the right number of hexadecimal digits; false: there is none.
 */
static bool take_id(
	const struct profile *p, const struct label *l, struct str key, size_t digits, char *bytes)
{
	struct str text = profile_string(p, l->text);

	if (!str_equal(profile_string(p, l->key), key) || text.size != digits)
		return false;
	return str_unhex(text, bytes);
}

struct link {
	char trace[16], span[8];
	uint32_t trace_label, span_label; /* NO_ID: none */
	size_t traces, spans;
};

/* Whether the set has exactly a trace id and a span id. */
static bool find_link(
	const struct profile *p, const label_id *labels, size_t count, struct link *link)
{
	*link = (struct link){.trace_label = NO_ID, .span_label = NO_ID};
	for (size_t i = 0; i < count; i++) {
		const struct label *l = &p->labels[labels[i].i];

		if (take_id(p, l, STR("trace_id"), 32, link->trace)) {
			link->trace_label = labels[i].i;
			link->traces++;
		} else if (take_id(p, l, STR("span_id"), 16, link->span)) {
			link->span_label = labels[i].i;
			link->spans++;
		}
	}
	return link->traces == 1 && link->spans == 1;
}

static uint32_t link_row(struct otlp_writer *w, const struct link *link)
{
	strbuf_clear(&w->row);
	proto_put_bytes(&w->row, LINK_TRACE, (struct str){link->trace, sizeof(link->trace)});
	proto_put_bytes(&w->row, LINK_SPAN, (struct str){link->span, sizeof(link->span)});
	return otlp_writer_row(w, TABLE_LINK, strbuf_str(&w->row));
}

/* ---- labels ---- */

/* Adds a set's labels except its link, which has its own field.  Returns the link's row. */
static uint32_t add_labels(struct otlp_writer *w, struct entries *e, label_set_id set)
{
	const struct profile *p = w->profile;
	size_t count = profile_label_count(p, set);
	label_id *labels = xcalloc(count, sizeof(*labels));
	struct link link;
	uint32_t row = 0;

	profile_label_ids(p, set, labels);
	bool has_link = find_link(p, labels, count, &link);
	if (has_link)
		row = link_row(w, &link);
	for (size_t i = 0; i < count; i++) {
		const struct label *l = &p->labels[labels[i].i];
		bool is_link = has_link &&
			       (labels[i].i == link.trace_label || labels[i].i == link.span_label);
		uint32_t key = is_link ? 0 : otlp_writer_string(w, l->key);

		if (is_link)
			continue;
		if (l->text.i)
			add_text(e, key, profile_string(p, l->text));
		else
			add_number(
				e, key, l->number, l->unit.i ? otlp_writer_string(w, l->unit) : 0);
	}
	free(labels);
	return row;
}

/* Adds an attribute: a single AnyValue directly, several as a list. */
static uint32_t attribute_row(struct otlp_writer *w, struct entry *entry, struct strbuf *value)
{
	struct cursor c;
	struct proto_field f;

	strbuf_clear(value);
	if (entry->count > 1) {
		proto_put_bytes(value, VALUE_ARRAY, strbuf_str(&entry->values));
		return otlp_writer_attribute(w, entry->key, strbuf_str(value), entry->unit);
	}
	cursor_init(&c, entry->values.data, entry->values.size, "", 0);
	(void)proto_next(&c, &f);
	return otlp_writer_attribute(w, entry->key, f.bytes, entry->unit);
}

void otlp_put_identity(struct otlp_writer *w, struct strbuf *out, stack_id stack, thread_id thread,
	label_set_id labels)
{
	struct entries e = {0};

	add_thread(w, &e, thread);
	uint32_t link = add_labels(w, &e, labels), number = otlp_writer_stack(w, stack);

	if (number)
		proto_put_varint(out, SAMPLE_STACK, number);
	if (e.list.count) {
		size_t begun = proto_begin(out, SAMPLE_ATTRIBUTE);

		for (size_t i = 0; i < e.list.count; i++) {
			proto_put_packed(out, attribute_row(w, &e.list.data[i], &e.value));
			strbuf_deinit(&e.list.data[i].values);
		}
		proto_end(out, begun);
	}
	if (link)
		proto_put_varint(out, SAMPLE_LINK, link);
	vec_deinit(&e.list);
	strbuf_deinit(&e.value);
}
