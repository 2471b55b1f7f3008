/*
 * OpenTelemetry profiles, opentelemetry/proto/profiles/v1development/profiles.proto of
 * github.com/open-telemetry/opentelemetry-proto, as of its version 1.11. docs/formats/otlp.md
 * defines the mapping of each field.
 *
 * ProfilesData and ExportProfilesServiceRequest are the same bytes.  A file is one of them, or
 * several, each preceded by its length in four big-endian bytes, as the collector's file exporter
 * writes them; or the same in JSON.  The signal is not stable: 1.8 and 1.9 had different field
 * numbers in samples, which are recognized by their types; earlier layouts are refused.
 *
 * This file handles the file as a whole.  Dictionaries are in tables.c, attributes in
 * labels.c, samples in samples.c, JSON in json.c.
 */
#include "formats/otlp/reader.h"

#include <inttypes.h>

#include "base/alloc.h"
#include "formats/common/text_input.h"
#include "formats/readers.h"

/* Single samples are kept up to this many bytes plus four times the input. */
#define SAMPLE_BYTES_MAX ((uint64_t)48 << 20)

/* Whether the cursor's end is that of the current message, which may be truncated. */
static bool is_at_end(const struct otlp *o, const struct cursor *c)
{
	return o->message == NULL ||
	       (const char *)c->end == o->message->bytes.data + o->message->bytes.size;
}

bool otlp_next(struct otlp *o, struct cursor *c, struct proto_field *f)
{
	*f = (struct proto_field){.bytes = STR("")};
	if (proto_next(c, f))
		return true;
	if (cursor_ok(c))
		return false;
	if (!is_at_end(o, c)) {
		fault_add(&o->faults[FAULT_MESSAGE], c->base + (uint64_t)(c->bad - c->start));
	} else if (f->number && f->type == PROTO_BYTES && f->offset > c->base) {
		const uint8_t *at = c->start + (f->offset - c->base);

		o->is_cut = true;
		f->bytes = (struct str){(const char *)at, (size_t)(c->end - at)};
		c->at = c->end;
		c->bad = NULL;
		return true;
	} else {
		o->is_cut = true;
	}
	c->at = c->end;
	c->bad = NULL;
	return false;
}

struct str otlp_unit(struct str unit, int64_t *scale)
{
	static const struct {
		const char *name, *unit;
		int64_t scale;
	} known[] = {
		{"nanoseconds", "ns", 1},
		{"nanosecond", "ns", 1},
		{"ns", "ns", 1},
		{"microseconds", "ns", 1000},
		{"us", "ns", 1000},
		{"milliseconds", "ns", 1000000},
		{"ms", "ns", 1000000},
		{"seconds", "ns", 1000000000},
		{"s", "ns", 1000000000},
		{"bytes", "bytes", 1},
		{"byte", "bytes", 1},
		{"By", "bytes", 1},
		{"KiBy", "bytes", 1024},
		{"MiBy", "bytes", 1 << 20},
		{"", "count", 1},
		{"1", "count", 1},
	};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		if (!str_equal(unit, str_from(known[i].name)))
			continue;
		*scale = known[i].scale;
		return str_from(known[i].unit);
	}
	*scale = 1;
	/* UCUM: counted things are in braces. */
	if (unit.size > 1 && unit.data[0] == '{' && unit.data[unit.size - 1] == '}')
		return STR("count");
	return unit;
}

/* ---- bidding ---- */

/*
 * Whether a field can be one of a message with fields up to most, which are all bytes; later
 * versions have others.  *known counts the former.
 */
static bool take_field(const struct proto_field *f, uint32_t most, size_t *known)
{
	if (f->number > most)
		return true;
	++*known;
	return f->type == PROTO_BYTES;
}

/* Whether the first fields are all bytes, but for those of later versions, above most. */
static bool is_all_bytes(struct cursor c, uint32_t most)
{
	struct proto_field f = {0};
	size_t known = 0;

	for (size_t i = 0; i < 100 && proto_next(&c, &f); i++)
		if (!take_field(&f, most, &known))
			return false;
	/* The first field may extend beyond the available bytes. */
	return known > 0 ||
	       (!cursor_ok(&c) && f.type == PROTO_BYTES && f.number <= most && f.offset > c.base);
}

/* Whether these are the first bytes of a message; size may be less than the whole message. */
static bool is_message(const uint8_t *data, size_t size)
{
	struct cursor c, inner;
	struct proto_field f = {0};
	size_t known = 0;

	if (size < 2 || (data[0] != 0x0a && data[0] != 0x12))
		return false;
	cursor_init(&c, data, size, "", 0);
	for (int i = 0; i < 10 && proto_next(&c, &f); i++) {
		if (!take_field(&f, DATA_DICTIONARY, &known))
			return false;
		inner = proto_message(&c, &f);
		if (f.number == DATA_RESOURCE_PROFILES && !is_all_bytes(inner, 3))
			return false;
		if (f.number == DATA_DICTIONARY && !is_all_bytes(inner, TABLE_STACK))
			return false;
	}
	if (cursor_ok(&c) || known)
		return known > 0;
	/* The data ends within the first field. */
	if (f.offset == 0 || f.offset >= size)
		return false;
	cursor_init(&inner, data + f.offset, size - f.offset, "", 0);
	return is_all_bytes(inner, f.number == DATA_DICTIONARY ? TABLE_STACK : 3);
}

static uint32_t framed_size(struct str text)
{
	const unsigned char *p = (const unsigned char *)text.data;

	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static int otlp_bid(const uint8_t *data, size_t size)
{
	if (text_input_is_plain(data, size))
		return otlp_is_json(data, size) ? 90 : 0;
	if (is_message(data, size))
		return 90;
	if (size > 6 && framed_size((struct str){(const char *)data, size}) > 1 &&
		is_message(data + 4, size - 4))
		return 85;
	return otlp_is_json(data, size) ? 90 : 0;
}

/* ---- messages ---- */

static void add_message(struct otlp *o, struct str bytes)
{
	struct otlp_message m = {.bytes = bytes};
	const char *data = (const char *)o->input->data;

	if (bytes.data >= data && bytes.data < data + o->input->size)
		m.offset = (uint64_t)(bytes.data - data);
	vec_push(&o->messages, m);
}

static void split_framed(struct otlp *o, struct str rest)
{
	while (rest.size >= 4) {
		uint32_t size = framed_size(rest);

		rest = (struct str){rest.data + 4, rest.size - 4};
		if (size > rest.size) {
			o->is_cut = true;
			size = (uint32_t)rest.size;
		}
		add_message(o, (struct str){rest.data, size});
		rest = (struct str){rest.data + size, rest.size - size};
	}
	o->is_cut |= rest.size > 0;
}

static struct error *convert_json(struct otlp *o, struct str rest)
{
	VEC(size_t) ends = {0};
	struct error *err = NULL;
	size_t begin = 0;

	while (err == NULL && rest.size) {
		if (memchr(" \t\r\n", rest.data[0], 4)) {
			rest = (struct str){rest.data + 1, rest.size - 1};
			continue;
		}
		err = otlp_json_convert(&rest, o->input->name, &o->json, &o->is_cut);
		vec_push(&ends, o->json.size);
	}
	for (size_t i = 0; err == NULL && i < ends.count; begin = ends.data[i++])
		add_message(
			o, (struct str){strbuf_str(&o->json).data + begin, ends.data[i] - begin});
	vec_deinit(&ends);
	return err;
}

static struct error *split_messages(struct otlp *o)
{
	const uint8_t *data = o->input->data;
	struct str whole = {(const char *)data, o->input->size};

	if (whole.size > UINT32_MAX)
		return error_new(ERROR_UNSUPPORTED,
			"%s: more than 4 GiB; no protocol buffer is as long", o->input->name);
	if (is_message(data, whole.size)) {
		add_message(o, whole);
		return NULL;
	}
	if (otlp_is_json(data, whole.size))
		return convert_json(o, whole);
	if (whole.size < 4 || !is_message(data + 4, whole.size - 4))
		return error_new(ERROR_INPUT,
			"%s: offset 0: no OTLP profiles: neither a ProfilesData message nor "
			"messages behind their lengths, nor those in JSON",
			o->input->name);
	split_framed(o, whole);
	return NULL;
}

/* Calls back for each ResourceProfiles, after making its message the current one. */
static void for_each_resource(
	struct otlp *o, void (*take)(struct otlp *o, struct cursor resource_profiles))
{
	for (size_t i = 0; i < o->messages.count; i++) {
		struct otlp_message *m = &o->messages.data[i];
		struct proto_field f;
		struct cursor c;

		o->message = m;
		cursor_init(&c, m->bytes.data, m->bytes.size, o->input->name, m->offset);
		while (otlp_next(o, &c, &f))
			if (f.number == DATA_RESOURCE_PROFILES && f.type == PROTO_BYTES)
				take(o, proto_message(&c, &f));
	}
}

/* ---- older layouts ---- */

/* For a message without a dictionary: tables next to the resources (1.6), or in each profile. */
static const char *layout_without_dictionary(struct otlp *o, const struct otlp_message *m)
{
	struct cursor c, resource, scope;
	struct proto_field f, g, h, k;

	cursor_init(&c, m->bytes.data, m->bytes.size, o->input->name, m->offset);
	while (proto_next(&c, &f)) {
		if (f.number > DATA_DICTIONARY)
			return "1.6";
		resource = proto_message(&c, &f);
		while (proto_next(&resource, &g)) {
			if (g.number != RESOURCE_PROFILES_SCOPES)
				continue;
			scope = proto_message(&resource, &g);
			while (proto_next(&scope, &h)) {
				struct cursor profile = proto_message(&scope, &h);

				while (h.number == SCOPE_PROFILES_PROFILE &&
					proto_next(&profile, &k)) {
					if (k.number == 2 && k.type == PROTO_FIXED64)
						return "1.3 or 1.4 (v1experimental)";
					if (k.number > 2 && k.type == PROTO_BYTES)
						return "1.5";
				}
			}
		}
	}
	return NULL;
}

static struct error *refuse(const struct otlp *o, const char *version)
{
	return error_new(ERROR_UNSUPPORTED,
		"%s: OTLP profiles in the layout of opentelemetry-proto %s, which gave other "
		"numbers "
		"to the same fields; sonde reads those of 1.8 to 1.11: have it written by a newer "
		"collector or agent",
		o->input->name, version);
}

static struct error *check_layout(struct otlp *o)
{
	for (size_t i = 0; i < o->messages.count; i++) {
		const char *version = NULL;

		if (!o->messages.data[i].has_dictionary)
			version = layout_without_dictionary(o, &o->messages.data[i]);
		if (version)
			return refuse(o, version);
	}
	return o->is_1_7 ? refuse(o, "1.7") : NULL;
}

/* ---- the profile ---- */

/* Earlier times, before 1973, are not Unix times but from another clock or an unknown start. */
#define UNIX_NS_MIN 100000000000000000u

static void set_header(struct otlp *o)
{
	struct builder_header *header = builder_header(o->builder);
	bool is_unix = o->start_ns >= UNIX_NS_MIN && o->start_ns < UINT64_MAX;

	if (o->start_ns == UINT64_MAX || (!is_unix && !o->says_start))
		o->start_ns = 0;
	header->start_unix_ns = is_unix ? o->start_ns : 0;
	if (o->last_ns >= o->end_ns)
		o->end_ns = o->last_ns ? o->last_ns + 1 : 0;
	if (o->end_ns > o->start_ns)
		header->stats.duration_ns = o->end_ns - o->start_ns;
}

static void decide_what_is_kept(struct otlp *o)
{
	uint64_t size = 20 + 8 * (uint64_t)o->metric_count;
	bool has_more = o->has_times || o->has_threads || o->has_labels || o->resource_count > 1;
	bool fits = o->row_count <= (SAMPLE_BYTES_MAX + 4 * (uint64_t)o->input->size) / size;

	o->keeps_samples = has_more && fits;
	if (has_more && !fits)
		builder_note(o->builder, NOTE_INFO, 1,
			"there are too many samples for so small a file: their times, threads and "
			"labels are left out");
}

static void note_faults(struct otlp *o)
{
	static const struct fault_note notes[FAULT_COUNT] = {
		[FAULT_SAMPLE] = {NOTE_BAD_RECORD,
			"a sample without values and times, or with different numbers of them, "
			"was skipped",
			"samples without values and times, or with different numbers of them, "
			"were skipped",
			FAULT_OFFSET_DEC},
		[FAULT_ROW] = {NOTE_BAD_RECORD,
			"a reference to a missing row of a table was skipped",
			"references to missing rows of tables were skipped", FAULT_OFFSET_DEC},
		[FAULT_MESSAGE] = {NOTE_BAD_RECORD, "a message ends in malformed bytes",
			"messages end in malformed bytes", FAULT_OFFSET_DEC},
		[FAULT_ATTRIBUTE] = {NOTE_BAD_RECORD,
			"an attribute that is a map, or a list of such, was left out",
			"attributes that are maps, or lists of such, were left out",
			FAULT_OFFSET_DEC},
		[FAULT_PROFILE] = {NOTE_BAD_RECORD,
			"a profile was left out: more metrics than the 16 that sonde supports",
			"profiles were left out: more metrics than the 16 that sonde supports",
			FAULT_OFFSET_DEC},
		[FAULT_OVERFLOW] = {NOTE_BAD_RECORD,
			"a value is too large in ns or bytes, and read as 0",
			"values are too large in ns or bytes, and read as 0", FAULT_OFFSET_DEC},
	};

	fault_notes(o->builder, o->faults, notes, FAULT_COUNT);
	cut_stacks_note(o->builder, o->cut_stacks);
	if (o->is_cut)
		builder_note(o->builder, NOTE_INCOMPLETE, 1, "the file was cut off");
}

/* Looks for an attribute of a thread or process that samples may have. */
static void look_for_threads(struct otlp *o)
{
	size_t count = o->message->rows[TABLE_ATTRIBUTE].count;
	struct otlp_attribute attribute;
	struct cursor row;

	for (size_t i = 1; i < count && !o->has_threads; i++)
		if (otlp_row(o, TABLE_ATTRIBUTE, i, &row, 0) &&
			otlp_attribute(o, row, false, &attribute))
			o->has_threads = otlp_key_is_thread(attribute.key);
}

static struct error *build(struct otlp *o)
{
	struct error *err;

	for (size_t i = 0; i < o->messages.count; i++) {
		o->message = &o->messages.data[i];
		otlp_tables_read(o, o->message);
		look_for_threads(o);
	}
	for_each_resource(o, otlp_samples_layout);
	err = check_layout(o);
	if (err)
		return err;
	for_each_resource(o, otlp_samples_survey);
	if (o->metric_count == 0)
		return error_new(ERROR_INPUT, "%s: contains no profile%s", o->input->name,
			o->is_cut ? ": it was cut off" : "");
	o->are_metrics_known = true;
	set_header(o);
	decide_what_is_kept(o);
	/* Each fault will be found again when reading the samples. */
	memset(o->faults, 0, sizeof(o->faults));
	for (size_t i = 0; i < o->messages.count; i++) {
		o->message = &o->messages.data[i];
		otlp_want_names(o);
	}
	mapped_code_resolve(o->code);
	memset(o->faults, 0, sizeof(o->faults));
	if (o->keeps_samples)
		builder_expect_samples(o->builder, o->row_count);
	for_each_resource(o, otlp_samples_read);
	note_faults(o);
	return NULL;
}

static struct error *otlp_read(const struct reader_input *input, struct builder *builder)
{
	struct otlp o = {.input = input,
		.builder = builder,
		.start_ns = UINT64_MAX,
		.samples_metric = SIZE_MAX,
		.steps_left = 4000000 + 8 * (uint64_t)input->size};
	struct error *err = split_messages(&o);

	o.demangler = demangler_create();
	o.code = mapped_code_create(builder, input->size);
	mapped_code_use_source(o.code, input->source);
	if (input->is_sent)
		mapped_code_open_nothing(o.code);
	otlp_labels_init(&o);
	if (err == NULL)
		err = build(&o);
	otlp_labels_deinit(&o);
	mapped_code_destroy(o.code);
	demangler_destroy(o.demangler);
	for (size_t i = 0; i < o.messages.count; i++)
		otlp_tables_deinit(&o.messages.data[i]);
	vec_deinit(&o.messages);
	vec_deinit(&o.words);
	vec_deinit(&o.scratch);
	strbuf_deinit(&o.json);
	return err;
}

const struct reader reader_otlp = {
	.name = "otlp",
	.summary = "OpenTelemetry profiles, protocol buffers or JSON, of version 1.8 to 1.11",
	.bid = otlp_bid,
	.read = otlp_read,
};
