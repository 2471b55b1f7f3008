/*
 * The zone or thread chosen on the command line.  It may appear only later; the view waits for it
 * until the user chooses something else.
 */
#include <stdio.h>
#include <string.h>

#include "view/tui/model_state.h"

static bool find_zone(const struct zone_history *history, const char *name, uint32_t *zone)
{
	for (*zone = 1; *zone < zone_history_zone_count(history); ++*zone)
		if (strcmp(zone_history_zone(history, *zone).name, name) == 0)
			return true;
	return false;
}

/* By its number or name. */
static bool find_thread(struct tui_model *m, const char *wanted, uint32_t *index)
{
	const struct zone_region *region = &m->attached.region;

	for (*index = 0; *index < zone_region_slot_count(region); ++*index) {
		struct zonewire_slot slot;
		char tid[16], name[64];

		if (!zone_region_slot(region, *index, &slot) || !slot.root)
			continue;
		snprintf(tid, sizeof(tid), "%d", (int)slot.tid);
		tui_thread_name(m, &slot, name);
		if (strcmp(tid, wanted) == 0 || strcmp(name, wanted) == 0)
			return true;
	}
	return false;
}

static void look_for_zone(struct tui_model *m)
{
	const struct zone_history *history = zone_follow_history(m->attached.follow);
	struct tui_table *t = &m->table;
	uint32_t zone;

	if (t->query.focus) {
		m->start.zone = NULL;
	} else if (find_zone(history, m->start.zone, &zone)) {
		t->query.focus = t->cursor_zone = zone;
		t->query.focus_depth = t->cursor_depth = 0;
		t->cursor_kind = ZONE_ROW_FOCUS;
		m->start.zone = NULL;
	}
}

static void look_for_thread(struct tui_model *m)
{
	uint32_t slot;

	if (m->table.query.slot != ZONE_SLOT_ALL) {
		m->start.thread = NULL;
	} else if (find_thread(m, m->start.thread, &slot)) {
		m->table.query.slot = slot;
		m->start.thread = NULL;
	}
}

void tui_start_look(struct tui_model *m)
{
	struct tui_start *start = &m->start;

	if (start->zone)
		look_for_zone(m);
	if (start->thread)
		look_for_thread(m);
	if ((start->zone || start->thread) && !start->is_said)
		tui_say(m, TUI_NOTICE, "no %s '%s' yet: it is shown as soon as there is",
			start->zone ? "zone" : "thread", start->zone ? start->zone : start->thread);
	start->is_said = true;
}
