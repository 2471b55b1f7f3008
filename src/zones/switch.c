/*
 * Enables and disables zones.  Entering and leaving check only the thread's own mode, so each
 * thread is notified.  Only the thread itself, held, clears Prof_WAS_OFF_, after checking whether
 * entries are skipped: so there are never skipped entries without a bit in the mode.
 */
#include "zones/runtime.h"

static bool is_off(void)
{
	return (Prof_GET_(zones_slow) & ZONES_OFF) != 0;
}

void zones_switch(Prof_Thread_ *thread)
{
	uint8_t *asked = zones_mode(thread, ZONES_ASKED);
	uint8_t bits = Prof_GET_(*asked) & (uint8_t)~ZONES_IN(ZONES_ASKED, Prof_IS_OFF_);

	if (is_off())
		bits |= ZONES_IN(ZONES_ASKED, Prof_IS_OFF_ | Prof_WAS_OFF_);
	Prof_PUT_(*asked, bits);
}

void zones_is_on(Prof_Thread_ *thread)
{
	uint8_t *asked = zones_mode(thread, ZONES_ASKED);

	zones_lock();
	if (!(Prof_GET_(thread->mode) & Prof_IS_OFF_))
		Prof_PUT_(
			*asked, Prof_GET_(*asked) & (uint8_t)~ZONES_IN(ZONES_ASKED, Prof_WAS_OFF_));
	zones_unlock();
}

void zones_switch_all(void)
{
	Prof_Thread_ *t = &Prof_thread_;
	uint32_t skipped, i;

	if (!zones_hold(t, &skipped)) {
		Prof_PUT_(zones_rt.must_switch, true);
		return;
	}
	zones_lock();
	Prof_PUT_(zones_rt.must_switch, false);
	for (i = 0; zones_rt.memory.header && i < zones_rt.memory.header->slots.count; i++) {
		if (zones_rt.slot[i].thread)
			zones_switch(zones_rt.slot[i].thread);
	}
	zones_unlock();
	zones_release(t, skipped);
}

void Prof_set_enabled(int enabled)
{
	struct zonewire_header *header = zones_header();

	if (enabled)
		__atomic_fetch_and(&zones_slow, ~(uint32_t)ZONES_OFF, __ATOMIC_RELAXED);
	else
		__atomic_fetch_or(&zones_slow, ZONES_OFF, __ATOMIC_RELAXED);
	if (header)
		Prof_PUT_(header->is_off, (uint32_t)!enabled);
	zones_switch_all();
}
