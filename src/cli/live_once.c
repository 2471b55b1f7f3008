/*
 * One report of a program's zones.  A program with frames has its history in memory, so one reading
 * is enough; for one without, the report covers one second.
 */
#include "cli/live_once.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/escape.h"
#include "base/nearest.h"
#include "cli/live_json.h"
#include "cli/live_open.h"
#include "zonereport/follow.h"
#include "zonereport/said.h"

#define LOOK_NS	      (SECOND_NS / 20)
#define OBSERVE_NS    SECOND_NS
#define NOT_TOLD_TIME UINT64_MAX

static struct error *out_of_memory(void)
{
	return error_system(ENOMEM, "what zones did does not fit into memory");
}

/* ---- what is requested by name ---- */

static struct error *find_base(
	const struct zonewire_header *header, const char *name, uint32_t *base)
{
	*base = ZONE_BASE_AUTO;
	if (name == NULL || strcmp(name, "auto") == 0)
		return NULL;
	for (uint32_t i = 0; i < header->stream_count; i++) {
		*base = i;
		if (strcmp(header->stream[i].name, name) == 0)
			return NULL;
	}
	*base = strcmp(name, "run") == 0 ? (uint32_t)ZONE_BASE_RUN : (uint32_t)ZONE_BASE_LOOKS;
	if (*base == ZONE_BASE_RUN || strcmp(name, "looks") == 0)
		return NULL;
	struct strbuf names = {0};
	for (uint32_t i = 0; i < header->stream_count; i++)
		strbuf_printf(&names, "%s, ", header->stream[i].name);
	struct error *err = error_new(ERROR_INPUT,
		"--frames: the program has no frames called '%s'; there are: %sauto, run, looks",
		name, names.data ? names.data : "");
	strbuf_deinit(&names);
	return err;
}

static struct error *find_zone(const struct zone_history *history, const char *name, uint32_t *zone)
{
	struct nearest n;

	nearest_init(&n, str_from(name));
	for (uint32_t i = 1; i < zone_history_zone_count(history); i++) {
		struct zone_info info = zone_history_zone(history, i);
		*zone = i;
		if (strcmp(info.name, name) == 0)
			return NULL;
		nearest_offer(&n, str_from(info.name));
	}
	if (n.best.size)
		return error_new(ERROR_INPUT,
			"--zone: the program has entered no zone '%s'; did you mean '%.*s'?", name,
			STR_ARG(n.best));
	return error_new(ERROR_INPUT, "--zone: the program has entered no zone '%s'", name);
}

static bool is_slot(const struct live *live, const struct zonewire_slot *slot, const char *wanted)
{
	char text[32];

	snprintf(text, sizeof(text), "%d", (int)slot->tid);
	if (strcmp(text, wanted) == 0 || strcmp(slot->name, wanted) == 0)
		return true;
	if (slot->name[0] || live->path)
		return false;
	live_process_thread_name(&live->process, slot->tid, text, sizeof(text));
	return strcmp(text, wanted) == 0;
}

static struct error *find_slot(const struct live *live, const char *wanted, uint32_t *found)
{
	const struct zone_region *region = &live->memory.region;
	uint32_t count = zone_region_slot_count(region);
	struct zonewire_slot slot;

	for (uint32_t i = 0; i < count; i++) {
		if (!zone_region_slot(region, i, &slot) || !is_slot(live, &slot, wanted))
			continue;
		*found = i;
		return NULL;
	}
	return error_new(ERROR_INPUT,
		"--thread: no thread of the program has that name or number and zones: '%s'",
		wanted);
}

static struct error *make_query(const struct live *live, const struct live_once *once,
	const struct zone_history *history, struct zone_query *query)
{
	enum zonewire_clock clock = (enum zonewire_clock)live->memory.region.header.clock;
	struct error *err = NULL;

	*query = once->query;
	query->call_ns = zone_call_cost_ns(clock);
	if (once->zone)
		err = find_zone(history, once->zone, &query->focus);
	if (err == NULL && once->thread)
		err = find_slot(live, once->thread, &query->slot);
	return err;
}

/* ---- reading ---- */

static void sleep_ns(uint64_t ns)
{
	struct timespec time = {(time_t)(ns / SECOND_NS), (long)(ns % SECOND_NS)};

	nanosleep(&time, NULL);
}

/* How long to observe it: not at all if the requested data already exists. */
static uint64_t observation_ns(
	const struct live *live, const struct live_once *once, const struct zone_follow *follow)
{
	if (live->state == LIVE_SAVED || live->state == LIVE_ENDED)
		return 0;
	if (once->observe_ns != NOT_TOLD_TIME)
		return once->observe_ns;
	if (zone_follow_base(follow) == ZONE_BASE_RUN ||
		zone_history_frame_count(zone_follow_history(follow)) > 0)
		return 0;
	return OBSERVE_NS;
}

static struct error *observe(
	struct live *live, const struct live_once *once, struct zone_follow *follow)
{
	if (!zone_follow_look(follow))
		return out_of_memory();
	uint64_t begin_ns = clock_monotonic_ns(), time_ns = observation_ns(live, once, follow);
	/* Earlier activity was not requested. */
	if (once->observe_ns != NOT_TOLD_TIME && time_ns)
		zone_history_clear(zone_follow_history(follow));
	for (uint64_t gone_ns = 0; gone_ns < time_ns;) {
		sleep_ns(time_ns - gone_ns < LOOK_NS ? time_ns - gone_ns : LOOK_NS);
		enum live_state state = live_look(live);
		if (!zone_follow_look(follow))
			return out_of_memory();
		if (state == LIVE_ENDED)
			break;
		gone_ns = clock_monotonic_ns() - begin_ns;
	}
	return NULL;
}

/* ---- output ---- */

static struct error *put_text(const struct zone_report *report, struct strbuf *out)
{
	char *text = NULL;
	size_t size = 0;
	FILE *file = open_memstream(&text, &size);
	bool is_whole = file && zone_report_write(report, file);

	if (file)
		is_whole &= fclose(file) == 0;
	if (is_whole)
		strbuf_add(out, (struct str){text, size});
	free(text);
	return is_whole ? NULL : out_of_memory();
}

/* In call graphs, adds the program's annotations of the focus. */
static void put_said(const struct live *live, const struct zone_follow *follow,
	const struct zone_report *report, struct strbuf *out)
{
	char text[256];
	struct zone_said said;

	if (report->focus_row < 0 || !zone_said(&live->memory.region, zone_follow_reading(follow),
					     report->query.focus, report->query.slot, &said))
		return;
	zone_said_write(&said, text, sizeof(text));
	escape_text(out, str_from(report->row[report->focus_row].info.name));
	strbuf_add(out, STR(": "));
	escape_text(out, str_from(text));
	strbuf_add_char(out, '\n');
}

static struct error *show(const struct live *live, const struct live_once *once,
	const struct zone_follow *follow, struct strbuf *out)
{
	const struct zone_history *history = zone_follow_history(follow);
	struct zone_query query;
	struct error *err = make_query(live, once, history, &query);

	if (err)
		return err;
	struct zone_report *report = zone_report_create(history, &query);
	if (report == NULL)
		return out_of_memory();
	if (zone_follow_base(follow) == ZONE_BASE_RUN)
		zone_report_title_run(report);
	if (once->is_json)
		live_json_report(out, live, follow, report);
	else
		err = put_text(report, out);
	if (err == NULL && !once->is_json) {
		if (zone_region_header(&live->memory.region).is_off)
			strbuf_add(out, STR("zones are switched off\n"));
		put_said(live, follow, report, out);
		live_open_put(out, live, follow);
	}
	zone_report_destroy(report);
	return err;
}

struct error *live_once_report(struct live *live, struct zone_namer namer,
	const struct live_once *once, struct strbuf *out)
{
	struct zonewire_header header = zone_region_header(&live->memory.region);
	struct zone_follow *follow;
	uint32_t base;
	struct error *err = find_base(&header, once->frames, &base);

	if (err)
		return err;
	follow = zone_follow_create(&live->memory.region);
	if (follow)
		zone_follow_set_namer(follow, namer);
	if (follow == NULL || (base != ZONE_BASE_AUTO && !zone_follow_set_base(follow, base)))
		err = out_of_memory();
	if (err == NULL)
		err = observe(live, once, follow);
	if (err == NULL)
		err = show(live, once, follow, out);
	zone_follow_destroy(follow);
	return err;
}
