/*
 * Reads Perfetto's own traces: track events as slices, on tracks of threads and others, and
 * samples. docs/formats/perfetto.md defines the mapping.
 *
 * Source: trace.proto, trace_packet.proto, track_event.proto, clock_snapshot.proto and their like
 * in protos/perfetto/trace of Perfetto.
 *
 * Packets are read one by one into the tables of the Chrome trace reader, which makes stacks from
 * slices: slices are the same in both formats.
 */
#include "formats/perfetto/reader.h"
#include "formats/common/text_input.h"

enum { SNAPSHOT_CLOCKS_MAX = 16 };
/* Clock ids: the one used for all times; the first ids local to a sequence, and to the trace. */
enum { CLOCK_BOOTTIME = 6, CLOCK_OF_SEQUENCE = 64, CLOCK_GLOBAL = 128 };

/*
 * The number of bytes of the file per item, less than real packets have.  The number that any file
 * may have is small compared with the program itself.
 */
enum { BYTES_AN_EVENT = 16, BYTES_AN_ENTRY = 12, BYTES_A_TRACK = 40, BYTES_A_STACK = 24 };
enum { EVENTS_ANY = 100000, ENTRIES_ANY = 100000, TRACKS_ANY = 20000 };

static struct perfetto_sequence *sequence_at(struct perfetto *f, uint64_t id)
{
	uint32_t at;

	if (perfetto_place_id(f, &f->sequence_ids, id, f->sequences.count,
		    sizeof(struct perfetto_sequence), &at))
		vec_push(&f->sequences, (struct perfetto_sequence){.scope = ++f->last_scope});
	return &f->sequences.data[at];
}

/* ---- Clocks */

/* Reads a clock of a snapshot, which shows `time` in its own units. */
static struct perfetto_clock read_clock(struct cursor c, uint64_t *id, uint64_t *time)
{
	struct perfetto_clock clock = {.unit = 1};
	struct proto_field field;

	while (proto_next(&c, &field)) {
		if (field.number == CLOCK_ID)
			*id = field.value;
		else if (field.number == CLOCK_TIME)
			*time = field.value;
		else if (field.number == CLOCK_IS_INCREMENTAL)
			clock.is_incremental = field.value != 0;
		else if (field.number == CLOCK_UNIT && field.value)
			clock.unit = (int64_t)(field.value & INT32_MAX);
	}
	if (__builtin_mul_overflow((int64_t)*time, clock.unit, &clock.at))
		clock.at = 0;
	clock.last = clock.at;
	return clock;
}

/* Adds a clock, or replaces the one with its id; returns its index. */
static uint32_t put_clock(
	struct perfetto *f, uint64_t sequence, uint64_t id, struct perfetto_clock clock)
{
	bool is_new;
	uint32_t at = *map_at(&f->clock_ids, id < CLOCK_GLOBAL ? sequence : UINT64_MAX, id,
		(uint32_t)f->clocks.count, &is_new);

	f->tracks_left -= is_new;
	if (is_new)
		vec_push(&f->clocks, clock);
	else
		f->clocks.data[at] = clock;
	return at;
}

static void read_snapshot(struct perfetto *f, const struct perfetto_packet *p)
{
	struct cursor c = proto_message(&f->file, &p->snapshot);
	uint32_t added[SNAPSHOT_CLOCKS_MAX];
	int64_t reference = 0;
	size_t count = 0;
	struct proto_field field;

	while (proto_next(&c, &field)) {
		uint64_t id = 0, time = 0;

		if (field.number != SNAPSHOT_CLOCK || field.type != PROTO_BYTES)
			continue;
		struct perfetto_clock clock = read_clock(proto_message(&c, &field), &id, &time);
		if (id < CLOCK_OF_SEQUENCE && (id == CLOCK_BOOTTIME || reference == 0))
			reference = (int64_t)time;
		if (id >= CLOCK_OF_SEQUENCE && count < SNAPSHOT_CLOCKS_MAX && f->tracks_left)
			added[count++] = put_clock(f, p->sequence, id, clock);
	}
	for (size_t i = 0; i < count; i++)
		f->clocks.data[added[i]].reference = reference;
}

/* Converts a packet's time to the trace's clock; false if its clock is unknown. */
static bool clock_time(
	struct perfetto *f, const struct perfetto_packet *p, uint32_t id, int64_t *time)
{
	uint32_t at;
	int64_t by_itself;

	*time = (int64_t)p->timestamp;
	if (id < CLOCK_OF_SEQUENCE)
		return true;
	if (!map_get(&f->clock_ids, id < CLOCK_GLOBAL ? p->sequence : UINT64_MAX, id, &at))
		return false;
	struct perfetto_clock *clock = &f->clocks.data[at];
	if (__builtin_mul_overflow((int64_t)p->timestamp, clock->unit, &by_itself))
		return false;
	if (clock->is_incremental && __builtin_add_overflow(clock->last, by_itself, &by_itself))
		return false;
	clock->last = by_itself;
	return !__builtin_sub_overflow(by_itself, clock->at, time) &&
	       !__builtin_add_overflow(*time, clock->reference, time);
}

/* The same, but counts packets with unknown clocks. */
static bool packet_time(struct perfetto *f, const struct perfetto_sequence *s,
	const struct perfetto_packet *p, int64_t *time)
{
	if (clock_time(f, p, p->has_clock ? (uint32_t)p->clock : s->default_clock, time))
		return true;
	f->no_clock++;
	return false;
}

/* ---- Packets */

static void forget_defaults(struct perfetto_sequence *s)
{
	*s = (struct perfetto_sequence){.scope = s->scope};
}

/* Reads the default clock, track and counters of a sequence's packets. */
static void read_defaults(
	struct perfetto *f, struct perfetto_sequence *s, const struct perfetto_packet *p)
{
	struct cursor c = proto_message(&f->file, &p->defaults);
	struct proto_field field, member;

	forget_defaults(s);
	while (proto_next(&c, &field)) {
		struct cursor m = proto_message(&c, &field);
		if (field.number == DEFAULTS_CLOCK_ID)
			s->default_clock = (uint32_t)field.value;
		while (field.number == DEFAULTS_TRACK_EVENT && proto_next(&m, &member))
			if (member.number == EVENT_DEFAULTS_TRACK_UUID)
				s->default_track = member.value;
		while (field.number == DEFAULTS_PERF_SAMPLE && proto_next(&m, &member))
			if (member.number == PERF_DEFAULTS_TIMEBASE && member.type == PROTO_BYTES)
				s->timebase = member;
		while (field.number == DEFAULTS_STACK_SAMPLE && proto_next(&m, &member))
			if (member.number == STACK_DEFAULTS_DESCRIPTOR &&
				member.type == PROTO_BYTES)
				s->counter = member;
	}
}

static void add_slice(
	struct perfetto *f, uint64_t track, int64_t time, bool is_begin, string_id name)
{
	struct chrome *c = &f->chrome;
	uint32_t thread = perfetto_thread_of(f, track);

	if (f->events_left == 0) {
		f->too_many++;
		return;
	}
	f->events_left--;
	builder_charge(c->builder, 2 * sizeof(struct chrome_event));
	if (is_begin && name.i == 0)
		name = builder_string(c->builder, STR("(unnamed)"));
	c->threads.data[thread].is_used = true;
	c->threads.data[thread].event_count++;
	vec_push(&c->events, (struct chrome_event){.ts = time,
				     .dur = is_begin ? CHROME_BEGIN : CHROME_END,
				     .name = is_begin ? name : (string_id){0},
				     .thread = thread});
}

/* Takes an event of sonde's own ticks, "STREAM NUMBER"; true if it ends one. */
static bool take_tick(
	struct perfetto *f, uint64_t uuid, int64_t time, bool is_begin, string_id name)
{
	uint32_t thread = perfetto_thread_of(f, uuid), at = perfetto_track_at(f, uuid);
	uint32_t process = f->chrome.threads.data[thread].process;
	struct perfetto_track *track = &f->tracks.data[at];
	struct str text = builder_string_bytes(f->chrome.builder, name);
	const char *space = text.size ? memrchr(text.data, ' ', text.size) : NULL;

	if (!is_begin && track->has_tick) {
		track->tick.dur = time > track->tick.ts ? time - track->tick.ts : 0;
		vec_push(&f->chrome.ticks, track->tick);
		track->has_tick = false;
		return true;
	}
	if (!is_begin || space == NULL)
		return false;
	uint64_t number = 0;
	for (const char *p = space + 1; p < text.data + text.size; p++)
		number = number * 10 + ((uint64_t)*p - '0');
	text.size = (size_t)(space - text.data);
	track->has_tick = true;
	track->tick = (struct chrome_tick){.ts = time,
		.number = number,
		.stream = builder_string(f->chrome.builder, text),
		.process = process};
	return true;
}

static void read_event(
	struct perfetto *f, struct perfetto_sequence *s, const struct perfetto_packet *p)
{
	struct cursor c = proto_message(&f->file, &p->event);
	uint64_t type = 0, track = s->default_track, name_id = 0;
	struct proto_field field;
	string_id name = {0};
	bool is_tick = false;
	int64_t time;

	while (proto_next(&c, &field)) {
		if (field.number == EVENT_TYPE)
			type = field.value;
		else if (field.number == EVENT_NAME_IID)
			name_id = field.value;
		else if (field.number == EVENT_TRACK_UUID)
			track = field.value;
		else if (field.number == EVENT_NAME)
			name = builder_string(f->chrome.builder, field.bytes);
		else if (field.number == EVENT_CATEGORIES)
			is_tick = str_equal(field.bytes, STR("tick"));
	}
	if (type != SLICE_BEGIN && type != SLICE_END) {
		f->chrome.faults[CHROME_OTHER].count++;
		return;
	}
	if (!packet_time(f, s, p, &time))
		return;
	if (name_id) {
		f->no_state += !perfetto_entry(f, PERFETTO_EVENT_NAMES, s->scope, name_id);
		name = perfetto_text(f, PERFETTO_EVENT_NAMES, s->scope, name_id);
	}
	bool is_begin = type == SLICE_BEGIN;
	if ((is_begin && !is_tick) || !take_tick(f, track, time, is_begin, name))
		add_slice(f, track, time, is_begin, name);
}

static struct perfetto_packet packet_fields(struct cursor c)
{
	struct perfetto_packet p = {0};
	struct proto_field field;

	while (proto_next(&c, &field))
		switch (field.number) {
		case PACKET_TIMESTAMP:
			p.timestamp = field.value;
			break;
		case PACKET_SEQUENCE_ID:
			p.sequence = field.value & UINT32_MAX;
			break;
		case PACKET_SEQUENCE_FLAGS:
			p.flags |= field.value;
			break;
		case PACKET_STATE_CLEARED:
			p.flags |= field.value != 0;
			break;
		case PACKET_CLOCK_ID:
			p.clock = field.value;
			p.has_clock = true;
			break;
		case PACKET_TRACK_EVENT:
			p.event = field;
			break;
		case PACKET_INTERNED_DATA:
			p.interned = field;
			break;
		case PACKET_DEFAULTS:
			p.defaults = field;
			break;
		case PACKET_TRACK_DESCRIPTOR:
			p.descriptor = field;
			break;
		case PACKET_CLOCK_SNAPSHOT:
			p.snapshot = field;
			break;
		case PACKET_PROCESS_TREE:
			p.tree = field;
			break;
		case PACKET_PERF_SAMPLE:
		case PACKET_UNCOUNTED_SAMPLE:
			p.perf_sample = field;
			break;
		case PACKET_STACK_SAMPLE:
			p.stack_sample = field;
			break;
		case PACKET_MODULE_SYMBOLS:
			p.symbols = field;
			break;
		default:
			break;
		}
	return p;
}

static void read_packet(struct perfetto *f, struct cursor c)
{
	struct perfetto_packet p = packet_fields(c);
	struct perfetto_sequence *s = sequence_at(f, p.sequence);
	int64_t time;

	if (p.flags & 1) {
		forget_defaults(s);
		s->scope = ++f->last_scope;
	}
	if (p.snapshot.number)
		read_snapshot(f, &p);
	if (p.defaults.number)
		read_defaults(f, s, &p);
	if (p.interned.number)
		perfetto_intern_all(f, s->scope, &p.interned);
	if (p.descriptor.number)
		perfetto_read_descriptor(f, &p.descriptor);
	if (p.tree.number)
		perfetto_read_tree(f, &p.tree);
	if (p.symbols.number)
		perfetto_read_symbols(f, &p.symbols);
	if (p.event.number)
		read_event(f, s, &p);
	if (p.perf_sample.number && packet_time(f, s, &p, &time))
		perfetto_read_perf_sample(f, s, &p.perf_sample, time);
	if (p.stack_sample.number && packet_time(f, s, &p, &time))
		perfetto_read_stack_sample(f, s, &p.stack_sample, time);
}

static void add_notes(struct perfetto *f)
{
	struct builder *b = f->chrome.builder;

	if (!cursor_ok(&f->file))
		builder_note(b, NOTE_INCOMPLETE, 1,
			"the file ends early, or is broken, at byte %llu",
			(unsigned long long)(f->file.bad - f->file.start));
	counted_note(b, NOTE_BAD_RECORD, f->no_state,
		"a slice's name is not in the file, and shown as (unnamed)",
		"slices' names are not in the file, and shown as (unnamed)");
	counted_note(b, NOTE_BAD_RECORD, f->no_clock,
		"a slice or sample uses a clock that is not in the file, and was skipped",
		"slices or samples use clocks that are not in the file, and were skipped");
	counted_note(b, NOTE_BAD_RECORD, f->too_many,
		"a packet was skipped: there are too many for a file of this size",
		"packets were skipped: there are too many for a file of this size");
	perfetto_note_samples(f);
}

static void perfetto_deinit(struct perfetto *f)
{
	chrome_deinit(&f->chrome);
	vec_deinit(&f->sequences);
	vec_deinit(&f->clocks);
	vec_deinit(&f->tracks);
	map_deinit(&f->sequence_ids);
	map_deinit(&f->clock_ids);
	map_deinit(&f->track_ids);
	for (size_t i = 0; i < PERFETTO_KINDS; i++)
		row_table_deinit(&f->interned[i]);
}

static struct error *perfetto_read(const struct reader_input *input, struct builder *builder)
{
	struct perfetto f = {.chrome = {.input = input,
				     .builder = builder,
				     .has_weights = true,
				     .stack_of = perfetto_stack_of},
		.entries_left = ENTRIES_ANY + input->size / BYTES_AN_ENTRY,
		.tracks_left = TRACKS_ANY + input->size / BYTES_A_TRACK,
		.events_left = EVENTS_ANY + input->size / BYTES_AN_EVENT,
		.stacks = {.left = STACK_BUDGET_ANY + input->size / BYTES_A_STACK}};
	struct chrome *c = &f.chrome;
	struct proto_field field;

	cursor_init(&f.file, input->data, input->size, input->name, 0);
	json_reader_init(&c->json, "", 0, input->name);
	while (proto_next(&f.file, &field))
		if (field.number == TRACE_PACKET && field.type == PROTO_BYTES)
			read_packet(&f, proto_message(&f.file, &field));
	perfetto_name_weights(&f);
	struct error *err = c->events.count || c->ticks.count || c->samples.count
				    ? NULL
				    : cursor_error(&f.file);
	if (err == NULL)
		err = chrome_build(c);
	if (err == NULL)
		add_notes(&f);
	perfetto_deinit(&f);
	return err;
}

/* Whether a packet has something that is read here. */
static bool has_content(const struct perfetto_packet *p)
{
	return p->event.number || p->descriptor.number || p->snapshot.number ||
	       p->defaults.number || p->interned.number || p->tree.number ||
	       p->perf_sample.number || p->stack_sample.number;
}

/* Whether a message can be a packet of any kind: all have a sequence, a producer or a time. */
static bool is_packet(struct cursor message)
{
	struct proto_field field;
	bool has_origin = false;

	while (proto_next(&message, &field))
		if (field.number == PACKET_TIMESTAMP || field.number == PACKET_SEQUENCE_ID ||
			field.number == PACKET_TRUSTED_UID) {
			if (field.type != PROTO_VARINT)
				return false;
			has_origin = true;
		}
	return cursor_ok(&message) && has_origin;
}

/*
 * Bids by the first packets: fields of known types, with a sequence or a time.  Packets of other
 * kinds are looked past: traces begin with their configuration, and there will be new kinds.
 */
static int perfetto_bid(const uint8_t *data, size_t size)
{
	struct cursor c;
	struct proto_field field;
	size_t good = 0, bad = 0;

	cursor_init(&c, data, size < 65536 ? size : 65536, "", 0);
	if (size == 0 || data[0] != (TRACE_PACKET << 3 | PROTO_BYTES) ||
		text_input_is_plain(data, size))
		return 0;
	while (good + bad < 8 && proto_next(&c, &field)) {
		struct cursor message = proto_message(&c, &field), inner = message;
		if (field.number != TRACE_PACKET || field.type != PROTO_BYTES)
			return 0;
		struct perfetto_packet p = packet_fields(message);
		while (proto_next(&inner, &field))
			;
		if (cursor_ok(&inner) && has_content(&p))
			good++;
		else
			bad += !is_packet(message);
	}
	return good > bad ? 70 : 0;
}

const struct reader reader_perfetto = {
	.name = "perfetto",
	.summary = "Perfetto's traces (protobuf): slices of track events, samples",
	.bid = perfetto_bid,
	.read = perfetto_read,
};
