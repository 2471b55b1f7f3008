/*
 * callgrind.out, for KCachegrind and callgrind_annotate: the costs of each function by place, and
 * what its calls cost.  The valgrind manual, "Callgrind Format Specification", version 1;
 * docs/formats/callgrind.md says what is where.
 *
 * Names are written out where they come first, "(ID) NAME", and as "(ID)" after.
 */
#include "formats/writers.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/escape.h"
#include "formats/callgrind/writer_calls.h"

/* Ids begin with 1 in each space; 0: the name was not written yet. */
struct id_space {
	uint32_t *id; /* [string or object] */
	uint32_t count;
};

struct callgrind_writer {
	const struct profile *profile;
	struct sink *sink;
	struct callgrind_calls calls;
	size_t *metrics; /* in the order of the file */
	bool with_addresses;
	struct id_space files, functions, objects;
	/* [frame]: what was spent there itself; in rows of metric_count. */
	int64_t *self;
	uint32_t *frame_next;  /* [frame]: the next one of its function */
	uint32_t *frame_first; /* [function]; NO_ID: none */
	object_id object;      /* the last `ob` */
	string_id file;	       /* the last `fl`, `fi` or `fe`: to callgrind_annotate they are one */
	bool has_begun;
};

static struct strbuf *out(struct callgrind_writer *w)
{
	return &w->sink->text;
}

/* Readers take blanks at a line's end for none: such a name would read as none. */
static bool is_blank(struct str name)
{
	for (size_t i = 0; i < name.size; i++)
		if (name.data[i] != ' ')
			return false;
	return true;
}

/* "ob=(3) NAME"; index: of its space, UINT32_MAX and a name of blanks alike are "???". */
static void put_name(struct callgrind_writer *w, const char *word, struct id_space *space,
	uint32_t index, struct str name)
{
	strbuf_printf(out(w), "%s=", word);
	if (index == NO_ID || is_blank(name)) {
		strbuf_add(out(w), STR("???\n"));
		return;
	}
	bool is_new = space->id[index] == 0;
	if (is_new)
		space->id[index] = ++space->count;
	strbuf_printf(out(w), "(%u)", space->id[index]);
	if (is_new) {
		strbuf_add_char(out(w), ' ');
		escape_text(out(w), name);
	}
	strbuf_add_char(out(w), '\n');
}

static void put_file(struct callgrind_writer *w, const char *word, string_id file)
{
	put_name(w, word, &w->files, file.i, profile_string(w->profile, file));
}

static void put_function(struct callgrind_writer *w, const char *word, function_id function)
{
	string_id name = w->profile->functions[function.i].name;

	put_name(w, word, &w->functions, name.i, profile_string(w->profile, name));
}

static void put_object(struct callgrind_writer *w, const char *word, object_id object)
{
	const struct profile *p = w->profile;
	struct str path =
		object.i == NO_ID ? STR("") : profile_string(p, p->objects[object.i].path);

	put_name(w, word, &w->objects, object.i, path);
}

/* ---- the header ---- */

/* Blanks part names of events; a unit stands behind as xdebug writes it, "cpu-time_(ns)". */
static void put_event(struct callgrind_writer *w, const struct metric *metric)
{
	struct str unit = profile_string(w->profile, metric->unit);
	struct strbuf name = {0};

	escape_text(&name, profile_string(w->profile, metric->name));
	strbuf_add_char(out(w), ' ');
	for (size_t i = 0; i < name.size; i++)
		strbuf_add_char(out(w), name.data[i] == ' ' ? '_' : name.data[i]);
	if (name.size == 0)
		strbuf_add(out(w), STR("cost"));
	if (str_equal(unit, STR("ns")) || str_equal(unit, STR("bytes")))
		strbuf_printf(out(w), "_(%.*s)", STR_ARG(unit));
	strbuf_deinit(&name);
}

static void put_totals(struct callgrind_writer *w, const char *word)
{
	strbuf_printf(out(w), "%s:", word);
	for (size_t m = 0; m < w->profile->metric_count; m++)
		strbuf_printf(out(w), " %" PRId64, w->profile->total[w->metrics[m]]);
	strbuf_add_char(out(w), '\n');
}

static void put_header(struct callgrind_writer *w)
{
	const struct profile *p = w->profile;
	struct str command = profile_string(p, p->command);

	strbuf_add(out(w), STR("# callgrind format\nversion: 1\ncreator: sonde\n"));
	if (p->process_count == 1)
		strbuf_printf(out(w), "pid: %" PRId64 "\n", p->processes[0].pid);
	if (command.size) {
		strbuf_add(out(w), STR("cmd: "));
		escape_text(out(w), command);
		strbuf_add_char(out(w), '\n');
	}
	strbuf_printf(
		out(w), "part: 1\n\npositions:%s line\nevents:", w->with_addresses ? " instr" : "");
	for (size_t m = 0; m < p->metric_count; m++)
		put_event(w, &p->metrics[w->metrics[m]]);
	strbuf_add_char(out(w), '\n');
	put_totals(w, "summary");
}

/* ---- costs ---- */

static void put_costs(struct callgrind_writer *w, const int64_t *row)
{
	size_t count = w->profile->metric_count;

	/* Trailing zeros are not written. */
	while (count > 1 && row[w->metrics[count - 1]] == 0)
		count--;
	for (size_t m = 0; m < count; m++)
		strbuf_printf(out(w), " %" PRId64, row[w->metrics[m]]);
	strbuf_add_char(out(w), '\n');
	(void)sink_settle(w->sink);
}

static void put_position(struct callgrind_writer *w, frame_id frame)
{
	const struct frame *f = frame.i == NO_ID ? NULL : &w->profile->frames[frame.i];

	if (w->with_addresses)
		strbuf_printf(out(w), "0x%" PRIx64 " ", f ? f->obj_addr : 0);
	strbuf_printf(out(w), "%u", f ? f->line : 0);
}

/* A place may be in another file than its function: code that was inlined. */
static void put_line_file(
	struct callgrind_writer *w, function_id function, frame_id frame, string_id *file)
{
	const struct profile *p = w->profile;
	string_id own = p->functions[function.i].file;
	string_id here = frame.i == NO_ID ? own : p->frames[frame.i].file;

	/* A place of which no file is known is taken to be in the function's. */
	if (here.i == 0)
		here = own;
	if (here.i == file->i)
		return;
	put_file(w, here.i == own.i ? "fe" : "fi", here);
	*file = here;
}

/*
 * file: the last `fl`, `fi` or `fe`. Without `cfi` some take that, and some the caller's.
 * callgrind_annotate takes the costs of 0 calls for the caller's own: it is 1 where nobody counted.
 */
static void put_call(struct callgrind_writer *w, size_t i, string_id file)
{
	const struct profile *p = w->profile;
	const struct callgrind_call *call = &w->calls.calls[i];
	const struct function *caller = &p->functions[call->caller.i];
	const struct function *callee = &p->functions[call->callee.i];

	if (callee->object.i != caller->object.i)
		put_object(w, "cob", callee->object);
	if (callee->file.i != caller->file.i || callee->file.i != file.i)
		put_file(w, "cfi", callee->file);
	put_function(w, "cfn", call->callee);
	strbuf_printf(out(w), "calls=%" PRIu64 " %s%u\n", call->count ? call->count : 1,
		w->with_addresses ? "0x0 " : "", callee->line);
	put_position(w, call->place);
	put_costs(w, &w->calls.cost[i * p->metric_count]);
}

static bool has_cost(const struct callgrind_writer *w, uint32_t frame)
{
	const int64_t *row = &w->self[frame * w->profile->metric_count];

	for (size_t m = 0; m < w->profile->metric_count; m++)
		if (row[m] != 0)
			return true;
	return false;
}

static void begin_function(struct callgrind_writer *w, function_id function)
{
	const struct function *f = &w->profile->functions[function.i];

	strbuf_add_char(out(w), '\n');
	if (!w->has_begun || f->object.i != w->object.i)
		put_object(w, "ob", f->object);
	if (!w->has_begun || f->file.i != w->file.i)
		put_file(w, "fl", f->file);
	w->object = f->object;
	w->file = f->file;
	w->has_begun = true;
	put_function(w, "fn", function);
}

/* The function's own costs, then its calls from *call on, which goes on behind them. */
static void put_function_costs(struct callgrind_writer *w, function_id function, size_t *call)
{
	const struct profile *p = w->profile;
	uint32_t frame = w->frame_first[function.i];
	string_id file = p->functions[function.i].file;

	while (frame != NO_ID && !has_cost(w, frame))
		frame = w->frame_next[frame];
	bool has_calls = *call < w->calls.count && w->calls.calls[*call].caller.i == function.i;
	if (frame == NO_ID && !has_calls)
		return;
	begin_function(w, function);
	for (; frame != NO_ID; frame = w->frame_next[frame]) {
		if (!has_cost(w, frame))
			continue;
		put_line_file(w, function, (frame_id){frame}, &file);
		put_position(w, (frame_id){frame});
		put_costs(w, &w->self[frame * p->metric_count]);
	}
	for (; *call < w->calls.count && w->calls.calls[*call].caller.i == function.i; ++*call) {
		put_line_file(w, function, w->calls.calls[*call].place, &file);
		put_call(w, *call, file);
	}
	w->file = file;
}

/* What was spent in no function. */
static void put_empty_stack(struct callgrind_writer *w)
{
	const struct profile *p = w->profile;
	int64_t *row = xcalloc(p->metric_count, sizeof(*row));
	bool any = false;

	for (size_t m = 0; m < p->metric_count; m++)
		any |= (row[m] = profile_weight(p, m, 0)) != 0;
	if (any) {
		strbuf_add(out(w), STR("\nob=???\nfl=???\nfn=???\n"));
		put_position(w, (frame_id){NO_ID});
		put_costs(w, row);
	}
	free(row);
}

/* ---- the whole ---- */

static void writer_init(struct callgrind_writer *w, const struct writer_options *options)
{
	const struct profile *p = w->profile;
	size_t count = 0;

	w->files.id = xcalloc(p->string_count, sizeof(*w->files.id));
	w->functions.id = xcalloc(p->string_count, sizeof(*w->functions.id));
	w->objects.id = xcalloc(p->object_count, sizeof(*w->objects.id));
	w->metrics = xcalloc(p->metric_count, sizeof(*w->metrics));
	w->metrics[count++] = options->metric.i;
	for (size_t m = 0; m < p->metric_count; m++)
		if (m != options->metric.i)
			w->metrics[count++] = m;
	w->self = xcalloc(p->frame_count * p->metric_count, sizeof(*w->self));
	for (size_t i = 1; i < p->stack_count; i++)
		for (size_t m = 0; m < p->metric_count; m++)
			w->self[p->stacks[i].frame.i * p->metric_count + m] +=
				profile_weight(p, m, i);
	w->frame_first = xcalloc(p->function_count, sizeof(*w->frame_first));
	w->frame_next = xcalloc(p->frame_count, sizeof(*w->frame_next));
	for (size_t i = 0; i < p->function_count; i++)
		w->frame_first[i] = NO_ID;
	for (uint32_t i = (uint32_t)p->frame_count; i-- > 0;) {
		uint32_t *first = &w->frame_first[p->frames[i].function.i];

		w->frame_next[i] = *first;
		*first = i;
		w->with_addresses |= p->frames[i].obj_addr != 0;
	}
	callgrind_calls_init(&w->calls, p);
}

static void writer_deinit(struct callgrind_writer *w)
{
	callgrind_calls_deinit(&w->calls);
	free(w->files.id);
	free(w->functions.id);
	free(w->objects.id);
	free(w->metrics);
	free(w->self);
	free(w->frame_first);
	free(w->frame_next);
}

/* Costs are counts: what is less than nothing has no place in them. */
static struct error *check_weights(const struct profile *p)
{
	for (size_t m = 0; m < p->metric_count; m++)
		for (size_t i = 0; i < p->row_count; i++)
			if (p->row_weight[m][i] < 0)
				return error_new(ERROR_UNSUPPORTED,
					"callgrind files hold no negative weights, and '%s' has "
					"some",
					profile_string(p, p->metrics[m].name).data);
	return NULL;
}

static struct error *callgrind_write(
	struct sink *sink, const struct profile *profile, const struct writer_options *options)
{
	struct callgrind_writer w = {.profile = profile, .sink = sink};
	struct error *err = check_weights(profile);
	size_t call = 0;

	if (err)
		return err;
	writer_init(&w, options);
	put_header(&w);
	for (uint32_t i = 0; i < profile->function_count; i++)
		put_function_costs(&w, (function_id){i}, &call);
	put_empty_stack(&w);
	strbuf_add_char(out(&w), '\n');
	put_totals(&w, "totals");
	writer_deinit(&w);
	return NULL;
}

const struct writer writer_callgrind = {
	.name = "callgrind",
	.extension = ".callgrind",
	.beginning = "callgrind.out", /* what KCachegrind lists */
	.summary = "callgrind.out, for KCachegrind and callgrind_annotate",
	.holds_metrics = true,
	.holds_arcs = true,
	.write = callgrind_write,
};
