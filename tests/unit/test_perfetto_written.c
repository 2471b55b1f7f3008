/*
 * Perfetto's traces as they are written: that they keep the rules of its documents, and read as
 * what they were.
 */
#include <stdio.h>
#include <stdlib.h>

#include "../property.h"
#include "../random_profile.h"
#include "../read_profile.h"
#include "../unit.h"
#include "../writer_text.h"
#include "base/alloc.h"
#include "base/protobuf.h"
#include "formats/common/zone_walk.h"

enum { BEGIN = 1, END = 2 };

enum { FUNCTION_NAMES = 5, FRAMES = 6, CALLSTACKS = 7, MAPPING_PATHS = 17, SOURCE_PATHS = 18 };
enum { MAPPINGS = 19, KIND_COUNT = 20 };
/* The fields of a packet that have a PerfSample; Perfetto does not know the second. */
enum { PERF_SAMPLE = 66, UNCOUNTED_SAMPLE = 20066 };

/* What an interned entry refers to was interned before, and each frame has a mapping. */
static void check_references(bool is_known[KIND_COUNT][4096], uint32_t kind, struct cursor entry)
{
	struct proto_field field;
	size_t mappings = 0, frames = 0;

	while (proto_next(&entry, &field)) {
		if (kind == FRAMES && field.number == 2)
			assert_true(is_known[FUNCTION_NAMES][field.value]);
		if (kind == FRAMES && field.number == 3)
			assert_true(is_known[MAPPINGS][field.value] && ++mappings);
		if (kind == FRAMES && field.number == 5)
			assert_true(is_known[SOURCE_PATHS][field.value]);
		if (kind == CALLSTACKS)
			assert_true(is_known[FRAMES][field.value] && ++frames);
		if (kind == MAPPINGS && field.number == 7)
			assert_true(is_known[MAPPING_PATHS][field.value]);
	}
	assert_int_equal(mappings, kind == FRAMES);
	assert_int_equal(frames > 0, kind == CALLSTACKS);
}

/*
 * The rules: state is cleared first, ids are not 0, what is referred to is there, slices nest on
 * each track.
 */
static void check_rules(struct str bytes)
{
	int64_t depth[4096] = {0};
	static bool is_known[KIND_COUNT][4096];
	bool is_track[4096] = {0}, is_first = true;
	struct proto_field packet, field, inner, entry;
	struct cursor c, m, e, n;

	memset(is_known, 0, sizeof(is_known));
	cursor_init(&c, bytes.data, bytes.size, "written", 0);
	while (proto_next(&c, &packet)) {
		uint64_t sequence = 0, flags = 0, type = 0, uuid = 0, iid = 0;
		assert_int_equal(packet.number, 1);
		m = proto_message(&c, &packet);
		while (proto_next(&m, &field)) {
			sequence = field.number == 10 ? field.value : sequence;
			flags = field.number == 13 ? field.value : flags;
			for (e = proto_message(&m, &field);
				field.type == PROTO_BYTES && proto_next(&e, &inner);) {
				if (field.number == 60 && inner.number == 1) {
					assert_true(inner.value && !is_track[inner.value]);
					is_track[inner.value] = true;
				} else if (field.number == 11) {
					type = inner.number == 9 ? inner.value : type;
					iid = inner.number == 10 ? inner.value : iid;
					uuid = inner.number == 11 ? inner.value : uuid;
				} else if (field.number == 12) {
					n = proto_message(&e, &inner);
					assert_true(proto_next(&n, &entry) && entry.value);
					is_known[inner.number][entry.value] = true;
					check_references(is_known, inner.number, n);
				} else if (field.number == PERF_SAMPLE ||
					   field.number == UNCOUNTED_SAMPLE) {
					assert_true(inner.number != 4 ||
						    is_known[CALLSTACKS][inner.value]);
					/* Perfetto would count a skipped sample. */
					assert_true(inner.number != 18);
				}
			}
		}
		assert_true(sequence != 0);
		assert_int_equal(flags, is_first ? 1 : 2);
		is_first = false;
		assert_true(type == 0 || is_track[uuid]);
		assert_true(iid == 0 || is_known[2][iid]);
		depth[uuid] += type == BEGIN ? 1 : type == END ? -1 : 0;
		assert_true(depth[uuid] >= 0);
	}
	assert_true(cursor_ok(&c));
	for (size_t i = 0; i < 4096; i++)
		assert_int_equal(depth[i], 0);
}

/*
 * The sampled rows of a profile as lines in a fixed order: time since the first, thread, weight and
 * the stack with all that is written of each frame.
 */
static void add_frame(struct strbuf *line, const struct profile *p, const struct frame *frame)
{
	const struct function *function = &p->functions[frame->function.i];
	const struct object *object =
		function->object.i == NO_ID ? NULL : &p->objects[function->object.i];
	struct str name = profile_string(p, function->name);
	struct strbuf texts = {0};

	/* As they become in a string of protobuf. */
	proto_put_string(&texts, 1, name.size ? name : STR("[unknown]"));
	proto_put_string(&texts, 2, profile_string(p, frame->file));
	if (object) {
		/* Paths are whole ones there: others begin with a slash, too. */
		struct str path = profile_string(p, object->path);
		if (path.data[0] == '/')
			path.data++, path.size--;
		proto_put_string(&texts, 3, path);
		strbuf_add(&texts, profile_string(p, object->build_id));
	}
	for (size_t i = 0; i < texts.size; i++)
		strbuf_printf(line, "%02x", (unsigned char)texts.data[i]);
	strbuf_deinit(&texts);
	strbuf_printf(line, " %u%s %llx;", frame->line, frame->is_inline ? " inline" : "",
		object ? (unsigned long long)frame->obj_addr : 0);
}

static char *sample_line(const struct profile *p, size_t i, metric_id metric, uint64_t first_ns)
{
	const struct samples *s = &p->samples;
	const struct thread *thread = &p->threads[s->thread[i].i];
	struct strbuf line = {0};

	strbuf_printf(&line,
		"%llu %lld/%lld %lld: ", (unsigned long long)(s->time_ns[i] - first_ns),
		(long long)p->processes[thread->process.i].pid, (long long)thread->tid,
		(long long)s->weight[metric.i][i]);
	for (uint32_t at = s->stack[i].i; at; at = profile_stack_parent(p, at))
		add_frame(&line, p, &p->frames[p->stack_frame[at].i]);
	if (s->stack[i].i == 0) {
		const struct frame unknown = {.function = {0}};
		const struct function function = {.object = {NO_ID}};
		struct profile empty = *p;
		empty.functions = (struct function *)&function;
		add_frame(&line, &empty, &unknown);
	}
	return line.data;
}

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

struct lines {
	char **data;
	size_t count;
};

static struct lines sample_lines(const struct profile *p, metric_id metric)
{
	const struct samples *s = &p->samples;
	struct lines lines = {xcalloc(s->count + 1, sizeof(char *)), 0};
	uint64_t first_ns = UINT64_MAX;

	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < s->count && !is_of_zones(p, metric); i++) {
			if (s->weight[metric.i][i] == 0)
				continue;
			if (pass)
				lines.data[lines.count++] = sample_line(p, i, metric, first_ns);
			else if (s->time_ns[i] < first_ns)
				first_ns = s->time_ns[i];
		}
	qsort(lines.data, lines.count, sizeof(*lines.data), compare_lines);
	return lines;
}

static void expect_same_samples(const struct profile *p, metric_id metric, const struct profile *q)
{
	struct str name = profile_string(p, p->metrics[metric.i].name);
	metric_id other = {0};

	if (!profile_find_metric(q, name, &other)) {
		struct lines none = sample_lines(p, metric);
		assert_int_equal(none.count, 0);
		free(none.data);
		return;
	}
	struct lines wanted = sample_lines(p, metric), got = sample_lines(q, other);
	assert_int_equal(got.count, wanted.count);
	for (size_t i = 0; i < wanted.count; i++) {
		assert_string_equal(got.data[i], wanted.data[i]);
		free(wanted.data[i]);
		free(got.data[i]);
	}
	free(wanted.data);
	free(got.data);
}

static bool any_sample(const struct profile *p, metric_id metric)
{
	struct lines lines = sample_lines(p, metric);

	for (size_t i = 0; i < lines.count; i++)
		free(lines.data[i]);
	free(lines.data);
	return lines.count > 0;
}

/* ---- Random profiles */

static void write_random(uint64_t seed)
{
	struct random r = random_from(seed);
	struct random_shape shape = random_shape_any(&r);
	shape.samples = true;
	struct profile *p = random_profile(seed, &shape), *q = NULL;
	struct writer_options options = {.metric = {random_below(&r, (uint32_t)p->metric_count)}};
	struct strbuf bytes = {0};
	struct error *err = writer_try(&writer_perfetto, p, &options, &bytes);

	if (writer_has_negative(p, options.metric) || p->samples.time_ns == NULL) {
		assert_non_null(err);
		assert_int_equal(err->kind, ERROR_UNSUPPORTED);
	} else {
		bool has_any =
			p->tick_count || p->zone_events.count || any_sample(p, options.metric);
		assert_null(err);
		check_rules(strbuf_str(&bytes));
		err = try_profile(strbuf_str(&bytes), "test.pftrace", NULL, &q);
		assert_true(q || err);
		assert_true(q || !has_any);
		if (q) {
			assert_int_equal(q->tick_count, p->tick_count);
			expect_same_samples(p, options.metric, q);
		}
		profile_destroy(q);
	}
	error_destroy(err);
	strbuf_deinit(&bytes);
	profile_destroy(p);
}

TEST(test_written)
{
	for (struct property_seeds p = property_seeds(100, 30); property_next(&p);)
		write_random(property_seed);
}

/* The samples that Perfetto counts of each callstack. */
static void count_samples(struct str bytes, size_t *counts, size_t stacks)
{
	struct proto_field packet, field, inner;
	struct cursor c, m;

	memset(counts, 0, stacks * sizeof(*counts));
	cursor_init(&c, bytes.data, bytes.size, "written", 0);
	while (proto_next(&c, &packet))
		for (m = proto_message(&c, &packet); proto_next(&m, &field);) {
			struct cursor sample = proto_message(&m, &field);
			uint64_t stack = 0;

			if (field.number != PERF_SAMPLE)
				continue;
			while (proto_next(&sample, &inner))
				stack = inner.number == 4 ? inner.value : stack;
			assert_in_range(stack, 1, stacks);
			counts[stack - 1]++;
		}
}

/* A profile of that metric: so many samples of each weight, by turns, with a function for each. */
static struct profile *weighed(
	const char *metric, const char *unit, const int64_t (*weights)[2], size_t count)
{
	struct builder *b = builder_create();
	process_id process = builder_process(b, 1, 0, STR("p"));
	thread_id thread = builder_thread(b, 2, process, 0, STR("t"));
	struct profile *p;
	stack_id stacks[16];
	uint64_t time_ns = 0;
	size_t added = 1;

	(void)builder_metric(b, str_from(metric), str_from(unit));
	builder_header(b)->stats.interval_ns = 1000000;
	for (size_t i = 0; i < count; i++) {
		char name[24];

		snprintf(name, sizeof(name), "f%zu", i);
		function_id f = builder_function(b, builder_string(b, str_from(name)),
			(object_id){NO_ID}, (string_id){0}, 0);
		frame_id frame = builder_frame(b, f, (string_id){0}, 0, false, 0);
		stacks[i] = builder_stack(b, (stack_id){0}, frame);
	}
	for (int64_t k = 0; added; k++) {
		added = 0;
		for (size_t i = 0; i < count; i++)
			if (k < weights[i][0]) {
				builder_sample(
					b, stacks[i], thread, time_ns += 1000, &weights[i][1]);
				added++;
			}
	}
	assert_null(builder_finish(b, &p));
	return p;
}

/* Perfetto counts samples: of each stack as many as its weight is worth, to one of all. */
TEST(test_counts)
{
	static const int64_t of_time[][2] = {
		{300, 1000000}, {2, 350000000}, {500, 130000}, {1, 400000}, {40, 2500000}};
	static const int64_t of_events[][2] = {{7, 1}, {3, 90}, {1, 4000}};
	static const int64_t alike[][2] = {{7, 64}, {3, 64}};
	static const int64_t by_turns[][2] = {{1000, 600000}, {1000, 400000}};
	static const struct {
		const char *metric, *unit;
		const int64_t (*weights)[2];
		size_t count;
		int64_t unit_weight;
	} cases[] = {
		{"real-time", "ns", of_time, 5, 1000000},
		{"page-faults", "count", of_events, 3, 1},
		{"bytes", "bytes", alike, 2, 64},
		{"real-time", "ns", by_turns, 2, 500000},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct profile *p =
			weighed(cases[i].metric, cases[i].unit, cases[i].weights, cases[i].count);
		struct writer_options options = {0};
		struct strbuf text = writer_text(&writer_perfetto, p, &options);
		size_t counts[16];

		check_rules(strbuf_str(&text));
		count_samples(strbuf_str(&text), counts, p->stack_count);
		for (size_t k = 0; k < cases[i].count; k++) {
			int64_t weight = cases[i].weights[k][0] * cases[i].weights[k][1];
			int64_t found = (int64_t)counts[k + 1] * cases[i].unit_weight;

			if (llabs(found - weight) > cases[i].unit_weight)
				fail_msg("%s: %zu for %lld", cases[i].metric, counts[k + 1],
					(long long)weight);
		}
		/* And here they are what they were. */
		struct profile *q = read_profile(strbuf_str(&text), "test.pftrace", NULL);

		assert_int_equal(q->samples.count, p->samples.count);
		assert_int_equal(q->total[q->default_metric.i], p->total[0]);
		expect_same_samples(p, (metric_id){0}, q);
		profile_destroy(q);
		profile_destroy(p);
		strbuf_deinit(&text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_written),
		cmocka_unit_test(test_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
