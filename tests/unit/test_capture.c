/*
 * Capture files: what was recorded is what is read.
 */
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../capture_files.h"
#include "../unit.h"
#include "formats/sonde/layout/capture_rows.h"
#include "obj/tail_calls.h"
#include "record/samples/sample_labels.h"

static const struct random_capture_options small = {
	.seed = 1,
	.functions = 50,
	.depth = 12,
	.turnover = 4,
	.threads = 3,
	.objects = 2,
	.interval_ns = 997000,
	.jitter_ns = 20000,
};

static void round_trip(const struct random_capture_options *options, size_t samples, bool symbols)
{
	struct random_capture r;

	random_capture_init(&r, options);
	char *path = capture_make_file(&r, "trip.prof", samples, symbols);
	struct profile *p = capture_read_file(path);
	capture_expect_equal(&r, p, samples, symbols);
	assert_int_equal(capture_note_count(p, NOTE_INCOMPLETE), 0);
	assert_int_equal(capture_note_count(p, NOTE_BAD_RECORD), 0);
	assert_int_equal(capture_note_count(p, NOTE_LOST), 0);
	assert_int_equal(capture_note_count(p, NOTE_NO_SYMBOLS) > 0, !symbols && samples > 0);
	profile_destroy(p);
	free(path);
	random_capture_deinit(&r);
}

TEST(test_round_trip)
{
	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct random_capture_options o = small;
		o.seed = seed;
		o.functions = (uint32_t)(1 + seed * seed);
		o.threads = (uint32_t)(1 + seed % 5);
		o.depth = (uint32_t)(1 + seed * 2);
		o.turnover = (uint32_t)(seed % 12);
		round_trip(&o, seed * 37 % 1000, seed % 2);
	}
}

/* Large enough to be rewritten in several chunks of samples. */
TEST(test_round_trip_rewritten)
{
	struct random_capture_options o = small;

	o.functions = 2000;
	o.depth = 30;
	round_trip(&o, getenv("SANITIZED") ? 70000 : 150000, true);
}

/* A recorder that finds time to flush only once in a while. */
TEST(test_round_trip_deep)
{
	struct random_capture_options o = small;

	o.functions = 3;
	o.depth = 70000;
	o.turnover = 100;
	o.threads = 1;
	round_trip(&o, 50, true);
}

static void add_chain(struct capture_writer *w, uint32_t object, uint64_t obj_addr)
{
	const struct capture_symbol_frame frames[] = {
		{.function = STR("inner"), .file = STR("a.h"), .line = 3, .is_inline = true},
		{.function = STR("middle"), .file = STR("b.h"), .line = 5, .is_inline = true},
		{.function = STR("outer"),
			.file = STR("c.c"),
			.line = 7,
			.function_file = STR("c.c"),
			.function_line = 6},
	};

	capture_writer_symbol(w, object, obj_addr, frames, 3);
}

static const char *leaf_name(const struct profile *p, stack_id stack)
{
	const struct frame *f = &p->frames[p->stack_frame[stack.i].i];

	return p->strings[p->functions[f->function.i].name.i].data;
}

/* Inline chains, the kernel, unknown code, a stack that was cut. */
static void write_mixture(struct capture_writer *w)
{
	const int64_t weight = 1000000;

	capture_writer_metric(w, 0, STR("cpu-time"), STR("ns"));
	capture_writer_object(w, 0, STR("/bin/prog"), STR("ab12"), CAPTURE_OBJECT_USER);
	capture_writer_object(w, 1, STR("[kernel]"), STR(""), CAPTURE_OBJECT_KERNEL);
	capture_writer_object(w, 2, STR("[truncated]"), STR(""), CAPTURE_OBJECT_TRUNCATED);
	capture_writer_object(w, 3, STR(""), STR(""), CAPTURE_OBJECT_UNKNOWN);
	capture_writer_process(w, 0, 77, CAPTURE_NO_ID, 5, STR("sh"));
	capture_writer_thread(w, 0, 0, 78, 6, STR("worker"));
	capture_writer_node(w, 1, 0, 0, 0x1000);
	capture_writer_node(w, 2, 1, 1, 0xffffffff81000010);
	capture_writer_node(w, 3, 0, 2, 0);
	capture_writer_node(w, 4, 3, 0, 0x1000);
	capture_writer_node(w, 5, 1, 3, 0x99);
	for (uint32_t node = 1; node <= 5; node++)
		capture_writer_sample(w, node * 1000000, 0, node, 0, 0, &weight);
	capture_writer_process(w, 0, 77, CAPTURE_NO_ID, 5, STR("prog"));
	add_chain(w, 0, 0x1000);
}

/*
 * main calls f and g directly by name, but the frame in f's call is of g: twice, in two places of
 * it, through two jumps.  The third frame there is f's own.
 */
static void write_tails(struct capture_writer *w)
{
	static const char *const names[] = {"main", "f", "g", "h"};
	const int64_t weight = 1000000;

	capture_writer_metric(w, 0, STR("cpu-time"), STR("ns"));
	capture_writer_object(w, 0, STR("/bin/prog"), STR("ab12"), CAPTURE_OBJECT_USER);
	capture_writer_process(w, 0, 77, CAPTURE_NO_ID, 5, STR("prog"));
	capture_writer_thread(w, 0, 0, 77, 5, STR("prog"));
	for (uint32_t i = 0; i < 4; i++)
		capture_writer_symbol(w, 0, 0x1000 * (i + 1),
			&(struct capture_symbol_frame){.function = str_from(names[i])}, 1);
	capture_writer_symbol(
		w, 0, 0x3004, &(struct capture_symbol_frame){.function = STR("g")}, 1);
	capture_writer_node(w, 1, 0, 0, 0x1000);
	capture_writer_node(w, 2, 1, 0, 0x3000);
	capture_writer_node(w, 3, 1, 0, 0x3004);
	capture_writer_node(w, 4, 1, 0, 0x2000);
	capture_writer_node(w, 5, 4, 0, 0x3000);
	for (uint32_t i = 0; i < 2; i++) {
		capture_writer_tail(w, &(struct capture_tail){0, 0x1000, 0x3000 + 4 * i, 0x2000});
		capture_writer_tail(w, &(struct capture_tail){0, 0x1000, 0x3000 + 4 * i, 0x4000});
	}
	for (uint32_t node = 2; node <= 5; node++)
		capture_writer_sample(w, node * 1000000, 0, node, 0, 0, &weight);
}

static void check_stack(const struct profile *p, stack_id stack, const char *expected)
{
	struct strbuf text = {0};

	for (; stack.i; stack = profile_parent(p, stack))
		strbuf_printf(&text, "%s<", leaf_name(p, stack));
	assert_string_equal(text.data, expected);
	strbuf_deinit(&text);
}

/* Callers that left no frame are where the file says, once, and counted. */
TEST(test_tails)
{
	char *path = capture_file_path("tails.prof");
	struct capture_writer *w;

	assert_null(capture_writer_create(path, &w));
	write_tails(w);
	assert_null(capture_writer_finish(w, NULL));
	struct profile *p = capture_read_file(path);
	const stack_id *stack = p->samples.stack;
	assert_int_equal(p->samples.count, 4);
	check_stack(p, stack[0], "g<h [tail call]<f [tail call]<main<");
	check_stack(p, stack[1], "g<h [tail call]<f [tail call]<main<");
	assert_int_equal(profile_parent(p, stack[0]).i, profile_parent(p, stack[1]).i);
	check_stack(p, stack[2], "f<main<");
	check_stack(p, stack[3], "g<f<main<");
	assert_int_equal(capture_note_count(p, NOTE_INFO), 2);
	assert_int_equal(p->stats.critical, 0);
	profile_destroy(p);
	free(path);
}

/* Rows that no recorder writes: of frames that are missing, without names, far too many. */
TEST(test_tails_of_nothing)
{
	char *path = capture_file_path("no-tails.prof");
	struct capture_writer *w;

	assert_null(capture_writer_create(path, &w));
	write_tails(w);
	capture_writer_tail(w, &(struct capture_tail){7, 1, 2, 3});
	capture_writer_tail(w, &(struct capture_tail){0, 0x2000, 0x3000, 0x9999});
	for (int i = 0; i < 1000; i++)
		capture_writer_tail(w, &(struct capture_tail){0, 0x1000, 0x2000, 0x4000});
	capture_writer_tail(w, &(struct capture_tail){0, 0x1000, 0x3000, 0x4000});
	assert_null(capture_writer_finish(w, NULL));
	struct profile *p = capture_read_file(path);
	const stack_id *stack = p->samples.stack;
	check_stack(p, stack[0], "g<h [tail call]<f [tail call]<main<");
	uint32_t depth = 0;
	for (stack_id s = stack[2]; s.i; s = profile_parent(p, s))
		depth++;
	assert_int_equal(depth, 2 + TAIL_CHAIN_MAX);
	profile_destroy(p);
	free(path);
}

TEST(test_mixture)
{
	char *path = capture_file_path("mixture.prof");
	struct capture_writer *w;

	assert_null(capture_writer_create(path, &w));
	write_mixture(w);
	assert_null(capture_writer_finish(w, NULL));
	struct profile *p = capture_read_file(path);
	const stack_id *stack = p->samples.stack;
	assert_int_equal(p->samples.count, 5);
	assert_string_equal(leaf_name(p, stack[0]), "inner");
	stack_id middle = profile_parent(p, stack[0]);
	assert_true(p->frames[p->stack_frame[stack[0].i].i].is_inline);
	assert_string_equal(leaf_name(p, middle), "middle");
	assert_string_equal(leaf_name(p, profile_parent(p, middle)), "outer");
	assert_string_equal(leaf_name(p, stack[1]), "[unknown]");
	assert_int_equal(profile_stack_parent(p, stack[1].i), stack[0].i);
	assert_string_equal(leaf_name(p, stack[2]), "[truncated]");
	assert_int_equal(
		p->functions[p->frames[p->stack_frame[stack[2].i].i].function.i].object.i, NO_ID);
	assert_string_equal(leaf_name(p, stack[3]), "inner");
	assert_string_equal(leaf_name(p, stack[4]), "[unknown]");
	assert_int_equal(p->stats.critical, 2);
	assert_int_equal(p->stats.foreign, 3);
	assert_int_equal(p->objects[0].kind, OBJECT_USER);
	assert_int_equal(p->objects[1].kind, OBJECT_KERNEL);
	assert_int_equal(p->process_count, 1);
	assert_string_equal(p->strings[p->processes[0].name.i].data, "prog");
	assert_int_equal(p->processes[0].pid, 77);
	assert_int_equal(p->processes[0].start_ns, 5);
	assert_int_equal(p->threads[0].tid, 78);
	assert_int_equal(capture_note_count(p, NOTE_NO_SYMBOLS), 1);
	profile_destroy(p);
	free(path);
}

/* A file is finished while writing goes on in a copy, as for names that may not be had. */
TEST(test_secured)
{
	char *path = capture_file_path("secured.prof"), *named = capture_file_path("named.prof");
	struct capture_writer *w;
	bool is_whole;

	assert_null(capture_writer_create(path, &w));
	write_mixture(w);
	assert_null(capture_writer_secure(w, named, STR("names are left out"), &is_whole));
	assert_true(is_whole);
	struct profile *p = capture_read_file(path);

	assert_int_equal(p->samples.count, 5);
	assert_int_equal(capture_note_count(p, NOTE_INFO), 1);
	assert_int_equal(capture_note_count(p, NOTE_BAD_RECORD), 0);
	assert_int_equal(capture_note_count(p, NOTE_INCOMPLETE), 0);
	profile_destroy(p);
	add_chain(w, 1, 0xffffffff81000010);
	assert_null(capture_writer_finish(w, NULL));
	p = capture_read_file(named);
	assert_int_equal(p->samples.count, 5);
	assert_string_equal(leaf_name(p, p->samples.stack[1]), "inner");
	assert_int_equal(capture_note_count(p, NOTE_INFO), 0);
	assert_int_equal(capture_note_count(p, NOTE_BAD_RECORD), 0);
	assert_int_equal(capture_note_count(p, NOTE_INCOMPLETE), 0);
	profile_destroy(p);
	free(path);
	free(named);
}

/* There is no room for a second file. */
TEST(test_secured_alone)
{
	char *path = capture_file_path("alone.prof"), *named = capture_file_path("none/named.prof");
	struct capture_writer *w;
	bool is_whole;

	assert_null(capture_writer_create(path, &w));
	write_mixture(w);
	struct error *err = capture_writer_secure(w, named, STR("names are left out"), &is_whole);

	assert_non_null(err);
	assert_true(is_whole);
	error_destroy(err);
	add_chain(w, 1, 0xffffffff81000010);
	err = capture_writer_finish(w, NULL);
	assert_non_null(err);
	error_destroy(err);
	struct profile *p = capture_read_file(path);

	assert_int_equal(p->samples.count, 5);
	assert_int_equal(capture_note_count(p, NOTE_INFO), 1);
	assert_int_equal(capture_note_count(p, NOTE_BAD_RECORD), 0);
	assert_int_equal(capture_note_count(p, NOTE_INCOMPLETE), 0);
	profile_destroy(p);
	free(path);
	free(named);
}

TEST(test_stats_and_notes)
{
	char *path = capture_file_path("stats.prof");
	struct capture_writer *w;

	assert_null(capture_writer_create(path, &w));
	write_mixture(w);
	capture_writer_string(w, CAPTURE_COMMAND, (struct str){"./prog\0a b\0", 11});
	capture_writer_string(w, CAPTURE_HOST, STR("host"));
	capture_writer_number(w, CAPTURE_INTERVAL_NS, 1000000);
	capture_writer_number(w, CAPTURE_CPU_NS, 6000000);
	capture_writer_number(w, CAPTURE_DURATION_NS, 9000000);
	capture_writer_number(w, CAPTURE_START_UNIX_NS, 1234567890);
	capture_writer_counter(w, CAPTURE_LOST_RING, 1);
	capture_writer_counter(w, CAPTURE_LOST_RING, 4);
	capture_writer_counter(w, CAPTURE_TRUNCATED_RULE, 2);
	assert_null(capture_writer_finish(w, NULL));
	struct profile *p = capture_read_file(path);
	assert_int_equal(p->stats.counted, 5);
	assert_int_equal(p->stats.expected, 6);
	assert_int_equal(p->stats.lost, 4);
	assert_int_equal(p->stats.duration_ns, 9000000);
	assert_int_equal(p->stats.cpu_ns, 6000000);
	assert_int_equal(p->stats.interval_ns, 1200000);
	assert_int_equal(p->start_unix_ns, 1234567890);
	assert_string_equal(p->strings[p->command.i].data, "./prog a b");
	assert_string_equal(p->strings[p->host.i].data, "host");
	assert_int_equal(capture_note_count(p, NOTE_LOST), 4);
	assert_int_equal(capture_note_count(p, NOTE_TRUNCATED), 2);
	profile_destroy(p);
	free(path);
}

static const char *first_note(const struct profile *p, enum note_kind kind)
{
	for (size_t i = 0; i < p->note_count; i++)
		if (p->notes[i].kind == kind)
			return p->strings[p->notes[i].text.i].data;
	return "";
}

/* Functions told by their start are functions, not foreign code, but no names. */
TEST(test_functions_without_names)
{
	const struct capture_symbol_frame start = {
		.function = STR("[prog+0x2000]"), .is_nameless = true};
	char *path = capture_file_path("nameless.prof");
	struct capture_writer *w;
	const int64_t weight = 1;

	for (uint64_t all = 0; all < 2; all++) {
		assert_null(capture_writer_create(path, &w));
		capture_writer_metric(w, 0, STR("cpu-time"), STR("ns"));
		capture_writer_object(w, 0, STR("/bin/prog"), STR("ab12"), CAPTURE_OBJECT_USER);
		capture_writer_process(w, 0, 1, CAPTURE_NO_ID, 0, STR("x"));
		capture_writer_thread(w, 0, 0, 1, 0, STR("x"));
		capture_writer_node(w, 1, 0, 0, 0x2000);
		capture_writer_node(w, 2, 1, 0, 0x2010);
		capture_writer_sample(w, 0, 0, 1, 0, 0, &weight);
		capture_writer_sample(w, 0, 0, 2, 0, 0, &weight);
		capture_writer_symbol(w, 0, 0x2000, &start, 1);
		if (all)
			capture_writer_symbol(w, 0, 0x2010, &start, 1);
		assert_null(capture_writer_finish(w, NULL));
		struct profile *p = capture_read_file(path);
		assert_string_equal(leaf_name(p, p->samples.stack[0]), "[prog+0x2000]");
		assert_string_equal(
			leaf_name(p, p->samples.stack[1]), all ? "[prog+0x2000]" : "[unknown]");
		assert_int_equal(p->stats.foreign, 1 - all);
		assert_string_equal(first_note(p, NOTE_NO_SYMBOLS),
			all ? "no symbols for prog: functions without a name are shown by their "
			      "start"
			    : "no symbols for prog: functions without a name are shown by their "
			      "start, or as [unknown]");
		profile_destroy(p);
	}
	free(path);
}

static uint32_t name_label(struct sample_labels *labels, const char *name)
{
	return name ? sample_labels_name(labels, str_from(name)) : SAMPLE_LABELS_NONE;
}

/* CPUs, control groups and wakers are labels, shown in the order in which they came first. */
TEST(test_labels)
{
	static const struct {
		const char *group; /* NULL: not known */
		uint32_t cpu;
		const char *waker; /* likewise */
		const char *shown;
	} rows[] = {
		{NULL, 3, NULL, "cpu=3 "},
		{"/a", 3, NULL, "cpu=3 cgroup=/a "},
		{"/a", 0, NULL, "cgroup=/a cpu=0 "},
		{"/b", SAMPLE_LABELS_NONE, NULL, "cgroup=/b "},
		{NULL, SAMPLE_LABELS_NONE, NULL, ""},
		{"/b", 3, NULL, "cpu=3 cgroup=/b "},
		{"/a", 3, NULL, "cpu=3 cgroup=/a "},
		{"/a", SAMPLE_LABELS_NONE, "sh (7)", "cgroup=/a waker=sh (7) "},
		{NULL, SAMPLE_LABELS_NONE, "sh (7)", "waker=sh (7) "},
		{"/b", 3, "/a", "cpu=3 cgroup=/b waker=/a "},
	};
	char *path = capture_file_path("labels.prof");
	struct sample_labels labels;
	struct capture_writer *w;
	const int64_t weight = 1;

	assert_null(capture_writer_create(path, &w));
	sample_labels_init(&labels, w);
	capture_writer_metric(w, 0, STR("cpu-time"), STR("ns"));
	capture_writer_object(w, 0, STR("/bin/prog"), STR("ab12"), CAPTURE_OBJECT_USER);
	capture_writer_process(w, 0, 1, CAPTURE_NO_ID, 0, STR("x"));
	capture_writer_thread(w, 0, 0, 1, 0, STR("x"));
	capture_writer_node(w, 1, 0, 0, 0x2000);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct sample_labeling labeling = sample_labeling_none;

		labeling.cpu = rows[i].cpu;
		labeling.waker = name_label(&labels, rows[i].waker);
		labeling.group = name_label(&labels, rows[i].group);

		capture_writer_sample(
			w, 1000 * i, 0, 1, 0, sample_labels_set(&labels, labeling), &weight);
	}
	sample_labels_deinit(&labels);
	assert_null(capture_writer_finish(w, NULL));
	struct profile *p = capture_read_file(path);
	struct strbuf shown = {0}, value = {0};

	assert_int_equal(p->samples.count, ARRAY_SIZE(rows));
	for (size_t i = 0; i < p->samples.count; i++) {
		label_id ids[3];
		size_t count = profile_label_count(p, p->samples.labels[i]);

		assert_true(count <= 3);
		profile_label_ids(p, p->samples.labels[i], ids);
		strbuf_clear(&shown);
		for (size_t k = 0; k < count; k++)
			strbuf_printf(&shown, "%s=%s ",
				profile_string(p, p->labels[ids[k].i].key).data,
				profile_label_value(p, ids[k], &value).data);
		assert_string_equal(strbuf_str(&shown).data, rows[i].shown);
	}
	strbuf_deinit(&shown);
	strbuf_deinit(&value);
	profile_destroy(p);
	free(path);
}

/* A recording without a sample is a profile without one. */
TEST(test_empty)
{
	round_trip(&small, 0, false);
}

TEST(test_long_names)
{
	char *path = capture_file_path("long.prof");
	struct capture_writer *w;
	char *name = malloc(100000);
	struct capture_symbol_frame frames[1000];
	const int64_t weight = 1;

	memset(name, 'x', 100000);
	for (size_t i = 0; i < 1000; i++)
		frames[i] = (struct capture_symbol_frame){
			.function = {name, 99000 + i}, .is_inline = i < 999};
	frames[999].function = STR("outermost");
	assert_null(capture_writer_create(path, &w));
	write_mixture(w);
	capture_writer_node(w, 6, 0, 0, 0x2000);
	capture_writer_sample(w, 7000000, 0, 6, 0, 0, &weight);
	capture_writer_symbol(w, 0, 0x2000, frames, 1000);
	assert_null(capture_writer_finish(w, NULL));
	struct profile *p = capture_read_file(path);
	stack_id stack = p->samples.stack[5];
	assert_int_equal(strlen(leaf_name(p, stack)), 16384);
	while (profile_stack_parent(p, stack.i))
		stack = profile_parent(p, stack);
	assert_string_equal(leaf_name(p, stack), "outermost");
	profile_destroy(p);
	free(name);
	free(path);
}

/* Where this program is loaded: the first object there is. */
static int take_slide(struct dl_phdr_info *info, size_t size, void *slide)
{
	(void)size;
	*(uintptr_t *)slide = info->dlpi_addr;
	return 1;
}

/* A sample of 40 events; of the metric the recorder says that so many were lost and counted. */
static struct profile *counted_events(uint64_t lost, uint64_t counted)
{
	const int64_t weight[] = {0, 0, 40};
	char *path = capture_file_path("events.prof");
	struct capture_writer *w;

	assert_null(capture_writer_create(path, &w));
	capture_writer_metric(w, 0, STR("cpu-time"), STR("ns"));
	capture_writer_metric(w, 1, STR("samples"), STR("count"));
	capture_writer_metric(w, 2, STR("page-faults"), STR("count"));
	capture_writer_process(w, 0, 1, UINT32_MAX, 0, STR("p"));
	capture_writer_thread(w, 0, 0, 1, 0, STR("p"));
	capture_writer_sample(w, 1000, 0, 0, 0, 0, weight);
	capture_writer_metric_counts(w, 2, 0, 7);
	capture_writer_metric_counts(w, 2, lost, counted);
	assert_null(capture_writer_finish(w, NULL));
	struct profile *p = capture_read_file(path);

	free(path);
	return p;
}

/* What was lost of a metric, and what its samples do not stand for, are notes. */
TEST(test_counts_of_metrics)
{
	static const struct {
		uint64_t lost, counted, guessed;
	} rows[] = {
		{0, 40, 0}, {3, 50, 0}, /* a few are always missing */
		{0, 100, 60},		/* more are not */
		{0, 5, 35},		/* nor may there be more than there were */
		{1, UINT64_MAX, 33},	/* not known any more: the last value holds */
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct profile *p = counted_events(rows[i].lost, rows[i].counted);
		metric_id faults;

		assert_true(profile_find_metric(p, STR("page-faults"), &faults));
		assert_int_equal(p->total[faults.i], 40);
		assert_int_equal(capture_note_count(p, NOTE_LOST), rows[i].lost);
		assert_int_equal(capture_note_count(p, NOTE_GUESSED), rows[i].guessed);
		profile_destroy(p);
	}
}

int main(void);

/* A recorder that was killed wrote no names down: those of this machine's files are used. */
TEST(test_names_from_this_machine)
{
	char *path = capture_file_path("local.prof"), *cache = capture_file_path("cache");
	char program[4096];
	struct capture_writer *w;
	uintptr_t slide = 0;
	const int64_t weight = 1;

	assert_int_equal(setenv("XDG_CACHE_HOME", cache, 1), 0);
	ssize_t size = readlink("/proc/self/exe", program, sizeof(program));
	assert_true(size > 0);
	dl_iterate_phdr(take_slide, &slide);
	assert_null(capture_writer_create(path, &w));
	capture_writer_metric(w, 0, STR("cpu-time"), STR("ns"));
	capture_writer_object(
		w, 0, (struct str){program, (size_t)size}, STR(""), CAPTURE_OBJECT_USER);
	capture_writer_object(w, 1, (struct str){program, (size_t)size},
		STR("0123456789abcdef0123456789abcdef01234567"), CAPTURE_OBJECT_USER);
	capture_writer_process(w, 0, 1, CAPTURE_NO_ID, 0, STR("x"));
	capture_writer_thread(w, 0, 0, 1, 0, STR("x"));
	capture_writer_node(w, 1, 0, 0, (uintptr_t)main - slide);
	capture_writer_node(w, 2, 0, 1, (uintptr_t)main - slide);
	capture_writer_sample(w, 0, 0, 1, 0, 0, &weight);
	capture_writer_sample(w, 0, 0, 2, 0, 0, &weight);
	assert_null(capture_writer_finish(w, NULL));
	/* What is whole has all the names that it is to have. */
	struct profile *p = capture_read_file(path);
	assert_string_equal(leaf_name(p, p->samples.stack[0]), "[unknown]");
	profile_destroy(p);
	/* The end mark is the last chunk. */
	struct stat info;
	assert_int_equal(stat(path, &info), 0);
	assert_int_equal(truncate(path, info.st_size - 1), 0);
	p = capture_read_file(path);
	assert_string_equal(leaf_name(p, p->samples.stack[0]), "main");
	/* Another build of it does not count. */
	assert_string_equal(leaf_name(p, p->samples.stack[1]), "[unknown]");
	profile_destroy(p);
	free(cache);
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts_of_metrics),
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_round_trip_rewritten),
		cmocka_unit_test(test_round_trip_deep),
		cmocka_unit_test(test_mixture),
		cmocka_unit_test(test_tails),
		cmocka_unit_test(test_tails_of_nothing),
		cmocka_unit_test(test_secured),
		cmocka_unit_test(test_secured_alone),
		cmocka_unit_test(test_stats_and_notes),
		cmocka_unit_test(test_functions_without_names),
		cmocka_unit_test(test_labels),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_long_names),
		cmocka_unit_test(test_names_from_this_machine),
	};

	return cmocka_run_group_tests_name("capture", tests, NULL, NULL);
}
