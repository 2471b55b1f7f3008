/*
 * Go's runtime calls some functions, and C, on the thread's own stack; and C calls Go on the
 * goroutine's (unwind/go_stack.h).  Then the walk goes on to the other stack, which is part of the
 * sample, and so are the runtime's structures that lead to it.  The goroutine continues after the
 * sample, so nobody can read it later.
 *
 * The kernel reads all that may not be mapped.  A program without Go has another word where Go
 * keeps its g; that costs it one such read in each sample at most, if the word could be an address.
 */
#include <string.h>
#include <sys/uio.h>

#include "preload/preload.h"
#include "preload/raw.h"
#include "unwind/go_layout.h"

static bool read_memory(void *to, size_t bytes, uint64_t va)
{
	struct iovec local = {to, bytes}, remote = {(void *)(uintptr_t)va, bytes};

	return va >= GO_M_BYTES && !(va & 7) && va >> 47 == 0 &&
	       raw6(SYS_process_vm_readv, raw0(SYS_getpid), &local, 1, &remote, 1, 0) ==
		       (long)bytes;
}

/* What a thread's g leads to; each refers to the others. */
struct go_thread {
	uint64_t m_va, g0_va, curg_va;
	struct go_g g0, curg;
};

static bool read_g(uint64_t va, struct go_g *g, uint64_t m_va)
{
	return read_memory(g, sizeof(*g), va) && g->m == m_va;
}

/* The thread's current g.  The usual place is mapped in each thread. */
static bool read_g_va(const struct preload_thread *t, uint64_t *g_va)
{
	const char *control = raw_thread_pointer();
	uint32_t below = atomic_load_explicit(&t->lane.slot->go_below, memory_order_relaxed);

	if (below && below != GO_G_BELOW)
		return read_memory(g_va, sizeof(*g_va), (uint64_t)(uintptr_t)control - below);
	memcpy(g_va, control - GO_G_BELOW, sizeof(*g_va));
	return true;
}

static bool find_go(const struct preload_thread *t, struct go_thread *go)
{
	uint64_t g_va, m[GO_M_BYTES / 8];
	struct go_g g;

	if (!read_g_va(t, &g_va) || !read_memory(&g, sizeof(g), g_va) ||
		!read_memory(m, sizeof(m), g.m))
		return false;
	go->m_va = g.m;
	go->g0_va = m[GO_M_G0 / 8];
	if (!read_g(go->g0_va, &go->g0, go->m_va))
		return false;
	go->curg_va = m[GO_M_CURG / 8];
	if (go->curg_va != go->g0_va && read_g(go->curg_va, &go->curg, go->m_va))
		return true;
	go->curg_va = m[GO_M_CURG_NEW / 8];
	return go->curg_va != go->g0_va && read_g(go->curg_va, &go->curg, go->m_va);
}

static struct preload_part part_of(uint64_t low_va, uint64_t high_va)
{
	uint64_t bytes = high_va > low_va ? high_va - low_va : 0;

	return (struct preload_part){low_va, bytes < GO_STACK_BYTES ? bytes : GO_STACK_BYTES};
}

static uint64_t own_end(const struct preload_thread *t, uint64_t va)
{
	return va >= t->stack_low_va && va < t->stack_high_va ? t->stack_high_va
							      : va + GO_STACK_BYTES;
}

size_t preload_other_stack(const struct preload_thread *t, uint64_t sp, uint64_t bp,
	struct preload_part parts[PRELOAD_PARTS])
{
	struct go_thread go;

	if (!find_go(t, &go))
		return 0;
	parts[0] = (struct preload_part){go.curg_va, sizeof(struct go_g)};
	parts[1] = (struct preload_part){go.g0_va, sizeof(struct go_g)};
	parts[2] = (struct preload_part){go.m_va, GO_M_BYTES};
	parts[3] = go_stack_has(&go.curg, sp)
			   ? part_of(go.g0.sched_sp & ~(uint64_t)7, own_end(t, go.g0.sched_sp))
			   : part_of(go_place(&go.curg, bp), go.curg.high_va);
	return PRELOAD_PARTS;
}
