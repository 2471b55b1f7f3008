/*
 * Zones of a running program as one JSON object.  Times since the start are integers in
 * nanoseconds, from the counters; averages are numbers in milliseconds, as in the displays.
 */
#include "cli/live_json.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/escape.h"
#include "base/sort.h"
#include "live/totals.h"
#include "zonereport/said.h"

const char *const live_state_names[] = {
	[LIVE_RUNNING] = "running",
	[LIVE_STOPPED] = "stopped",
	[LIVE_ENDED] = "ended",
	[LIVE_SAVED] = "saved",
	NULL,
};
const char *const live_mode_names[] = {
	[ZONE_MODE_SELF] = "self",
	[ZONE_MODE_HIER] = "hier",
	[ZONE_MODE_GRAPH] = "graph",
	[ZONE_MODE_DESCENDANTS] = "descendants",
	[ZONE_MODE_NAME] = "name",
	NULL,
};
const char *const live_recursion_names[] = {
	[ZONE_FLATTEN] = "flatten", [ZONE_SPREAD] = "spread", NULL};
const char *const live_average_names[] = {"none", "short", "long", NULL};

static const char *const trouble_keys[] = {
	[ZONEWIRE_MISSING_END] = "missing_end",
	[ZONEWIRE_EXTRA_END] = "extra_end",
	[ZONEWIRE_TOO_DEEP] = "too_deep",
	[ZONEWIRE_NO_NODES] = "no_nodes",
	[ZONEWIRE_NO_ZONES] = "no_zones",
	[ZONEWIRE_NO_SLOTS] = "no_slots",
	[ZONEWIRE_NO_RING] = "no_ring",
	[ZONEWIRE_INTERRUPTED] = "interrupted",
	[ZONEWIRE_TICK_TOO_BIG] = "tick_too_big",
	[ZONEWIRE_CLOCK_BACK] = "clock_back",
	[ZONEWIRE_NO_STREAMS] = "no_streams",
	[ZONEWIRE_UNTOLD_CHILD] = "untold_child",
};
static const char *const clock_names[] = {
	[ZONEWIRE_CLOCK_CPU] = "cpu",
	[ZONEWIRE_CLOCK_MONOTONIC] = "monotonic",
	[ZONEWIRE_CLOCK_CALLED] = "called",
};
static const char *const slot_state_names[] = {
	[ZONEWIRE_SLOT_FREE] = "ended",
	[ZONEWIRE_SLOT_THREAD] = "thread",
	[ZONEWIRE_SLOT_FIBER] = "fiber",
};
static const char *const row_kind_names[] = {
	[ZONE_ROW_FLAT] = "zone",
	[ZONE_ROW_PARENT] = "caller",
	[ZONE_ROW_FOCUS] = "focus",
	[ZONE_ROW_RECURSION] = "recursion",
	[ZONE_ROW_CHILD] = "callee",
	[ZONE_ROW_FRAMELESS] = "frameless",
};

/* ---- pieces ---- */

/* Writes a key, after a comma unless it is the first of its object. */
static void put_key(struct strbuf *out, const char *key)
{
	char last = out->size ? out->data[out->size - 1] : '{';

	strbuf_printf(out, "%s\"%s\": ", last == '{' ? "" : ", ", key);
}

/* Begins an item of an array, on a separate line. */
static void put_item(struct strbuf *out, size_t number)
{
	strbuf_add(out, number ? STR(",\n  {") : STR("\n  {"));
}

static void put_text(struct strbuf *out, const char *key, const char *text)
{
	put_key(out, key);
	quote_json(out, str_from(text));
}

/* Writes null for an empty text. */
static void put_text_or_null(struct strbuf *out, const char *key, const char *text)
{
	if (*text) {
		put_text(out, key, text);
		return;
	}
	put_key(out, key);
	strbuf_add(out, STR("null"));
}

static void put_count(struct strbuf *out, const char *key, uint64_t count)
{
	put_key(out, key);
	strbuf_printf(out, "%" PRIu64, count);
}

static void put_ms(struct strbuf *out, const char *key, double ms)
{
	put_key(out, key);
	strbuf_printf(out, "%.6f", ms);
}

/* ---- the list ---- */

static void put_program(struct strbuf *out, const struct live_program *p)
{
	char command[512];

	live_process_command(p->process.pid, command, sizeof(command));
	put_count(out, "pid", (uint64_t)p->process.pid);
	put_text(out, "program", p->problem ? p->process.name : p->summary.program);
	put_text(out, "command", command);
	put_text_or_null(out, "problem", p->problem ? p->problem->message : "");
	if (p->problem == NULL) {
		put_text(out, "state", live_state_names[p->state]);
		put_count(out, "threads", p->summary.threads);
		put_count(out, "zones", p->summary.zones);
		put_count(out, "frames", p->summary.frames);
		put_ms(out, "frame_ms", p->summary.frame_ms);
		put_count(out, "uptime_ns", p->summary.uptime_ns);
	}
	strbuf_add_char(out, '}');
}

void live_json_list(struct strbuf *out, const struct live_list *list)
{
	strbuf_add(out, STR("{"));
	put_count(out, "sonde", 1);
	put_text(out, "view", "programs");
	put_count(out, "hidden", list->hidden);
	put_key(out, "programs");
	strbuf_add_char(out, '[');
	for (size_t i = 0; i < list->programs.count; i++) {
		put_item(out, i);
		put_program(out, &list->programs.data[i]);
	}
	strbuf_add(out, STR("\n]}\n"));
}

/* ---- a report ---- */

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return COMPARE(*x, *y);
}

static void put_frame_times(struct strbuf *out, const struct zone_history *history)
{
	size_t count = zone_history_frame_count(history);
	double *ms = xcalloc(count + 1, sizeof(*ms)), sum = 0;
	struct zone_frame frame;

	for (size_t i = 0; i < count; i++)
		sum += ms[i] = zone_history_frame(history, i, &frame) ? frame.ms : 0;
	qsort(ms, count, sizeof(*ms), by_value);
	if (count) {
		put_ms(out, "min_ms", ms[0]);
		put_ms(out, "median_ms", ms[(count - 1) / 2]);
		put_ms(out, "p95_ms", ms[(count * 95 + 99) / 100 - 1]);
		put_ms(out, "max_ms", ms[count - 1]);
		put_ms(out, "mean_ms", sum / (double)count);
	}
	free(ms);
}

static void put_frames(
	struct strbuf *out, const struct zonewire_header *header, const struct zone_follow *follow)
{
	const struct zone_history *history = zone_follow_history(follow);
	uint32_t base = zone_follow_base(follow);

	put_key(out, "frames");
	strbuf_add_char(out, '{');
	if (base < ZONEWIRE_STREAMS)
		put_text(out, "of", header->stream[base].name);
	else
		put_text(out, "of", base == ZONE_BASE_RUN ? "run" : "looks");
	put_count(out, "kept", zone_history_frame_count(history));
	put_count(out, "lost_bytes", zone_follow_lost_bytes(follow));
	put_frame_times(out, history);
	strbuf_add_char(out, '}');
}

static void put_streams(struct strbuf *out, const struct zonewire_header *header)
{
	put_key(out, "streams");
	strbuf_add_char(out, '[');
	for (uint32_t i = 0; i < header->stream_count; i++) {
		put_item(out, i);
		put_text(out, "name", header->stream[i].name);
		put_count(out, "frames", header->stream[i].ticks);
		strbuf_add_char(out, '}');
	}
	strbuf_add(out, STR("]"));
}

static void put_threads(struct strbuf *out, const struct live *live)
{
	const struct zone_region *region = &live->memory.region;
	uint32_t count = zone_region_slot_count(region);
	struct zonewire_slot slot;
	char name[32];

	put_key(out, "threads");
	strbuf_add_char(out, '[');
	for (uint32_t i = 0; i < count && zone_region_slot(region, i, &slot); i++) {
		snprintf(name, sizeof(name), "%s", slot.name);
		if (name[0] == '\0' && slot.state == ZONEWIRE_SLOT_THREAD && live->path == NULL)
			live_process_thread_name(&live->process, slot.tid, name, sizeof(name));
		put_item(out, i);
		put_count(out, "slot", i);
		put_count(out, "tid", (uint64_t)(uint32_t)slot.tid);
		put_text(out, "name", name);
		put_text(out, "state",
			slot_state_names[slot.state <= ZONEWIRE_SLOT_FIBER ? slot.state : 0]);
		put_count(out, "threads", slot.thread_count);
		strbuf_add_char(out, '}');
	}
	strbuf_add_char(out, ']');
}

static void put_place(struct strbuf *out, const struct zone_info *info)
{
	put_text(out, "name", info->name);
	put_text_or_null(out, "file", info->file);
	put_count(out, "line", info->line);
}

/* JSON has no infinities and no NaN. */
static void put_number(struct strbuf *out, const char *key, double number)
{
	put_key(out, key);
	if (isfinite(number))
		strbuf_printf(out, "%.17g", number);
	else
		strbuf_add(out, STR("null"));
}

/* Writes the program's annotations of the zone. */
static void put_said(struct strbuf *out, const struct zone_region *region,
	const struct zone_reading *reading, uint32_t zone, uint32_t slot)
{
	struct zone_said said;

	(void)zone_said(region, reading, zone, slot, &said);
	put_text_or_null(out, "text", said.text);
	put_key(out, "number");
	if (said.count == 0) {
		strbuf_add(out, STR("null"));
		return;
	}
	strbuf_add_char(out, '{');
	put_count(out, "count", said.count);
	put_number(out, "sum", said.sum);
	put_number(out, "min", said.min);
	put_number(out, "max", said.max);
	put_number(out, "last", said.last);
	strbuf_add_char(out, '}');
}

/* Writes every zone entered since the start. */
static void put_zones(struct strbuf *out, const struct zone_region *region,
	const struct zone_follow *follow, uint32_t slot)
{
	const struct zone_history *history = zone_follow_history(follow);
	uint32_t count = zone_history_zone_count(history), items = 0;
	struct live_total *totals = live_totals(zone_follow_reading(follow), count, slot);

	put_key(out, "zones");
	strbuf_add_char(out, '[');
	for (uint32_t i = 1; i < count; i++) {
		struct zone_info info = zone_history_zone(history, i);
		const struct live_total *t = &totals[i];
		if (t->entries == 0 && t->self_ticks == 0)
			continue;
		put_item(out, items++);
		put_place(out, &info);
		put_text_or_null(out, "module", info.module);
		put_count(out, "entries", t->entries);
		put_count(out, "self_ns", zone_region_duration_ns(region, t->self_ticks));
		put_count(out, "total_ns", zone_region_duration_ns(region, t->total_ticks));
		put_count(out, "open", t->open);
		put_count(out, "recursion", t->recursion);
		put_said(out, region, zone_follow_reading(follow), i, slot);
		strbuf_add_char(out, '}');
	}
	strbuf_add_char(out, ']');
	free(totals);
}

static void put_rows(struct strbuf *out, const struct zone_report *report)
{
	put_key(out, "rows");
	strbuf_add_char(out, '[');
	for (size_t i = 0; i < report->row_count; i++) {
		const struct zone_row *row = &report->row[i];
		put_item(out, i);
		put_text(out, "kind", row_kind_names[row->kind]);
		put_place(out, &row->info);
		put_count(out, "recursion", (uint64_t)row->number);
		put_ms(out, "self_ms", row->self_ms);
		put_ms(out, "hier_ms", row->hier_ms);
		put_ms(out, "count", row->count);
		put_ms(out, "heat", row->heat);
		strbuf_add_char(out, '}');
	}
	strbuf_add_char(out, ']');
}

static void put_troubles(
	struct strbuf *out, const struct zone_region *region, const struct zone_report *report)
{
	put_key(out, "troubles");
	strbuf_add_char(out, '{');
	for (size_t i = 0; i < ARRAY_SIZE(trouble_keys); i++)
		put_count(out, trouble_keys[i],
			zone_region_trouble(region, (enum zonewire_trouble)i));
	strbuf_add_char(out, '}');
	put_text_or_null(out, "trouble", report->trouble);
}

static void put_program_facts(
	struct strbuf *out, const struct live *live, const struct zonewire_header *header)
{
	const struct zone_region *region = &live->memory.region;
	int64_t uptime_ns = zone_region_ns(region, zone_region_now(region));

	put_text(out, "program", header->program);
	put_count(out, "pid", (uint64_t)(live->path ? header->pid : live->process.pid));
	put_text(out, "state", live_state_names[live->state]);
	put_text_or_null(out, "detail", live->detail);
	put_text(out, "clock", clock_names[region->header.clock]);
	put_count(out, "uptime_ns", uptime_ns > 0 ? (uint64_t)uptime_ns : 0);
	put_key(out, "is_lower_bound");
	strbuf_add(out, zone_region_end_is_proven(region) ? STR("true") : STR("false"));
	put_key(out, "is_off");
	strbuf_add(out, header->is_off ? STR("true") : STR("false"));
}

static void put_query(struct strbuf *out, const struct zone_query *query)
{
	put_text(out, "mode", live_mode_names[query->mode]);
	put_text(out, "recursion", live_recursion_names[query->recursion]);
	put_text(out, "average", live_average_names[query->average]);
	put_key(out, "slot");
	if (query->slot == ZONE_SLOT_ALL)
		strbuf_add(out, STR("null"));
	else
		strbuf_printf(out, "%" PRIu32, query->slot);
}

void live_json_report(struct strbuf *out, const struct live *live, const struct zone_follow *follow,
	const struct zone_report *report)
{
	const struct zone_region *region = &live->memory.region;
	struct zonewire_header header = zone_region_header(region);

	strbuf_add_char(out, '{');
	put_count(out, "sonde", 1);
	put_text(out, "view", "live");
	put_program_facts(out, live, &header);
	put_query(out, &report->query);
	put_frames(out, &header, follow);
	put_ms(out, "frame_ms", report->frame_ms);
	put_streams(out, &header);
	put_troubles(out, region, report);
	put_threads(out, live);
	put_zones(out, region, follow, report->query.slot);
	put_rows(out, report);
	strbuf_add(out, STR("}\n"));
}
