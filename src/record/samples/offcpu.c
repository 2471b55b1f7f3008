/*
 * Off-CPU time, as a state machine for each thread.
 *
 * A program can be switched a hundred thousand times a second.  So short blocks at one stack are
 * merged, and threads are never searched for: those off the CPU are in two lists, each in the order
 * in which its threads came in.  Young ones have just been switched out.  If they stay off, their
 * stacks are read, and they become old; old ones' time is handed out each second.
 *
 * A block without a stack of its own is attributed to another one of its thread: for a preempted
 * thread, the last one seen while it ran; for a waiting thread, that of its last wait if it is
 * near, else the last one seen.  If none was seen yet, both get the next one seen.
 *
 * Preemptions, like the clock's ticks, do not depend on what the thread runs.  So the clock's last
 * stack may stand for most of them, and theirs need not be walked.
 */
#include "record/samples/offcpu.h"

#include <stddef.h>

#define MILLISECOND_NS UINT64_C(1000000)
/*
 * Blocks shorter than this, or without a stack, are merged with similar ones within SHORT_SPAN_NS.
 */
#define SHORT_NS      MILLISECOND_NS
#define SHORT_SPAN_NS (10 * MILLISECOND_NS)
/* After this long off the CPU a stack is read. */
#define YOUNG_NS MILLISECOND_NS
/* This many younger threads are checked, too. */
#define YOUNG_LOOKS 16
/* The length of a long block's parts; the second if wakers are recorded. */
#define PART_NS	      (1000 * MILLISECOND_NS)
#define WAKER_PART_NS (600 * 1000 * MILLISECOND_NS)
/* The latest records may not have arrived yet. */
#define MARGIN_NS MILLISECOND_NS
/* Within this time, the stack of another block is preferred to the clock's. */
#define NEAR_NS (10 * MILLISECOND_NS)

/* ---- lists ---- */

static void list_init(struct offcpu_link *list)
{
	list->before = list->after = list;
}

static void unlink_thread(struct offcpu_thread *t)
{
	if (!t->link.before)
		return;
	t->link.before->after = t->link.after;
	t->link.after->before = t->link.before;
	t->link.before = t->link.after = NULL;
}

static void link_thread(struct offcpu_link *list, struct offcpu_thread *t, uint64_t time_ns)
{
	unlink_thread(t);
	t->listed_ns = time_ns;
	t->link.before = list->before;
	t->link.after = list;
	list->before->after = &t->link;
	list->before = &t->link;
}

static struct offcpu_thread *thread_of(struct offcpu_link *link)
{
	return (void *)((char *)link - offsetof(struct offcpu_thread, link));
}

/* The list's first thread, if it has been in the list for age_ns. */
static struct offcpu_thread *first_of_age(
	const struct offcpu_link *list, uint64_t now_ns, uint64_t age_ns)
{
	if (list->after == list)
		return NULL;
	struct offcpu_thread *t = thread_of(list->after);

	return now_ns >= t->listed_ns && now_ns - t->listed_ns >= age_ns ? t : NULL;
}

/* ---- output ---- */

void offcpu_init(struct offcpu *o, const struct offcpu_hooks *hooks, bool wakers)
{
	*o = (struct offcpu){.hooks = *hooks, .part_ns = wakers ? WAKER_PART_NS : PART_NS};
	list_init(&o->young);
	list_init(&o->old);
}

static void hand_out(
	struct offcpu *o, struct offcpu_thread *t, const struct offcpu_interval *interval)
{
	struct offcpu_counts *counts = &o->counts;

	counts->blocks += interval->woken_ns ? 0 : interval->blocks;
	counts->blocked_ns += interval->blocked_ns;
	counts->woken_ns += interval->woken_ns;
	counts->preempted_ns += interval->preempted_ns;
	if (interval->estimated && interval->node != OFFCPU_NO_NODE) {
		counts->estimated += interval->woken_ns ? 0 : interval->blocks;
		counts->estimated_ns +=
			interval->blocked_ns + interval->woken_ns + interval->preempted_ns;
	}
	o->hooks.interval(o->hooks.context, t, interval);
}

static void flush(struct offcpu *o, struct offcpu_thread *t, struct offcpu_interval *open)
{
	if (open->blocks > 0)
		hand_out(o, t, open);
	open->blocks = 0;
}

static void flush_all(struct offcpu *o, struct offcpu_thread *t)
{
	for (int i = 0; i < OFFCPU_OFF_COUNT; i++)
		flush(o, t, &t->open[i]);
}

/* Keeps blocks that may still get a stack. */
static void flush_known(struct offcpu *o, struct offcpu_thread *t)
{
	for (int i = 0; i < OFFCPU_OFF_COUNT; i++)
		if (t->open[i].node != OFFCPU_NO_NODE)
			flush(o, t, &t->open[i]);
}

static bool is_like(const struct offcpu_interval *open, const struct offcpu_interval *next)
{
	return open->node == next->node && open->waker == next->waker && open->lock == next->lock &&
	       open->holder == next->holder && open->estimated == next->estimated &&
	       (next->node == OFFCPU_NO_NODE || next->end_ns - open->begin_ns <= SHORT_SPAN_NS);
}

static void put(struct offcpu *o, struct offcpu_thread *t, const struct offcpu_interval *next)
{
	struct offcpu_interval *open = &t->open[t->state - OFFCPU_BLOCKED];
	bool is_short = next->blocks > 0 &&
			(next->end_ns - next->begin_ns < SHORT_NS || next->node == OFFCPU_NO_NODE);

	if (open->blocks && (!is_short || !is_like(open, next)))
		flush(o, t, open);
	if (!is_short) {
		hand_out(o, t, next);
	} else if (open->blocks == 0) {
		*open = *next;
	} else {
		open->end_ns = next->end_ns;
		open->blocked_ns += next->blocked_ns;
		open->woken_ns += next->woken_ns;
		open->preempted_ns += next->preempted_ns;
		open->blocks++;
	}
}

/* ---- stacks ---- */

static const struct offcpu_known_stack *nearest_stack(const struct offcpu_thread *t)
{
	bool is_near = t->block.is_there && t->since_ns - t->block.time_ns < NEAR_NS;

	if (!t->run.is_there)
		return &t->block;
	if (t->state == OFFCPU_PREEMPTED || !t->block.is_there)
		return &t->run;
	return is_near || t->block.time_ns > t->run.time_ns ? &t->block : &t->run;
}

static void choose_stack(const struct offcpu_thread *t, struct offcpu_interval *interval)
{
	const struct offcpu_known_stack *stack = t->own.is_there ? &t->own : nearest_stack(t);

	interval->estimated = !t->own.is_there;
	interval->node = stack->is_there ? stack->node : OFFCPU_NO_NODE;
	interval->lock = interval->holder = OFFCPU_NOBODY;
	if (t->state != OFFCPU_PREEMPTED && stack->is_there)
		interval->lock = stack->lock;
	if (t->state != OFFCPU_PREEMPTED && t->own.is_there)
		interval->holder = t->holder;
}

/* Attributes blocks before the thread's first stack to that one. */
static void learn(struct offcpu_thread *t, uint32_t node)
{
	for (int i = 0; i < OFFCPU_OFF_COUNT; i++)
		if (t->open[i].node == OFFCPU_NO_NODE)
			t->open[i].node = node;
}

static struct offcpu_known_stack known_stack(uint64_t time_ns, uint32_t node)
{
	return (struct offcpu_known_stack){
		.time_ns = time_ns, .node = node, .lock = OFFCPU_NOBODY, .is_there = true};
}

static void set_own_stack(struct offcpu_thread *t, uint64_t time_ns, uint32_t node)
{
	t->own = known_stack(time_ns, node);
	t->is_borrowed = false;
	t->holder = OFFCPU_NOBODY;
}

static void forget_own_stack(struct offcpu_thread *t)
{
	t->own.is_there = t->is_borrowed = false;
	t->outside_ns = 0;
	t->holder = OFFCPU_NOBODY;
}

/* Drops a stack or holder that was read after the thread had already continued. */
static void check_outside_stack(struct offcpu_thread *t, uint64_t end_ns)
{
	if (t->holder_ns > end_ns)
		t->holder = OFFCPU_NOBODY;
	if (t->outside_ns > end_ns)
		forget_own_stack(t);
}

/* ---- states ---- */

static bool is_off(const struct offcpu_thread *t)
{
	return t->state >= OFFCPU_BLOCKED;
}

/* Records the current block, or the rest of it, up to end_ns. */
static void put_block(struct offcpu *o, struct offcpu_thread *t, uint64_t end_ns, uint64_t blocks)
{
	struct offcpu_interval interval = {
		.begin_ns = t->since_ns,
		.end_ns = end_ns,
		.blocks = blocks,
		.waker = t->waker,
	};
	uint64_t off_ns = end_ns - t->since_ns;

	interval.blocked_ns = t->state == OFFCPU_BLOCKED ? off_ns : 0;
	interval.woken_ns = t->state == OFFCPU_WOKEN ? off_ns : 0;
	interval.preempted_ns = t->state == OFFCPU_PREEMPTED ? off_ns : 0;
	choose_stack(t, &interval);
	put(o, t, &interval);
	t->since_ns = end_ns;
}

static void end_block(struct offcpu *o, struct offcpu_thread *t, uint64_t end_ns)
{
	check_outside_stack(t, end_ns);
	put_block(o, t, end_ns, 1);
	if (t->is_borrowed) {
		/* The stack does not age while the thread is off the CPU. */
		if (end_ns > t->own.time_ns)
			t->run.time_ns += end_ns - t->own.time_ns;
	} else if (t->own.is_there) {
		t->own.time_ns = end_ns;
		*(t->state == OFFCPU_PREEMPTED ? &t->run : &t->block) = t->own;
		t->is_sampled = false;
	}
	forget_own_stack(t);
}

/* The time, or the start of the state if that is later, which should not happen. */
static uint64_t in_order(struct offcpu *o, const struct offcpu_thread *t, uint64_t time_ns)
{
	if (time_ns >= t->since_ns)
		return time_ns;
	o->counts.misplaced++;
	return t->since_ns;
}

/* Ends the current state, and begins the next. */
static void change_state(
	struct offcpu *o, struct offcpu_thread *t, uint64_t time_ns, enum offcpu_state state)
{
	uint64_t end_ns = in_order(o, t, time_ns);

	if (is_off(t))
		end_block(o, t, end_ns);
	else if (t->state == OFFCPU_RUNNING)
		o->counts.running_ns += end_ns - t->since_ns;
	t->since_ns = end_ns;
	t->state = state;
	t->waker = OFFCPU_NOBODY;
	if (state == OFFCPU_RUNNING)
		unlink_thread(t);
	else
		link_thread(&o->young, t, end_ns);
}

/* Sets what a thread did before its first record, by the kind of that record. */
static void settle(struct offcpu_thread *t, uint64_t time_ns, enum offcpu_state state)
{
	if (t->state == OFFCPU_UNSEEN)
		t->since_ns = time_ns;
	if (t->state == OFFCPU_UNSEEN || t->state == OFFCPU_EXISTED) {
		t->state = state;
		t->waker = OFFCPU_NOBODY;
	}
}

/* The thread runs at that time.  If it was off the CPU, the record of its return is missing. */
static void prove_running(struct offcpu *o, struct offcpu_thread *t, uint64_t time_ns)
{
	settle(t, time_ns, OFFCPU_RUNNING);
	if (t->state != OFFCPU_RUNNING) {
		o->counts.missing++;
		change_state(o, t, time_ns, OFFCPU_RUNNING);
	} else {
		unlink_thread(t);
	}
}

void offcpu_begin(
	struct offcpu *o, struct offcpu_thread *t, uint64_t time_ns, enum offcpu_state state)
{
	t->since_ns = time_ns;
	t->state = state;
	t->waker = OFFCPU_NOBODY;
	if (state != OFFCPU_RUNNING)
		link_thread(&o->young, t, time_ns);
}

void offcpu_out(struct offcpu *o, struct offcpu_thread *t, uint64_t time_ns, bool preempted)
{
	settle(t, time_ns, OFFCPU_RUNNING);
	if (t->state != OFFCPU_RUNNING)
		o->counts.missing++;
	change_state(o, t, time_ns, preempted ? OFFCPU_PREEMPTED : OFFCPU_BLOCKED);
	t->is_sampled &= preempted;
}

/* The thread stays off the CPU, at the same stack. */
void offcpu_wake(struct offcpu *o, struct offcpu_thread *t, uint64_t time_ns, uint32_t waker)
{
	if (t->state == OFFCPU_EXISTED)
		settle(t, time_ns, OFFCPU_BLOCKED);
	if (t->state != OFFCPU_BLOCKED)
		return;
	uint64_t end_ns = in_order(o, t, time_ns);

	t->waker = waker;
	check_outside_stack(t, end_ns);
	put_block(o, t, end_ns, 1);
	t->state = OFFCPU_WOKEN;
}

void offcpu_in(struct offcpu *o, struct offcpu_thread *t, uint64_t time_ns)
{
	settle(t, time_ns, OFFCPU_BLOCKED);
	if (t->state == OFFCPU_RUNNING) {
		o->counts.missing++;
		/* Its stack was taken when it left the CPU, so that time is known anyway. */
		if (t->own.is_there)
			change_state(o, t, t->own.time_ns, OFFCPU_BLOCKED);
	}
	change_state(o, t, time_ns, OFFCPU_RUNNING);
}

void offcpu_stack(struct offcpu *o, struct offcpu_thread *t, uint64_t time_ns, uint32_t node)
{
	prove_running(o, t, time_ns);
	learn(t, node);
	set_own_stack(t, time_ns, node);
}

void offcpu_lock(
	struct offcpu *o, struct offcpu_thread *t, uint32_t lock, uint32_t holder, uint64_t read_ns)
{
	(void)o;
	if (!t->own.is_there)
		return;
	t->own.lock = lock;
	t->holder = holder;
	t->holder_ns = read_ns;
}

bool offcpu_borrow_stack(struct offcpu *o, struct offcpu_thread *t, uint64_t time_ns)
{
	if (!t->is_sampled || time_ns - t->run.time_ns >= NEAR_NS)
		return false;
	prove_running(o, t, time_ns);
	set_own_stack(t, time_ns, t->run.node);
	t->is_borrowed = true;
	return true;
}

void offcpu_outside_stack(
	struct offcpu *o, struct offcpu_thread *t, uint64_t time_ns, uint32_t node)
{
	(void)o;
	settle(t, time_ns, OFFCPU_BLOCKED);
	if (!is_off(t))
		return;
	learn(t, node);
	set_own_stack(t, time_ns, node);
	t->outside_ns = time_ns;
}

void offcpu_sample(struct offcpu *o, struct offcpu_thread *t, uint64_t time_ns, uint32_t node)
{
	prove_running(o, t, time_ns);
	/* The thread should have been switched out by now. */
	if (t->own.is_there) {
		o->counts.missing++;
		forget_own_stack(t);
	}
	learn(t, node);
	t->run = known_stack(time_ns, node);
	t->is_sampled = true;
}

void offcpu_run(struct offcpu *o, struct offcpu_thread *t, uint64_t time_ns)
{
	settle(t, time_ns, OFFCPU_RUNNING);
	if (t->state != OFFCPU_RUNNING)
		change_state(o, t, time_ns, OFFCPU_RUNNING);
	unlink_thread(t);
}

void offcpu_end(struct offcpu *o, struct offcpu_thread *t, uint64_t time_ns)
{
	settle(t, time_ns, OFFCPU_BLOCKED);
	change_state(o, t, time_ns, OFFCPU_RUNNING);
	flush_all(o, t);
	t->state = OFFCPU_UNSEEN;
}

/* ---- the tick ---- */

/* False: not possible now. */
static bool ask_for_stack(struct offcpu *o, struct offcpu_thread *t)
{
	bool is_wanted = !t->own.is_there && t->state != OFFCPU_PREEMPTED;

	return !is_wanted || !o->hooks.read_stack || o->hooks.read_stack(o->hooks.context, t);
}

/*
 * Also checks threads that have just left the CPU, as all blocks of a thread may be short: only a
 * few of them, the latest first, and each thread only occasionally.
 */
static void look_at_young(struct offcpu *o, uint64_t now_ns)
{
	struct offcpu_link *link = o->young.before;

	for (unsigned int i = 0; i < YOUNG_LOOKS && link != &o->young; i++) {
		struct offcpu_thread *t = thread_of(link);

		link = link->before;
		if (t->block.is_there && now_ns < t->block.time_ns + NEAR_NS)
			continue;
		if (!ask_for_stack(o, t))
			break;
	}
}

void offcpu_tick(struct offcpu *o, uint64_t now_ns)
{
	struct offcpu_thread *t;

	while ((t = first_of_age(&o->old, now_ns, o->part_ns))) {
		if (is_off(t) && now_ns > t->since_ns + MARGIN_NS)
			put_block(o, t, now_ns - MARGIN_NS, 0);
		link_thread(&o->old, t, now_ns);
	}
	while ((t = first_of_age(&o->young, now_ns, YOUNG_NS)) && ask_for_stack(o, t)) {
		flush_known(o, t);
		link_thread(&o->old, t, now_ns);
	}
	look_at_young(o, now_ns);
}
