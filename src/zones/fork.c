/*
 * After a fork, the child counts separately.  It gets its own memory at its parent's address, with
 * the same tables of zones and nodes, all counters 0, and open zones beginning now.  So all
 * pointers and numbers in the program stay valid.
 *
 * The forking thread is held from before the fork until the child has its memory, because other
 * libraries' handlers run in that time: the zones that they enter are skipped and counted, and
 * never reach the parent's counters.
 *
 * No handler runs for children of _Fork, or of clone itself, and their threads continue in their
 * parent's memory.  They are detected before they write there, through a page that the kernel
 * clears in children and that every entry and exit checks.  Such a child measures nothing, since it
 * may not call the functions needed for its own memory; its parent counts it.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "zones/runtime.h"

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

/*
 * The parent continues at once, so the child can no longer read consistent counters and rows from
 * it.  The child takes everything that can change from private memory, which is a copy from the
 * moment of the fork.
 */
static struct {
	bool is_registered;
	Prof_Thread_ *thread; /* the forking thread, which holds the lock; NULL: none */
	uint32_t skipped;
	Prof_Zone_Stack *open;	       /* the innermost open zone */
	struct zonewire_header header; /* the tables' sizes before the fork */
} forking;

/* May alias any type in the header. */
typedef uint64_t __attribute__((__may_alias__)) any_word;

/* Other threads count in it meanwhile, so read word by word. */
static void keep_header(const struct zonewire_header *header)
{
	const any_word *from = (const void *)header;
	any_word *to = (void *)&forking.header;
	size_t i;

	for (i = 0; i < sizeof(forking.header) / sizeof(*to); i++)
		to[i] = Prof_GET_(from[i]);
}

static void fork_prepare(void)
{
	Prof_Thread_ *t = &Prof_thread_;
	struct zonewire_header *header = zones_header();
	uint32_t skipped;
	bool is_free = zones_hold(t, &skipped);

	/* A signal handler may fork while this thread holds the lock, so never wait for it here. */
	if (is_free)
		zones_lock();
	forking.open = zones_is_amid(t) ? t->top->up : t->top;
	if (header)
		keep_header(header);
	if (!is_free)
		return;
	forking.thread = t;
	forking.skipped = skipped;
}

static void fork_done(void)
{
	Prof_Thread_ *t = &Prof_thread_;
	uint32_t skipped = forking.skipped;

	if (Prof_GET_(forking.thread) != t)
		return;
	Prof_PUT_(forking.thread, NULL);
	zones_unlock();
	zones_release(t, skipped);
}

static void copy_header(struct zonewire_header *to, const struct zonewire_header *from)
{
	uint32_t i;

	*to = *from;
	to->pid = (int32_t)getpid();
	to->generation++;
	to->ring_head = to->ring_tail = 0;
	to->is_frozen = 0;
	to->frozen_by = 0;
	for (i = 0; i < ZONEWIRE_STREAMS; i++) {
		to->stream[i].ticks = 0;
		to->stream[i].last_end_ticks = zones_now();
	}
	memset(to->trouble, 0, sizeof(to->trouble));
	to->trouble_open = to->trouble_ended = 0;
	to->notes.count = 0;
	to->exit_ticks = 0;
}

/* Copies nodes without counters, and without children that the parent created since. */
static void copy_nodes(struct zones_memory *to, const struct zones_memory *from)
{
	uint32_t number, i;

	for (number = 1; number < to->header->nodes.count; number++) {
		Prof_Zone_Stack *node = &to->nodes[number], *parent;

		*node = from->nodes[number];
		if (node->zone == ZONEWIRE_ZONE_NONE || node->zone >= to->header->zones.count) {
			memset(node, 0, sizeof(*node));
			continue;
		}
		node->ticks = 0;
		node->entries = 0;
		node->skipped = node->note = 0;
		node->first_child = node->next_sibling = 0;
		for (i = 0; i < 8; i++)
			node->child[i] = &zones_nowhere;
		if (!node->up)
			continue;
		parent = &to->nodes[node->parent];
		node->next_sibling = parent->first_child;
		parent->first_child = number;
	}
}

/* Zones that were open at the fork begin now. */
static void open_chain(struct zones_memory *to, const Prof_Zone_Stack *node)
{
	uint64_t now = zones_now();

	for (; node; node = node->up) {
		Prof_Zone_Stack *copy = &to->nodes[node->number];

		copy->ticks = -(int64_t)now;
		copy->entries = !node->up;
	}
}

/* Other threads are gone.  Fibers that are not current in any thread can continue here. */
static void copy_slots(struct zones_memory *to, const struct zones_memory *from, uint32_t own)
{
	uint32_t i;

	for (i = 0; i < to->header->slots.count; i++) {
		struct zonewire_slot *row = &to->slots[i];
		struct zones_slot *slot = &zones_rt.slot[i];

		if (i != own && slot->state == ZONEWIRE_SLOT_THREAD)
			slot->state = ZONEWIRE_SLOT_FREE;
		memcpy(row->name, from->slots[i].name, sizeof(row->name) - 1);
		row->state = slot->state;
		row->root = slot->root ? slot->root->number : 0;
		row->start_ticks = zones_now();
		row->thread_count = slot->state != ZONEWIRE_SLOT_FREE;
		row->tid = i == own ? zones_tid() : 0;
	}
}

static void forget_private(const Prof_Thread_ *t)
{
	uint32_t i;

	zones_rt.rings_used = 0;
	zones_rt.no_slot_before = 0;
	for (i = 0; i < zones_rt.memory.header->slots.count; i++) {
		struct zones_slot *slot = &zones_rt.slot[i];

		slot->ring = NULL;
		if (slot == zones_slot_of(t) || slot == zones_own_slot_of(t))
			continue;
		zones_nodes_forget(slot);
		/* The position of a fiber that was current in another thread is unknown. */
		if (slot->thread)
			slot->top = slot->root;
		slot->thread = NULL;
	}
}

/* Replaces the parent's memory with the child's own. */
static bool memory_replace(const Prof_Thread_ *t)
{
	struct zones_memory *old = &zones_rt.memory, new;
	uint32_t own = zones_own_slot_of(t) ? zones_own_slot_of(t)->index : UINT32_MAX;
	void *base;

	zones_backing_forget();
	base = zones_backing_map(old->bytes, true);
	if (!base)
		return false;
	copy_header(base, &forking.header);
	memset(&new, 0, sizeof(new));
	zones_layout_map(&new, base, old->bytes);
	memcpy(new.zones, old->zones, sizeof(*new.zones) * forking.header.zones.count);
	memcpy(new.strings, old->strings, forking.header.strings_used);
	copy_nodes(&new, old);
	if (zones_slot_of(t))
		open_chain(&new, forking.open);
	copy_slots(&new, old, own);
	return mremap(base, old->bytes, old->bytes, MREMAP_MAYMOVE | MREMAP_FIXED, old->base) ==
	       (void *)old->base;
}

/* No memory: this child measures nothing, and the ends of its open zones are skipped. */
static uint32_t give_up(Prof_Thread_ *t)
{
	uint32_t open = t->top->up ? t->top->depth : 0;

	t->top = &zones_nowhere;
	t->slot = t->own_slot = NULL;
	zones_slot_unbind(t);
	__atomic_store_n(&zones_rt.memory.header, NULL, __ATOMIC_RELEASE);
	Prof_PUT_(zones_rt.has_failed, true);
	return open;
}

static void child_start(Prof_Thread_ *t)
{
	int saved_errno = errno, cancel;

	/* As in zones_memory_make. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	if (memory_replace(t)) {
		forget_private(t);
		if (zones_slot_of(t)) {
			zones_ring_switch(zones_slot_of(t), t);
			zones_event(t, zones_now(), t->top);
		}
		zones_backing_notify();
	} else {
		forking.skipped += give_up(t);
	}
	pthread_setcancelstate(cancel, &cancel);
	errno = saved_errno;
}

static void fork_child(void)
{
	Prof_Thread_ *t = &Prof_thread_;
	bool is_held = forking.thread == t;

	/*
	 * Called within a handler: another thread, which does not exist in the child, may have held
	 * the lock.
	 */
	if (!is_held && zones_rt.lock_holder != t) {
		pthread_mutex_init(&zones_rt.lock, NULL);
		zones_rt.lock_holder = NULL;
	}
	zones_update_forked();
	if (zones_rt.memory.header)
		child_start(t);
	Prof_PUT_(Prof_home_[0], 1);
	if (is_held)
		fork_done();
	else
		forking.thread = NULL;
}

enum { HOME_BYTES = sizeof(Prof_home_) };
uint32_t Prof_home_[1024] __attribute__((aligned(sizeof(Prof_home_))));

/* If that is not possible, the word stays nonzero, and such children are not detected. */
void zones_home_start(void)
{
	int saved_errno = errno;

	(void)madvise(Prof_home_, HOME_BYTES, MADV_WIPEONFORK);
	Prof_PUT_(Prof_home_[0], 1);
	errno = saved_errno;
}

/*
 * A held thread is in fork, and its handler will still run, or it will be released and get here
 * again.
 */
void zones_home_lost(Prof_Thread_ *t)
{
	uint32_t skipped = Prof_GET_(t->skipped);

	/* Look again: this thread may have looked just before another thread created the memory. */
	if (!zones_header() || Prof_GET_(Prof_home_[0]) || zones_is_held(t))
		return;
	Prof_PUT_(*zones_mode(t, ZONES_HELD), 1);
	Prof_FENCE_();
	/* Another thread, which does not exist here, may have held the lock. */
	pthread_mutex_init(&zones_rt.lock, NULL);
	zones_rt.lock_holder = NULL;
	zones_update_forked();
	zones_trouble(ZONEWIRE_UNTOLD_CHILD, 1);
	zones_backing_forget();
	skipped += give_up(t);
	Prof_PUT_(Prof_home_[0], 1);
	zones_release(t, skipped);
}

void zones_fork_start(void)
{
	if (!forking.is_registered)
		forking.is_registered = !pthread_atfork(fork_prepare, fork_done, fork_child);
}
