/*
 * Perfetto's own trace: zones and ticks as slices on tracks.  docs/formats/perfetto.md says what
 * exactly is written.
 *
 * Source: trace_packet.proto, track_event.proto and their like in protos/perfetto/trace of
 * Perfetto, and its rules for made-up traces (docs/reference/synthetic-track-event.md).
 *
 * Everything is of one sequence, whose first packet clears its state; names of zones are interned
 * at first use.  Packets are of a thread one after the other: Perfetto sorts them by time, and
 * keeps the order of those at one time.
 */
#include "writers/writers.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/protobuf.h"
#include "writers/zone_walk.h"

enum { SEQUENCE = 1 };

/* Numbers of fields. */
enum {
	TRACE_PACKET = 1,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE_ID = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_INTERNED_DATA = 12,
	PACKET_SEQUENCE_FLAGS = 13,
	PACKET_TRACK_DESCRIPTOR = 60,
	PACKET_FIRST_ON_SEQUENCE = 87,
	EVENT_TYPE = 9,
	EVENT_NAME_IID = 10,
	EVENT_TRACK_UUID = 11,
	EVENT_CATEGORIES = 22,
	EVENT_NAME = 23,
	TRACK_UUID = 1,
	TRACK_NAME = 2,
	TRACK_PROCESS = 3,
	TRACK_THREAD = 4,
	TRACK_PARENT_UUID = 5,
	PROCESS_PID = 1,
	PROCESS_NAME = 6,
	THREAD_PID = 1,
	THREAD_TID = 2,
	THREAD_NAME = 5,
	INTERNED_EVENT_NAMES = 2,
	NAME_IID = 1,
	NAME_TEXT = 2,
};

enum { STATE_CLEARED = 1, NEEDS_STATE = 2 };
enum { SLICE_BEGIN = 1, SLICE_END = 2 };

struct perfetto {
	const struct profile *profile;
	struct sink *sink;
	bool *is_interned; /* [function]: its name; the id is the function's and one */
	bool has_packet;
};

static struct strbuf *out(struct perfetto *w)
{
	return &w->sink->text;
}

static size_t begin_packet(struct perfetto *w, uint64_t time_ns)
{
	size_t packet = proto_begin(out(w), TRACE_PACKET);

	proto_put_varint(out(w), PACKET_TIMESTAMP, time_ns);
	proto_put_varint(out(w), PACKET_SEQUENCE_ID, SEQUENCE);
	proto_put_varint(
		out(w), PACKET_SEQUENCE_FLAGS, w->has_packet ? NEEDS_STATE : STATE_CLEARED);
	if (!w->has_packet)
		proto_put_varint(out(w), PACKET_FIRST_ON_SEQUENCE, 1);
	w->has_packet = true;
	return packet;
}

static void end_packet(struct perfetto *w, size_t packet)
{
	proto_end(out(w), packet);
	(void)sink_settle(w->sink);
}

/* ---- Tracks: uuids are processes', then threads', then streams of ticks' */

static uint64_t process_uuid(uint32_t process)
{
	return (uint64_t)process + 1;
}

static uint64_t thread_uuid(const struct perfetto *w, uint32_t thread)
{
	return w->profile->process_count + (uint64_t)thread + 1;
}

static uint64_t first_stream_uuid(const struct perfetto *w)
{
	return w->profile->process_count + w->profile->thread_count + 1;
}

static void write_process(struct perfetto *w, uint32_t i)
{
	const struct process *process = &w->profile->processes[i];
	size_t packet = begin_packet(w, process->start_ns);
	size_t track = proto_begin(out(w), PACKET_TRACK_DESCRIPTOR);

	proto_put_varint(out(w), TRACK_UUID, process_uuid(i));
	size_t facts = proto_begin(out(w), TRACK_PROCESS);
	proto_put_varint(out(w), PROCESS_PID, (uint64_t)process->pid);
	proto_put_string(out(w), PROCESS_NAME, profile_string(w->profile, process->name));
	proto_end(out(w), facts);
	proto_end(out(w), track);
	end_packet(w, packet);
}

static void write_thread(struct perfetto *w, uint32_t i)
{
	const struct thread *thread = &w->profile->threads[i];
	size_t packet = begin_packet(w, thread->start_ns);
	size_t track = proto_begin(out(w), PACKET_TRACK_DESCRIPTOR);

	proto_put_varint(out(w), TRACK_UUID, thread_uuid(w, i));
	size_t facts = proto_begin(out(w), TRACK_THREAD);
	proto_put_varint(
		out(w), THREAD_PID, (uint64_t)w->profile->processes[thread->process.i].pid);
	proto_put_varint(out(w), THREAD_TID, (uint64_t)thread->tid);
	proto_put_string(out(w), THREAD_NAME, profile_string(w->profile, thread->name));
	proto_end(out(w), facts);
	proto_end(out(w), track);
	end_packet(w, packet);
}

static void write_stream(struct perfetto *w, const struct tick *tick, uint64_t uuid)
{
	struct strbuf name = {0};
	size_t packet = begin_packet(w, tick->start_ns);
	size_t track = proto_begin(out(w), PACKET_TRACK_DESCRIPTOR);

	strbuf_add(&name, STR("ticks: "));
	strbuf_add(&name, profile_string(w->profile, tick->stream));
	proto_put_varint(out(w), TRACK_UUID, uuid);
	proto_put_varint(out(w), TRACK_PARENT_UUID, process_uuid(tick->process.i));
	proto_put_string(out(w), TRACK_NAME, strbuf_str(&name));
	proto_end(out(w), track);
	end_packet(w, packet);
	strbuf_deinit(&name);
}

/* ---- Slices */

static void write_end(struct perfetto *w, uint64_t uuid, uint64_t time_ns)
{
	size_t packet = begin_packet(w, time_ns);
	size_t event = proto_begin(out(w), PACKET_TRACK_EVENT);

	proto_put_varint(out(w), EVENT_TYPE, SLICE_END);
	proto_put_varint(out(w), EVENT_TRACK_UUID, uuid);
	proto_end(out(w), event);
	end_packet(w, packet);
}

static void write_tick(struct perfetto *w, const struct tick *tick, uint64_t uuid)
{
	struct strbuf name = {0};
	size_t packet = begin_packet(w, tick->start_ns);
	size_t event = proto_begin(out(w), PACKET_TRACK_EVENT);

	strbuf_add(&name, profile_string(w->profile, tick->stream));
	strbuf_printf(&name, " %llu", (unsigned long long)tick->number);
	proto_put_varint(out(w), EVENT_TYPE, SLICE_BEGIN);
	proto_put_varint(out(w), EVENT_TRACK_UUID, uuid);
	proto_put_string(out(w), EVENT_CATEGORIES, STR("tick"));
	proto_put_string(out(w), EVENT_NAME, strbuf_str(&name));
	proto_end(out(w), event);
	end_packet(w, packet);
	strbuf_deinit(&name);
	write_end(w, uuid, tick->end_ns);
}

static void write_ticks(struct perfetto *w)
{
	const struct profile *p = w->profile;
	uint64_t uuid = first_stream_uuid(w) - 1;

	for (size_t i = 0; i < p->tick_count; i++) {
		const struct tick *t = &p->ticks[i], *before = i ? t - 1 : NULL;

		if (before == NULL || before->process.i != t->process.i ||
			before->stream.i != t->stream.i)
			write_stream(w, t, ++uuid);
		write_tick(w, t, uuid);
	}
}

/* The name of a zone, once. */
static void intern_name(struct perfetto *w, uint32_t function)
{
	struct str name = profile_string(w->profile, w->profile->functions[function].name);

	if (w->is_interned[function])
		return;
	w->is_interned[function] = true;
	size_t data = proto_begin(out(w), PACKET_INTERNED_DATA);
	size_t entry = proto_begin(out(w), INTERNED_EVENT_NAMES);
	proto_put_varint(out(w), NAME_IID, (uint64_t)function + 1);
	proto_put_string(out(w), NAME_TEXT, name.size ? name : STR("[unknown]"));
	proto_end(out(w), entry);
	proto_end(out(w), data);
}

static void leave_zone(void *context, uint32_t thread, uint32_t stack, uint64_t time_ns)
{
	struct perfetto *w = context;

	(void)stack;
	write_end(w, thread_uuid(w, thread), time_ns);
}

static void enter_zone(void *context, uint32_t thread, uint32_t stack, uint64_t time_ns)
{
	struct perfetto *w = context;
	const struct profile *p = w->profile;
	uint32_t function = p->frames[p->stacks[stack].frame.i].function.i;

	size_t packet = begin_packet(w, time_ns);
	intern_name(w, function);
	size_t event = proto_begin(out(w), PACKET_TRACK_EVENT);
	proto_put_varint(out(w), EVENT_TYPE, SLICE_BEGIN);
	proto_put_varint(out(w), EVENT_TRACK_UUID, thread_uuid(w, thread));
	proto_put_varint(out(w), EVENT_NAME_IID, (uint64_t)function + 1);
	proto_put_string(out(w), EVENT_CATEGORIES, STR("zone"));
	proto_end(out(w), event);
	end_packet(w, packet);
}

static struct error *perfetto_write(
	struct sink *sink, const struct profile *profile, const struct writer_options *options)
{
	struct perfetto w = {.profile = profile, .sink = sink};

	(void)options;
	if (profile->tick_count == 0 && profile->zone_events.count == 0)
		return error_new(ERROR_UNSUPPORTED,
			"%.*s has no ticks and no events of zones, which are what is written for "
			"Perfetto; --to chrome has samples",
			STR_ARG(profile_string(profile, profile->source)));
	w.is_interned = xcalloc(profile->function_count, sizeof(*w.is_interned));
	for (uint32_t i = 0; i < profile->process_count; i++)
		write_process(&w, i);
	for (uint32_t i = 0; i < profile->thread_count; i++)
		write_thread(&w, i);
	write_ticks(&w);
	zone_walk(profile, &w, enter_zone, leave_zone);
	free(w.is_interned);
	return NULL;
}

const struct writer writer_perfetto = {
	.name = "perfetto",
	.extension = ".pftrace",
	.summary = "Perfetto's trace: zones and ticks over time, for https://ui.perfetto.dev",
	.holds_metrics = true,
	.leaves_samples = true,
	.write = perfetto_write,
};
