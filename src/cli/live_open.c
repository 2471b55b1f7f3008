/*
 * The open zones of the threads of a stopped program.  A node is open while its time has no end;
 * the open nodes of a thread are one path from its root.
 */
#include "cli/live_open.h"

#include <stdio.h>

#include "base/escape.h"

/* The number of names shown of a path: the innermost ones. */
enum { NAMES = 6 };

static const char *verb(enum live_state state)
{
	switch (state) {
	case LIVE_STOPPED:
		return "open now";
	case LIVE_ENDED:
	case LIVE_SAVED:
		return "open at the end";
	case LIVE_RUNNING:
		break;
	}
	return NULL;
}

/* The innermost open node of a slot; 0: only the root is open. */
static uint32_t innermost(const struct zone_reading *reading, uint32_t slot)
{
	uint32_t found = 0;

	for (uint32_t i = 1; i < reading->node_count; i++)
		if (reading->is_open[i] && reading->place[i].slot == slot &&
			reading->place[i].depth > (found ? reading->place[found].depth : 0))
			found = i;
	return found;
}

static void put_path(struct strbuf *out, const struct zone_history *history,
	const struct zone_reading *reading, uint32_t node)
{
	uint32_t path[NAMES], count = 0;

	for (; count < NAMES && reading->place[node].depth > 0; node = reading->place[node].parent)
		path[count++] = node;
	if (reading->place[node].depth > 0)
		strbuf_add(out, STR("... > "));
	while (count-- > 0) {
		struct zone_info info =
			zone_history_zone(history, reading->place[path[count]].zone);

		escape_text(out, str_from(info.name));
		if (count)
			strbuf_add(out, STR(" > "));
	}
}

void live_open_put(struct strbuf *out, const struct live *live, const struct zone_follow *follow)
{
	const struct zone_region *region = &live->memory.region;
	const struct zone_reading *reading = zone_follow_reading(follow);
	const char *what = verb(live->state);

	for (uint32_t i = 0; what && i < zone_region_slot_count(region); i++) {
		uint32_t node = innermost(reading, i);
		struct zonewire_slot slot;

		if (node == 0 || !zone_region_slot(region, i, &slot))
			continue;
		strbuf_printf(out, "%s, thread %d", what, (int)slot.tid);
		if (slot.name[0]) {
			strbuf_add(out, STR(" ("));
			escape_text(out, str_from(slot.name));
			strbuf_add_char(out, ')');
		}
		strbuf_add(out, STR(": "));
		put_path(out, zone_follow_history(follow), reading, node);
		strbuf_add_char(out, '\n');
	}
}
