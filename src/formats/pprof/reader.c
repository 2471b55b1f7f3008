/*
 * Reads pprof profiles, profile.proto of github.com/google/pprof (proto/profile.proto, explained in
 * doc/README.md there), which Go programs, gperftools and many other profilers write.
 * docs/formats/pprof.md defines the mapping of each field.
 *
 * This file handles the profile as a whole: metrics, period, time, comments.  Tables are in
 * tables.c, samples in samples.c, labels in labels.c.
 */
#include "formats/pprof/reader.h"

#include <stdlib.h>

#include "formats/common/text_input.h"
#include "formats/readers.h"

/* ---- bidding ---- */

static bool is_later_field(const struct proto_field *f)
{
	return f->number >= PROFILE_FIELD_COUNT;
}

/* Whether a field of a Profile has a valid type; packed fields may have either. */
static bool is_profile_field(const struct proto_field *f)
{
	switch (f->number) {
	case PROFILE_SAMPLE_TYPE:
	case PROFILE_SAMPLE:
	case PROFILE_MAPPING:
	case PROFILE_LOCATION:
	case PROFILE_FUNCTION:
	case PROFILE_STRING:
	case PROFILE_PERIOD_TYPE:
		return f->type == PROTO_BYTES;
	case PROFILE_DROP_FRAMES:
	case PROFILE_KEEP_FRAMES:
	case PROFILE_TIME:
	case PROFILE_DURATION:
	case PROFILE_PERIOD:
	case PROFILE_DEFAULT_SAMPLE_TYPE:
	case PROFILE_DOC_URL:
		return f->type == PROTO_VARINT;
	case PROFILE_COMMENT:
		return f->type == PROTO_VARINT || f->type == PROTO_BYTES;
	default:
		return false;
	}
}

/*
 * Whether a nested message is plausible: all contain numbers, but only samples contain lists and
 * labels, only locations contain lines.  Fields of later versions do not come alone; *later counts
 * them.
 */
static bool is_row(const struct proto_field *field, struct cursor message, unsigned int *later)
{
	static const struct {
		uint32_t field_max;
		uint32_t bytes; /* a bit for each field that may be length-delimited */
	} kinds[PROFILE_FIELD_COUNT] = {
		[PROFILE_SAMPLE_TYPE] = {VALUE_UNIT, 0},
		[PROFILE_SAMPLE] = {SAMPLE_LABEL,
			1u << SAMPLE_LOCATION | 1u << SAMPLE_VALUE | 1u << SAMPLE_LABEL},
		[PROFILE_MAPPING] = {MAPPING_HAS_INLINE, 0},
		[PROFILE_LOCATION] = {LOCATION_IS_FOLDED, 1u << LOCATION_LINE},
		[PROFILE_FUNCTION] = {FUNCTION_START_LINE, 0},
		[PROFILE_PERIOD_TYPE] = {VALUE_UNIT, 0},
	};
	unsigned int known = 0, unknown = 0;
	struct proto_field f;

	if (field->number == PROFILE_STRING || field->type != PROTO_BYTES ||
		field->number == PROFILE_COMMENT)
		return true;
	while (proto_next(&message, &f)) {
		if (f.number > kinds[field->number].field_max) {
			unknown++;
			continue;
		}
		known++;
		if (f.type == PROTO_BYTES ? !(kinds[field->number].bytes & 1u << f.number)
					  : f.type != PROTO_VARINT)
			return false;
	}
	*later += unknown;
	return cursor_ok(&message) && (unknown == 0 || known > 0);
}

/*
 * Bids by the first fields: there is no magic number, but other files hardly ever have 100 valid
 * fields.  Those of later versions are looked past, if there are sample types and something else.
 */
static int pprof_bid(const uint8_t *data, size_t size)
{
	struct proto_field field;
	struct cursor c;
	unsigned int count = 0, types = 0, later = 0;
	uint32_t kinds = 0; /* a bit for each known number */

	if (text_input_is_plain(data, size))
		return 0;
	cursor_init(&c, data, size, "", 0);
	while (count < 100 && later < 1000 && proto_next(&c, &field)) {
		if (is_later_field(&field)) {
			later++;
			continue;
		}
		if (!is_profile_field(&field) || !is_row(&field, proto_message(&c, &field), &later))
			return 0;
		kinds |= 1u << field.number;
		count++;
		types += field.number == PROFILE_SAMPLE_TYPE;
	}
	if (count == 0 || (later && (types == 0 || __builtin_popcount(kinds) < 2)))
		return 0;
	return types && (cursor_ok(&c) || count > 3) ? 80 : 30;
}

/* ---- metrics ---- */

static const struct {
	const char *name;
	const char *unit; /* sonde's unit */
	int64_t scale;
} known_units[] = {
	{"nanoseconds", "ns", 1},
	{"nanosecond", "ns", 1},
	{"ns", "ns", 1},
	{"microseconds", "ns", 1000},
	{"microsecond", "ns", 1000},
	{"us", "ns", 1000},
	{"milliseconds", "ns", 1000000},
	{"millisecond", "ns", 1000000},
	{"ms", "ns", 1000000},
	{"seconds", "ns", 1000000000},
	{"second", "ns", 1000000000},
	{"s", "ns", 1000000000},
	{"byte", "bytes", 1},
	{"b", "bytes", 1},
	{"kilobytes", "bytes", 1024},
	{"kb", "bytes", 1024},
	{"megabytes", "bytes", 1 << 20},
	{"mb", "bytes", 1 << 20},
	{"", "count", 1},
};

/* Converts a unit to sonde's, and sets the factor for values in `name`. */
static struct str known_unit(struct str name, int64_t *scale)
{
	for (size_t i = 0; i < ARRAY_SIZE(known_units); i++) {
		if (!str_equal(name, str_from(known_units[i].name)))
			continue;
		*scale = known_units[i].scale;
		return str_from(known_units[i].unit);
	}
	*scale = 1;
	return name;
}

struct value_type {
	struct str type, unit;
};

static struct value_type read_value_type(struct pprof *p, struct cursor message)
{
	struct value_type v = {.type = STR(""), .unit = STR("")};
	struct proto_field field;

	while (proto_next(&message, &field)) {
		if (field.number == VALUE_TYPE)
			v.type = pprof_string(p, field.value, field.offset);
		else if (field.number == VALUE_UNIT)
			v.unit = pprof_string(p, field.value, field.offset);
	}
	return v;
}

/* Adds a metric; names are made distinct: "cpu", and for a second one "cpu#2". */
static void add_metric(struct pprof *p, const struct value_type *v)
{
	struct strbuf name = {0};
	size_t number = p->metric_count;
	struct str unit = known_unit(v->unit, &p->scale[number]);
	metric_id id;

	strbuf_add(&name, v->type.size ? v->type : STR("value"));
	size_t size = name.size;
	for (unsigned int k = 2;
		(id = builder_metric(p->builder, strbuf_str(&name), unit)).i < number; k++) {
		name.size = size;
		strbuf_printf(&name, "#%u", k);
	}
	if (p->samples_metric == SIZE_MAX && metric_counts_samples(strbuf_str(&name), unit))
		p->samples_metric = number;
	p->metric_count++;
	strbuf_deinit(&name);
}

/* ---- the profile's own fields ---- */

static struct error *add_metrics(struct pprof *p)
{
	struct proto_field field;
	struct cursor c;

	if (p->facts.types > PPROF_METRICS_MAX)
		return error_new(ERROR_UNSUPPORTED,
			"%s: has more than %d types of samples, which is not supported",
			p->input->name, PPROF_METRICS_MAX);
	if (p->facts.types == 0)
		return error_new(ERROR_INPUT,
			"%s: it has no sample types: the profile is empty, or not a pprof "
			"profile",
			p->input->name);
	p->samples_metric = SIZE_MAX;
	cursor_init(&c, p->input->data, p->input->size, p->input->name, 0);
	cursor_seek(&c, (size_t)p->facts.types_at);
	while (p->metric_count < p->facts.types && proto_next(&c, &field)) {
		if (field.number != PROFILE_SAMPLE_TYPE)
			continue;
		struct value_type v = read_value_type(p, proto_message(&c, &field));
		add_metric(p, &v);
	}
	return NULL;
}

/* The type named by the profile, else its last one. */
static metric_id default_metric(struct pprof *p, const struct pprof_facts *facts)
{
	struct str wanted = pprof_string(p, facts->value[PROFILE_DEFAULT_SAMPLE_TYPE],
		facts->offset[PROFILE_DEFAULT_SAMPLE_TYPE]);
	metric_id found = {(uint32_t)p->metric_count - 1};
	struct proto_field field;
	struct cursor c;
	uint32_t number = 0;

	cursor_init(&c, p->input->data, p->input->size, p->input->name, 0);
	while (wanted.size && proto_next(&c, &field)) {
		if (field.number != PROFILE_SAMPLE_TYPE)
			continue;
		struct value_type v = read_value_type(p, proto_message(&c, &field));
		if (str_equal(v.type, wanted))
			return (metric_id){number};
		number++;
	}
	return found;
}

/* The period: for time, it is the interval between samples; otherwise it becomes a note. */
static void add_period(struct pprof *p, const struct pprof_facts *facts)
{
	struct builder_header *header = builder_header(p->builder);
	int64_t period = (int64_t)facts->value[PROFILE_PERIOD], scale;

	if (period <= 0 || facts->period_type.start == NULL)
		return;
	struct value_type v = read_value_type(p, facts->period_type);
	struct str unit = known_unit(v.unit, &scale);
	/* Without a type, it is meaningless: Pyroscope sets it anyway. */
	if (v.type.size == 0)
		return;
	if (str_equal(unit, STR("ns"))) {
		if (period <= INT64_MAX / scale)
			header->stats.interval_ns = header->stats.interval_asked_ns =
				(uint64_t)(period * scale);
		return;
	}
	if (period > 1)
		builder_note(p->builder, NOTE_INFO, 1, "one sample every %lld %.*s (%.*s)",
			(long long)period, STR_ARG(v.unit), STR_ARG(v.type));
}

static void add_note(struct pprof *p, const char *before, uint64_t string, uint64_t offset)
{
	struct str text = pprof_string(p, string, offset);

	if (text.size)
		builder_note(p->builder, NOTE_INFO, 1, "%s%.*s", before, STR_ARG(text));
}

static void add_comments(struct pprof *p)
{
	struct proto_field field;
	struct cursor c;
	uint64_t string;

	if (p->facts.offset[PROFILE_COMMENT] == 0)
		return;
	cursor_init(&c, p->input->data, p->input->size, p->input->name, 0);
	while (proto_next(&c, &field)) {
		if (field.number != PROFILE_COMMENT)
			continue;
		struct proto_numbers numbers = proto_numbers(&c, &field, PROTO_VARINT);
		while (proto_number(&numbers, &string))
			add_note(p, "", string, field.offset);
	}
}

static void add_facts(struct pprof *p, const struct pprof_facts *facts)
{
	struct builder_header *header = builder_header(p->builder);
	int64_t time = (int64_t)facts->value[PROFILE_TIME];
	int64_t duration = (int64_t)facts->value[PROFILE_DURATION];

	header->default_metric = default_metric(p, facts);
	if (time > 0)
		header->start_unix_ns = (uint64_t)time;
	if (duration > 0)
		header->stats.duration_ns = (uint64_t)duration;
	add_period(p, facts);
	add_comments(p);
	add_note(p, "documentation: ", facts->value[PROFILE_DOC_URL],
		facts->offset[PROFILE_DOC_URL]);
}

/* ---- notes about skipped parts ---- */

static void add_fault_notes(struct pprof *p)
{
	static const struct fault_note notes[FAULT_COUNT] = {
		[FAULT_SAMPLE] = {NOTE_BAD_RECORD, "sample is malformed and skipped",
			"samples are malformed and skipped", FAULT_OFFSET},
		[FAULT_LOCATION] = {NOTE_BAD_RECORD, "reference leads to no location or function",
			"references lead to no location or function", FAULT_OFFSET},
		[FAULT_ROW] = {NOTE_BAD_RECORD,
			"mapping, location or function is malformed and skipped",
			"mappings, locations or functions are malformed and skipped", FAULT_OFFSET},
		[FAULT_STRING] = {NOTE_BAD_RECORD, "name is not in the table of strings",
			"names are not in the table of strings", FAULT_OFFSET},
	};

	fault_notes(p->builder, p->faults, notes, FAULT_COUNT);
	cut_stacks_note(p->builder, p->cut);
	if (p->problem)
		early_end_note(p->builder, p->problem_offset, p->problem);
}

static struct error *read_all(struct pprof *p)
{
	struct error *err = pprof_tables_read(p);

	if (err == NULL)
		err = add_metrics(p);
	if (err)
		return err;
	add_facts(p, &p->facts);
	pprof_drop_init(p);
	pprof_name_addresses(p);
	pprof_samples_read(p);
	if (p->sample_count && p->faults[FAULT_SAMPLE].count == p->sample_count)
		return error_input(p->input->name, p->faults[FAULT_SAMPLE].first,
			"no sample is whole: each must have %zu values", p->metric_count);
	add_fault_notes(p);
	return NULL;
}

/*
 * A single byte may refer to a location of any number of inlined calls, all known already; in real
 * profiles it adds less than one frame.  So the walk along stacks is limited.
 */
#define WALK_FREE  ((uint64_t)32 << 20)
#define WALK_RATIO 16

static struct error *pprof_read(const struct reader_input *input, struct builder *builder)
{
	struct pprof p = {.input = input,
		.builder = builder,
		.demangler = demangler_create(),
		.code = mapped_code_create(builder, input->size),
		.walk = WALK_FREE + WALK_RATIO * (uint64_t)input->size};

	mapped_code_use_source(p.code, input->source);
	if (input->is_sent)
		mapped_code_open_nothing(p.code);
	struct error *err = read_all(&p);

	pprof_drop_deinit(&p);
	pprof_tables_deinit(&p);
	mapped_code_destroy(p.code);
	demangler_destroy(p.demangler);
	return err;
}

const struct reader reader_pprof = {
	.name = "pprof",
	.summary = "pprof profiles (profile.proto), of Go, gperftools and others",
	.bid = pprof_bid,
	.read = pprof_read,
};
