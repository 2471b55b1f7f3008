/*
 * Perfetto's own traces: track events as slices, on the tracks of threads and others. docs/formats/
 * perfetto.md says what becomes of what.
 *
 * Source: trace.proto, trace_packet.proto, track_event.proto, clock_snapshot.proto and their like
 * in protos/perfetto/trace of Perfetto.
 *
 * Packets are read one by one into the tables of the reader of Chrome's traces, which makes stacks
 * of slices: both formats have the same.  What is interned is known by sequence and id, until the
 * sequence says that its state is cleared.
 */
#include "base/protobuf.h"
#include "readers/chrome.h"

/* Numbers of fields. */
enum {
	TRACE_PACKET = 1,
	PACKET_CLOCK_SNAPSHOT = 6,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE_ID = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_INTERNED_DATA = 12,
	PACKET_SEQUENCE_FLAGS = 13,
	PACKET_STATE_CLEARED = 41,
	PACKET_CLOCK_ID = 58,
	PACKET_DEFAULTS = 59,
	PACKET_TRACK_DESCRIPTOR = 60,
};

enum { CLOCK_BOOTTIME = 6, CLOCK_OF_SEQUENCE = 64, CLOCK_GLOBAL = 128 };
enum { SLICE_BEGIN = 1, SLICE_END = 2 };

/* A sequence of packets, which one producer wrote. */
struct sequence {
	uint64_t id;
	uint32_t generation; /* of what it interned */
	uint64_t default_track;
	uint32_t default_clock;
	bool has_state;
};

/* A clock of a sequence, as its last snapshot has it. */
struct sequence_clock {
	int64_t at, reference; /* ns: by itself, and by the trace's clock */
	int64_t unit, last;
	bool is_incremental;
};

struct track {
	int64_t pid, tid;
	uint64_t parent;
	string_id name;
	struct chrome_tick tick; /* that is open on it */
	bool is_thread, is_process, has_tick;
};

struct perfetto {
	struct chrome chrome;
	struct cursor file;
	VEC(struct sequence) sequences;
	VEC(struct sequence_clock) clocks;
	VEC(struct track) tracks;
	struct map sequence_ids, clock_ids, track_ids,
		names; /* names: by sequence, generation and id */
	uint64_t no_state, no_clock;
};

/* The fields of a packet, its messages unread. */
struct packet {
	uint64_t timestamp, sequence, flags, clock;
	bool has_clock, has_timestamp;
	struct proto_field event, interned, defaults, descriptor, snapshot;
};

static struct sequence *sequence_at(struct perfetto *f, uint64_t id)
{
	bool is_new;
	uint32_t at = *map_at(&f->sequence_ids, id, 0, (uint32_t)f->sequences.count, &is_new);

	if (is_new)
		vec_push(&f->sequences, (struct sequence){.id = id});
	return &f->sequences.data[at];
}

static uint32_t track_at(struct perfetto *f, uint64_t uuid)
{
	bool is_new;
	uint32_t at = *map_at(&f->track_ids, uuid, 0, (uint32_t)f->tracks.count, &is_new);

	if (is_new)
		vec_push(&f->tracks, (struct track){0});
	return at;
}

/* ---- Tracks */

/* Numbers and a name out of a descriptor of a process or a thread. */
static void read_task(struct perfetto *f, struct cursor c, struct track *track)
{
	uint32_t name = track->is_thread ? 5 : 6;
	struct proto_field field;

	while (proto_next(&c, &field)) {
		if (field.number == 1)
			track->pid = (int32_t)field.value;
		else if (field.number == 2 && track->is_thread)
			track->tid = (int64_t)field.value;
		else if (field.number == name && field.type == PROTO_BYTES)
			track->name = builder_string(f->chrome.builder, field.bytes);
	}
}

/* The thread that a track is shown as: its own, or one made up of the track's number. */
static uint32_t thread_of(struct perfetto *f, uint64_t uuid)
{
	uint32_t at = track_at(f, uuid);
	struct track track = f->tracks.data[at], above = track;

	/* The process is that of the nearest parent which tells of one. */
	for (unsigned int i = 0; i < 16 && !above.is_thread && !above.is_process && above.parent;
		i++) {
		uint32_t parent = track_at(f, above.parent);
		above = f->tracks.data[parent];
	}
	int64_t tid = track.is_thread ? track.tid : -1 - (int64_t)at;
	uint32_t thread = chrome_thread_at(&f->chrome, above.pid, tid);
	struct chrome_thread *t = &f->chrome.threads.data[thread];
	if (track.name.i && !track.is_process)
		t->name = track.name;
	return thread;
}

static void read_descriptor(struct perfetto *f, const struct proto_field *message)
{
	struct cursor c = proto_message(&f->file, message);
	struct track track = {0};
	struct proto_field field;
	uint64_t uuid = 0;

	while (proto_next(&c, &field))
		switch (field.number) {
		case 1:
			uuid = field.value;
			break;
		case 2:
		case 10:
		case 13:
			track.name = builder_string(f->chrome.builder, field.bytes);
			break;
		case 3:
			track.is_process = true;
			read_task(f, proto_message(&c, &field), &track);
			break;
		case 4:
			track.is_thread = true;
			read_task(f, proto_message(&c, &field), &track);
			break;
		case 5:
			track.parent = field.value;
			break;
		default:
			break;
		}
	uint32_t at = track_at(f, uuid);
	f->tracks.data[at] = track;
	if (track.is_thread) {
		uint32_t thread = thread_of(f, uuid);
		f->chrome.threads.data[thread].is_used = true;
	}
	if (track.is_process && track.name.i) {
		at = chrome_process_at(&f->chrome, track.pid);
		f->chrome.processes.data[at].name = track.name;
	}
}

/* ---- Clocks */

static void read_snapshot(struct perfetto *f, const struct packet *p)
{
	struct cursor c = proto_message(&f->file, &p->snapshot);
	uint32_t added[16];
	int64_t reference = 0;
	size_t count = 0;
	struct proto_field field, member;
	bool is_new;

	while (proto_next(&c, &field)) {
		struct sequence_clock clock = {.unit = 1};
		uint64_t id = 0, time = 0;
		struct cursor m = proto_message(&c, &field);
		if (field.number != 1 || field.type != PROTO_BYTES)
			continue;
		while (proto_next(&m, &member)) {
			if (member.number == 1)
				id = member.value;
			else if (member.number == 2)
				time = member.value;
			else if (member.number == 3)
				clock.is_incremental = member.value != 0;
			else if (member.number == 4 && member.value)
				clock.unit = (int64_t)(member.value & INT32_MAX);
		}
		if (id < CLOCK_OF_SEQUENCE && (id == CLOCK_BOOTTIME || reference == 0))
			reference = (int64_t)time;
		if (id < CLOCK_OF_SEQUENCE || count == 16)
			continue;
		if (__builtin_mul_overflow((int64_t)time, clock.unit, &clock.at))
			clock.at = 0;
		clock.last = clock.at;
		added[count] = *map_at(&f->clock_ids, id < CLOCK_GLOBAL ? p->sequence : UINT64_MAX,
			id, (uint32_t)f->clocks.count, &is_new);
		if (is_new)
			vec_push(&f->clocks, clock);
		else
			f->clocks.data[added[count]] = clock;
		count++;
	}
	for (size_t i = 0; i < count; i++)
		f->clocks.data[added[i]].reference = reference;
}

/* The time of a packet by the trace's clock; false if its clock is not known. */
static bool packet_time(struct perfetto *f, const struct packet *p, uint32_t id, int64_t *time)
{
	uint32_t at;
	int64_t by_itself;

	*time = (int64_t)p->timestamp;
	if (id < CLOCK_OF_SEQUENCE)
		return true;
	if (!map_get(&f->clock_ids, id < CLOCK_GLOBAL ? p->sequence : UINT64_MAX, id, &at))
		return false;
	struct sequence_clock *clock = &f->clocks.data[at];
	if (__builtin_mul_overflow((int64_t)p->timestamp, clock->unit, &by_itself))
		return false;
	if (clock->is_incremental && __builtin_add_overflow(clock->last, by_itself, &by_itself))
		return false;
	clock->last = by_itself;
	return !__builtin_sub_overflow(by_itself, clock->at, time) &&
	       !__builtin_add_overflow(*time, clock->reference, time);
}

/* ---- Packets */

static uint64_t name_key(const struct sequence *s)
{
	return s->id << 32 | s->generation;
}

static void read_interned(struct perfetto *f, const struct sequence *s, const struct packet *p)
{
	struct cursor c = proto_message(&f->file, &p->interned);
	struct proto_field field, member;

	while (proto_next(&c, &field)) {
		struct cursor m = proto_message(&c, &field);
		string_id name = {0};
		uint64_t id = 0;
		if (field.number != 2 || field.type != PROTO_BYTES)
			continue;
		while (proto_next(&m, &member)) {
			if (member.number == 1)
				id = member.value;
			else if (member.number == 2)
				name = builder_string(f->chrome.builder, member.bytes);
		}
		map_put(&f->names, name_key(s), id, name.i);
	}
}

/* A clock and a track, for packets that name none. */
static void read_defaults(struct perfetto *f, struct sequence *s, const struct packet *p)
{
	struct cursor c = proto_message(&f->file, &p->defaults);
	struct proto_field field, member;

	s->default_clock = 0;
	s->default_track = 0;
	while (proto_next(&c, &field)) {
		struct cursor m = proto_message(&c, &field);
		if (field.number == PACKET_CLOCK_ID)
			s->default_clock = (uint32_t)field.value;
		else if (field.number == PACKET_TRACK_EVENT)
			while (proto_next(&m, &member))
				if (member.number == 11)
					s->default_track = member.value;
	}
}

static void add_slice(
	struct perfetto *f, uint64_t track, int64_t time, bool is_begin, string_id name)
{
	struct chrome *c = &f->chrome;
	uint32_t thread = thread_of(f, track);

	if (is_begin && name.i == 0)
		name = builder_string(c->builder, STR("(unnamed)"));
	c->threads.data[thread].is_used = true;
	c->threads.data[thread].event_count++;
	vec_push(&c->events, (struct chrome_event){.ts = time,
				     .dur = is_begin ? CHROME_BEGIN : CHROME_END,
				     .name = is_begin ? name : (string_id){0},
				     .thread = thread});
}

/* Our own ticks, "STREAM NUMBER"; true if the event was an end of one. */
static bool take_tick(
	struct perfetto *f, uint64_t uuid, int64_t time, bool is_begin, string_id name)
{
	uint32_t thread = thread_of(f, uuid), at = track_at(f, uuid);
	uint32_t process = f->chrome.threads.data[thread].process;
	struct track *track = &f->tracks.data[at];
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

static void read_event(struct perfetto *f, struct sequence *s, const struct packet *p)
{
	struct cursor c = proto_message(&f->file, &p->event);
	uint64_t type = 0, track = s->default_track, name_id = 0;
	struct proto_field field;
	string_id name = {0};
	bool is_tick = false;
	int64_t time;

	while (proto_next(&c, &field)) {
		if (field.number == 9)
			type = field.value;
		else if (field.number == 10)
			name_id = field.value;
		else if (field.number == 11)
			track = field.value;
		else if (field.number == 23)
			name = builder_string(f->chrome.builder, field.bytes);
		else if (field.number == 22)
			is_tick = str_equal(field.bytes, STR("tick"));
	}
	if (type != SLICE_BEGIN && type != SLICE_END) {
		f->chrome.others++;
		return;
	}
	if (!packet_time(f, p, p->has_clock ? (uint32_t)p->clock : s->default_clock, &time)) {
		f->no_clock++;
		return;
	}
	if (name_id && !map_get(&f->names, name_key(s), name_id, &name.i))
		f->no_state++;
	bool is_begin = type == SLICE_BEGIN;
	if ((is_begin && !is_tick) || !take_tick(f, track, time, is_begin, name))
		add_slice(f, track, time, is_begin, name);
}

static struct packet packet_fields(struct cursor c)
{
	struct packet p = {0};
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
		default:
			break;
		}
	return p;
}

static void read_packet(struct perfetto *f, struct cursor c)
{
	struct packet p = packet_fields(c);
	struct sequence *s = sequence_at(f, p.sequence);

	if (p.flags & 1) {
		s->generation++;
		s->default_clock = 0;
		s->default_track = 0;
	}
	if (p.snapshot.number)
		read_snapshot(f, &p);
	if (p.defaults.number)
		read_defaults(f, s, &p);
	if (p.interned.number)
		read_interned(f, s, &p);
	if (p.descriptor.number)
		read_descriptor(f, &p.descriptor);
	if (p.event.number)
		read_event(f, s, &p);
}

static void add_notes(struct perfetto *f)
{
	struct builder *b = f->chrome.builder;

	if (!cursor_ok(&f->file))
		builder_note(b, NOTE_INCOMPLETE, 1,
			"the file ends early, or is broken, at byte %llu",
			(unsigned long long)(f->file.bad - f->file.start));
	if (f->no_state)
		builder_note(b, NOTE_BAD_RECORD, f->no_state, "%s",
			"names of slices are not in the file, shown as (unnamed)");
	if (f->no_clock)
		builder_note(b, NOTE_BAD_RECORD, f->no_clock, "%s",
			"slices by a clock that is not in the file, passed over");
}

static struct error *perfetto_read(const struct reader_input *input, struct builder *builder)
{
	struct perfetto f = {.chrome = {.input = input, .builder = builder}};
	struct proto_field field;

	cursor_init(&f.file, input->data, input->size, input->name, 0);
	json_reader_init(&f.chrome.json, "", 0, input->name);
	while (proto_next(&f.file, &field))
		if (field.number == TRACE_PACKET && field.type == PROTO_BYTES)
			read_packet(&f, proto_message(&f.file, &field));
	struct error *err =
		f.chrome.events.count || f.chrome.ticks.count ? NULL : cursor_error(&f.file);
	if (err == NULL)
		err = chrome_build(&f.chrome);
	if (err == NULL)
		add_notes(&f);
	chrome_deinit(&f.chrome);
	vec_deinit(&f.sequences);
	vec_deinit(&f.clocks);
	vec_deinit(&f.tracks);
	map_deinit(&f.sequence_ids);
	map_deinit(&f.clock_ids);
	map_deinit(&f.track_ids);
	map_deinit(&f.names);
	return err;
}

/* The first packets, and that they are such: fields of known kinds, of a sequence or of a time. */
static int perfetto_bid(const uint8_t *data, size_t size)
{
	struct cursor c;
	struct proto_field field;
	size_t good = 0, bad = 0;

	cursor_init(&c, data, size < 65536 ? size : 65536, "", 0);
	if (size == 0 || data[0] != (TRACE_PACKET << 3 | PROTO_BYTES))
		return 0;
	while (good + bad < 8 && proto_next(&c, &field)) {
		struct cursor message = proto_message(&c, &field), inner = message;
		if (field.number != TRACE_PACKET || field.type != PROTO_BYTES)
			return 0;
		struct packet p = packet_fields(message);
		while (proto_next(&inner, &field))
			;
		if (cursor_ok(&inner) && (p.event.number || p.descriptor.number ||
						 p.snapshot.number || p.defaults.number))
			good++;
		else
			bad++;
	}
	return good > bad ? 70 : 0;
}

const struct reader reader_perfetto = {
	.name = "perfetto",
	.summary = "Perfetto's traces (protobuf): slices of track events",
	.bid = perfetto_bid,
	.read = perfetto_read,
};
