/*
 * Perfetto's traces as they are read: packets made by hand, by the rules of its documents.
 */
#include <stdlib.h>

#include "../profile_checks.h"
#include "../read_profile.h"
#include "../unit.h"
#include "../writer_text.h"
#include "base/protobuf.h"

enum { BEGIN = 1, END = 2, INSTANT = 3 };

static struct profile *try_read(struct str bytes, struct error **err)
{
	struct profile *p = NULL;

	*err = try_profile(bytes, "test.pftrace", NULL, &p);
	return p;
}

static struct profile *read_trace(const struct strbuf *trace)
{
	struct profile *p = read_profile(strbuf_str(trace), "test.pftrace", NULL);

	assert_true(str_equal(profile_string(p, p->format), STR("perfetto")));
	return p;
}

static size_t begin_packet(struct strbuf *t, uint64_t time, uint64_t sequence, uint64_t flags)
{
	size_t packet = proto_begin(t, 1);

	proto_put_varint(t, 8, time);
	proto_put_varint(t, 10, sequence);
	proto_put_varint(t, 13, flags);
	/* What readers do not know. */
	proto_put_string(t, 9999, STR("unknown"));
	return packet;
}

static void put_thread(
	struct strbuf *t, uint64_t uuid, uint64_t pid, uint64_t tid, const char *name)
{
	size_t packet = begin_packet(t, 0, 1, 0), track = proto_begin(t, 60), thread;

	proto_put_varint(t, 1, uuid);
	thread = proto_begin(t, 4);
	proto_put_varint(t, 1, pid);
	proto_put_varint(t, 2, tid);
	proto_put_string(t, 5, str_from(name));
	proto_end(t, thread);
	proto_end(t, track);
	proto_end(t, packet);
}

static void put_name(struct strbuf *t, uint64_t iid, const char *name)
{
	size_t data = proto_begin(t, 12), entry = proto_begin(t, 2);

	proto_put_varint(t, 1, iid);
	proto_put_string(t, 2, str_from(name));
	proto_end(t, entry);
	proto_end(t, data);
}

/* The event of a packet; iid 0 and name NULL: none. */
static void put_event(
	struct strbuf *t, uint64_t type, uint64_t track, uint64_t iid, const char *name)
{
	size_t event = proto_begin(t, 11);

	proto_put_varint(t, 9, type);
	if (track)
		proto_put_varint(t, 11, track);
	if (iid)
		proto_put_varint(t, 10, iid);
	if (name)
		proto_put_string(t, 23, str_from(name));
	proto_end(t, event);
}

static void put_simple(
	struct strbuf *t, uint64_t time, uint64_t type, uint64_t track, const char *name)
{
	size_t packet = begin_packet(t, time, 1, 0);

	put_event(t, type, track, 0, name);
	proto_end(t, packet);
}

TEST(test_slices)
{
	struct strbuf t = {0};

	put_thread(&t, 77, 4, 5, "worker");
	put_simple(&t, 1000, BEGIN, 77, "a");
	put_simple(&t, 1010, BEGIN, 77, "b");
	put_simple(&t, 1015, INSTANT, 77, "i");
	put_simple(&t, 1040, END, 77, NULL);
	put_simple(&t, 1100, END, 77, NULL);
	put_simple(&t, 1100, END, 77, NULL);
	struct profile *p = read_trace(&t);
	expect_folded(p, ZONE_TIME, "a 70\na;b 30\n");
	expect_folded(p, ZONE_ENTRIES, "a 1\na;b 1\n");
	assert_int_equal(p->thread_count, 1);
	assert_int_equal(p->threads[0].tid, 5);
	assert_int_equal(p->processes[0].pid, 4);
	assert_true(str_equal(profile_string(p, p->threads[0].name), STR("worker")));
	assert_int_equal(p->note_count, 2);
	profile_destroy(p);
	strbuf_deinit(&t);
}

/*
 * A ProcessTree names what nothing has named before it; there are more than fit in a first array.
 */
TEST(test_process_tree)
{
	enum { TASKS = 40 };
	struct strbuf t = {0};
	size_t packet = begin_packet(&t, 0, 1, 0), tree = proto_begin(&t, 2), task;

	for (uint64_t i = 1; i <= TASKS; i++) {
		task = proto_begin(&t, 1), proto_put_varint(&t, 1, i);
		proto_put_string(&t, 3, STR("/bin/program")), proto_end(&t, task);
		task = proto_begin(&t, 2), proto_put_varint(&t, 1, 100 + i);
		proto_put_string(&t, 2, STR("worker")), proto_put_varint(&t, 3, i);
		proto_end(&t, task);
	}
	proto_end(&t, tree), proto_end(&t, packet);
	for (uint64_t i = 1; i <= TASKS; i++)
		put_thread(&t, i, i, 100 + i, "");
	put_simple(&t, 1000, BEGIN, 1, "a");
	put_simple(&t, 1010, END, 1, NULL);
	struct profile *p = read_trace(&t);
	assert_int_equal(p->thread_count, TASKS);
	for (uint32_t i = 0; i < TASKS; i++) {
		string_id process = p->processes[p->threads[i].process.i].name;
		assert_true(str_equal(profile_string(p, p->threads[i].name), STR("worker")));
		assert_true(str_equal(profile_string(p, process), STR("program")));
	}
	profile_destroy(p);
	strbuf_deinit(&t);
}

/* Names are of a sequence, and of its state since that was cleared. */
TEST(test_interned)
{
	struct strbuf t = {0};
	size_t packet;

	put_thread(&t, 1, 1, 1, "one");
	put_thread(&t, 2, 1, 2, "two");
	packet = begin_packet(&t, 10, 8, 1), put_name(&t, 3, "x"), put_event(&t, BEGIN, 1, 3, NULL);
	proto_end(&t, packet);
	packet = begin_packet(&t, 10, 9, 1), put_name(&t, 3, "y"), put_event(&t, BEGIN, 2, 3, NULL);
	proto_end(&t, packet);
	packet = begin_packet(&t, 15, 8, 2), put_event(&t, BEGIN, 1, 3, NULL),
	proto_end(&t, packet);
	packet = begin_packet(&t, 18, 8, 1), put_event(&t, BEGIN, 1, 3, NULL),
	proto_end(&t, packet);
	packet = begin_packet(&t, 20, 8, 2), put_event(&t, END, 1, 0, NULL), proto_end(&t, packet);
	packet = begin_packet(&t, 21, 8, 2), put_event(&t, END, 1, 0, NULL), proto_end(&t, packet);
	packet = begin_packet(&t, 24, 8, 2), put_event(&t, END, 1, 0, NULL), proto_end(&t, packet);
	packet = begin_packet(&t, 30, 9, 2), put_event(&t, END, 2, 0, NULL), proto_end(&t, packet);
	struct profile *p = read_trace(&t);
	expect_folded(p, ZONE_TIME, "x 8\nx;x 4\nx;x;(unnamed) 2\ny 20\n");
	profile_destroy(p);
	strbuf_deinit(&t);
}

/* A clock of the sequence that counts µs from one packet to the next; a track by default. */
TEST(test_clocks)
{
	struct strbuf t = {0};
	size_t packet, snapshot, clock, defaults, event;

	packet = begin_packet(&t, 0, 1, 1);
	snapshot = proto_begin(&t, 6);
	clock = proto_begin(&t, 1), proto_put_varint(&t, 1, 64), proto_put_varint(&t, 2, 50);
	proto_put_varint(&t, 3, 1), proto_put_varint(&t, 4, 1000), proto_end(&t, clock);
	clock = proto_begin(&t, 1), proto_put_varint(&t, 1, 6), proto_put_varint(&t, 2, 7000000);
	proto_end(&t, clock), proto_end(&t, snapshot);
	defaults = proto_begin(&t, 59), proto_put_varint(&t, 58, 64);
	event = proto_begin(&t, 11), proto_put_varint(&t, 11, 5), proto_end(&t, event);
	proto_end(&t, defaults), proto_end(&t, packet);
	put_thread(&t, 5, 1, 1, "one");
	put_simple(&t, 3, BEGIN, 0, "a");
	put_simple(&t, 4, BEGIN, 0, "b");
	put_simple(&t, 5, END, 0, NULL);
	/* By the trace's own clock. */
	packet = begin_packet(&t, 7020000, 1, 0), proto_put_varint(&t, 58, 6);
	put_event(&t, END, 5, 0, NULL), proto_end(&t, packet);
	struct profile *p = read_trace(&t);
	expect_folded(p, ZONE_TIME, "a 12000\na;b 5000\n");
	profile_destroy(p);
	strbuf_deinit(&t);
}

/*
 * Traces begin with packets of other kinds: of their configuration, of the machine, of later
 * versions.
 */
TEST(test_other_packets)
{
	struct strbuf t = {0};

	for (uint64_t i = 0; i < 40; i++) {
		size_t packet = begin_packet(&t, i, 1, 0), config = proto_begin(&t, 33);
		proto_put_string(&t, 1, STR("linux.ftrace"));
		proto_end(&t, config), proto_end(&t, packet);
	}
	put_simple(&t, 1000, BEGIN, 1, "a");
	put_simple(&t, 1010, END, 1, NULL);
	struct profile *p = read_trace(&t);
	expect_folded(p, ZONE_TIME, "a 10\n");
	profile_destroy(p);
	strbuf_deinit(&t);
}

TEST(test_cut)
{
	struct strbuf t = {0};
	size_t read = 0;

	put_thread(&t, 77, 4, 5, "worker");
	put_simple(&t, 1000, BEGIN, 77, "a");
	put_simple(&t, 1100, END, 77, NULL);
	for (size_t size = 1; size < t.size; size++) {
		struct error *err;
		struct profile *p = try_read((struct str){t.data, size}, &err);
		read += p != NULL;
		assert_true((p == NULL) == (err != NULL));
		if (p)
			assert_true(p->note_count > 0);
		profile_destroy(p);
		error_destroy(err);
	}
	assert_true(read > 10);
	strbuf_deinit(&t);
}

/* ---- Samples */

/* An entry of InternedData: its id, and up to two numbers. */
static void put_entry(struct strbuf *t, uint32_t kind, uint64_t iid, uint32_t a, uint64_t x,
	uint32_t b, uint64_t y)
{
	size_t entry = proto_begin(t, kind);

	proto_put_varint(t, 1, iid);
	if (a)
		proto_put_varint(t, a, x);
	if (b)
		proto_put_varint(t, b, y);
	proto_end(t, entry);
}

static void put_text(struct strbuf *t, uint32_t kind, uint64_t iid, const char *text)
{
	size_t entry = proto_begin(t, kind);

	proto_put_varint(t, 1, iid);
	proto_put_string(t, 2, str_from(text));
	proto_end(t, entry);
}

/* main calls f, in /usr/bin/app; callstack 1 is both, 2 main alone, 3 the address 0x99 in main. */
static void put_callstacks(struct strbuf *t, uint64_t sequence)
{
	size_t packet = begin_packet(t, 1, sequence, 1), data = proto_begin(t, 12);

	put_text(t, 5, 1, "main");
	put_text(t, 5, 2, "f");
	put_text(t, 16, 1, "\x12\x34");
	put_text(t, 17, 1, "usr");
	put_text(t, 17, 2, "bin");
	put_text(t, 17, 3, "app");
	put_text(t, 18, 1, "main.c");
	size_t mapping = proto_begin(t, 19);
	proto_put_varint(t, 1, 4);
	proto_put_varint(t, 2, 1);
	for (uint64_t part = 1; part < 4; part++)
		proto_put_varint(t, 7, part);
	proto_end(t, mapping);
	put_entry(t, 6, 10, 2, 1, 5, 1);
	size_t frame = proto_begin(t, 6);
	proto_put_varint(t, 1, 11);
	proto_put_varint(t, 2, 2);
	proto_put_varint(t, 3, 4);
	proto_put_varint(t, 4, 0x1234);
	proto_end(t, frame);
	put_entry(t, 6, 12, 3, 4, 4, 0x99);
	put_entry(t, 7, 1, 2, 10, 2, 11);
	put_entry(t, 7, 2, 2, 10, 0, 0);
	put_entry(t, 7, 3, 2, 10, 2, 12);
	proto_end(t, data);
	proto_end(t, packet);
}

/* The fields of a packet that have a PerfSample; the second is sonde's own, and not counted. */
enum { PERF_SAMPLE = 66, UNCOUNTED_SAMPLE = 20066 };

static void put_perf_sample_in(struct strbuf *t, uint32_t number, uint64_t time, uint64_t stack,
	uint32_t extra, uint64_t value)
{
	size_t packet = begin_packet(t, time, 1, 2), sample = proto_begin(t, number);

	proto_put_varint(t, 2, 4);
	proto_put_varint(t, 3, 5);
	if (stack)
		proto_put_varint(t, 4, stack);
	if (extra)
		proto_put_varint(t, extra, value);
	proto_end(t, sample);
	proto_end(t, packet);
}

static void put_perf_sample(
	struct strbuf *t, uint64_t time, uint64_t stack, uint32_t extra, uint64_t value)
{
	put_perf_sample_in(t, PERF_SAMPLE, time, stack, extra, value);
}

/* A ModuleSymbols: 0x99 is g, inlined in h. */
static void put_symbols(struct strbuf *t)
{
	size_t packet = begin_packet(t, 1, 9, 0), module = proto_begin(t, 61), address, line;

	proto_put_string(t, 2, STR("\x12\x34"));
	address = proto_begin(t, 3);
	proto_put_varint(t, 1, 0x99);
	line = proto_begin(t, 2);
	proto_put_string(t, 1, STR("g"));
	proto_end(t, line);
	line = proto_begin(t, 2);
	proto_put_string(t, 1, STR("h"));
	proto_put_string(t, 2, STR("h.c"));
	proto_put_varint(t, 3, 7);
	proto_end(t, line);
	proto_end(t, address);
	proto_end(t, module);
	proto_end(t, packet);
}

TEST(test_perf_samples)
{
	struct strbuf t = {0};

	put_callstacks(&t, 1);
	put_perf_sample(&t, 1000, 1, 0, 0);
	put_perf_sample(&t, 2000, 1, 16, 7); /* not walked to its root */
	put_perf_sample(&t, 3000, 2, 0, 0);
	put_perf_sample(&t, 4000, 3, 0, 0);
	put_perf_sample(&t, 5000, 77, 0, 0);  /* not there */
	put_perf_sample(&t, 6000, 0, 17, 30); /* lost */
	put_perf_sample(&t, 7000, 0, 18, 4);  /* somebody else */
	put_symbols(&t);
	struct profile *p = read_trace(&t);
	expect_folded(p, "samples", "main 1\nmain;f 2\nmain;h;g 1\n");
	assert_int_equal(p->metric_count, 1);
	assert_int_equal(p->samples.count, 4);
	assert_int_equal(p->samples.time_ns[3], 3000);
	assert_int_equal(p->threads[0].tid, 5);
	assert_int_equal(p->object_count, 1);
	assert_true(str_equal(profile_string(p, p->objects[0].path), STR("/usr/bin/app")));
	assert_true(str_equal(profile_string(p, p->objects[0].build_id), STR("1234")));
	bool found = false, is_inline = false;
	for (size_t i = 0; i < p->frame_count; i++) {
		found |= p->frames[i].obj_addr == 0x1234;
		is_inline |= p->frames[i].is_inline;
	}
	assert_true(found && is_inline);
	assert_int_equal(p->note_count, 4);
	profile_destroy(p);
	strbuf_deinit(&t);
}

/* The defaults of a sequence: of PerfSample the timebase, task-clock with a period. */
static void put_period(struct strbuf *t)
{
	size_t packet = begin_packet(t, 1, 1, 2), defaults = proto_begin(t, 59);
	size_t perf = proto_begin(t, 12), timebase = proto_begin(t, 1);

	proto_put_varint(t, 1, 500);
	proto_put_varint(t, 4, 3);
	proto_end(t, timebase);
	proto_end(t, perf);
	proto_end(t, defaults);
	proto_end(t, packet);
}

TEST(test_period)
{
	struct strbuf t = {0};

	put_callstacks(&t, 1);
	put_perf_sample(&t, 1000, 2, 0, 0);
	put_period(&t);
	put_perf_sample(&t, 1100, 2, 0, 0);
	put_perf_sample(&t, 2000, 1, 0, 0);
	struct profile *p = read_trace(&t);
	expect_folded(p, "task-clock", "main 500\nmain;f 500\n");
	assert_true(str_equal(profile_string(p, p->metrics[0].unit), STR("ns")));
	assert_int_equal(p->samples.count, 3);
	assert_int_equal(p->note_count, 1); /* of the sample that weighs nothing */
	profile_destroy(p);
	strbuf_deinit(&t);
}

/* Samples without a unit have their weight, as sonde writes them and as it did before. */
TEST(test_uncounted)
{
	struct strbuf t = {0};

	put_callstacks(&t, 1);
	put_period(&t);
	put_perf_sample(&t, 1000, 2, 0, 0);
	put_perf_sample_in(&t, UNCOUNTED_SAMPLE, 1100, 1, 0, 0);
	put_perf_sample(&t, 1200, 1, 18, 4);
	struct profile *p = read_trace(&t);
	expect_folded(p, "task-clock", "main 500\nmain;f 1000\n");
	assert_int_equal(p->samples.count, 3);
	assert_int_equal(p->note_count, 0);
	profile_destroy(p);
	strbuf_deinit(&t);
}

/* A StackSample of thread 5, its callstack in itself, weighed in units of 1024 bytes. */
static void put_stack_sample(
	struct strbuf *t, uint64_t time, const char *const *frames, uint64_t weight)
{
	size_t packet = begin_packet(t, time, 1, 2), sample = proto_begin(t, 135);
	size_t part = proto_begin(t, 1);

	proto_put_varint(t, 2, 4);
	proto_put_varint(t, 3, 5);
	proto_end(t, part);
	part = proto_begin(t, 5);
	for (; *frames; frames++) {
		size_t frame = proto_begin(t, 1);
		proto_put_string(t, 1, str_from(*frames));
		proto_end(t, frame);
	}
	proto_end(t, part);
	part = proto_begin(t, 9);
	proto_put_string(t, 2, STR("heap"));
	proto_put_varint(t, 3, 4);
	proto_put_varint(t, 5, 1024);
	proto_end(t, part);
	proto_put_varint(t, 11, weight);
	proto_end(t, sample);
	proto_end(t, packet);
}

TEST(test_stack_samples)
{
	static const char *const outer[] = {"a", NULL}, *const inner[] = {"a", "b", NULL};
	struct strbuf t = {0};
	metric_id samples;

	put_stack_sample(&t, 1000, outer, 2);
	put_stack_sample(&t, 1500, inner, 3);
	put_stack_sample(&t, 1700, inner, 1);
	struct profile *p = read_trace(&t);
	expect_folded(p, "heap", "a 2048\na;b 4096\n");
	assert_true(str_equal(profile_string(p, p->metrics[0].unit), STR("bytes")));
	assert_false(profile_find_metric(p, STR("samples"), &samples));
	assert_int_equal(p->note_count, 0);
	profile_destroy(p);
	strbuf_deinit(&t);
}

/* Samples next to slices are in the zone that was open on their thread. */
TEST(test_zones_of_samples)
{
	static const char *const wanted[] = {"", "outer", "inner", "outer", ""};
	struct strbuf t = {0};
	size_t seen = 0;

	put_callstacks(&t, 1);
	put_thread(&t, 77, 4, 5, "worker");
	put_simple(&t, 1000, BEGIN, 77, "outer");
	put_simple(&t, 2000, BEGIN, 77, "inner");
	put_simple(&t, 3000, END, 77, NULL);
	put_simple(&t, 4000, END, 77, NULL);
	for (uint64_t time = 500; time < 5000; time += 1000)
		put_perf_sample(&t, time, 1, 0, 0);
	struct profile *p = read_trace(&t);
	for (size_t i = 0; i < p->samples.count; i++) {
		uint32_t zone = p->samples.zone[i].i;
		if (p->samples.weight[0][i] == 0)
			continue;
		struct str name =
			zone ? profile_string(
				       p, p->functions[p->frames[p->stack_frame[zone].i].function.i]
						  .name)
			     : STR("");
		assert_true(str_equal(name, str_from(wanted[seen++])));
	}
	assert_int_equal(seen, ARRAY_SIZE(wanted));
	profile_destroy(p);
	strbuf_deinit(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_slices),
		cmocka_unit_test(test_process_tree),
		cmocka_unit_test(test_interned),
		cmocka_unit_test(test_clocks),
		cmocka_unit_test(test_other_packets),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_perf_samples),
		cmocka_unit_test(test_period),
		cmocka_unit_test(test_uncounted),
		cmocka_unit_test(test_stack_samples),
		cmocka_unit_test(test_zones_of_samples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
