/*
 * callgrind.out, for KCachegrind and callgrind_annotate: the costs of each function by location,
 * and the costs of its calls.  The valgrind manual, "Callgrind Format Specification", version 1;
 * docs/formats/callgrind.md defines the output.
 *
 * A name is first written in full, "(ID) NAME", and as "(ID)" afterwards.
 */
#include "formats/writers.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/escape.h"
#include "base/map.h"
#include "base/vec.h"
#include "model/profile.h"
#include "formats/common/stack_order.h"

/* ---- calls with their costs ---- */

/*
 * Calls with their costs come from the arcs, or from one walk over the stack tree, which counts for
 * each pair of functions how often it is on the path.
 */

struct callgrind_call {
	function_id caller, callee;
	frame_id place; /* a frame of the caller; NO_ID: unknown */
	uint64_t count; /* calls, or else samples; 0: unknown */
};

struct callgrind_calls {
	struct callgrind_call *calls; /* by caller */
	size_t count;
	int64_t *cost; /* [call * metric_count + metric] */
};

struct walk {
	const struct profile *p;
	struct stack_order order;
	uint32_t *pair;		  /* [row]: the pair of its caller and itself; NO_ID: none */
	struct map pairs;	  /* (caller, callee) → pair */
	struct map places;	  /* (pair, caller's frame) → call */
	VEC(uint32_t) on_path;	  /* [pair]: how often */
	VEC(uint32_t) first_call; /* [pair] */
	uint32_t *path;		  /* [level]: row */
	VEC(struct callgrind_call) calls;
	VEC(int64_t) cost;
	int64_t *below;		 /* [stack * metric_count + metric] */
	uint64_t *samples_below; /* [stack]; NULL: unknown */
};

static void sum_below(struct walk *w)
{
	const struct profile *p = w->p;
	size_t metrics = p->metric_count;

	w->below = xcalloc(p->stack_count * metrics, sizeof(*w->below));
	w->samples_below =
		p->row_samples ? xcalloc(p->stack_count, sizeof(*w->samples_below)) : NULL;
	for (uint32_t i = (uint32_t)p->stack_count; i-- > 0;) {
		uint32_t parent = profile_stack_parent(p, i);

		for (size_t m = 0; m < metrics; m++) {
			w->below[i * metrics + m] += profile_weight(p, m, i);
			if (i)
				w->below[parent * metrics + m] += w->below[i * metrics + m];
		}
		if (w->samples_below) {
			w->samples_below[i] += profile_samples(p, i);
			if (i)
				w->samples_below[parent] += w->samples_below[i];
		}
	}
}

static uint32_t pair_at(struct walk *w, function_id caller, function_id callee)
{
	bool added;
	uint32_t pair = *map_at(&w->pairs, caller.i, callee.i, (uint32_t)w->on_path.count, &added);

	if (added) {
		vec_push(&w->on_path, 0);
		vec_push(&w->first_call, NO_ID);
	}
	return pair;
}

static uint32_t call_at(
	struct walk *w, uint32_t pair, function_id caller, function_id callee, frame_id place)
{
	bool added;
	uint32_t call = *map_at(&w->places, pair, place.i, (uint32_t)w->calls.count, &added);

	if (!added)
		return call;
	if (w->first_call.data[pair] == NO_ID)
		w->first_call.data[pair] = call;
	vec_push(&w->calls, (struct callgrind_call){caller, callee, place, 0});
	for (size_t m = 0; m < w->p->metric_count; m++)
		vec_push(&w->cost, 0);
	return call;
}

/* The walk enters a stack, coming from its caller. */
static void enter(struct walk *w, uint32_t row)
{
	const struct profile *p = w->p;
	uint32_t stack = w->order.stack[row], parent = profile_stack_parent(p, stack);
	frame_id place = p->stack_frame[parent];
	function_id callee = p->frames[p->stack_frame[stack].i].function;

	w->pair[row] = NO_ID;
	if (parent == 0)
		return;
	function_id caller = p->frames[place.i].function;
	uint32_t pair = w->pair[row] = pair_at(w, caller, callee);
	if (w->on_path.data[pair]++ > 0)
		return;
	uint32_t call = call_at(w, pair, caller, callee, place);
	if (w->samples_below)
		w->calls.data[call].count += w->samples_below[stack];
	for (size_t m = 0; m < p->metric_count && caller.i != callee.i; m++)
		w->cost.data[call * p->metric_count + m] += w->below[stack * p->metric_count + m];
}

static void walk_stacks(struct walk *w)
{
	uint32_t depth = 0;

	for (uint32_t row = 1; row < w->order.count; row++) {
		uint32_t level = w->order.level[row];

		for (; depth >= level; depth--)
			if (w->pair[w->path[depth]] != NO_ID)
				w->on_path.data[w->pair[w->path[depth]]]--;
		depth = level;
		w->path[level] = row;
		enter(w, row);
	}
}

/* A pair's calls are not known by place: each other place gets 1, and the first one the rest. */
static void set_count(struct walk *w, uint32_t pair, uint64_t calls, uint64_t places)
{
	w->calls.data[w->first_call.data[pair]].count = calls > places ? calls - (places - 1) : 1;
}

/* Counted calls replace numbers of samples. */
static void set_counts(struct walk *w)
{
	const struct profile *p = w->p;
	uint64_t *places;

	if (p->arc_count == 0)
		return;
	for (size_t i = 0; i < p->arc_count; i++) {
		const struct arc *a = &p->arcs[i];

		if (a->caller.i == NO_ID)
			continue;
		uint32_t pair = pair_at(w, a->caller, a->callee);
		if (w->first_call.data[pair] == NO_ID)
			(void)call_at(w, pair, a->caller, a->callee, (frame_id){NO_ID});
	}
	places = xcalloc(w->first_call.count, sizeof(*places));
	for (size_t i = 0; i < w->calls.count; i++) {
		w->calls.data[i].count = 1;
		places[pair_at(w, w->calls.data[i].caller, w->calls.data[i].callee)]++;
	}
	for (size_t i = 0; i < p->arc_count; i++) {
		const struct arc *a = &p->arcs[i];

		if (a->caller.i == NO_ID)
			continue;
		uint32_t pair = pair_at(w, a->caller, a->callee);
		set_count(w, pair, a->calls, places[pair]);
	}
	free(places);
}

static void add_stacks(struct walk *w)
{
	uint32_t *rank = xcalloc(w->p->frame_count, sizeof(*rank));

	for (uint32_t i = 0; i < w->p->frame_count; i++)
		rank[i] = i;
	stack_order_init(&w->order, w->p, rank);
	free(rank);
	w->pair = xcalloc(w->order.count, sizeof(*w->pair));
	w->pair[0] = NO_ID;
	w->path = xcalloc((size_t)w->p->depth_max + 1, sizeof(*w->path));
	sum_below(w);
	walk_stacks(w);
	set_counts(w);
	stack_order_deinit(&w->order);
	map_deinit(&w->pairs);
	map_deinit(&w->places);
	vec_deinit(&w->on_path);
	vec_deinit(&w->first_call);
	free(w->pair);
	free(w->path);
	free(w->below);
	free(w->samples_below);
}

/* Adds the calls of a profile without stacks, except those with an unknown caller. */
static void add_arcs(struct walk *w)
{
	const struct profile *p = w->p;

	for (size_t i = 0; i < p->arc_count; i++) {
		const struct arc *a = &p->arcs[i];

		if (a->caller.i == NO_ID)
			continue;
		vec_push(&w->calls,
			(struct callgrind_call){a->caller, a->callee, {NO_ID}, a->calls});
		for (size_t m = 0; m < p->metric_count; m++)
			vec_push(&w->cost, p->arc_cost ? p->arc_cost[m][i] : 0);
	}
}

/* Sorts calls by caller with a stable counting sort. */
static void sort_calls(struct callgrind_calls *c, struct walk *w)
{
	size_t count = w->calls.count, metrics = w->p->metric_count;
	size_t *at = xcalloc(w->p->function_count + 1, sizeof(*at));

	c->count = count;
	c->calls = xcalloc(count, sizeof(*c->calls));
	c->cost = xcalloc(count * metrics, sizeof(*c->cost));
	for (size_t i = 0; i < count; i++)
		at[w->calls.data[i].caller.i + 1]++;
	for (size_t i = 0; i < w->p->function_count; i++)
		at[i + 1] += at[i];
	for (size_t i = 0; i < count; i++) {
		size_t to = at[w->calls.data[i].caller.i]++;

		c->calls[to] = w->calls.data[i];
		memcpy(&c->cost[to * metrics], &w->cost.data[i * metrics],
			metrics * sizeof(*c->cost));
	}
	free(at);
}

static void callgrind_calls_init(struct callgrind_calls *c, const struct profile *p)
{
	struct walk w = {.p = p};

	if (p->has_stacks)
		add_stacks(&w);
	else
		add_arcs(&w);
	sort_calls(c, &w);
	vec_deinit(&w.calls);
	vec_deinit(&w.cost);
}

static void callgrind_calls_deinit(struct callgrind_calls *c)
{
	free(c->calls);
	free(c->cost);
}

/* ---- the file ---- */

/* Ids begin at 1 in each space; 0: the name has not been written yet. */
struct id_space {
	uint32_t *id; /* [string or object] */
	uint32_t count;
};

struct callgrind_writer {
	const struct profile *profile;
	struct sink *sink;
	struct callgrind_calls calls;
	size_t *metrics; /* in file order */
	bool with_addresses;
	struct id_space files, functions, objects;
	/* [frame * metric_count + metric]: spent in the frame itself. */
	int64_t *self;
	uint32_t *frame_next;  /* [frame]: the next frame of the same function */
	uint32_t *frame_first; /* [function]; NO_ID: none */
	object_id object;      /* the last `ob` */
	string_id file;	       /* the last `fl`, `fi` or `fe`: callgrind_annotate does not
			          distinguish them */
	bool has_begun;
};

static struct strbuf *out(struct callgrind_writer *w)
{
	return &w->sink->text;
}

/* Readers trim blanks, which would leave such a name empty. */
static bool is_blank(struct str name)
{
	for (size_t i = 0; i < name.size; i++)
		if (name.data[i] != ' ')
			return false;
	return true;
}

/* Writes "ob=(3) NAME"; index: within its space.  NO_ID and blank names are "???". */
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

/* Event names cannot contain blanks.  The unit is appended as xdebug does: "cpu-time_(ns)". */
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

	/* Omit trailing zeros. */
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

/* The file of a place differs from its function's if code was inlined. */
static void put_line_file(
	struct callgrind_writer *w, function_id function, frame_id frame, string_id *file)
{
	const struct profile *p = w->profile;
	string_id own = p->functions[function.i].file;
	string_id here = frame.i == NO_ID ? own : p->frames[frame.i].file;

	/* A location without a file is assumed to be in the function's file. */
	if (here.i == 0)
		here = own;
	if (here.i == file->i)
		return;
	put_file(w, here.i == own.i ? "fe" : "fi", here);
	*file = here;
}

/*
 * file: the last `fl`, `fi` or `fe`.  If `cfi` is missing, some readers assume that file, others
 * the caller's.  callgrind_annotate adds the costs of 0 calls to the caller's own, so an unknown
 * count is written as 1.
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

/* Writes the function's own costs and its calls, which begin at *call; moves *call past them. */
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

/* Writes the weight of the empty stack. */
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

/* ---- the whole file ---- */

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
	for (uint32_t i = 1; i < p->stack_count; i++)
		for (size_t m = 0; m < p->metric_count; m++)
			w->self[p->stack_frame[i].i * p->metric_count + m] +=
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

/* The format has no negative costs. */
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
	.beginning = "callgrind.out", /* KCachegrind lists files with this name */
	.summary = "callgrind.out, for KCachegrind and callgrind_annotate",
	.holds_metrics = true,
	.holds_arcs = true,
	.write = callgrind_write,
};
