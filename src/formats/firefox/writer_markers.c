/*
 * Markers of a Firefox profile: times off the CPU, with the stack in which the thread was then;
 * zones and ticks.
 */
#include "formats/firefox/writer.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/search.h"
#include "formats/common/zone_walk.h"

static const char *const state_names[FIREFOX_STATE_COUNT] = {
	"running", "blocked", "preempted", "woken"};

/* ---- Which */

static size_t count_off_cpu(const struct firefox_writer *w, uint64_t shortest_ns)
{
	size_t count = 0;
	uint64_t off_cpu_ns;

	for (size_t i = 0; i < w->shown; i++)
		count += firefox_sample_state(w, w->order[i], &off_cpu_ns) != FIREFOX_RUNNING &&
			 off_cpu_ns >= shortest_ns;
	return count;
}

struct open_zones {
	struct firefox_writer *w;
	VEC(uint64_t) starts;
};

static void enter_zone(void *context, uint32_t thread, uint32_t stack, uint64_t time_ns)
{
	struct open_zones *open = context;

	(void)thread;
	(void)stack;
	vec_push(&open->starts, time_ns);
}

static void leave_zone(void *context, uint32_t thread, uint32_t stack, uint64_t time_ns)
{
	struct open_zones *open = context;
	uint32_t level = (uint32_t)--open->starts.count;

	open->w->first_zone[thread + 1]++;
	vec_push(&open->w->zones, (struct firefox_marker){.kind = MARKER_ZONE,
					  .stack = stack,
					  .level = level,
					  .start_ns = open->starts.data[level],
					  .end_ns = time_ns});
}

/* All of them or none: of parts of a nesting nobody could say what they are parts of. */
static void find_zones(struct firefox_writer *w)
{
	const struct profile *p = w->profile;
	struct open_zones open = {.w = w};

	w->first_zone = xcalloc(p->thread_count + 2, sizeof(*w->first_zone));
	w->lacks_zones = p->zone_events.count > w->marker_limit;
	if (!w->lacks_zones)
		zone_walk(p, &open, enter_zone, leave_zone);
	vec_deinit(&open.starts);
	for (size_t i = 0; i < p->thread_count; i++)
		w->first_zone[i + 1] += w->first_zone[i];
}

void firefox_markers_deinit(struct firefox_writer *w)
{
	free(w->first_zone);
	vec_deinit(&w->zones);
}

/* Of more than a browser can hold the longer ones. */
void firefox_markers_plan(struct firefox_writer *w)
{
	find_zones(w);
	if (!w->has_times)
		return;
	while (count_off_cpu(w, w->shortest_ns) > w->marker_limit)
		w->shortest_ns = w->shortest_ns ? w->shortest_ns * 2 : 1000;
}

/* ---- Those of a thread */

struct marker_list {
	VEC(struct firefox_marker) items;
};

static void gather_off_cpu(struct firefox_writer *w, uint32_t thread, struct marker_list *list)
{
	const struct samples *s = &w->profile->samples;
	uint64_t off_cpu_ns;

	for (size_t i = w->first[thread]; i < w->first[thread + 1]; i++) {
		uint32_t sample = w->order[i];
		enum firefox_state state = firefox_sample_state(w, sample, &off_cpu_ns);

		if (state == FIREFOX_RUNNING || off_cpu_ns < w->shortest_ns)
			continue;
		if (w->state_name[state] == NO_ID)
			w->state_name[state] = firefox_literal(w, str_from(state_names[state]));
		vec_push(&list->items, (struct firefox_marker){.kind = MARKER_OFF_CPU,
					       .name = w->state_name[state],
					       .state = state,
					       .stack = s->stack[sample].i,
					       .start_ns = s->time_ns[sample],
					       .end_ns = s->time_ns[sample] + off_cpu_ns});
	}
}

/* The first tick of that process or a later one. */
static size_t first_tick(const struct profile *p, uint32_t process)
{
	return partition_point(i, 0, p->tick_count, p->ticks[i].process.i < process);
}

static void gather_ticks(struct firefox_writer *w, uint32_t process, struct marker_list *list)
{
	const struct profile *p = w->profile;

	for (size_t i = first_tick(p, process);
		i < p->tick_count && p->ticks[i].process.i == process; i++)
		vec_push(&list->items, (struct firefox_marker){.kind = MARKER_TICK,
					       .name = firefox_string_number(w, p->ticks[i].stream),
					       .number = p->ticks[i].number,
					       .start_ns = p->ticks[i].start_ns,
					       .end_ns = p->ticks[i].end_ns});
}

/* Those that were found when the writing was planned; only now are there numbers for names. */
static void gather_zones(struct firefox_writer *w, uint32_t thread, struct marker_list *list)
{
	const struct profile *p = w->profile;

	for (size_t i = w->first_zone[thread]; i < w->first_zone[thread + 1]; i++) {
		struct firefox_marker m = w->zones.data[i];
		function_id function = p->frames[p->stacks[m.stack].frame.i].function;

		m.name = firefox_string_number(w, p->functions[function.i].name);
		vec_push(&list->items, m);
	}
}

/* By start, of those of one start the outer first. */
static int compare_markers(const void *a, const void *b)
{
	const struct firefox_marker *x = a, *y = b;

	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	if (x->end_ns != y->end_ns)
		return x->end_ns > y->end_ns ? -1 : 1;
	if (x->level != y->level)
		return x->level < y->level ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->name != y->name)
		return x->name < y->name ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

/* ---- Writing */

static void put_data(struct firefox_writer *w, const struct firefox_marker *m)
{
	static const char *const types[] = {
		[MARKER_OFF_CPU] = "Off-CPU", [MARKER_ZONE] = "Zone", [MARKER_TICK] = "Tick"};
	struct json_writer *json = &w->json;

	json_put_object(json);
	json_put_key(json, "type"), json_put_string(json, str_from(types[m->kind]));
	if (m->kind == MARKER_TICK)
		json_put_key(json, "number"), json_put_unsigned(json, m->number);
	if (m->kind == MARKER_OFF_CPU && m->stack) {
		json_put_key(json, "cause");
		json_put_object(json);
		json_put_key(json, "time"), firefox_put_ms(w, m->start_ns);
		json_put_key(json, "stack");
		json_put_unsigned(json, w->stack_number[m->state][m->stack]);
		json_put_end(json);
	}
	json_put_end(json);
}

static void put_field(struct firefox_writer *w, const char *name, const struct firefox_marker *m)
{
	struct json_writer *json = &w->json;

	switch (name[0]) {
	case 'c': /* category */
		json_put_unsigned(json, m->kind == MARKER_OFF_CPU ? FIREFOX_OFF_CPU : FIREFOX_ZONE);
		break;
	case 'd': /* data */
		put_data(w, m);
		break;
	case 'e': /* endTime */
		firefox_put_ms(w, m->end_ns);
		break;
	case 'n': /* name */
		json_put_unsigned(json, m->name);
		break;
	case 'p': /* phase: an interval */
		json_put_unsigned(json, 1);
		break;
	default: /* startTime */
		firefox_put_ms(w, m->start_ns);
	}
}

static void write_list(struct firefox_writer *w, const struct marker_list *list)
{
	static const char *const columns[] = {
		"category", "data", "endTime", "name", "phase", "startTime"};

	json_put_object(&w->json);
	json_put_key(&w->json, "length"), json_put_unsigned(&w->json, list->items.count);
	for (size_t c = 0; c < ARRAY_SIZE(columns); c++) {
		json_put_key(&w->json, columns[c]);
		json_put_array(&w->json);
		for (size_t i = 0; i < list->items.count && sink_settle(w->sink); i++)
			put_field(w, columns[c], &list->items.data[i]);
		json_put_end(&w->json);
	}
	json_put_end(&w->json);
}

void firefox_markers_write(struct firefox_writer *w, uint32_t thread, bool is_main)
{
	const struct profile *p = w->profile;
	struct marker_list list = {0};

	if (w->has_times && w->order)
		gather_off_cpu(w, thread, &list);
	if (thread < p->thread_count)
		gather_zones(w, thread, &list);
	if (thread < p->thread_count && is_main)
		gather_ticks(w, p->threads[thread].process.i, &list);
	if (list.items.count)
		qsort(list.items.data, list.items.count, sizeof(*list.items.data), compare_markers);
	write_list(w, &list);
	vec_deinit(&list.items);
}

/* ---- Schema */

static void put_schema(struct firefox_writer *w, const char *name, const char *description,
	const char *field, const char *label)
{
	static const char *const display[] = {"marker-chart", "marker-table", "timeline-overview"};
	struct json_writer *json = &w->json;

	json_put_object(json);
	json_put_key(json, "name"), json_put_string(json, str_from(name));
	json_put_key(json, "description"), json_put_string(json, str_from(description));
	json_put_key(json, "tableLabel"), json_put_string(json, STR("{marker.name}"));
	json_put_key(json, "chartLabel"), json_put_string(json, STR("{marker.name}"));
	json_put_key(json, "display");
	json_put_array(json);
	for (size_t i = 0; i < ARRAY_SIZE(display); i++)
		json_put_string(json, str_from(display[i]));
	json_put_end(json);
	json_put_key(json, "fields");
	json_put_array(json);
	if (field) {
		json_put_object(json);
		json_put_key(json, "key"), json_put_string(json, str_from(field));
		json_put_key(json, "label"), json_put_string(json, str_from(label));
		json_put_key(json, "format"), json_put_string(json, STR("integer"));
		json_put_end(json);
	}
	json_put_end(json);
	json_put_key(json, "isStackBased"), json_put_bool(json, strcmp(name, "Zone") == 0);
	json_put_end(json);
}

void firefox_markers_write_schema(struct firefox_writer *w)
{
	json_put_array(&w->json);
	put_schema(w, "Off-CPU",
		"The thread was off the CPU: blocked, or ready to run and preempted.", NULL, NULL);
	put_schema(w, "Zone", "A zone that the program has marked.", NULL, NULL);
	put_schema(w, "Tick", "A tick, or frame of time, that the program has marked.", "number",
		"Number");
	json_put_end(&w->json);
}
