/*
 * The BPF program of the exact engine.  It runs at each sample, in the interrupted thread, before
 * the kernel writes the sample: while it runs, the stack cannot change.  If the stack extends
 * beyond the piece that the sample will hold, the program copies the rest into a separate ring, so
 * that the recorder can walk a stack of any depth without reading a process that has continued.
 * Unwinding stays in the recorder: there is only one unwinder, and its tables are not in the
 * kernel.
 *
 * The end of a stack: for a main thread, where the kernel put it at exec (mm->start_stack); for
 * another thread, its control block, which both glibc and musl put at the end of its stack (the
 * base of fs); for an alternate signal stack, as registered by the thread.  Only for other stacks,
 * and if memory is missing, the mapping is looked up, which costs more.
 *
 * A recursion that stays deep would be copied repeatedly.  So the recorder sets marks
 * (exact_layout.h), and the stack outside an intact mark is not copied.
 *
 * The licence string: the kernel allows the functions that read user memory (bpf_probe_read_user)
 * only to programs under the GPL or a compatible licence.  This file may be used under the MIT
 * licence, like all of sonde, or under the GPL version 2.
 *
 * Sources: the kernel's Documentation/bpf/ringbuf.rst, bpf_helpers' own descriptions in
 * linux/bpf.h; a sample's user registers are those that perf itself dumps (perf_get_regs_user).
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <stddef.h>

#include "record/engines/exact/exact_layout.h"
#include "unwind/go_layout.h"
#include "unwind/print.h"

char _license[] SEC("license") = "Dual MIT/GPL";

#define PF_KTHREAD 0x00200000u
#define USER_CS	   0x33u /* of 64-bit code */
/* No stack is larger: an address further away is in another one. */
#define FAR_BYTES ((uint64_t)128 << 20)
/* The walker reads several words beyond the outermost frame. */
#define SLACK_BYTES 64u
/* This much is copied regardless of marks. */
#define CHEAP_BYTES ((uint64_t)32 << 10)
/* Copied beyond what a mark needs, in case the walker does not recognise some of its frames. */
#define MARGIN_BYTES ((uint64_t)8 << 10)
#define PIECES_MAX   16384u
/* This much is tried if the mapping's end is unknown. */
#define BLIND_BYTES ((uint64_t)64 << 10)

/*
 * The parts of the kernel's types that are needed here; the loader relocates the members to the
 * kernel's own types.
 */
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct pt_regs {
	unsigned long bp, sp, cs;
};

struct mm_struct {
	unsigned long start_stack;
};

struct vm_area_struct {
	unsigned long vm_start, vm_end;
};

struct thread_struct {
	unsigned long fsbase;
};

struct task_struct {
	unsigned int flags;
	int tgid;
	struct mm_struct *mm;
	struct task_struct *real_parent;
	unsigned long sas_ss_sp;
	unsigned long sas_ss_size;
	struct thread_struct thread;
};

struct perf_event_attr {
	uint32_t sample_stack_user;
};

struct perf_event {
	struct perf_event_attr attr;
};

struct perf_sample_data {
	uint64_t time;
	struct {
		uint32_t pid, tid;
	} tid_entry;
};

struct bpf_perf_event_data_kern {
	struct perf_sample_data *data;
	struct perf_event *event;
};

#pragma clang attribute pop

/*
 * From 6.2 on: the context with the fields of the sample and of the event.  Weak, as libbpf looks
 * it up even if the program that calls it is not loaded: an older kernel would refuse on_sample.
 */
void *bpf_cast_to_kern_ctx(void *context) __ksym __weak;

const volatile struct exact_settings settings;

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, EXACT_PAGE);
} rests SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, EXACT_THREADS);
	__type(key, uint32_t);
	__type(value, struct exact_thread);
} threads SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct exact_counts);
} counts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct exact_processes);
} processes SEC(".maps");

/* The current sample, and its thread's data about the end of its stack. */
struct sample {
	uint64_t time_ns, sp, bp;
	uint32_t pid, tid, dump_bytes;
	uint64_t start_stack_va, control_va, signal_va, signal_bytes;
	uint64_t go_end_va; /* of the goroutine's stack that it is on; 0: none */
};

/* The copying of a rest. */
struct copying {
	struct exact_piece piece; /* its va: the position of copying */
	uint64_t paged_va;	  /* pages up to here are copied one by one */
	uint64_t bytes;		  /* copied */
	uint32_t absent, looked_up, is_lost;
};

static void begin_copying(struct copying *c, const struct sample *s)
{
	*c = (struct copying){.piece = {.time_ns = s->time_ns, .sp = s->sp, .tid = s->tid}};
}

/*
 * The verifier checks a global function once, independently of its callers.  If these functions
 * were inlined, it would check them once for each path to them, and take three times as long.
 *
 * The frames of functions that call each other take at most 512 bytes together, each one rounded
 * up: in Linux 6.1 to 32.  Only from 6.13 on has each function 512 of its own.  So a sample has one
 * struct copying, which is handed on.
 */

/* The entry of a thread; EXACT_THREADS: it has none. */
__weak uint32_t find_thread(uint32_t tid)
{
	for (uint32_t i = 0; i < EXACT_PROBES; i++) {
		uint32_t key = (exact_hash(tid) + i) % EXACT_THREADS;
		struct exact_thread *thread = bpf_map_lookup_elem(&threads, &key);

		if (thread && thread->tid == tid)
			return key;
	}
	return EXACT_THREADS;
}

static int is_known(const struct exact_processes *known, uint32_t pid)
{
	uint32_t bit = pid % EXACT_PROCESSES;

	return known->bits[bit / 64] >> bit % 64 & 1;
}

/* A new process may be unknown yet, but its parent or grandparent is known. */
static int is_wanted_process(uint32_t pid, const struct task_struct *task)
{
	uint32_t zero = 0;
	const struct exact_processes *known = bpf_map_lookup_elem(&processes, &zero);

	if (!known || !known->is_on || is_known(known, pid))
		return 1;
	const struct task_struct *parent = task->real_parent;

	return is_known(known, (uint32_t)parent->tgid) ||
	       is_known(known, (uint32_t)parent->real_parent->tgid);
}

/* ---- marks ---- */

__weak int is_intact(const struct exact_mark *mark)
{
	if (!mark)
		return 0;
	for (int i = 0; i < EXACT_MARK_SLOTS; i++) {
		uint64_t word[4];

		if (bpf_probe_read_user(word, sizeof(word), (const void *)mark->slot_va[i]) ||
			word[0] != mark->pc[i] || unwind_print(word + 1) != mark->print[i])
			return 0;
	}
	return 1;
}

/* How many of the marks, the innermost, were gone before this sample. */
static uint64_t gone_before(const struct exact_thread *thread, uint64_t marks_ns)
{
	if (marks_ns == thread->judged_ns)
		return thread->gone;
	/* Marks that came too late, after another sample, do not know which frames that had. */
	return marks_ns == thread->last_ns ? 0 : EXACT_MARKS;
}

/*
 * Registers a sample of the stack [sp, end_va).  Returns the need_va of the innermost mark that was
 * intact in each sample since its own; 0: there is none.  Samples may wait for the recorder, which
 * walks each with what it knows of the one before.  A thread that has called other functions and
 * then the same ones again has the same frames, but the recorder has forgotten them meanwhile.
 */
static uint64_t marked_va(struct exact_thread *thread, const struct sample *s, uint64_t end_va)
{
	uint64_t version = *(volatile uint64_t *)&thread->version, need_va = 0;
	uint64_t marks_ns = *(volatile uint64_t *)&thread->marks_ns;
	uint64_t gone = gone_before(thread, marks_ns);

	thread->last_ns = s->time_ns;
	if (version & 1)
		return 0;
	for (uint32_t i = 0; i < EXACT_MARKS && i < thread->mark_count; i++) {
		const struct exact_mark *mark = &thread->marks[i];

		if (i < gone)
			continue;
		if (mark->slot_va[0] >= s->sp && mark->need_va <= end_va && is_intact(mark)) {
			need_va = mark->need_va;
			break;
		}
		gone = i + 1;
	}
	if (*(volatile uint64_t *)&thread->version != version)
		return 0;
	thread->judged_ns = marks_ns;
	thread->gone = gone;
	return need_va;
}

/* ---- the end of the stack ---- */

static long take_mapping(struct task_struct *task, struct vm_area_struct *vma, uint64_t *end_va)
{
	*end_va = vma->vm_end;
	return 0;
}

/* The end of the mapping of sp; 0: unknown. */
__weak uint64_t mapping_end(uint64_t sp)
{
	uint64_t end_va = 0;

	bpf_find_vma(bpf_get_current_task_btf(), sp, take_mapping, &end_va, 0);
	return end_va;
}

static int is_between(uint64_t va, uint64_t low_va, uint64_t high_va)
{
	return va >= low_va && va < high_va;
}

/*
 * Sets where the rest ends, and why.  thread_bytes: the limit for stacks other than the main one.
 */
__weak int find_end(const struct sample *s, struct copying *c, uint64_t thread_bytes)
{
	if (!s || !c)
		return 0;
	uint64_t sp = s->sp, limit = settings.main_bytes, end_va = s->start_stack_va;

	if (!is_between(sp, end_va - FAR_BYTES, end_va)) {
		limit = thread_bytes;
		if (is_between(sp, s->signal_va, s->signal_va + s->signal_bytes)) {
			end_va = s->signal_va + s->signal_bytes;
		} else if (is_between(sp, s->control_va - FAR_BYTES, s->control_va)) {
			end_va = s->control_va;
		} else if (s->go_end_va) {
			end_va = s->go_end_va;
		} else {
			end_va = mapping_end(sp);
			if (!end_va)
				end_va = c->piece.low_va + BLIND_BYTES;
			c->looked_up = 1;
			if (limit == settings.main_bytes || limit == settings.thread_bytes)
				limit = settings.mapped_bytes;
		}
	}
	end_va += SLACK_BYTES;
	c->piece.high_va = end_va;
	c->piece.end = EXACT_END_STACK;
	if (end_va > c->piece.low_va && end_va - c->piece.low_va > limit) {
		c->piece.high_va = c->piece.low_va + limit;
		c->piece.end = EXACT_END_LIMIT;
	}
	return 1;
}

/* ---- copying ---- */

/* Memory is missing: continue page by page, and not beyond the mapping. */
static void meet_gap(struct copying *c, uint32_t size)
{
	uint64_t va = c->piece.va, end_va;

	c->paged_va = va + size;
	if (c->looked_up)
		return;
	c->looked_up = 1;
	end_va = mapping_end(c->piece.sp);
	if (!end_va)
		end_va = va + BLIND_BYTES;
	if (end_va < c->piece.high_va)
		c->piece.high_va = end_va;
}

static uint64_t wake_flag(const struct copying *c)
{
	if (c->piece.va + c->piece.size < c->piece.high_va ||
		bpf_ringbuf_query(&rests, BPF_RB_AVAIL_DATA) < settings.wake_bytes)
		return BPF_RB_NO_WAKEUP;
	return BPF_RB_FORCE_WAKEUP;
}

/*
 * Copies the next piece, which ends at the end of a page, into a record with this much room.  1: no
 * room.
 */
static __always_inline long copy_piece(struct copying *c, const uint64_t room)
{
	uint64_t va = c->piece.va, left = c->piece.high_va - va;
	uint64_t size = room - va % EXACT_PAGE;
	struct exact_piece *piece = bpf_ringbuf_reserve(&rests, sizeof(*piece) + room, 0);

	if (!piece) {
		c->is_lost = 1;
		return 1;
	}
	if (left < size)
		size = left;
	/* Linux 6.1 accepts a size only if the register that holds it was compared, not a copy. */
	asm volatile("" : "+r"(size));
	if (size > room || bpf_probe_read_user(piece + 1, size, (const void *)va)) {
		bpf_ringbuf_discard(piece, BPF_RB_NO_WAKEUP);
		meet_gap(c, size);
		if (room == EXACT_SHORT) {
			c->piece.va += size;
			c->absent++;
		}
		return 0;
	}
	c->piece.size = size;
	*piece = c->piece;
	bpf_ringbuf_submit(piece, wake_flag(c));
	c->bytes += size;
	c->piece.va += size;
	return 0;
}

__weak long copy_long(struct copying *c)
{
	return c ? copy_piece(c, EXACT_LONG) : 1;
}

__weak long copy_short(struct copying *c)
{
	return c ? copy_piece(c, EXACT_SHORT) : 1;
}

static long copy_next(uint32_t i, struct copying *c)
{
	uint64_t va = c->piece.va;

	if (va >= c->piece.high_va)
		return 1;
	if (va < c->paged_va || c->piece.high_va - va <= 2 * EXACT_SHORT)
		return copy_short(c) != 0;
	return copy_long(c) != 0;
}

/* Its argument is on the caller's own stack: bpf_loop takes nothing else. */
static void copy_pieces(struct copying *c)
{
	c->piece.va = c->piece.low_va;
	bpf_loop(PIECES_MAX, copy_next, c, 0);
}

static void copy_rest(struct copying *c, struct exact_counts *count)
{
	copy_pieces(c);
	count->rests++;
	count->bytes += c->bytes;
	count->absent += c->absent;
	count->limited += c->piece.end == EXACT_END_LIMIT;
	count->lost += c->is_lost;
}

/* ---- Go's other stack ---- */

/*
 * Go's runtime calls some functions, and C, on the thread's own stack; and C calls Go on the
 * goroutine's (unwind/go_stack.h).  Then the walk goes on to the other stack, which is copied here,
 * and so are the runtime's structures that lead to it.
 */

static int read_user(void *to, uint32_t size, uint64_t va)
{
	return va && !(va & 7) && bpf_probe_read_user(to, size, (const void *)va) == 0;
}

/* Reads the goroutine of an m, which must refer back to it.  Returns where it is; 0: none. */
static uint64_t go_current(uint64_t m, uint32_t offset, uint64_t g0, struct go_g *g)
{
	uint64_t va = 0;

	if (!read_user(&va, sizeof(va), m + offset) || va == g0 || !read_user(g, sizeof(*g), va) ||
		g->m != m)
		return 0;
	return va;
}

/* Where the thread's g is. */
static uint64_t go_pointer(const struct sample *s)
{
	uint32_t zero = 0;
	const struct exact_processes *known = bpf_map_lookup_elem(&processes, &zero);
	uint64_t below = GO_G_BELOW;

	if (known) {
		const struct exact_go *go = &known->go[s->pid % EXACT_GO_PROCESSES];

		if (go->pid == s->pid)
			below = go->below;
	}
	return s->control_va - below;
}

/* Sets which part of the other stack is to be copied. */
static void choose_other(struct copying *c, uint64_t low_va, uint64_t high_va)
{
	c->piece.low_va = low_va;
	c->piece.high_va = high_va - low_va > GO_STACK_BYTES ? low_va + GO_STACK_BYTES : high_va;
	c->paged_va = 0;
	c->looked_up = 1; /* a gap does not end it */
}

/* Copies a few bytes, which are in two pages at most. */
static void copy_few(struct copying *c, uint64_t low_va, uint32_t bytes)
{
	c->piece.low_va = c->piece.va = low_va;
	c->piece.high_va = low_va + bytes;
	c->looked_up = 1;
	copy_short(c);
	if (c->piece.va < c->piece.high_va)
		copy_short(c);
}

/* The end of the thread's own stack. */
static uint64_t own_end(const struct sample *s, uint64_t va)
{
	if (is_between(va, s->start_stack_va - FAR_BYTES, s->start_stack_va))
		return s->start_stack_va;
	if (is_between(va, s->control_va - FAR_BYTES, s->control_va))
		return s->control_va;
	return va + GO_STACK_BYTES;
}

/*
 * Copies the runtime's structures, and chooses the part of the other stack.  Returns the end of the
 * goroutine's stack if the sample is on it; else 0.
 */
__weak uint64_t find_go(const struct sample *s, struct copying *c)
{
	struct go_g g = {};
	uint64_t va = 0, g0 = 0, m, own_sp;

	if (!s || !c || !read_user(&va, sizeof(va), go_pointer(s)) || !read_user(&g, sizeof(g), va))
		return 0;
	m = g.m;
	if (!read_user(&g0, sizeof(g0), m) || !read_user(&g, sizeof(g), g0) || g.m != m)
		return 0;
	own_sp = g.sched_sp;
	va = go_current(m, GO_M_CURG, g0, &g);
	if (!va)
		va = go_current(m, GO_M_CURG_NEW, g0, &g);
	if (!va)
		return 0;
	copy_few(c, va, sizeof(g));
	copy_few(c, g0, sizeof(g));
	copy_few(c, m, GO_M_BYTES);
	if (go_stack_has(&g, s->sp)) {
		choose_other(c, own_sp, own_end(s, own_sp) + SLACK_BYTES);
		return g.high_va;
	}
	choose_other(c, go_place(&g, s->bp), g.high_va);
	return 0;
}

/* ---- what a signal handler interrupted ---- */

/*
 * A handler on an alternate stack has the interrupted function's registers at the end of that
 * stack: the kernel's struct rt_sigframe, below the state of the floating-point unit, which is
 * aligned to 64 bytes and as large as the processor makes it.  The frame holds the alternate
 * stack's own address and size, by which it is recognised.
 */
struct signal_frame {
	uint64_t return_va, flags, link;
	struct signal_stack {
		uint64_t va, flags, bytes;
	} stack;
	uint64_t registers[15], sp;
};

enum {
	SIGNAL_ALIGNMENT = 64,
	SIGNAL_FRAME_BELOW = 456, /* from the state to the frame */
	SIGNAL_STATE_MAX = 16384,
	RED_ZONE_BYTES = 128,
};

struct looking {
	const struct sample *sample;
	uint64_t va; /* of the frame looked at */
	uint64_t sp; /* found */
};

static long look_at_frame(uint32_t i, struct looking *l)
{
	const struct sample *s = l->sample;
	struct signal_stack stack;

	l->va -= SIGNAL_ALIGNMENT;
	if (l->va < s->sp ||
		!read_user(&stack, sizeof(stack), l->va + offsetof(struct signal_frame, stack)))
		return 1;
	if (stack.va != s->signal_va || stack.bytes != s->signal_bytes)
		return 0;
	read_user(&l->sp, sizeof(l->sp), l->va + offsetof(struct signal_frame, sp));
	return 1;
}

/* Chooses the part of the interrupted stack.  0: there is none. */
__weak int find_interrupted(const struct sample *s, struct copying *c)
{
	if (!s || !c)
		return 0;
	uint64_t end_va = s->signal_va + s->signal_bytes;
	struct looking l = {
		.sample = s, .va = end_va - end_va % SIGNAL_ALIGNMENT - SIGNAL_FRAME_BELOW};

	bpf_loop(SIGNAL_STATE_MAX / SIGNAL_ALIGNMENT, look_at_frame, &l, 0);
	if (!l.sp)
		return 0;
	choose_other(c, (l.sp & ~(uint64_t)7) - RED_ZONE_BYTES, own_end(s, l.sp) + SLACK_BYTES);
	return 1;
}

/* ---- samples ---- */

/* Ends the rest at an intact mark, unless a whole stack was requested. */
static void apply_mark(struct exact_thread *thread, uint64_t need_va, struct copying *c,
	struct exact_counts *count)
{
	if (thread->wanted != thread->given) {
		thread->given = thread->wanted;
		c->piece.is_wanted = 1;
		return;
	}
	if (!need_va || c->piece.high_va - c->piece.low_va <= CHEAP_BYTES)
		return;
	count->marked++;
	need_va += MARGIN_BYTES;
	if (need_va >= c->piece.high_va)
		return;
	c->piece.high_va = need_va;
	c->piece.end = EXACT_END_MARK;
}

static void take_sample(struct sample *s)
{
	uint32_t zero = 0, key = find_thread(s->tid);
	struct exact_thread *thread = bpf_map_lookup_elem(&threads, &key);
	struct exact_counts *count = bpf_map_lookup_elem(&counts, &zero);
	uint64_t need_va = 0;
	struct copying c;

	if (!count)
		return;
	count->samples++;
	begin_copying(&c, s);
	c.piece.is_other = 1;
	s->go_end_va = find_go(s, &c);
	copy_pieces(&c);
	if (is_between(s->sp, s->signal_va, s->signal_va + s->signal_bytes) &&
		find_interrupted(s, &c))
		copy_pieces(&c);
	begin_copying(&c, s);
	c.piece.low_va = s->sp + s->dump_bytes;
	find_end(s, &c, thread ? thread->limit_bytes : settings.thread_bytes);
	count->looked_up += c.looked_up;
	/* Also if the dump has the whole stack: see there. */
	if (thread)
		need_va = marked_va(thread, s, c.piece.high_va);
	if (c.piece.high_va <= c.piece.low_va)
		return;
	if (thread)
		apply_mark(thread, need_va, &c, count);
	if (c.piece.high_va > c.piece.low_va)
		copy_rest(&c, count);
	/* The recorder will know this stack only in part. */
	if (thread && c.is_lost)
		thread->gone = EXACT_MARKS;
}

/* Finds the sampled thread's stack.  0: it is not wanted, or the code is 32-bit. */
static int find_stack(struct sample *s)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
	struct mm_struct *mm = task->mm;

	if (task->flags & PF_KTHREAD || !mm || regs->cs != USER_CS ||
		!is_wanted_process(s->pid, task))
		return 0;
	s->sp = regs->sp;
	s->bp = regs->bp;
	s->start_stack_va = mm->start_stack;
	s->control_va = task->thread.fsbase;
	s->signal_va = task->sas_ss_sp;
	s->signal_bytes = task->sas_ss_size;
	return 1;
}

/* This kernel fills in the sample's fields before it runs the program. */
SEC("perf_event") int on_sample_told(void *context)
{
	struct bpf_perf_event_data_kern *told = bpf_cast_to_kern_ctx(context);
	struct sample s = {
		.time_ns = told->data->time,
		.pid = told->data->tid_entry.pid,
		.tid = told->data->tid_entry.tid,
		.dump_bytes = told->event->attr.sample_stack_user,
	};

	if (find_stack(&s))
		take_sample(&s);
	return 1;
}

/* An older kernel fills them in afterwards: the copy's time is a little before the sample's. */
SEC("perf_event") int on_sample(void *context)
{
	struct sample s = {
		.time_ns = bpf_ktime_get_ns(),
		.pid = (uint32_t)(bpf_get_current_pid_tgid() >> 32),
		.tid = (uint32_t)bpf_get_current_pid_tgid(),
		.dump_bytes = settings.dump_bytes,
	};

	if (find_stack(&s))
		take_sample(&s);
	return 1;
}
