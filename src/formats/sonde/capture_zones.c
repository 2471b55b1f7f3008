/*
 * Zones of a capture file.  See capture_zones.h.
 *
 * A zone row becomes a sample with two weights; the others are 0.  Each entry is a call from the
 * enclosing zone, so the call graph of zones has exact counts.
 */
#include "formats/sonde/capture_zones.h"

#include "formats/sonde/layout/capture_rows.h"
#include "formats/sonde/layout/capture_samples.h"
#include "formats/sonde/layout/zonewire.h"

void capture_zones_init(struct capture_zones_reader *z, struct builder *b,
	struct capture_tasks *tasks, struct capture_tree *tree)
{
	*z = (struct capture_zones_reader){
		.builder = b, .tasks = tasks, .tree = tree, .time = {NO_ID}, .entries = {NO_ID}};
}

void capture_zones_add_metrics(struct capture_zones_reader *z)
{
	z->time = builder_metric(z->builder, STR(ZONE_TIME), STR("ns"));
	z->entries = builder_metric(z->builder, STR(ZONE_ENTRIES), STR("count"));
}

struct error *capture_zones_read_ticks(struct capture_zones_reader *z, struct cursor *payload)
{
	struct capture_tick row;

	while (capture_get_tick(payload, &row)) {
		uint64_t end_ns;

		if (__builtin_add_overflow(row.start_ns, row.duration_ns, &end_ns)) {
			cursor_fail(payload, "a tick's end is out of range");
			break;
		}
		builder_tick(z->builder,
			&(struct tick){.process = capture_tasks_process(z->tasks, row.process),
				.stream = builder_string(z->builder, row.stream),
				.number = row.number,
				.start_ns = row.start_ns,
				.end_ns = end_ns,
				.thread = row.thread == CAPTURE_NO_ID
						  ? (thread_id){NO_ID}
						  : capture_tasks_thread(z->tasks, row.thread)});
	}
	return cursor_error(payload);
}

/* Adds a row's calls from the enclosing zone, and its two weights. */
static void add_row(struct capture_zones_reader *z, const struct capture_sample *row)
{
	int64_t weight[CAPTURE_METRIC_MAX + 3] = {0};
	struct builder *b = z->builder;
	uint8_t flags;
	stack_id stack = capture_tree_stack(z->tree, row->node, &flags);

	weight[z->time.i] = row->weight[0] > 0 ? row->weight[0] : 0;
	weight[z->entries.i] = row->weight[1] > 0 ? row->weight[1] : 0;
	builder_sample(b, stack, capture_tasks_thread(z->tasks, row->thread),
		builder_time(row->time_ns), weight);
	builder_sample_zone(b, stack);
	z->orphans += (flags & CAPTURE_STACK_ORPHAN) != 0;
	function_id function = builder_stack_function(b, stack);

	if (row->weight[1] > 0 && function.i != NO_ID)
		builder_arc(b, builder_stack_function(b, builder_stack_parent(b, stack)), function,
			(uint64_t)row->weight[1]);
}

struct error *capture_zones_read_rows(struct capture_zones_reader *z, struct cursor *payload)
{
	struct capture_samples_decoder d;
	struct capture_sample row = {0};
	struct error *err = capture_samples_begin(&d, payload);

	if (err)
		return err;
	if (d.metric_count < 2) {
		cursor_fail(payload, "a zone's time or its entries are missing");
		return cursor_error(payload);
	}
	builder_expect_samples(z->builder, d.left);
	while (capture_samples_next(&d, &row))
		add_row(z, &row);
	return capture_samples_error(&d);
}

struct error *capture_zones_read_events(struct capture_zones_reader *z, struct cursor *payload)
{
	struct capture_samples_decoder d;
	struct capture_sample row = {0};
	struct error *err = capture_samples_begin(&d, payload);

	if (err)
		return err;
	while (capture_samples_next(&d, &row)) {
		uint8_t flags;
		stack_id stack = capture_tree_stack(z->tree, row.node, &flags);

		z->orphans += (flags & CAPTURE_STACK_ORPHAN) != 0;
		builder_zone_event(
			z->builder, capture_tasks_thread(z->tasks, row.thread), row.time_ns, stack);
	}
	return capture_samples_error(&d);
}

struct zone_trouble {
	uint32_t counter;
	enum note_kind kind;
	const char *one, *several;
};

static const struct zone_trouble troubles[] = {
	{CAPTURE_LOST_TICKS, NOTE_LOST,
		"a tick was lost: the program's ring of ticks was full; its time is in no tick",
		"ticks were lost: the program's ring of ticks was full; their time is in no tick"},
	{CAPTURE_CUT_TICKS, NOTE_GUESSED,
		"a tick had more zones than the program's ring has room for; the rest of its time "
		"is in the next",
		"ticks had more zones than the program's ring has room for; the rest of their time "
		"is in the next ones"},
	{CAPTURE_UNKNOWN_ZONES, NOTE_GUESSED,
		"a sample's zone, on or off the CPU, is unknown, and shown as [unknown]",
		"samples' zones, on and off the CPU, are unknown, and shown as [unknown]"},
	{CAPTURE_LOST_ZONE_EVENTS, NOTE_LOST,
		"a zone event was lost: overwritten before it could be read",
		"zone events were lost: overwritten before they could be read"},
	{CAPTURE_BROKEN_ZONES, NOTE_BAD_RECORD,
		"a program had invalid zones memory, which was skipped",
		"programs had invalid zones memory, which was skipped"},
	{CAPTURE_MERGED_THREADS, NOTE_GUESSED,
		"a thread's zones are counted, in whole or in part, for the thread that took its "
		"place in the program next: it ended between two reads",
		"threads' zones are counted, in whole or in part, for the threads that took their "
		"places in the program next: they ended between two reads"},
	{CAPTURE_ZONE_TROUBLE + ZONEWIRE_MISSING_END, NOTE_GUESSED,
		"a zone was left without Prof_End", "zones were left without Prof_End"},
	{CAPTURE_ZONE_TROUBLE + ZONEWIRE_EXTRA_END, NOTE_GUESSED,
		"a Prof_End ended no zone, or not the one that was open",
		"Prof_Ends ended no zone, or not the one that was open"},
	{CAPTURE_ZONE_TROUBLE + ZONEWIRE_TOO_DEEP, NOTE_LOST,
		"a zone entry, with all below it, was not measured: too deep",
		"zone entries, with all below them, were not measured: too deep"},
	{CAPTURE_ZONE_TROUBLE + ZONEWIRE_NO_NODES, NOTE_LOST,
		"a zone entry, with all below it, was not measured: too many stacks of zones",
		"zone entries, with all below them, were not measured: too many stacks of "
		"zones"},
	{CAPTURE_ZONE_TROUBLE + ZONEWIRE_NO_ZONES, NOTE_GUESSED,
		"once there was no room for a zone, which is shown as ...other: there are too many",
		"times there was no room for a zone, which is shown as ...other: there are too "
		"many"},
	{CAPTURE_ZONE_TROUBLE + ZONEWIRE_NO_SLOTS, NOTE_LOST,
		"a zone entry, with all below it, was not measured: too many threads",
		"zone entries, with all below them, were not measured: too many threads"},
	{CAPTURE_ZONE_TROUBLE + ZONEWIRE_NO_RING, NOTE_LOST,
		"a thread's zones have no events: too many threads",
		"threads' zones have no events: too many threads"},
	{CAPTURE_ZONE_TROUBLE + ZONEWIRE_INTERRUPTED, NOTE_LOST,
		"a zone entry was not measured: a signal handler entered the zone during another "
		"entry",
		"zone entries were not measured: signal handlers entered the zones during other "
		"entries"},
	{CAPTURE_ZONE_TROUBLE + ZONEWIRE_TICK_TOO_BIG, NOTE_LOST,
		"a tick did not fit into the program's ring",
		"ticks did not fit into the program's ring"},
	{CAPTURE_ZONE_TROUBLE + ZONEWIRE_CLOCK_BACK, NOTE_GUESSED,
		"the clock of zones went back once", "times the clock of zones went back"},
	{CAPTURE_ZONE_TROUBLE + ZONEWIRE_NO_STREAMS, NOTE_LOST,
		"a tick was left out: there are too many streams",
		"ticks were left out: there are too many streams"},
	{CAPTURE_ZONE_TROUBLE + ZONEWIRE_UNTOLD_CHILD, NOTE_LOST,
		"a child process's zones were not measured: it was made by _Fork or clone",
		"child processes' zones were not measured: they were made by _Fork or clone"},
};

void capture_zones_note(struct builder *b, const uint64_t *counters)
{
	for (size_t i = 0; i < ARRAY_SIZE(troubles); i++) {
		uint64_t count = counters[troubles[i].counter];

		if (count)
			builder_note(b, troubles[i].kind, count, "%s",
				count == 1 ? troubles[i].one : troubles[i].several);
	}
}
