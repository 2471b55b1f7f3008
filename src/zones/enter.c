/*
 * Entering and leaving in cases that the inline code of prof.h does not handle: the first entry, no
 * room, another clock, disabled zones, a signal handler during another entry, unbalanced ends; and
 * out of line, for other languages.
 */
#include <errno.h>

#include "zones/runtime.h"

void zones_close(Prof_Zone_Stack *node, uint64_t now)
{
	int64_t total = node->ticks + (int64_t)now;

	if (node->ticks >= 0)
		return;
	if (total < 0) {
		zones_trouble(ZONEWIRE_CLOCK_BACK, 1);
		total = 0;
	}
	Prof_PUT_(node->ticks, total);
}

Prof_Zone_Stack *zones_child(Prof_Thread_ *t, Prof_Zone *zone)
{
	Prof_Zone_Stack *top, *node;
	int saved_errno = errno;
	uint32_t id;

	if (!zones_slot_of(t) && !zones_attach(t))
		return NULL;
	/* The environment may have just disabled zones; or they were already. */
	if (Prof_GET_(zones_slow) & ZONES_OFF)
		return NULL;
	top = t->top;
	id = zones_id(zone);
	node = top->child[id & 7];
	if (node->zone == id)
		return node;
	node = zones_node_child(zones_slot_of(t), top, id);
	if (node)
		top->child[id & 7] = node;
	else
		Prof_PUT_(top->skipped, top->skipped + 1);
	zones_clock_refine();
	errno = saved_errno;
	return node;
}

static void node_open(Prof_Thread_ *t, Prof_Zone_Stack *node)
{
	uint64_t now;

	t->top = node;
	Prof_PUT_(node->entries, node->entries + 1);
	now = zones_now();
	Prof_PUT_(node->ticks, node->ticks - (int64_t)now);
	zones_event(t, now, node);
}

Prof_Zone_Stack *Prof_enter_slow_(Prof_Zone *zone)
{
	Prof_Thread_ *t = &Prof_thread_;
	Prof_Zone_Stack *node = NULL;
	uint32_t skipped;

	zones_look_home(t);
	if (zones_is_amid(t) || !zones_hold(t, &skipped)) {
		zones_trouble(ZONEWIRE_INTERRUPTED, 1);
		zones_skip(t);
		return NULL;
	}
	/* A thread needs a slot even while zones are disabled, to be notified when that ends. */
	if (!skipped && (!zones_slot_of(t) || !(Prof_GET_(zones_slow) & ZONES_OFF)))
		node = zones_child(t, zone);
	if (node)
		node_open(t, node);
	else
		skipped++;
	zones_release(t, skipped);
	return node;
}

Prof_Zone_Stack *Prof_enter_block_slow_(Prof_Zone *zone)
{
	Prof_Zone_Stack *node = Prof_enter_slow_(zone);

	return node ? node : &Prof_dummy;
}

void zones_pop_to(Prof_Thread_ *t, Prof_Zone_Stack *node)
{
	uint64_t now = zones_now();

	while (t->top != node) {
		zones_close(t->top, now);
		t->top = t->top->up;
	}
	zones_event(t, now, node);
}

bool zones_is_on_stack(const Prof_Thread_ *t, const Prof_Zone_Stack *node)
{
	const Prof_Zone_Stack *at = t->top;

	while (at && at != node)
		at = at->up;
	return at != NULL;
}

void zones_recover(Prof_Thread_ *t)
{
	if (zones_is_held(t)) {
		if (Prof_GET_(zones_rt.lock_holder) == t)
			zones_unlock();
		zones_release(t, 0);
	}
	/* Entered but not begun, or ended but not left. */
	if (zones_is_amid(t))
		t->top = t->top->up;
}

/*
 * An end while the thread is held, without an entry of the handler left to end: the handler that
 * made the entries is gone.  True: continue.
 */
static bool skipped_end(Prof_Thread_ *t)
{
	uint32_t skipped = Prof_GET_(t->skipped);

	if (skipped) {
		Prof_PUT_(t->skipped, skipped - 1);
		return true;
	}
	zones_recover(t);
	return false;
}

void Prof_leave_slow_(void)
{
	Prof_Thread_ *t = &Prof_thread_;
	uint32_t skipped;

	zones_look_home(t);
	if (skipped_end(t) || !zones_hold(t, &skipped))
		return;
	if (t->top->up)
		zones_pop_to(t, t->top->up);
	else
		zones_trouble_end(ZONEWIRE_EXTRA_END, 1, ZONEWIRE_ZONE_GLOBAL, ZONEWIRE_ZONE_NONE);
	zones_release(t, skipped);
}

static void leave_to(Prof_Zone_Stack *node)
{
	Prof_Thread_ *t = &Prof_thread_;
	uint32_t skipped, open;

	zones_look_home(t);
	/* A measured zone ends, so all skipped entries above it are over. */
	zones_recover(t);
	if (!zones_hold(t, &skipped))
		return;
	open = t->top->zone == UINT32_MAX ? ZONEWIRE_ZONE_NONE : t->top->zone;
	if (node->up && zones_is_on_stack(t, node)) {
		if (t->top != node)
			zones_trouble_end(ZONEWIRE_MISSING_END, t->top->depth - node->depth, open,
				node->zone);
		zones_pop_to(t, node->up);
		skipped = 0;
	} else {
		zones_trouble_end(ZONEWIRE_EXTRA_END, 1, open, node->zone);
	}
	zones_release(t, skipped);
}

/* The slow path of zones that end with their block. */
void Prof_leave_to_(Prof_Zone_Stack *node)
{
	if (node == &Prof_dummy || node == Prof_thread_.top)
		Prof_leave_();
	else
		leave_to(node);
}

void Prof_enter(Prof_Zone *zone)
{
	Prof_enter_(zone);
}

void Prof_leave(void)
{
	Prof_leave_();
}

static void count_slow(Prof_Zone *zone)
{
	Prof_Thread_ *t = &Prof_thread_;
	Prof_Zone_Stack *node;
	uint32_t skipped;

	zones_look_home(t);
	if (zones_is_amid(t) || !zones_hold(t, &skipped)) {
		zones_trouble(ZONEWIRE_INTERRUPTED, 1);
		return;
	}
	if (!skipped && !(Prof_GET_(zones_slow) & ZONES_OFF)) {
		node = zones_child(t, zone);
		if (node)
			Prof_ADD_(node->entries, 1);
	}
	zones_release(t, skipped);
}

void Prof_count(Prof_Zone *zone)
{
	uint32_t id = Prof_GET_(zone->id);
	Prof_Zone_Stack *top = Prof_thread_.top, *node = top->child[id & 7];

	/* If adding is not a single instruction, the thread must be held. */
	if (Prof_ADD_IS_ONE_ && !(Prof_GET_(Prof_thread_.mode) & ~Prof_EVENTS_) &&
		node->zone == id && top->ticks < 0 && Prof_IS_HOME_())
		Prof_ADD_(node->entries, 1);
	else
		count_slow(zone);
}

Prof_Zone_Stack *Prof_StackAppend(Prof_Zone *zone)
{
	Prof_Thread_ *t = &Prof_thread_;
	Prof_Zone_Stack *node = NULL;
	uint32_t skipped;

	zones_look_home(t);
	if (zones_is_amid(t) || !zones_hold(t, &skipped))
		return NULL;
	/* A thread needs a slot even while zones are disabled, to be notified when that ends. */
	if (!skipped && (!zones_slot_of(t) || !(Prof_GET_(zones_slow) & ZONES_OFF)))
		node = zones_child(t, zone);
	zones_release(t, skipped);
	return node;
}
