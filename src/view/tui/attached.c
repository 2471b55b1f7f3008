/*
 * The attached program.  While the display is held (paused, an old frame shown, frozen) its memory
 * is not read, so that the display cannot change; the program's ring still keeps new events, as
 * long as it has room.
 *
 * If looks count as frames, a stopped program is not looked at, because its open zones would seem
 * to run.  When it has ended, the ring is read one last time.
 */
#include "view/tui/model_state.h"

#include <stdio.h>
#include <string.h>

enum { REPLACED_MS = 500, STATS_FRAMES = 1000 };

static struct error *no_memory(void)
{
	return error_new(ERROR_SYSTEM, "no memory");
}

void tui_show_raw(struct tui_model *m)
{
	if (!m->is_raw)
		m->raw_before = m->table.query.average;
	m->is_raw = true;
	m->table.query.average = 0;
	m->table.query.frame = 0;
}

/* Holds nothing any more, and shows current data. */
static void let_go(struct tui_model *m)
{
	if (m->is_raw)
		m->table.query.average = m->raw_before;
	m->is_paused = m->is_held = m->was_frozen = m->is_raw = false;
	m->table.query.frame = 0;
}

struct error *tui_attach(struct tui_model *m, pid_t pid)
{
	struct zone_region region = {0};

	if (m->attached.is_attached)
		tui_detach(m);
	struct error *err = m->host->attach(m->host->data, pid, &region);

	if (err)
		return err;
	m->attached = (struct tui_attached){.is_attached = true,
		.pid = pid,
		.region = region,
		.last_frame_ms = m->now_ms,
		.replaced_ms = m->now_ms};
	m->attached.follow = zone_follow_create(&m->attached.region);
	if (!m->attached.follow) {
		tui_detach(m);
		return no_memory();
	}
	if (m->host->namer)
		zone_follow_set_namer(m->attached.follow, m->host->namer(m->host->data));
	m->screen = TUI_SCREEN_ZONES;
	let_go(m);
	m->table.query.slot = ZONE_SLOT_ALL;
	m->table.query.focus = m->table.query.focus_depth = 0;
	zone_history_freeze_over(zone_follow_history(m->attached.follow), m->freeze_ms);
	tui_attached_look(m);
	return NULL;
}

void tui_detach(struct tui_model *m)
{
	/* The report's strings belong to the history. */
	zone_report_destroy(m->table.report);
	m->table.report = NULL;
	m->table.order.count = 0;
	zone_follow_destroy(m->attached.follow);
	if (m->attached.is_attached)
		m->host->detach(m->host->data);
	m->attached = (struct tui_attached){0};
}

bool tui_is_still(const struct tui_model *m)
{
	return m->is_paused || m->is_held || m->was_frozen;
}

static void look_at_state(struct tui_model *m)
{
	struct tui_attached *a = &m->attached;

	if (a->state == TUI_ENDED || a->state == TUI_SAVED)
		return;
	enum tui_state before = a->state;

	a->detail[0] = '\0';
	a->state = m->host->state(m->host->data, a->detail, sizeof(a->detail));
	if (before == TUI_STOPPED && a->state == TUI_RUNNING)
		zone_follow_resume(a->follow);
}

static void check_frozen(struct tui_model *m)
{
	struct zone_history *history = zone_follow_history(m->attached.follow);
	struct zone_frame frame;

	if (m->was_frozen || !zone_history_is_frozen(history))
		return;
	m->was_frozen = true;
	tui_show_raw(m);
	if (zone_history_frame(history, 0, &frame))
		tui_say(m, TUI_NOTICE, "frame %ju took %.1f ms: p goes on", (uintmax_t)frame.number,
			frame.ms);
}

static void note_frames(struct tui_model *m)
{
	struct tui_attached *a = &m->attached;
	struct zone_history *history = zone_follow_history(a->follow);
	uint64_t added = zone_history_frames_added(history);

	if (added != a->last_frames) {
		a->last_frame_ms = m->now_ms;
		if (!zone_frames_stats(history, STATS_FRAMES, &a->stats))
			a->stats.frames = 0;
	}
	a->last_frames = added;
}

/* The pid now has another program's zones: it has called exec. */
static void replace(struct tui_model *m)
{
	pid_t pid = m->attached.pid ? m->attached.pid : m->attached.region.header.pid;
	struct error *err = tui_attach(m, pid);

	if (err) {
		m->screen = TUI_SCREEN_PROGRAMS;
		tui_say_error(m, error_prefix(err, "the program has called exec"));
	} else {
		tui_say(m, TUI_NOTICE, "the program has called exec: these are its new zones");
	}
}

/* Checked less often, because it looks at everything that the process has open. */
static bool is_replaced(struct tui_model *m)
{
	struct tui_attached *a = &m->attached;

	if (a->state == TUI_SAVED || !m->host->is_replaced ||
		m->now_ms - a->replaced_ms < REPLACED_MS)
		return false;
	a->replaced_ms = m->now_ms;
	return m->host->is_replaced(m->host->data);
}

void tui_attached_look(struct tui_model *m)
{
	struct tui_attached *a = &m->attached;
	bool was_over = a->state == TUI_ENDED;

	look_at_state(m);
	if (is_replaced(m)) {
		replace(m);
		return;
	}
	bool is_of_ring = zone_follow_base(a->follow) < ZONE_BASE_LOOKS;
	bool has_looked = zone_follow_reading(a->follow)->node_count > 0;
	bool is_over = a->state == TUI_ENDED && (was_over || !is_of_ring) && has_looked;
	bool is_waiting = a->state == TUI_STOPPED && !is_of_ring && has_looked;

	if (tui_is_still(m) || is_over || is_waiting)
		return;
	if (!zone_follow_look(a->follow))
		tui_say(m, TUI_TROUBLE, "no memory for all frames: some are missing");
	check_frozen(m);
	note_frames(m);
	tui_start_look(m);
	tui_table_update(m);
}

void tui_resume(struct tui_model *m)
{
	bool was_still = tui_is_still(m);

	if (m->was_frozen)
		zone_history_set_frozen(zone_follow_history(m->attached.follow), false);
	let_go(m);
	if (was_still)
		zone_follow_resume(m->attached.follow);
	tui_attached_look(m);
	tui_table_update(m);
}

void tui_set_base(struct tui_model *m, uint32_t base)
{
	/* The report's strings belong to the old history. */
	zone_report_destroy(m->table.report);
	m->table.report = NULL;
	m->table.order.count = 0;
	if (!zone_follow_set_base(m->attached.follow, base)) {
		tui_say(m, TUI_TROUBLE, "no memory");
		return;
	}
	zone_history_freeze_over(zone_follow_history(m->attached.follow), m->freeze_ms);
	let_go(m);
	m->attached.last_frames = 0;
	m->attached.stats.frames = 0;
	tui_attached_look(m);
	tui_table_update(m);
}

void tui_set_freeze(struct tui_model *m, double ms)
{
	m->freeze_ms = ms > 0 ? ms : 0;
	zone_history_freeze_over(zone_follow_history(m->attached.follow), m->freeze_ms);
	if (m->was_frozen)
		tui_resume(m);
	if (m->freeze_ms > 0)
		tui_say(m, TUI_GOOD, "keeps all as it is once a frame takes over %g ms", ms);
	else
		tui_say(m, TUI_GOOD, "slow frames do not freeze");
}

void tui_thread_name(struct tui_model *m, const struct zonewire_slot *slot, char name[64])
{
	size_t size = strnlen(slot->name, sizeof(slot->name));

	name[0] = '\0';
	if (size)
		snprintf(name, 64, "%.*s", (int)size, slot->name);
	else if (slot->state != ZONEWIRE_SLOT_FREE && m->host->thread_name &&
		 m->attached.state != TUI_ENDED && m->attached.state != TUI_SAVED)
		m->host->thread_name(m->host->data, slot->tid, name, 64);
}
