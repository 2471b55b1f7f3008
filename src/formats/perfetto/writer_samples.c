/*
 * Samples in Perfetto's trace: PerfSample, which all its versions since 2020 support, and their
 * interned data.
 *
 * Source: profile_packet.proto, profile_common.proto, interned_data.proto and perf_events.proto in
 * protos/perfetto of Perfetto; for what is required to show a sample, its trace processor
 * (stack_profile_sequence_state.cc): each frame has a mapping, each callstack a frame.
 *
 * A PerfSample has no weight: it stands for one period of its sequence's timebase, and Perfetto
 * counts samples.  So a sample is repeated in proportion to its weight, using systematic sampling:
 * once for each `unit` of weight, accumulated stack by stack.  (In order of time, samples that
 * alternate between two stacks could all be rounded the same way.)  The first repetition has the
 * weight, as the period; the others have the period 0, and are spread over an off-CPU period.
 *
 * A sample that gets no unit must not be counted.  Its PerfSample is in a field of the packet that
 * Perfetto does not have, and so skips; PerfSample's own sample_skipped_reason does not prevent it
 * from being counted.
 *
 * If the period differs from the previous sample's, its packet sets it: defaults apply from the
 * packet that sets them.
 */
#include "formats/perfetto/writer.h"

#include <math.h>
#include <stdlib.h>

#include "base/vec.h"
#include "formats/common/zone_walk.h"

enum { BUILD_ID_MAX = 64 }; /* bytes */

/* True the first time. */
static bool is_new(bool *is_interned, uint32_t i)
{
	bool before = is_interned[i];

	is_interned[i] = true;
	return !before;
}

/* ---- What frames refer to; ids are the profile's numbers plus 1 */

/* Writes a build ID as bytes; false: it is invalid. */
static bool put_build_id(struct perfetto_writer *w, uint64_t iid, struct str hex)
{
	char bytes[BUILD_ID_MAX];

	if (hex.size == 0 || hex.size > 2 * sizeof(bytes) || !str_unhex(hex, bytes))
		return false;
	size_t entry = proto_begin(w->out, INTERNED_BUILD_IDS);
	proto_put_varint(w->out, ENTRY_IID, iid);
	proto_put_bytes(w->out, STRING_TEXT, (struct str){bytes, hex.size / 2});
	proto_end(w->out, entry);
	return true;
}

/*
 * Writes the mapping of a load object; `object` may be NO_ID: a mapping without a path.  Returns
 * its id.
 */
static uint64_t put_mapping(struct perfetto_writer *w, uint32_t object)
{
	const struct profile *p = w->profile;
	bool is_known = object != NO_ID;
	uint32_t at = is_known ? object : (uint32_t)p->object_count;
	uint64_t iid = (uint64_t)at + 1;

	if (!is_new(w->is_interned.mapping, at))
		return iid;
	struct str path = is_known ? profile_string(p, p->objects[object].path) : STR("");
	bool has_build_id =
		is_known && put_build_id(w, iid, profile_string(p, p->objects[object].build_id));
	if (path.size)
		perfetto_put_text(w, INTERNED_MAPPING_PATHS, iid, path);
	size_t entry = proto_begin(w->out, INTERNED_MAPPINGS);
	proto_put_varint(w->out, ENTRY_IID, iid);
	if (has_build_id)
		proto_put_varint(w->out, MAPPING_BUILD_ID, iid);
	if (path.size)
		proto_put_varint(w->out, MAPPING_PATH, iid);
	proto_end(w->out, entry);
	return iid;
}

static uint64_t put_function(struct perfetto_writer *w, uint32_t function)
{
	struct str name = profile_string(w->profile, w->profile->functions[function].name);

	if (is_new(w->is_interned.function, function))
		perfetto_put_text(w, INTERNED_FUNCTION_NAMES, (uint64_t)function + 1,
			name.size ? name : STR("[unknown]"));
	return (uint64_t)function + 1;
}

/* Perfetto does not mark inlined frames, but the kind may be any text. */
static void put_kind(struct perfetto_writer *w, bool is_kernel, bool is_inline)
{
	if (is_inline)
		proto_put_string(w->out, FRAME_KIND_TEXT,
			is_kernel ? STR("inlined kernel") : STR("inlined"));
	else if (is_kernel)
		proto_put_varint(w->out, FRAME_KIND, KIND_KERNEL);
}

static void put_frame(struct perfetto_writer *w, uint32_t i)
{
	const struct profile *p = w->profile;
	const struct frame *frame = &p->frames[i];
	uint32_t object = p->functions[frame->function.i].object.i;
	bool is_kernel = object != NO_ID && p->objects[object].kind == OBJECT_KERNEL;

	if (!is_new(w->is_interned.frame, i))
		return;
	uint64_t function = put_function(w, frame->function.i), mapping = put_mapping(w, object);
	bool has_file = profile_string(p, frame->file).size > 0;
	if (has_file && is_new(w->is_interned.file, frame->file.i))
		perfetto_put_text(w, INTERNED_SOURCE_PATHS, (uint64_t)frame->file.i + 1,
			profile_string(p, frame->file));
	size_t entry = proto_begin(w->out, INTERNED_FRAMES);
	proto_put_varint(w->out, ENTRY_IID, (uint64_t)i + 1);
	proto_put_varint(w->out, FRAME_FUNCTION, function);
	proto_put_varint(w->out, FRAME_MAPPING, mapping);
	proto_put_varint(w->out, FRAME_ADDRESS, frame->obj_addr);
	if (has_file)
		proto_put_varint(w->out, FRAME_FILE, (uint64_t)frame->file.i + 1);
	if (frame->line)
		proto_put_varint(w->out, FRAME_LINE, frame->line);
	put_kind(w, is_kernel, frame->is_inline);
	proto_end(w->out, entry);
}

/* Writes a frame for empty stacks: a callstack without frames is not shown. */
static void put_unknown_frame(struct perfetto_writer *w)
{
	uint64_t function = w->profile->function_count + 1;

	perfetto_put_text(w, INTERNED_FUNCTION_NAMES, function, STR("[unknown]"));
	uint64_t mapping = put_mapping(w, NO_ID);
	size_t entry = proto_begin(w->out, INTERNED_FRAMES);
	proto_put_varint(w->out, ENTRY_IID, w->profile->frame_count + 1);
	proto_put_varint(w->out, FRAME_FUNCTION, function);
	proto_put_varint(w->out, FRAME_MAPPING, mapping);
	proto_end(w->out, entry);
}

/* ---- Callstacks */

static void put_callstack(struct perfetto_writer *w, uint32_t stack)
{
	const struct profile *p = w->profile;
	VEC(uint32_t) frames = {0};

	for (uint32_t i = stack; i; i = profile_stack_parent(p, i)) {
		vec_push(&frames, p->stack_frame[i].i);
		put_frame(w, p->stack_frame[i].i);
	}
	if (stack == 0)
		put_unknown_frame(w);
	size_t entry = proto_begin(w->out, INTERNED_CALLSTACKS);
	proto_put_varint(w->out, ENTRY_IID, (uint64_t)stack + 1);
	if (stack == 0)
		proto_put_varint(w->out, CALLSTACK_FRAMES, w->profile->frame_count + 1);
	/* Perfetto declares it as not packed; the outermost comes first. */
	while (frames.count)
		proto_put_varint(
			w->out, CALLSTACK_FRAMES, (uint64_t)frames.data[--frames.count] + 1);
	proto_end(w->out, entry);
	vec_deinit(&frames);
}

static void intern_callstack(struct perfetto_writer *w, uint32_t stack)
{
	if (!is_new(w->is_interned.callstack, stack))
		return;
	size_t data = proto_begin(w->out, PACKET_INTERNED_DATA);
	put_callstack(w, stack);
	proto_end(w->out, data);
}

/* ---- How often a sample is written */

/*
 * Weights are divided into at most this many units, or as many as there are samples; counts into at
 * most UNITS_OF_COUNTS.
 */
#define UNITS_MAX	1000000
#define UNITS_OF_COUNTS 100000

/* A sample, or a repetition of it. */
struct writing {
	uint64_t time_ns;
	size_t sample;
	bool is_counted; /* it has a unit: Perfetto counts it */
	bool is_first;	 /* the first of its sample, which has the weight */
};
typedef VEC(struct writing) writing_vec;

static bool is_time(const struct perfetto_writer *w)
{
	const struct metric *metric = &w->profile->metrics[w->metric.i];

	return str_equal(profile_string(w->profile, metric->unit), STR("ns"));
}

/* The weight of one written sample: the clock's interval, or the smallest possible. */
static double unit_of(const struct perfetto_writer *w)
{
	const struct profile *p = w->profile;
	const int64_t *weight = p->samples.weight[w->metric.i];
	double total = (double)p->total[w->metric.i], unit = total, most = UNITS_OF_COUNTS;
	size_t count = 0;

	for (size_t i = 0; i < p->samples.count; i++) {
		count += weight[i] != 0;
		if (weight[i] != 0 && (double)weight[i] < unit)
			unit = (double)weight[i];
	}
	if (is_time(w) && p->stats.interval_ns > 0 && p->stats.interval_ns != UINT64_MAX) {
		unit = (double)p->stats.interval_ns;
		most = UNITS_MAX;
	}
	if (unit < total / most)
		unit = total / most;
	return count > 0 && unit > total / (double)count ? total / (double)count : unit;
}

static void plan(const struct perfetto_writer *w, size_t sample, uint64_t times, writing_vec *all)
{
	const struct samples *s = &w->profile->samples;
	uint64_t begin_ns = s->time_ns[sample];
	double step_ns = is_time(w) && times > 1
				 ? (double)s->weight[w->metric.i][sample] / (double)times
				 : 0;

	vec_push(all, (struct writing){begin_ns, sample, times > 0, true});
	for (uint64_t i = 1; i < times; i++)
		vec_push(all, (struct writing){begin_ns + (uint64_t)((double)i * step_ns), sample,
				      true, false});
}

static int compare_writings(const void *a, const void *b)
{
	const struct writing *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	if (x->sample != y->sample)
		return x->sample < y->sample ? -1 : 1;
	return y->is_first - x->is_first;
}

/* A sample with weight. */
struct weighed {
	uint32_t stack, thread;
	size_t sample;
};

static int compare_weighed(const void *a, const void *b)
{
	const struct weighed *x = a, *y = b;

	if (x->stack != y->stack)
		return x->stack < y->stack ? -1 : 1;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return x->sample < y->sample ? -1 : x->sample > y->sample;
}

/* Plans all samples and repetitions, ordered by time. */
static void plan_all(const struct perfetto_writer *w, double unit, writing_vec *all)
{
	const struct samples *s = &w->profile->samples;
	const int64_t *weights = s->weight[w->metric.i];
	VEC(struct weighed) order = {0};
	double left = unit / 2;

	for (size_t i = 0; i < s->count; i++)
		if (weights[i] != 0)
			vec_push(&order,
				(struct weighed){s->stack[i].i, s->thread ? s->thread[i].i : 0, i});
	if (order.count > 0)
		qsort(order.data, order.count, sizeof(*order.data), compare_weighed);
	for (size_t i = 0; i < order.count; i++) {
		double weight = (double)weights[order.data[i].sample];
		double times = floor((left + weight) / unit);

		left += weight - times * unit;
		plan(w, order.data[i].sample, (uint64_t)times, all);
	}
	vec_deinit(&order);
	if (all->count > 0)
		qsort(all->data, all->count, sizeof(*all->data), compare_writings);
}

/* ---- Samples */

static void put_period(struct perfetto_writer *w, int64_t period)
{
	const struct metric *metric = &w->profile->metrics[w->metric.i];
	size_t defaults = proto_begin(w->out, PACKET_DEFAULTS);
	size_t perf = proto_begin(w->out, DEFAULTS_PERF_SAMPLE);
	size_t timebase = proto_begin(w->out, PERF_DEFAULTS_TIMEBASE);

	proto_put_varint(w->out, TIMEBASE_PERIOD, (uint64_t)period);
	proto_put_varint(
		w->out, TIMEBASE_COUNTER, is_time(w) ? TIMEBASE_CPU_CLOCK : TIMEBASE_UNKNOWN);
	proto_put_string(w->out, TIMEBASE_NAME, profile_string(w->profile, metric->name));
	proto_end(w->out, timebase);
	proto_end(w->out, perf);
	proto_end(w->out, defaults);
}

/* sum: the weight counted so far, including this one. */
static void put_sample(struct perfetto_writer *w, const struct writing *t, uint64_t sum)
{
	const struct profile *p = w->profile;
	const struct samples *s = &p->samples;
	const struct thread *thread = s->thread ? &p->threads[s->thread[t->sample].i] : NULL;
	size_t sample =
		proto_begin(w->out, t->is_counted ? PACKET_PERF_SAMPLE : PACKET_UNCOUNTED_SAMPLE);

	proto_put_varint(w->out, PERF_CPU, 0);
	proto_put_varint(
		w->out, PERF_PID, thread ? (uint32_t)p->processes[thread->process.i].pid : 0);
	proto_put_varint(w->out, PERF_TID, thread ? (uint32_t)thread->tid : 0);
	proto_put_varint(w->out, PERF_CALLSTACK_IID, (uint64_t)s->stack[t->sample].i + 1);
	proto_put_varint(w->out, PERF_COUNT, sum);
	proto_end(w->out, sample);
}

void perfetto_write_samples(struct perfetto_writer *w)
{
	const struct samples *s = &w->profile->samples;
	writing_vec all = {0};
	int64_t last = -1;
	double sum = 0;

	if (s->time_ns == NULL || is_of_zones(w->profile, w->metric))
		return;
	double unit = unit_of(w);

	plan_all(w, unit, &all);
	for (size_t i = 0; i < all.count && sink_settle(w->sink); i++) {
		const struct writing *t = &all.data[i];
		int64_t period = t->is_first ? s->weight[w->metric.i][t->sample] : 0;
		size_t packet = perfetto_begin(w, t->time_ns);

		if (period != last)
			put_period(w, period);
		last = period;
		sum += t->is_counted ? unit : 0;
		intern_callstack(w, s->stack[t->sample].i);
		put_sample(w, t, (uint64_t)sum);
		perfetto_end(w, packet);
	}
	vec_deinit(&all);
}
