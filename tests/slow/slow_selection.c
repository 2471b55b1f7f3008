/*
 * Filters and levels as their definitions say them.  See slow_selection.h.
 */
#include "slow_selection.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "slow_when.h"

/* ---- lines ---- */

static uint32_t *write_out(struct slow_lines *l, uint32_t stack, uint32_t *depth)
{
	const struct profile *p = l->profile;

	for (uint32_t s = stack; s; s = profile_stack_parent(p, s))
		++*depth;
	uint32_t *frames = ARENA_ARRAY(l->arena, uint32_t, *depth);
	for (uint32_t s = stack, d = *depth; s; s = profile_stack_parent(p, s))
		frames[--d] = p->stack_frame[s].i;
	return frames;
}

void slow_lines_init(struct slow_lines *l, const struct profile *p, struct arena *arena)
{
	const struct samples *samples = &p->samples;
	bool has_samples = samples->count > 0;
	size_t count = has_samples ? samples->count : p->stack_count;

	*l = (struct slow_lines){.profile = p, .arena = arena};
	for (uint32_t i = 0; i < count; i++) {
		struct slow_line line = {.stack = i, .thread = NO_ID};
		if (has_samples) {
			line.stack = samples->stack[i].i;
			line.thread = samples->thread[i].i;
			line.time_ns = samples->time_ns[i];
		} else {
			line.samples = p->row_samples ? profile_samples(p, i) : 0;
		}
		for (size_t m = 0; m < p->metric_count; m++)
			line.weight[m] =
				has_samples ? samples->weight[m][i] : profile_weight(p, m, i);
		if (has_samples) /* metric 0 is "samples" */
			line.samples = line.weight[0] > 0 ? (uint64_t)line.weight[0] : 0;
		line.frames = write_out(l, line.stack, &line.depth);
		if (samples->zone) {
			line.in_zone = samples->zone[i].i != 0;
			line.zone = write_out(l, samples->zone[i].i, &line.zone_depth);
		}
		vec_push(&l->lines, line);
	}
}

static const struct function *function_of(const struct profile *p, uint32_t frame)
{
	return &p->functions[p->frames[frame].function.i];
}

static bool text_matches(const char *text, const char *regex)
{
	size_t size = strlen(regex), length = strlen(text);
	bool from_start = *regex == '^', to_end = size && regex[size - 1] == '$';
	size_t part_size = size - from_start - to_end;
	char *part = xstrndup(regex + from_start, part_size);
	bool result = strstr(text, part) != NULL;

	if (from_start)
		result = strncmp(text, part, part_size) == 0;
	if (to_end)
		result = length >= part_size && strcmp(text + length - part_size, part) == 0 &&
			 (!from_start || length == part_size);
	free(part);
	return result;
}

static bool function_matches(const struct profile *p, const struct function *f, const char *regex)
{
	char *whole = NULL;
	const char *name = profile_string(p, f->name).data;

	if (strchr(regex, '`') == NULL)
		return text_matches(name, regex);
	if (asprintf(&whole, "%s`%s", profile_module(p, f->object).data, name) < 0)
		abort();
	bool result = text_matches(whole, regex);
	free(whole);
	return result;
}

void slow_focus(struct slow_lines *l, const char *regex, bool wanted)
{
	for (size_t i = 0; i < l->lines.count; i++) {
		struct slow_line *line = &l->lines.data[i];
		bool holds = false;
		for (uint32_t d = 0; d < line->depth && line->state == SLOW_SHOWN; d++)
			holds |= function_matches(
				l->profile, function_of(l->profile, line->frames[d]), regex);
		if (line->state != SLOW_UNMATCHED && holds != wanted)
			line->state = SLOW_DROPPED;
	}
}

/* How many are left. */
static uint32_t hide_frames(
	const struct slow_lines *l, uint32_t *frames, uint32_t depth, const char *regex)
{
	uint32_t kept = 0;

	for (uint32_t d = 0; d < depth; d++)
		if (!function_matches(l->profile, function_of(l->profile, frames[d]), regex))
			frames[kept++] = frames[d];
	return kept;
}

void slow_hide(struct slow_lines *l, const char *regex)
{
	for (size_t i = 0; i < l->lines.count; i++) {
		struct slow_line *line = &l->lines.data[i];

		line->depth = hide_frames(l, line->frames, line->depth, regex);
		line->zone_depth = hide_frames(l, line->zone, line->zone_depth, regex);
	}
}

static bool is_syscall(const struct function *f, const struct profile *p)
{
	const char *name = profile_string(p, f->name).data;
	const char *at = strstr(name, "_sys_");

	return strncmp(name, "sys_", 4) == 0 || strncmp(name, "ksys_", 5) == 0 ||
	       strncmp(name, "exc_", 4) == 0 ||
	       (strncmp(name, "__", 2) == 0 && at && at - name <= 11);
}

void slow_kernel(struct slow_lines *l, bool keeps_syscalls)
{
	const struct profile *p = l->profile;

	for (size_t i = 0; i < l->lines.count; i++) {
		struct slow_line *line = &l->lines.data[i];
		bool is_called = false, is_kept = false;
		uint32_t kept = 0;

		for (uint32_t d = 0; d < line->depth; d++) {
			const struct function *f =
				&p->functions[p->frames[line->frames[d]].function.i];
			bool is_kernel = f->object.i != NO_ID &&
					 p->objects[f->object.i].kind == OBJECT_KERNEL;
			bool is_first = is_kernel && is_called && keeps_syscalls && !is_kept &&
					is_syscall(f, p);

			is_kept |= is_first;
			if (!is_kernel || !is_called || is_first)
				line->frames[kept++] = line->frames[d];
			is_called |= !is_kernel;
		}
		line->depth = kept;
	}
}

static uint32_t without_inlined(const struct slow_lines *l, uint32_t *frames, uint32_t depth)
{
	uint32_t kept = 0;

	for (uint32_t d = 0; d < depth; d++)
		if (!l->profile->frames[frames[d]].is_inline)
			frames[kept++] = frames[d];
	return kept;
}

void slow_without_inlined(struct slow_lines *l)
{
	for (size_t i = 0; i < l->lines.count; i++) {
		struct slow_line *line = &l->lines.data[i];

		line->depth = without_inlined(l, line->frames, line->depth);
		line->zone_depth = without_inlined(l, line->zone, line->zone_depth);
	}
}

static bool is_meant(const char *ids, int64_t number, struct str name)
{
	char *copy = xstrndup(ids, strlen(ids)), *rest = copy, text[32];
	bool result = false;

	(void)snprintf(text, sizeof(text), "%" PRId64, number);
	for (char *id; (id = strsep(&rest, ",")) != NULL;)
		result |= strcmp(id, text) == 0 || str_equal(str_from(id), name);
	free(copy);
	return result;
}

static void keep_if(struct slow_line *line, bool keep)
{
	if (!keep)
		line->state = SLOW_DROPPED;
}

void slow_threads(struct slow_lines *l, const char *ids)
{
	l->by_line = true;
	for (size_t i = 0; i < l->lines.count; i++) {
		const struct thread *t = &l->profile->threads[l->lines.data[i].thread];
		keep_if(&l->lines.data[i],
			is_meant(ids, t->tid, profile_string(l->profile, t->name)));
	}
}

void slow_processes(struct slow_lines *l, const char *ids)
{
	l->by_line = true;
	for (size_t i = 0; i < l->lines.count; i++) {
		const struct thread *t = &l->profile->threads[l->lines.data[i].thread];
		const struct process *p = &l->profile->processes[t->process.i];
		keep_if(&l->lines.data[i],
			is_meant(ids, p->pid, profile_string(l->profile, p->name)));
	}
}

void slow_times(struct slow_lines *l, uint64_t from_ns, uint64_t to_ns)
{
	l->by_line = true;
	for (size_t i = 0; i < l->lines.count; i++)
		keep_if(&l->lines.data[i],
			l->lines.data[i].time_ns >= from_ns && l->lines.data[i].time_ns < to_ns);
}

void slow_zone(struct slow_lines *l, const char *regex)
{
	l->by_line = true;
	for (size_t i = 0; i < l->lines.count; i++) {
		struct slow_line *line = &l->lines.data[i];
		bool holds = false;

		for (uint32_t d = 0; d < line->zone_depth; d++)
			holds |= function_matches(
				l->profile, function_of(l->profile, line->zone[d]), regex);
		keep_if(line, holds);
	}
}

void slow_label(struct slow_lines *l, const char *key, const char *regex)
{
	const struct profile *p = l->profile;

	l->by_line = true;
	for (size_t i = 0; i < l->lines.count; i++) {
		label_set_id set = p->samples.labels[i];
		struct strbuf value = {0};
		bool holds = false;

		for (; set.i; set = p->label_sets[set.i].rest) {
			const struct label *label = &p->labels[p->label_sets[set.i].label.i];
			strbuf_clear(&value);
			strbuf_printf(&value, "%" PRId64 "%s", label->number,
				label->unit.i ? " bytes" : "");
			if (!str_equal(profile_string(p, label->key), str_from(key)))
				continue;
			holds |= regex == NULL ||
				 text_matches(label->text.i ? profile_string(p, label->text).data
							    : strbuf_str(&value).data,
					 regex);
		}
		strbuf_deinit(&value);
		keep_if(&l->lines.data[i], holds);
	}
}

static const struct tick *tick_of(const struct profile *p, const struct slow_line *line)
{
	for (size_t i = 0; i < p->tick_count; i++) {
		const struct tick *t = &p->ticks[i];

		if (t->process.i == p->threads[line->thread].process.i &&
			t->start_ns < line->time_ns && line->time_ns <= t->end_ns)
			return t;
	}
	return NULL;
}

static int64_t last_number(const struct profile *p, process_id process)
{
	int64_t last = -1;

	for (size_t i = 0; i < p->tick_count; i++)
		if (p->ticks[i].process.i == process.i && (int64_t)p->ticks[i].number > last)
			last = (int64_t)p->ticks[i].number;
	return last;
}

static bool tick_matches(const struct profile *p, const struct tick *t, enum filter_kind kind,
	const struct filter_ticks *wanted)
{
	int64_t from = wanted->from, to = wanted->to, end = last_number(p, t->process) + 1;

	if (kind == FILTER_TICK_OVER)
		return t->end_ns - t->start_ns >= wanted->duration_ns;
	if (kind == FILTER_TICK_UNDER)
		return t->end_ns - t->start_ns < wanted->duration_ns;
	from += from < 0 && from != INT64_MIN ? end : 0;
	to += to < 0 ? end : 0;
	return (int64_t)t->number >= from && (int64_t)t->number < to;
}

void slow_ticks(struct slow_lines *l, enum filter_kind kind, const struct filter_ticks *wanted,
	int64_t *outside)
{
	l->by_line = true;
	for (size_t i = 0; i < l->lines.count; i++) {
		struct slow_line *line = &l->lines.data[i];
		const struct tick *t = tick_of(l->profile, line);

		for (size_t m = 0; m < l->profile->metric_count; m++)
			if (t == NULL && line->state != SLOW_DROPPED)
				outside[m] += line->weight[m];
		keep_if(line, t != NULL && tick_matches(l->profile, t, kind, wanted));
	}
}

/* "f3", "o3": 'd'; anything else: a letter that no pattern has. */
static char letter_of(struct str name)
{
	bool is_letter = name.size >= 2 && name.data[1] >= '0' && name.data[1] <= '9';

	return is_letter ? (char)('a' + atoi(name.data + 1)) : '?';
}

void slow_lines_when(struct slow_lines *l, const char *pattern)
{
	const struct profile *p = l->profile;

	for (size_t i = 0; i < l->lines.count; i++) {
		struct slow_line *line = &l->lines.data[i];
		struct slow_frame frames[64];
		bool spontaneous;
		if (line->state != SLOW_SHOWN && line->state != SLOW_SPONTANEOUS)
			continue;
		uint32_t depth = line->state == SLOW_SHOWN ? line->depth : 0;
		for (uint32_t d = 0; d < depth; d++) {
			const struct function *f = function_of(p, line->frames[d]);
			frames[d] = (struct slow_frame){letter_of(profile_module(p, f->object)),
				letter_of(profile_string(p, f->name))};
		}
		uint32_t left = slow_when(pattern, frames, depth, &spontaneous);
		if (left == SLOW_WHEN_UNMATCHED)
			line->state = SLOW_UNMATCHED;
		else if (spontaneous)
			line->state = SLOW_SPONTANEOUS;
		else
			line->depth = left;
	}
}

int64_t slow_weight_in(const struct slow_lines *l, size_t metric, enum slow_state state)
{
	int64_t sum = 0;

	for (size_t i = 0; i < l->lines.count; i++)
		if (l->lines.data[i].state == state)
			sum += l->lines.data[i].weight[metric];
	return sum;
}

uint64_t slow_samples_in(const struct slow_lines *l, enum slow_state state)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < l->lines.count; i++)
		if (l->lines.data[i].state == state)
			sum += l->lines.data[i].samples;
	return sum;
}

/* ---- levels ---- */

static struct str known(struct str s)
{
	return s.size ? s : (struct str){0};
}

static struct str or_unknown(struct str s)
{
	return s.size ? s : STR("[unknown]");
}

/* What a reader of the report can tell of a frame. */
static struct entity name_of(const struct slow_lines *l, uint32_t frame, enum level level)
{
	const struct profile *p = l->profile;
	const struct frame *f = &p->frames[frame];
	const struct function *fn = function_of(p, frame);
	struct str module = known(profile_module(p, fn->object));
	struct str place = known(profile_string(p, f->file.i ? f->file : fn->file));
	struct entity e = {.name = or_unknown(profile_string(p, fn->name)), .occurrence = 1};

	switch (level) {
	case LEVEL_FUNCTION:
		e.module = module;
		e.file = known(profile_string(p, fn->file));
		e.line = fn->line;
		break;
	case LEVEL_MODULE:
		e.name = or_unknown(module);
		e.module = module;
		break;
	case LEVEL_FILE:
		e.name = or_unknown(place);
		e.file = place;
		e.module = place.size ? (struct str){0} : module;
		break;
	case LEVEL_LINE:
	case LEVEL_INSTRUCTION:
		e.module = module;
		e.file = place;
		e.line = f->line;
		e.address = level == LEVEL_INSTRUCTION ? f->obj_addr : 0;
		break;
	case LEVEL_THREAD:
	case LEVEL_PROCESS:
	case LEVEL_CPU:
	case LEVEL_ZONE:
	case LEVEL_COUNT:
		abort();
	}
	return e;
}

/* An instruction is known by its address. */
bool slow_same_entity(const struct entity *a, const struct entity *b)
{
	if (a->address && b->address)
		return a->address == b->address && str_equal(a->module, b->module);
	return entity_compare(a, b) == 0;
}

static uint32_t add_name(struct slow_tree *t, const struct entity *e)
{
	for (uint32_t i = 0; i < t->names.count; i++)
		if (slow_same_entity(&t->names.data[i], e))
			return i;
	vec_push(&t->names, *e);
	return (uint32_t)t->names.count - 1;
}

/* The last frame of a stack is a part of what the one before is. */
static bool joins(const struct slow_lines *l, uint32_t frame, enum level level)
{
	const struct frame *f = &l->profile->frames[frame];

	return level == LEVEL_MODULE || level == LEVEL_FILE ||
	       (level == LEVEL_INSTRUCTION && f->is_inline && f->obj_addr != 0);
}

static uint32_t child_of(struct slow_tree *t, uint32_t parent, uint32_t name)
{
	for (uint32_t i = 1; i < t->nodes.count; i++)
		if (t->nodes.data[i].parent == parent && t->nodes.data[i].name == name)
			return i;
	vec_push(&t->nodes,
		(struct slow_tree_node){
			.parent = parent, .level = t->nodes.data[parent].level + 1, .name = name});
	return (uint32_t)t->nodes.count - 1;
}

static void add_weights(struct slow_tree *t, uint32_t node, const int64_t *weight, size_t metrics)
{
	for (size_t m = 0; m < metrics; m++) {
		t->nodes.data[node].weight[m] += weight[m];
		for (uint32_t n = node; weight[m] != 0 && n != NO_ID; n = t->nodes.data[n].parent)
			t->nodes.data[n].passed[m] = true;
	}
}

static bool has_weight(const int64_t *weight, size_t metrics)
{
	for (size_t m = 0; m < metrics; m++)
		if (weight[m] != 0)
			return true;
	return false;
}

static struct entity function_or_same(const struct slow_lines *l, uint32_t frame,
	const struct slow_same *same, size_t same_count, enum level level)
{
	for (size_t i = 0; i < same_count && level == LEVEL_FUNCTION; i++)
		if (function_matches(l->profile, function_of(l->profile, frame), same[i].regex))
			return (struct entity){.name = str_from(same[i].name), .occurrence = 1};
	return name_of(l, frame, level);
}

struct growing {
	struct slow_tree *tree;
	const struct slow_lines *lines;
	enum level level;
	size_t metrics;
	const struct slow_same *same;
	size_t same_count;
};

static void add_stack(struct growing *g, const struct slow_line *line, const int64_t *weight)
{
	uint32_t node = 0;

	for (uint32_t d = 0; d < line->depth; d++) {
		struct entity e = function_or_same(
			g->lines, line->frames[d], g->same, g->same_count, g->level);
		uint32_t name = add_name(g->tree, &e);
		if (g->tree->nodes.data[node].name != name ||
			!joins(g->lines, line->frames[d], g->level))
			node = child_of(g->tree, node, name);
	}
	add_weights(g->tree, node, weight, g->metrics);
}

/* All lines of one stack together, as stacks of no weight are not seen. */
static void add_lines_of(struct growing *g, uint32_t stack)
{
	int64_t weight[SLOW_METRICS_MAX] = {0};
	const struct slow_line *shown = NULL;

	for (size_t i = 0; i < g->lines->lines.count; i++) {
		const struct slow_line *line = &g->lines->lines.data[i];
		if (line->stack != stack || line->state != SLOW_SHOWN)
			continue;
		shown = line;
		for (size_t m = 0; m < g->metrics; m++)
			weight[m] += line->weight[m];
	}
	if (shown && has_weight(weight, g->metrics))
		add_stack(g, shown, weight);
}

/* Whether a line is shown, and none of its stack before it is. */
static bool is_first_shown(const struct slow_lines *l, size_t line)
{
	const struct slow_line *lines = l->lines.data;

	for (size_t i = 0; i < line; i++)
		if (lines[i].stack == lines[line].stack && lines[i].state == SLOW_SHOWN)
			return false;
	return lines[line].state == SLOW_SHOWN;
}

static void add_thread(struct growing *g, const struct slow_line *line)
{
	const struct profile *p = g->lines->profile;
	bool is_thread = g->level == LEVEL_THREAD;
	struct entity e = {.occurrence = 1};

	if (line->state != SLOW_SHOWN || !has_weight(line->weight, g->metrics))
		return;
	const struct thread *t = &p->threads[line->thread];
	const struct process *process = &p->processes[t->process.i];
	struct str name = profile_string(p, is_thread ? t->name : process->name);
	e.name = str_from(arena_printf(g->lines->arena, "%.*s (%s%" PRId64 ")", STR_ARG(name),
		is_thread ? "thread " : "", is_thread ? t->tid : process->pid));
	add_weights(g->tree, child_of(g->tree, 0, add_name(g->tree, &e)), line->weight, g->metrics);
}

static void add_zone(struct growing *g, const struct slow_line *line)
{
	struct entity none = {.name = STR("[no zone]"), .occurrence = 1};
	uint32_t node = 0;

	if (line->state != SLOW_SHOWN || !has_weight(line->weight, g->metrics))
		return;
	for (uint32_t d = 0; d < line->zone_depth; d++) {
		struct entity e = name_of(g->lines, line->zone[d], LEVEL_FUNCTION);

		node = child_of(g->tree, node, add_name(g->tree, &e));
	}
	if (!line->in_zone)
		node = child_of(g->tree, 0, add_name(g->tree, &none));
	add_weights(g->tree, node, line->weight, g->metrics);
}

static void plant(struct slow_tree *t)
{
	*t = (struct slow_tree){0};
	vec_push(&t->nodes, (struct slow_tree_node){.parent = NO_ID, .name = NO_ID});
}

void slow_tree_init(struct slow_tree *t, const struct slow_lines *l, enum level level,
	size_t metrics, const struct slow_same *same, size_t same_count)
{
	struct growing g = {t, l, level, metrics, same, same_count};

	plant(t);
	if (level_is_of_tasks(level))
		for (size_t i = 0; i < l->lines.count; i++)
			add_thread(&g, &l->lines.data[i]);
	else if (level == LEVEL_ZONE)
		for (size_t i = 0; i < l->lines.count; i++)
			add_zone(&g, &l->lines.data[i]);
	else if (l->by_line)
		for (size_t i = 0; i < l->lines.count; i++) {
			if (is_first_shown(l, i))
				add_lines_of(&g, l->lines.data[i].stack);
		}
	else
		for (uint32_t s = 0; s < l->profile->stack_count; s++)
			add_lines_of(&g, s);
}

void slow_tree_invert(struct slow_tree *t, const struct slow_tree *of, size_t metrics)
{
	plant(t);
	for (size_t i = 0; i < of->names.count; i++)
		vec_push(&t->names, of->names.data[i]);
	for (uint32_t i = 0; i < of->nodes.count; i++) {
		const struct slow_tree_node *end = &of->nodes.data[i];
		uint32_t node = 0;
		if (!has_weight(end->weight, metrics))
			continue;
		for (uint32_t n = i; n != 0; n = of->nodes.data[n].parent)
			node = child_of(t, node, of->nodes.data[n].name);
		add_weights(t, node, end->weight, metrics);
	}
}

void slow_tree_deinit(struct slow_tree *t)
{
	vec_deinit(&t->names);
	vec_deinit(&t->nodes);
}

int64_t slow_tree_exclusive(const struct slow_tree *t, size_t metric, uint32_t name)
{
	int64_t sum = 0;

	for (size_t i = 0; i < t->nodes.count; i++)
		if (t->nodes.data[i].name == name)
			sum += t->nodes.data[i].weight[metric];
	return sum;
}

int64_t slow_tree_inclusive(const struct slow_tree *t, size_t metric, uint32_t name)
{
	int64_t sum = 0;

	for (uint32_t i = 0; i < t->nodes.count; i++) {
		bool holds = false;
		for (uint32_t n = i; n != NO_ID; n = t->nodes.data[n].parent)
			holds |= t->nodes.data[n].name == name;
		sum += holds ? t->nodes.data[i].weight[metric] : 0;
	}
	return sum;
}
