/*
 * Profiles of the Firefox Profiler: both formats by hand-made files whose figures are known, what
 * versions have differently, faults, and the way back of random profiles.
 */
#include <stdlib.h>

#include "../random_profile.h"
#include "../read_profile.h"
#include "../unit.h"
#include "../writer_text.h"
#include "base/alloc.h"
#include "formats/firefox/writer.h"

static struct error *try_read(struct str text, struct profile **p)
{
	return try_profile(text, "test.json", "firefox", p);
}

static struct profile *read_text(const char *text)
{
	return read_profile(str_from(text), "test.json", "firefox");
}

/* "main work inner:work.c:9i", root first: name, file and line of the place, i where inlined. */
static void expect_stack(const struct profile *p, stack_id stack, const char *wanted)
{
	struct strbuf text = {0}, all = {0};

	for (; stack.i; stack = profile_parent(p, stack)) {
		const struct frame *f = &p->frames[p->stack_frame[stack.i].i];
		struct str file = profile_string(p, f->file);

		strbuf_clear(&text);
		strbuf_add(&text, profile_string(p, p->functions[f->function.i].name));
		if (file.size || f->line)
			strbuf_printf(&text, ":%.*s:%u", STR_ARG(file), f->line);
		if (f->is_inline)
			strbuf_add_char(&text, 'i');
		if (all.size)
			strbuf_add_char(&text, ' ');
		strbuf_add(&text, strbuf_str(&all));
		struct strbuf swapped = all;
		all = text;
		text = swapped;
	}
	assert_string_equal(all.size ? all.data : "", wanted);
	strbuf_deinit(&text);
	strbuf_deinit(&all);
}

static int64_t weight_of(const struct profile *p, const char *metric, size_t sample)
{
	metric_id id;

	assert_true(profile_find_metric(p, str_from(metric), &id));
	return p->samples.weight[id.i][sample];
}

static void expect_note(const struct profile *p, enum note_kind kind, uint64_t count)
{
	for (size_t i = 0; i < p->note_count; i++)
		if (p->notes[i].kind == kind && p->notes[i].count == count)
			return;
	fail_msg("there is no note of kind %s with a count of %llu", note_kind_names[kind],
		(unsigned long long)count);
}

#define CODE                                                                                       \
	"'stackTable':{'frame':[0,1,2,1],'prefixOffset':[0,1,1,3]},"                               \
	"'frameTable':{'func':[0,1,2],'address':[16,32,32],'inlineDepth':[0,0,1],"                 \
	"'line':[3,null,9],'category':[1,1,2]},"                                                   \
	"'funcTable':{'name':[0,1,2],'resource':[0,0,-1],'source':[0,null,0],"                     \
	"'lineNumber':[1,null,2]},"                                                                \
	"'resourceTable':{'lib':[0],'name':[3],'type':[1]},'sources':{'filename':[4]},"            \
	"'stringArray':['main','_Z4workv','inner','app','/src/a.c']"

/* JSON typed with ' for ". */
static struct profile *read_quoted(const char *text)
{
	char *copy = xstrndup(text, strlen(text));

	for (char *c = copy; *c; c++)
		if (*c == '\'')
			*c = '"';
	struct profile *p = read_text(copy);
	free(copy);
	return p;
}

TEST(processed_shared)
{
	struct profile *p = read_quoted(
		"{'threads':[{'name':'one','pid':'10','tid':11,'processName':'app','registerTime':"
		"0.5,"
		"'samples':{'stack':[2,null,3],'timeDeltas':[1,0.000001,2],'weight':null,"
		"'weightType':'samples','threadCPUDelta':[77,2,null]}}],"
		"'shared':{" CODE "},'libs':[{'name':'app','path':'/bin/app','codeId':'AB12'}],"
		"'meta':{'preprocessedProfileVersion':66,'startTime':1000.5,'interval':0.25,"
		"'product':'it','categories':[{'name':'Other'},{'name':'User'},{'name':'Kernel'}],"
		"'sampleUnits':{'threadCPUDelta':'\xc2\xb5s'}}}");

	assert_int_equal(p->samples.count, 3);
	expect_stack(p, p->samples.stack[0], "main:/src/a.c:3 work() inner:/src/a.c:9i");
	expect_stack(p, p->samples.stack[1], "[no stack]");
	expect_stack(p, p->samples.stack[2], "main:/src/a.c:3 work()");
	assert_int_equal(p->samples.time_ns[0], 1000000);
	assert_int_equal(p->samples.time_ns[1], 1000001);
	assert_int_equal(p->samples.time_ns[2], 3000001);
	assert_int_equal(weight_of(p, "cpu-time", 0), 0);
	assert_int_equal(weight_of(p, "cpu-time", 1), 2000);
	assert_int_equal(weight_of(p, "cpu-time", 2), 0);
	assert_int_equal(p->total[0], 3);
	assert_string_equal(
		profile_string(p, p->metrics[p->default_metric.i].name).data, "samples");
	assert_int_equal(p->start_unix_ns, 1000500000);
	assert_int_equal(p->stats.interval_ns, 250000);
	assert_int_equal(p->threads[0].tid, 11);
	assert_int_equal(p->threads[0].start_ns, 500000);
	assert_int_equal(p->processes[0].pid, 10);
	assert_string_equal(profile_string(p, p->processes[0].name).data, "app");
	assert_string_equal(profile_string(p, p->objects[0].path).data, "/bin/app");
	assert_string_equal(profile_string(p, p->objects[0].build_id).data, "ab12");
	assert_int_equal(p->note_count, 0);
	profile_destroy(p);
}

/* Before version 56 each thread has all its tables; until 65 a prefix; fileName until 57. */
TEST(processed_of_threads)
{
	struct profile *p =
		read_quoted("{'meta':{'preprocessedProfileVersion':24},'threads':[{'tid':1,'pid':5,"
			    "'stringArray':['a','b','lib.so','http://x.y','http://x.y/s.js'],"
			    "'libs':[{'name':'lib.so','path':'/lib/lib.so','start':4096}],"
			    "'resourceTable':{'length':2,'type':[1,5],'name':[2,3],'lib':[0]},"
			    "'funcTable':{'name':[0,1],'resource':[0,1],'fileName':[null,4],'"
			    "lineNumber':[null,7],"
			    "'isJS':[false,true]},'frameTable':{'func':[0,1],'line':[null,8],'"
			    "address':[-1,-1]},"
			    "'stackTable':{'frame':[0,1],'prefix':[null,0],'category':[0,0]},"
			    "'samples':{'stack':[1,0],'time':[5,6.5]}}]}");

	expect_stack(p, p->samples.stack[0], "a b:http://x.y/s.js:8");
	assert_int_equal(p->samples.time_ns[1], 6500000);
	assert_int_equal(p->object_count, 2);
	assert_string_equal(profile_string(p, p->objects[0].path).data, "/lib/lib.so");
	assert_int_equal(p->objects[0].kind, OBJECT_USER);
	assert_string_equal(profile_string(p, p->objects[1].path).data, "http://x.y");
	assert_int_equal(p->objects[1].kind, OBJECT_JIT);
	profile_destroy(p);
}

/* From version 70 on frames say which lib they are in. */
TEST(libs_of_frames)
{
	struct profile *p = read_quoted(
		"{'meta':{'preprocessedProfileVersion':70},'libs':[{'name':'x'},{'path':'/y'}],"
		"'shared':{'stackTable':{'frame':[0,1],'prefixOffset':[0,1]},"
		"'frameTable':{'func':[0,1],'lib':[1,-1]},'funcTable':{'name':[0,0],'resource':[-1,"
		"-1]},"
		"'resourceTable':{'name':[],'type':[]},'stringArray':['f']},"
		"'threads':[{'samples':{'stack':[1],'time':[0]}}]}");

	assert_int_equal(p->object_count, 1);
	assert_string_equal(profile_string(p, p->objects[0].path).data, "/y");
	assert_int_equal(p->function_count, 2);
	profile_destroy(p);
}

TEST(weights_by_type)
{
	struct profile *p = read_quoted(
		"{'shared':{" CODE "},'threads':["
		"{'samples':{'stack':[0,0],'time':[0,1],'weight':[1.5,-0.000001],"
		"'weightType':'tracing-ms'}},"
		"{'samples':{'stack':[1,1,1],'time':[0,1,2],'weight':[64,-32,null],'weightType':'"
		"bytes'}},"
		"{'samples':{'stack':[2],'time':[0],'weight':[3],'weightType':'samples'}}]}");

	assert_int_equal(weight_of(p, "time", 0), 1500000);
	assert_int_equal(weight_of(p, "time", 1), -1);
	assert_int_equal(weight_of(p, "bytes", 2), 64);
	assert_int_equal(weight_of(p, "bytes", 3), -32);
	assert_int_equal(weight_of(p, "bytes", 4), 0);
	assert_int_equal(weight_of(p, "samples", 5), 3);
	assert_int_equal(weight_of(p, "samples", 0), 1);
	assert_string_equal(
		profile_string(p, p->metrics[p->default_metric.i].name).data, "samples");
	profile_destroy(p);
}

#define GECKO(start, tid)                                                                          \
	"'meta':{'version':20,'startTime':" start ",'interval':1},"                                \
	"'libs':[{'name':'l','path':'/l','start':4096,'end':8192,'offset':256}],"                  \
	"'threads':[{'name':'GeckoMain','pid':5,'tid':" tid ","                                    \
	"'samples':{'data':[[3,1.5,0],[1,2.5],[null,3]],'schema':{'stack':0,'time':1}},"           \
	"'stackTable':{'schema':{'prefix':0,'frame':1},'data':[[null,0],[0,1],[1,2],[2,3]]},"      \
	"'frameTable':{'schema':{'location':0,'line':2},'data':[[0],[1],[2,false],[3,true,8]]},"   \
	"'stringTable':['(root)','0x1010','f (in l) + 12','g (a -> http://x.y/z.js:3:4)[0]']}]"

TEST(gecko)
{
	struct profile *p =
		read_quoted("{" GECKO("1000", "1") ",'processes':[{" GECKO("1500.25", "2") "}]}");

	assert_int_equal(p->samples.count, 6);
	expect_stack(p, p->samples.stack[0], "(root) 0x1010 f g:http://x.y/z.js:8");
	expect_stack(p, p->samples.stack[1], "(root) 0x1010");
	assert_int_equal(p->samples.time_ns[0], 1500000);
	assert_int_equal(p->samples.time_ns[3], 501750000);
	assert_int_equal(p->thread_count, 2);
	/* A return address is one before, a leaf's is not. */
	stack_id leaf = p->samples.stack[1], caller = p->samples.stack[0];
	caller = (stack_id){profile_stack_parent(p, profile_stack_parent(p, caller.i))};
	assert_int_equal(p->frames[p->stack_frame[leaf.i].i].obj_addr, 0x10 + 256);
	assert_int_equal(p->frames[p->stack_frame[caller.i].i].obj_addr, 0xf + 256);
	profile_destroy(p);
}

/* What the browser writes for a frame, one stack each. */
TEST(locations)
{
	static const char *const cases[][2] = {{"Startup::XRE_Main", "Startup::XRE_Main"},
		{"a::b (in lib.so)", "a::b"}, {"a(int) (in lib.so) (a.cpp:12)", "a(int)"},
		{"f (http://s/x.js:12)", "f:http://s/x.js:0"},
		{"http://s/x.js:12:3", "(root scope) http://s/x.js:http://s/x.js:0"},
		{"f (self-hosted:5:6)[17]", "f:self-hosted:0"}, {"0xzz", "0xzz"},
		{"std::map<int, (x)>", "std::map<int, (x)>"}, {"a:b", "a:b"}, {"", "[unknown]"},
		{":5", ":5"}, {" (:5)", " (:5)"}, {"x ()", "x ()"}};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct strbuf text = {0};

		strbuf_printf(&text,
			"{'threads':[{'stringTable':['%s'],"
			"'frameTable':{'schema':{'location':0},'data':[[0]]},"
			"'stackTable':{'schema':{'prefix':0,'frame':1},'data':[[null,0]]},"
			"'samples':{'schema':{'stack':0,'time':1},'data':[[0,0]]}}]}",
			cases[i][0]);
		struct profile *p = read_quoted(text.data);
		expect_stack(p, p->samples.stack[0], cases[i][1]);
		profile_destroy(p);
		strbuf_deinit(&text);
	}
}

TEST(faults)
{
	struct profile *p = read_quoted("{'threads':[5,{'stringArray':['a'],'stackTable':{'frame':["
					"0,0,9],'prefix':[1,0,7]},"
					"'frameTable':{'func':[0,3]},'funcTable':{'name':[0]},"
					"'samples':{'stack':[0,2,77],'time':[0,1,-2]}}],"
					"'meta':{'preprocessedProfileVersion':1000}}");

	expect_note(p, NOTE_BAD_RECORD, 3);
	expect_note(p, NOTE_BAD_RECORD, 1); /* the cycle, and the thread that is none */
	expect_note(p, NOTE_GUESSED, 1);
	assert_int_equal(p->samples.count, 3);
	profile_destroy(p);
}

static void expect_error(const char *text, const char *part)
{
	struct profile *p = NULL;
	struct error *err = try_read(str_from(text), &p);

	assert_non_null(err);
	assert_null(p);
	assert_non_null(strstr(err->message, "test.json"));
	expect_refusal(err, part);
}

TEST(errors)
{
	expect_error("[1]", "is not a JSON object");
	expect_error("{}", "no threads, which");
	expect_error("{\"meta\":{", "truncated");
	expect_error("?", "at byte 0");
}

/* Cut off anywhere: what is there is read, or one line says what is missing. */
TEST(cut_anywhere)
{
	struct profile *whole =
		read_quoted("{" GECKO("1000", "1") ",'processes':[{" GECKO("1500.25", "2") "}]}");
	struct writer_options options = {.metric = whole->default_metric};
	struct strbuf text = writer_text(&writer_firefox, whole, &options);

	for (size_t i = 1; i < text.size; i++) {
		struct profile *p = NULL;
		struct error *err = try_read((struct str){text.data, i}, &p);

		if (err == NULL && i + 1 < text.size)
			expect_note(p, NOTE_INCOMPLETE, 1);
		profile_destroy(p);
		error_destroy(err);
	}
	strbuf_deinit(&text);
	profile_destroy(whole);
}

/* ---- Written and read */

static struct profile *there_and_back(const struct profile *p, metric_id metric)
{
	struct writer_options options = {.metric = metric};
	struct strbuf text = writer_text(&writer_firefox, p, &options);
	struct profile *back = NULL;
	struct error *err = try_read(strbuf_str(&text), &back);

	if (err)
		fail_msg("%s", err->message);
	strbuf_deinit(&text);
	return back;
}

/* A stack's names, and of each frame whether it is inlined, as JSON holds them. */
static void add_stack_text(struct strbuf *out, const struct profile *p, stack_id stack)
{
	for (; stack.i; stack = profile_parent(p, stack)) {
		const struct frame *f = &p->frames[p->stack_frame[stack.i].i];
		struct str name = profile_string(p, p->functions[f->function.i].name);

		strbuf_add_char(out, f->is_inline ? '<' : '(');
		strbuf_add(out, name.size ? name : STR("[unknown]"));
	}
}

static int compare_texts(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;

	return strcmp(*x, *y);
}

struct texts {
	VEC(char *) rows;
};

/* All that the format keeps of the samples with weight, one text each, in order. */
static struct texts sample_texts(const struct profile *p, metric_id metric)
{
	struct texts texts = {0};
	size_t count = p->samples.count ? p->samples.count : p->stack_count;

	for (uint32_t i = 0; i < count; i++) {
		bool is_sample = p->samples.count > 0;
		int64_t weight =
			is_sample ? p->samples.weight[metric.i][i] : profile_weight(p, metric.i, i);
		struct strbuf text = {0};

		if (weight == 0)
			continue;
		strbuf_printf(&text, "%lld", (long long)weight);
		if (is_sample && p->samples.time_ns)
			strbuf_printf(&text, " at %llu", (unsigned long long)p->samples.time_ns[i]);
		if (is_sample && p->samples.thread && p->samples.time_ns) {
			const struct thread *t = &p->threads[p->samples.thread[i].i];
			strbuf_printf(&text, " by %lld of %lld", (long long)t->tid,
				(long long)p->processes[t->process.i].pid);
		}
		add_stack_text(&text, p, is_sample ? p->samples.stack[i] : (stack_id){i});
		vec_push(&texts.rows, text.data);
	}
	if (texts.rows.count)
		qsort(texts.rows.data, texts.rows.count, sizeof(char *), compare_texts);
	return texts;
}

static void texts_deinit(struct texts *t)
{
	for (size_t i = 0; i < t->rows.count; i++)
		free(t->rows.data[i]);
	vec_deinit(&t->rows);
}

static void expect_same(const struct profile *p, metric_id metric, const struct profile *back)
{
	struct texts a = sample_texts(p, metric), b = sample_texts(back, back->default_metric);

	assert_string_equal(profile_string(p, p->metrics[metric.i].name).data,
		profile_string(back, back->metrics[back->default_metric.i].name).data);
	assert_int_equal(p->total[metric.i], back->total[back->default_metric.i]);
	assert_int_equal(a.rows.count, b.rows.count);
	for (size_t i = 0; i < a.rows.count; i++)
		assert_string_equal(a.rows.data[i], b.rows.data[i]);
	texts_deinit(&a);
	texts_deinit(&b);
}

TEST(there_and_back_is_the_same)
{
	for (uint64_t seed = 1; seed <= 300; seed++) {
		struct random r = random_from(seed);
		struct random_shape shape = random_shape_any(&r);
		shape.when = false; /* the format can't tell */

		shape.hostile = false; /* names are compared; others' bytes become U+FFFD */
		struct profile *p = random_profile(seed, &shape);
		metric_id metric = {random_below(&r, (uint32_t)p->metric_count)};
		struct profile *back = there_and_back(p, metric);
		expect_same(p, metric, back);
		profile_destroy(back);
		profile_destroy(p);
	}
}

/* Times off the CPU: rows at their end, with markers, and CPU time that the reader sees again. */
static struct profile *off_cpu_profile(void)
{
	struct builder *b = builder_create();
	struct profile *p = NULL;

	(void)builder_metric(b, STR("samples"), STR("count"));
	(void)builder_metric(b, STR("cpu-time"), STR("ns"));
	(void)builder_metric(b, STR("blocked-time"), STR("ns"));
	builder_header(b)->default_metric.i = 1;
	process_id process = builder_process(b, 7, 0, STR("p"));
	thread_id thread = builder_thread(b, 7, process, 0, STR("t"));
	function_id function = builder_function(
		b, builder_string(b, STR("f")), (object_id){NO_ID}, (string_id){0}, 0);
	frame_id frame = builder_frame(b, function, (string_id){0}, 0, false, 0);
	stack_id stack = builder_stack(b, (stack_id){0}, frame);
	for (uint64_t i = 0; i < 1000; i++) {
		bool is_off = i % 2;
		int64_t weight[] = {!is_off, is_off ? 0 : 1000, is_off ? 9000 + (int64_t)i : 0};
		builder_sample(b, stack, thread, i * 10000, weight);
	}
	struct error *err = builder_finish(b, &p);
	if (err)
		fail_msg("%s", err->message);
	return p;
}

static size_t count_of(const char *text, const char *part)
{
	size_t count = 0;

	for (; (text = strstr(text, part)); text++)
		count++;
	return count;
}

TEST(off_cpu)
{
	struct profile *p = off_cpu_profile();
	struct writer_options options = {.metric = {1}};
	struct strbuf text = writer_text(&writer_firefox, p, &options);
	struct profile *back = there_and_back(p, (metric_id){1}), *blocked;

	assert_int_equal(count_of(text.data, "\"type\":\"Off-CPU\""), 500);
	expect_same(p, (metric_id){1}, back);
	blocked = there_and_back(p, (metric_id){2});
	assert_int_equal(blocked->total[blocked->default_metric.i], p->total[2]);
	/* At the end of the first: 10 us and 9,001 ns. */
	for (size_t i = 0; i < blocked->samples.count; i++)
		if (blocked->samples.weight[blocked->default_metric.i][i] == 9001)
			assert_int_equal(blocked->samples.time_ns[i], 19001);
	assert_int_equal(weight_of(blocked, "cpu-time", 1), 0);
	assert_int_equal(blocked->total[2], p->total[1]);
	profile_destroy(back);
	profile_destroy(blocked);
	strbuf_deinit(&text);
	profile_destroy(p);
}

/* Too much for a browser: sums stay, rows and markers are fewer, and the file says so. */
TEST(limits)
{
	struct profile *p = off_cpu_profile(), *back = NULL;
	struct sink sink;
	struct firefox_writer w = {
		.profile = p, .sink = &sink, .metric = {1}, .row_limit = 100, .marker_limit = 100};

	sink_init_memory(&sink);
	firefox_write_limited(&w);
	assert_non_null(strstr(sink.text.data, "samples of one stack within"));
	assert_non_null(strstr(sink.text.data, "have no markers"));
	assert_true(count_of(sink.text.data, "\"type\":\"Off-CPU\"") <= 100);
	struct error *err = try_read(strbuf_str(&sink.text), &back);
	if (err)
		fail_msg("%s", err->message);
	assert_true(back->samples.count <= 100);
	assert_int_equal(back->total[back->default_metric.i], p->total[1]);
	strbuf_deinit(&sink.text);
	profile_destroy(back);
	profile_destroy(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(processed_shared),
		cmocka_unit_test(processed_of_threads),
		cmocka_unit_test(libs_of_frames),
		cmocka_unit_test(weights_by_type),
		cmocka_unit_test(gecko),
		cmocka_unit_test(locations),
		cmocka_unit_test(faults),
		cmocka_unit_test(errors),
		cmocka_unit_test(cut_anywhere),
		cmocka_unit_test(there_and_back_is_the_same),
		cmocka_unit_test(off_cpu),
		cmocka_unit_test(limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
