/*
 * libsonde-zones-functions: a program compiled with -finstrument-functions becomes zoned whole.
 *
 * The compiler calls __cyg_profile_func_enter and _exit wherever a function begins and returns.
 * Each function becomes a zone that is known by its address; its name, unless the program exports
 * it, is left to readers, who know symbols.
 *
 * Functions are found in a table of open addressing that is only ever added to: a key is claimed by
 * one atomic exchange, and what belongs to it follows from the key alone, so that nobody waits for
 * anybody, neither threads nor signal handlers.  Code of a library that was closed keeps its zones;
 * another one loaded at the same addresses goes on counting there.
 *
 * Functions that were left by longjmp, or by an exception through code without cleanups, are left
 * when a function further out returns: its zone is then not the innermost one.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>

#include <prof.h>

#define HOOK __attribute__((visibility("default"), no_instrument_function))

enum {
	TABLE_BITS = 16,
	TABLE_SIZE = 1 << TABLE_BITS,
	/* A search that takes longer than that says that the table is full. */
	PROBES_MAX = 256,
};

static uintptr_t keys[TABLE_SIZE]; /* functions; 0: none */
static Prof_Zone zones[TABLE_SIZE];
static Prof_Zone other = {"...other", NULL, 0, 0, NULL, NULL};

void __cyg_profile_func_enter(void *function, void *caller);
void __cyg_profile_func_exit(void *function, void *caller);

/* Whoever comes by before it is done writes the same. */
static __attribute__((noinline)) void describe(Prof_Zone *zone, void *function)
{
	Dl_info info;

	if (dladdr(function, &info) && info.dli_saddr == function && info.dli_sname)
		__atomic_store_n(&zone->name, info.dli_sname, __ATOMIC_RELAXED);
	__atomic_store_n(&zone->code, function, __ATOMIC_RELEASE);
}

static inline Prof_Zone *zone_of(void *function)
{
	uintptr_t key = (uintptr_t)function, free_key;
	size_t at = (size_t)(((uint64_t)key * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - TABLE_BITS));

	for (int probes = 0; probes < PROBES_MAX; probes++, at = (at + 1) % TABLE_SIZE) {
		uintptr_t found = __atomic_load_n(&keys[at], __ATOMIC_RELAXED);

		if (__builtin_expect(found == key, 1))
			return &zones[at];
		if (found)
			continue;
		free_key = 0;
		if (__atomic_compare_exchange_n(
			    &keys[at], &free_key, key, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED) ||
			free_key == key)
			return &zones[at];
	}
	return &other;
}

/*
 * The function's zone is not the innermost one: those inside it were left without a word.  If it
 * is not entered at all (zones were switched on inside it), there is nothing to leave.
 */
static __attribute__((noinline)) void leave_outer(uint32_t id)
{
	Prof_Zone_Stack *node = Prof_thread_.top;
	Prof_Mark mark = {NULL, 0};

	while (node && node->zone != id)
		node = node->up;
	if (!node || !node->up)
		return;
	mark.node = node->up;
	Prof_return_to(mark);
}

HOOK void __cyg_profile_func_enter(void *function, void *caller)
{
	Prof_Zone *zone = zone_of(function);

	(void)caller;
	if (Prof_UNLIKELY_(!Prof_GET_(zone->id)) && zone != &other &&
		!__atomic_load_n(&zone->code, __ATOMIC_ACQUIRE))
		describe(zone, function);
	Prof_enter_(zone);
}

HOOK void __cyg_profile_func_exit(void *function, void *caller)
{
	Prof_Thread_ *t = &Prof_thread_;
	uint32_t id;

	(void)caller;
	/* An entry that was not measured is undone by the next end, whose ever it is. */
	if (Prof_UNLIKELY_(Prof_GET_(t->mode) & ~Prof_EVENTS_) &&
		(Prof_GET_(t->skipped) || (Prof_GET_(t->mode) & (Prof_HELD_ | Prof_CALL_)))) {
		Prof_leave_slow_();
		return;
	}
	id = Prof_GET_(zone_of(function)->id);
	if (__builtin_expect(id && t->top->zone == id, 1))
		Prof_leave_();
	else if (id)
		leave_outer(id);
}
