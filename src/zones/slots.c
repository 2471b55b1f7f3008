/*
 * Slots: one per zone stack.  A thread gets a slot when it first enters a zone.  When it ends,
 * another thread can reuse the slot with its tree: the counters stay.
 *
 * A pthread key's destructor reports that a thread ends.  Other destructors may run after it and
 * enter zones again; the thread then gets a slot again, and the destructor runs again, as often as
 * pthreads allow.  After that, the C library frees the thread's memory, which enters zones if the
 * program marks free: such late slots are checked whenever another thread takes one, and by
 * Prof_update.  Threads whose end was not reported are found when slots are scarce, by asking the
 * kernel whether they exist.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "zones/runtime.h"

enum {
	SLOT_KEPT_MS = 250,  /* after its thread has ended, if events are kept … */
	SLOTS_KEPT_MAX = 64, /* … for so many slots */
};

static struct {
	pthread_key_t key;
	bool is_made;
	uint32_t late_count; /* slots of threads whose end was reported before; an upper bound */
} thread_end;

int32_t zones_tid(void)
{
	return (int32_t)syscall(SYS_gettid);
}

void zones_put_text(char *place, size_t bytes, const char *text)
{
	size_t i, size = strlen(text);

	for (i = 0; i < bytes; i++)
		Prof_PUT_(place[i], i < size && i < bytes - 1 ? text[i] : '\0');
}

void zones_chain_close(Prof_Zone_Stack *node, uint64_t now)
{
	for (; node; node = node->up)
		zones_close(node, now);
}

void zones_chain_open(Prof_Zone_Stack *node, uint64_t now)
{
	for (; node; node = node->up)
		Prof_PUT_(node->ticks, node->ticks - (int64_t)now);
}

/* The innermost open zone of a slot whose thread is gone: an open zone's ticks are negative. */
static Prof_Zone_Stack *deepest_open(struct zones_slot *slot)
{
	Prof_Zone_Stack *node = slot->root, *found = NULL;

	while (node && node->ticks < 0) {
		uint32_t child = node->first_child;

		found = node;
		while (child && zones_rt.memory.nodes[child].ticks >= 0)
			child = zones_rt.memory.nodes[child].next_sibling;
		node = child ? &zones_rt.memory.nodes[child] : NULL;
	}
	return found;
}

static void state_change(
	struct zones_slot *slot, enum zonewire_slot_state state, int32_t tid, const char *name)
{
	struct zonewire_slot *row = slot->shared;
	uint32_t generation = row->generation;

	__atomic_store_n(&row->generation, generation + 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	slot->state = (uint32_t)state;
	Prof_PUT_(row->state, (uint32_t)state);
	if (state != ZONEWIRE_SLOT_FREE) {
		Prof_PUT_(row->tid, tid);
		Prof_PUT_(row->root, slot->root->number);
		Prof_PUT_(row->start_ticks, zones_now());
		Prof_PUT_(row->thread_count, row->thread_count + 1);
		zones_put_text(row->name, sizeof(row->name), name);
	}
	__atomic_store_n(&row->generation, generation + 2, __ATOMIC_RELEASE);
}

void zones_slot_give(struct zones_slot *slot)
{
	zones_streams_slot_given(slot);
	slot->thread = NULL;
	slot->is_late = false;
	slot->given_ticks = zones_now();
	slot->top = NULL;
	slot->update_top = NULL;
	slot->update_repeats = slot->update_skipped = slot->skipped_repeats = 0;
	Prof_PUT_(zones_rt.no_slot_before, 0);
	state_change(slot, ZONEWIRE_SLOT_FREE, 0, "");
}

/* Frees slots of threads whose end was not reported. */
static void reap(bool only_late)
{
	uint32_t i, late = 0, count = zones_rt.memory.header->slots.count;
	int saved_errno = errno;

	for (i = 0; i < count; i++) {
		struct zones_slot *slot = &zones_rt.slot[i];

		if (slot->shared->state != ZONEWIRE_SLOT_THREAD || (only_late && !slot->is_late))
			continue;
		if (syscall(SYS_tgkill, getpid(), slot->shared->tid, 0) == 0 || errno != ESRCH) {
			late += slot->is_late;
			continue;
		}
		zones_chain_close(deepest_open(slot), zones_now());
		zones_slot_give(slot);
	}
	Prof_PUT_(thread_end.late_count, late);
	errno = saved_errno;
}

void zones_slots_look(void)
{
	Prof_Thread_ *t = &Prof_thread_;
	uint32_t skipped;

	if (!Prof_GET_(thread_end.late_count) || !zones_hold(t, &skipped))
		return;
	zones_lock();
	if (zones_rt.memory.header)
		reap(true);
	zones_unlock();
	zones_release(t, skipped);
}

/* Converts milliseconds to ticks; locked. */
static uint64_t ticks_of_ms(uint64_t ms)
{
	const struct zonewire_header *header = zones_rt.memory.header;

	return (ms * 1000000 << header->clock_shift) / Prof_GET_(header->clock_mult);
}

/* A slot that was never used, or NULL. */
static struct zones_slot *fresh_slot(void)
{
	struct zonewire_table *table = &zones_rt.memory.header->slots;
	uint32_t i = table->count;
	struct zones_slot *slot;

	if (i == table->capacity)
		return NULL;
	slot = &zones_rt.slot[i];
	slot->index = i;
	slot->shared = &zones_rt.memory.slots[i];
	__atomic_store_n(&table->count, i + 1, __ATOMIC_RELEASE);
	return slot;
}

/*
 * A recorder of events reads slots a few times a second.  So the slot of an ended thread is not
 * reused for that long, unless there are many such slots or memory is half full: until then, its
 * contents belong to that thread alone.
 */
static struct zones_slot *find_free(void)
{
	const struct zonewire_header *header = zones_rt.memory.header;
	bool has_room = Prof_GET_(header->nodes.count) < header->nodes.capacity / 2;
	uint64_t kept_since = zones_now() - ticks_of_ms(SLOT_KEPT_MS);
	struct zones_slot *oldest = NULL, *fresh = NULL;
	uint32_t i, kept = 0;

	for (i = 0; i < header->slots.count; i++) {
		struct zones_slot *slot = &zones_rt.slot[i];

		if (slot->shared->state != ZONEWIRE_SLOT_FREE)
			continue;
		if (!zones_rt.events_on || slot->given_ticks <= kept_since)
			return slot;
		kept++;
		if (!oldest || slot->given_ticks < oldest->given_ticks)
			oldest = slot;
	}
	if (!oldest || (has_room && kept < SLOTS_KEPT_MAX))
		fresh = fresh_slot();
	return fresh ? fresh : oldest;
}

struct zones_slot *zones_slot_take(enum zonewire_slot_state state, int32_t tid, const char *name)
{
	struct zones_slot *slot;

	if (thread_end.late_count)
		reap(true);
	slot = find_free();
	if (!slot) {
		reap(false);
		slot = find_free();
	}
	if (!slot) {
		zones_trouble(ZONEWIRE_NO_SLOTS, 1);
		return NULL;
	}
	if (!slot->root)
		slot->root = zones_node_root(slot);
	if (!slot->root)
		return NULL;
	state_change(slot, state, tid, name);
	Prof_PUT_(slot->root->entries, slot->root->entries + 1);
	return slot;
}

void zones_slot_bind(Prof_Thread_ *thread, struct zones_slot *slot)
{
	uint32_t kind = slot->thread ? 0 : Prof_UNTOLD_;

	if (Prof_GET_(zones_slow) & ZONES_CLOCK_CALL)
		kind |= Prof_CALL_;
	if (slot->thread)
		zones_switch(thread);
	Prof_PUT_(*zones_mode(thread, ZONES_KIND), ZONES_IN(ZONES_KIND, kind));
	thread->slot = slot;
	thread->ring = (void *)&slot->shared->event_head;
	zones_ring_switch(slot, thread);
}

void zones_slot_unbind(Prof_Thread_ *thread)
{
	Prof_PUT_(*zones_mode(thread, ZONES_KIND), ZONES_IN(ZONES_KIND, Prof_UNTOLD_));
	Prof_PUT_(*zones_mode(thread, ZONES_ASKED), 0);
}

/* Called by pthreads when a thread ends, possibly more than once. */
static void thread_ended(void *unused)
{
	Prof_Thread_ *t = &Prof_thread_;
	struct zones_slot *own;

	(void)unused;
	zones_look_home(t);
	own = zones_own_slot_of(t);
	if (!own)
		return;
	Prof_PUT_(*zones_mode(t, ZONES_HELD), 1);
	Prof_FENCE_();
	zones_lock();
	/* A current fiber stays as it is, so that another thread can continue it. */
	zones_event(t, zones_now(), &zones_nowhere);
	zones_fiber_stop(t, 0, zones_now());
	zones_slot_give(own);
	t->top = &zones_nowhere;
	t->slot = t->own_slot = t->fiber = NULL;
	t->own_skipped = 0;
	t->has_ended = 1;
	zones_unlock();
	zones_release(t, 0);
}

void zones_slots_start(void)
{
	if (!Prof_GET_(thread_end.is_made) && !pthread_key_create(&thread_end.key, thread_ended))
		__atomic_store_n(&thread_end.is_made, true, __ATOMIC_RELEASE);
}

/* The runtime may be part of an object that is unloaded; its key must not outlive it. */
__attribute__((destructor)) static void slots_end(void)
{
	if (__atomic_exchange_n(&thread_end.is_made, false, __ATOMIC_ACQ_REL))
		pthread_key_delete(thread_end.key);
}

/*
 * Searching for ended threads asks the kernel about each one, with the lock.  A thread without a
 * slot must not do this at each zone.
 */
static bool is_hopeless(void)
{
	uint64_t before = Prof_GET_(zones_rt.no_slot_before);

	if (Prof_GET_(zones_rt.has_failed))
		return true;
	if (!before || zones_now() >= before)
		return false;
	zones_trouble(ZONEWIRE_NO_SLOTS, 1);
	return true;
}

/* Prevents searches for the next tenth of a second; locked. */
static void lose_hope(void)
{
	Prof_PUT_(zones_rt.no_slot_before, zones_now() + ticks_of_ms(100));
}

bool zones_attach(Prof_Thread_ *t)
{
	struct zones_slot *slot = NULL;
	int saved_errno = errno;
	bool is_told;

	if (is_hopeless())
		return false;
	zones_lock();
	if (zones_memory_make()) {
		slot = zones_slot_take(ZONEWIRE_SLOT_THREAD, zones_tid(), "");
		if (!slot)
			lose_hope();
	}
	if (slot) {
		/*
		 * Other threads may write to this thread's data only if its end will be reported
		 * before that memory is freed.
		 */
		is_told = Prof_GET_(thread_end.is_made) && !pthread_setspecific(thread_end.key, t);
		slot->thread = is_told && !t->has_ended ? t : NULL;
		slot->is_late = t->has_ended != 0;
		Prof_PUT_(thread_end.late_count, thread_end.late_count + slot->is_late);
		t->own_slot = slot;
		t->top = slot->root;
		zones_slot_bind(t, slot);
		zones_chain_open(slot->root, zones_now());
		zones_event(t, zones_now(), slot->root);
	}
	zones_unlock();
	errno = saved_errno;
	return slot != NULL;
}

void Prof_thread_name(const char *name)
{
	Prof_Thread_ *t = &Prof_thread_;
	struct zones_slot *own;
	uint32_t skipped;

	if (!zones_hold(t, &skipped))
		return;
	if (zones_own_slot_of(t) || zones_attach(t)) {
		own = zones_own_slot_of(t);
		zones_lock();
		Prof_PUT_(own->shared->generation, own->shared->generation + 1);
		__atomic_thread_fence(__ATOMIC_RELEASE);
		zones_put_text(own->shared->name, sizeof(own->shared->name), name ? name : "");
		__atomic_store_n(
			&own->shared->generation, own->shared->generation + 1, __ATOMIC_RELEASE);
		zones_unlock();
	}
	zones_release(t, skipped);
}
