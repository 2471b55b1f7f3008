/*
 * Writes Perfetto's own trace: zones and ticks as slices on tracks, and samples.
 * docs/formats/perfetto.md defines the output exactly.
 *
 * Source: trace_packet.proto, track_event.proto and their like in protos/perfetto/trace of
 * Perfetto, and its rules for made-up traces (docs/reference/synthetic-track-event.md).
 *
 * Everything is in one sequence, whose first packet clears its state; zone names are interned on
 * first use.  Packets are written thread by thread: Perfetto sorts them by time, and keeps the
 * order of those with the same time.
 */
#include "formats/perfetto/writer.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "formats/common/exporter.h"
#include "formats/common/zone_walk.h"

enum { SEQUENCE = 1 };

size_t perfetto_begin(struct perfetto_writer *w, uint64_t time_ns)
{
	size_t packet = proto_begin(w->out, TRACE_PACKET);

	proto_put_varint(w->out, PACKET_TIMESTAMP, time_ns);
	proto_put_varint(w->out, PACKET_SEQUENCE_ID, SEQUENCE);
	proto_put_varint(
		w->out, PACKET_SEQUENCE_FLAGS, w->has_packet ? NEEDS_STATE : STATE_CLEARED);
	if (!w->has_packet)
		proto_put_varint(w->out, PACKET_FIRST_ON_SEQUENCE, 1);
	w->has_packet = true;
	return packet;
}

void perfetto_end(struct perfetto_writer *w, size_t packet)
{
	proto_end(w->out, packet);
	(void)sink_settle(w->sink);
}

void perfetto_put_text(struct perfetto_writer *w, uint32_t kind, uint64_t iid, struct str text)
{
	size_t entry = proto_begin(w->out, kind);

	proto_put_varint(w->out, ENTRY_IID, iid);
	proto_put_string(w->out, STRING_TEXT, text);
	proto_end(w->out, entry);
}

/* ---- Tracks: uuids are processes', then threads', then streams of ticks' */

static uint64_t process_uuid(uint32_t process)
{
	return (uint64_t)process + 1;
}

static uint64_t thread_uuid(const struct perfetto_writer *w, uint32_t thread)
{
	return w->profile->process_count + (uint64_t)thread + 1;
}

static uint64_t first_stream_uuid(const struct perfetto_writer *w)
{
	return w->profile->process_count + w->profile->thread_count + 1;
}

static void write_process(struct perfetto_writer *w, uint32_t i)
{
	const struct process *process = &w->profile->processes[i];
	size_t packet = perfetto_begin(w, process->start_ns);
	size_t track = proto_begin(w->out, PACKET_TRACK_DESCRIPTOR);

	proto_put_varint(w->out, TRACK_UUID, process_uuid(i));
	size_t facts = proto_begin(w->out, TRACK_PROCESS);
	proto_put_varint(w->out, PROCESS_PID, (uint64_t)process->pid);
	proto_put_string(w->out, PROCESS_NAME, profile_string(w->profile, process->name));
	proto_end(w->out, facts);
	proto_end(w->out, track);
	perfetto_end(w, packet);
}

static void write_thread(struct perfetto_writer *w, uint32_t i)
{
	const struct thread *thread = &w->profile->threads[i];
	size_t packet = perfetto_begin(w, thread->start_ns);
	size_t track = proto_begin(w->out, PACKET_TRACK_DESCRIPTOR);

	proto_put_varint(w->out, TRACK_UUID, thread_uuid(w, i));
	size_t facts = proto_begin(w->out, TRACK_THREAD);
	proto_put_varint(
		w->out, THREAD_PID, (uint64_t)w->profile->processes[thread->process.i].pid);
	proto_put_varint(w->out, THREAD_TID, (uint64_t)thread->tid);
	proto_put_string(w->out, THREAD_NAME, profile_string(w->profile, thread->name));
	proto_end(w->out, facts);
	proto_end(w->out, track);
	perfetto_end(w, packet);
}

static void write_stream(struct perfetto_writer *w, const struct tick *tick, uint64_t uuid)
{
	struct strbuf name = {0};
	size_t packet = perfetto_begin(w, tick->start_ns);
	size_t track = proto_begin(w->out, PACKET_TRACK_DESCRIPTOR);

	strbuf_add(&name, STR("ticks: "));
	strbuf_add(&name, profile_string(w->profile, tick->stream));
	proto_put_varint(w->out, TRACK_UUID, uuid);
	proto_put_varint(w->out, TRACK_PARENT_UUID, process_uuid(tick->process.i));
	proto_put_string(w->out, TRACK_NAME, strbuf_str(&name));
	proto_end(w->out, track);
	perfetto_end(w, packet);
	strbuf_deinit(&name);
}

/* ---- Slices */

static void write_end(struct perfetto_writer *w, uint64_t uuid, uint64_t time_ns)
{
	size_t packet = perfetto_begin(w, time_ns);
	size_t event = proto_begin(w->out, PACKET_TRACK_EVENT);

	proto_put_varint(w->out, EVENT_TYPE, SLICE_END);
	proto_put_varint(w->out, EVENT_TRACK_UUID, uuid);
	proto_end(w->out, event);
	perfetto_end(w, packet);
}

static void write_tick(struct perfetto_writer *w, const struct tick *tick, uint64_t uuid)
{
	struct strbuf name = {0};
	size_t packet = perfetto_begin(w, tick->start_ns);
	size_t event = proto_begin(w->out, PACKET_TRACK_EVENT);

	strbuf_add(&name, profile_string(w->profile, tick->stream));
	strbuf_printf(&name, " %llu", (unsigned long long)tick->number);
	proto_put_varint(w->out, EVENT_TYPE, SLICE_BEGIN);
	proto_put_varint(w->out, EVENT_TRACK_UUID, uuid);
	proto_put_string(w->out, EVENT_CATEGORIES, STR("tick"));
	proto_put_string(w->out, EVENT_NAME, strbuf_str(&name));
	proto_end(w->out, event);
	perfetto_end(w, packet);
	strbuf_deinit(&name);
	write_end(w, uuid, tick->end_ns);
}

static void write_ticks(struct perfetto_writer *w)
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

/* Interns the name of a zone once. */
static void intern_name(struct perfetto_writer *w, uint32_t function)
{
	struct str name = profile_string(w->profile, w->profile->functions[function].name);

	if (w->is_interned.event_name[function])
		return;
	w->is_interned.event_name[function] = true;
	size_t data = proto_begin(w->out, PACKET_INTERNED_DATA);
	perfetto_put_text(w, INTERNED_EVENT_NAMES, (uint64_t)function + 1,
		name.size ? name : STR("[unknown]"));
	proto_end(w->out, data);
}

static void leave_zone(void *context, uint32_t thread, uint32_t stack, uint64_t time_ns)
{
	struct perfetto_writer *w = context;

	(void)stack;
	write_end(w, thread_uuid(w, thread), time_ns);
}

static void enter_zone(void *context, uint32_t thread, uint32_t stack, uint64_t time_ns)
{
	struct perfetto_writer *w = context;
	const struct profile *p = w->profile;
	uint32_t function = p->frames[p->stack_frame[stack].i].function.i;

	size_t packet = perfetto_begin(w, time_ns);
	intern_name(w, function);
	size_t event = proto_begin(w->out, PACKET_TRACK_EVENT);
	proto_put_varint(w->out, EVENT_TYPE, SLICE_BEGIN);
	proto_put_varint(w->out, EVENT_TRACK_UUID, thread_uuid(w, thread));
	proto_put_varint(w->out, EVENT_NAME_IID, (uint64_t)function + 1);
	proto_put_string(w->out, EVENT_CATEGORIES, STR("zone"));
	proto_end(w->out, event);
	perfetto_end(w, packet);
}

static struct error *check(const struct profile *p, metric_id metric)
{
	struct error *err = exporter_check_times(p);

	if (err)
		return err;
	if (p->samples.time_ns && writer_has_negative(p, metric))
		return error_new(ERROR_UNSUPPORTED,
			"Perfetto's samples have no negative weights, and '%.*s' has some",
			STR_ARG(profile_string(p, p->metrics[metric.i].name)));
	return NULL;
}

static struct perfetto_interned nothing_interned(const struct profile *p)
{
	return (struct perfetto_interned){.event_name = xcalloc(p->function_count, sizeof(bool)),
		.function = xcalloc(p->function_count, sizeof(bool)),
		.file = xcalloc(p->string_count, sizeof(bool)),
		.mapping = xcalloc(p->object_count + 1, sizeof(bool)),
		.frame = xcalloc(p->frame_count, sizeof(bool)),
		.callstack = xcalloc(p->stack_count, sizeof(bool))};
}

static void perfetto_deinit(struct perfetto_writer *w)
{
	free(w->is_interned.event_name);
	free(w->is_interned.function);
	free(w->is_interned.file);
	free(w->is_interned.mapping);
	free(w->is_interned.frame);
	free(w->is_interned.callstack);
}

static struct error *perfetto_write(
	struct sink *sink, const struct profile *profile, const struct writer_options *options)
{
	struct error *err = check(profile, options->metric);

	if (err)
		return err;
	struct perfetto_writer w = {.profile = profile,
		.sink = sink,
		.out = &sink->text,
		.metric = options->metric,
		.is_interned = nothing_interned(profile)};
	for (uint32_t i = 0; i < profile->process_count; i++)
		write_process(&w, i);
	for (uint32_t i = 0; i < profile->thread_count; i++)
		write_thread(&w, i);
	write_ticks(&w);
	zone_walk(profile, &w, enter_zone, leave_zone);
	perfetto_write_samples(&w);
	perfetto_deinit(&w);
	return NULL;
}

const struct writer writer_perfetto = {
	.name = "perfetto",
	.extension = ".pftrace",
	.summary = "Perfetto's trace: zones, ticks and samples over time, for "
		   "https://ui.perfetto.dev",
	.is_of_times = true,
	.write = perfetto_write,
};
