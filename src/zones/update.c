/*
 * Prof_update: a frame is what all threads' zones did since the last call.
 *
 * No thread is stopped and nothing is cleared: counters are read while they change, and the frame
 * is the difference from the last reading.  It goes into the ring, for other programs, and into the
 * history of the program's own displays.  This happens in the zone "prof_update", whose time is in
 * the frames like any other zone's: the part up to the reading in the frame that ends, the rest in
 * the next.
 */
#include <errno.h>
#include <string.h>

#include "zones/shown.h"

struct zones_shown zones_shown = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.query = ZONE_QUERY_INIT,
};

bool zones_shown_lock(void)
{
	struct zones_shown *s = &zones_shown;

	if (Prof_GET_(s->holder) == &Prof_thread_)
		return false;
	pthread_mutex_lock(&s->lock);
	Prof_PUT_(s->holder, &Prof_thread_);
	/* A forked child that sees a change also sees the holder. */
	__atomic_thread_fence(__ATOMIC_RELEASE);
	return true;
}

void zones_shown_unlock(void)
{
	__atomic_store_n(&zones_shown.holder, NULL, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&zones_shown.lock);
}

static void forget(struct zones_shown *s)
{
	zone_reader_destroy(s->reader);
	zone_difference_destroy(s->difference);
	zone_history_destroy(s->history);
	s->reader = NULL;
	s->difference = NULL;
	s->history = NULL;
	s->is_stale = false;
}

/*
 * The child's frames start from zero.  Data that another thread was changing is abandoned: it may
 * be in any state.  A thread that was just taking or releasing the lock may hold it without being
 * known as the holder.
 */
void zones_update_forked(void)
{
	struct zones_shown *s = &zones_shown;

	s->is_stale = true;
	if (s->holder != &Prof_thread_) {
		if (s->holder) {
			s->reader = NULL;
			s->difference = NULL;
			s->history = NULL;
		}
		pthread_mutex_init(&s->lock, NULL);
		s->holder = NULL;
	}
	zones_ring_forked();
	zones_streams_forked();
}

static bool make(struct zones_shown *s, const struct zonewire_header *header)
{
	if (zone_region_open(&s->region, header, header->region_bytes) != NULL)
		return false;
	s->reader = zone_reader_create();
	s->difference = zone_difference_create();
	s->history = zone_history_create(0, ZONE_HISTORY_BYTES);
	if (!s->reader || !s->difference || !s->history) {
		forget(s);
		return false;
	}
	/* After a fork, the stream begins with the child, but the clock began earlier. */
	zone_difference_start(s->difference, header->stream[0].last_end_ticks);
	zone_history_freeze_over(s->history, s->freeze_over_ms);
	zone_history_set_frozen(s->history, Prof_GET_(header->is_frozen) != 0);
	if (s->query.call_ns == 0)
		s->query.call_ns = zone_call_cost_ns((enum zonewire_clock)header->clock);
	return true;
}

bool zones_shown_ready(void)
{
	struct zones_shown *s = &zones_shown;
	struct zonewire_header *header = zones_header();

	if (!header)
		return false;
	if (s->is_stale)
		forget(s);
	if (!s->reader && !make(s, header))
		return false;
	return zone_history_learn(s->history, &s->region);
}

/* Puts the tick since the last reading into the ring and the history. */
static void record_tick(struct zones_shown *s, const struct zone_reading *reading)
{
	const struct zones_slot *slot = zones_slot_of(&Prof_thread_);
	struct zone_tick tick;
	struct zonewire_tick head;

	if (!zone_difference_take(s->difference, reading, &tick))
		return;
	tick.head.slot = slot ? slot->index : 0;
	head = tick.head;
	zones_tick_put(&head, tick.delta);
	tick.head.number = head.number;
	zone_history_add(s->history, reading, &tick);
	if (zone_history_is_frozen(s->history))
		zones_ring_freeze(true);
}

static void gather(struct zones_shown *s, bool is_recorded)
{
	struct zone_reading reading;

	if (!zones_shown_ready() || !zone_reader_read(s->reader, &s->region, &reading))
		return;
	if (is_recorded && !zone_history_is_frozen(s->history))
		record_tick(s, &reading);
	else
		zone_difference_skip(s->difference, &reading);
}

void Prof_update(int record)
{
	static Prof_Zone zone = Prof_ZONE_("prof_update", NULL, 0);
	Prof_Zone_Stack *node;
	int saved_errno = errno;

	zones_slots_look();
	zones_drift_check();
	node = Prof_enter_block_(&zone);
	if (zones_shown_lock()) {
		gather(&zones_shown, record != 0);
		zones_shown_unlock();
	}
	Prof_leave_node_(node);
	errno = saved_errno;
}
