/*
 * After a fork the child counts for itself: it gets memory of its own at its parent's address, with
 * the same tables of zones and nodes, all counters 0, and the zones that are open beginning now.
 * So all pointers and numbers that the program has stay good.
 *
 * From before the fork until the child has its memory the forking thread is held, since other
 * libraries' handlers run in that time: what they enter is skipped and counted, and never
 * gets into the parent's counters.
 *
 * No handler runs for children of _Fork, or of clone itself, and their threads go on in their
 * parent's memory.  They are found out before they write there, by a page that the kernel wipes in
 * children: what is entered or left looks at it.  Such a child counts nothing, since nothing that
 * this takes is allowed in it; its parent counts it.
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
 * The parent goes on at once, so what it counts, and which rows there are, is no longer to be read
 * in the child: what can change is taken from private memory, which is as it was.
 */
static struct {
	bool is_registered;
	Prof_Thread_ *thread; /* that is forking, and has the lock; NULL: none */
	uint32_t skipped;
	Prof_Zone_Stack *open;	       /* the innermost zone that is open */
	struct zonewire_header header; /* the tables' sizes before the fork */
} forking;

/* Of whatever type the header has there. */
typedef uint64_t __attribute__((__may_alias__)) any_word;

/* Other threads count in it meanwhile. */
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

/* Nodes as they are, without what was counted, and what of their children the parent has made. */
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

/* The zones that were open at the fork are open since now. */
static void open_chain(struct zones_memory *to, const Prof_Zone_Stack *node)
{
	uint64_t now = zones_now();

	for (; node; node = node->up) {
		Prof_Zone_Stack *copy = &to->nodes[node->number];

		copy->ticks = -(int64_t)now;
		copy->entries = !node->up;
	}
}

/* Other threads are gone.  Fibers that are nobody's current one may go on here, too. */
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
		/* A fiber that was another thread's current one stands where nobody knows. */
		if (slot->thread)
			slot->top = slot->root;
		slot->thread = NULL;
	}
}

/* Memory of the child's own, in place of its parent's. */
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

/* No memory: nothing is measured in this child, and what is open here is skipped when it ends. */
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

	/* From within a handler: another thread may have had the lock, and is not here. */
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

/* Where that cannot be, the word stays and such children are not found out. */
void zones_home_start(void)
{
	int saved_errno = errno;

	(void)madvise(Prof_home_, HOME_BYTES, MADV_WIPEONFORK);
	Prof_PUT_(Prof_home_[0], 1);
	errno = saved_errno;
}

/* Who is held is in fork, whose handler is yet to come, or will be released and come again. */
void zones_home_lost(Prof_Thread_ *t)
{
	uint32_t skipped = Prof_GET_(t->skipped);

	if (!zones_header() || zones_is_held(t))
		return;
	Prof_PUT_(*zones_mode(t, ZONES_HELD), 1);
	Prof_FENCE_();
	/* Another thread may have had the lock, and is not here. */
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
