/*
 * libsonde-zones-functions: makes every function of a program compiled with -finstrument-functions
 * a zone.
 *
 * The compiler calls __cyg_profile_func_enter and _exit wherever a function begins and returns.
 * Each function becomes a zone identified by its address.  Unless the program exports the name,
 * readers, which know symbols, find it later.
 *
 * Functions are looked up in an open-addressing table that only grows.  One atomic exchange claims
 * a key, and the rest of the row follows from the key alone, so neither threads nor signal handlers
 * ever wait.  Code of a closed library keeps its zones; another library loaded at the same
 * addresses continues counting in them.
 *
 * Functions left by longjmp, or by an exception through code without cleanups, end when a function
 * further out returns and its zone is not the innermost one.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>

#include <prof.h>

#define HOOK __attribute__((visibility("default"), no_instrument_function))

enum {
	TABLE_BITS = 16,
	TABLE_SIZE = 1 << TABLE_BITS,
	/* A longer search means that the table is full. */
	PROBES_MAX = 256,
};

static uintptr_t keys[TABLE_SIZE]; /* functions; 0: none */
static Prof_Zone zones[TABLE_SIZE];
static Prof_Zone other = {"...other", NULL, 0, 0, NULL, NULL};

void __cyg_profile_func_enter(void *function, void *caller);
void __cyg_profile_func_exit(void *function, void *caller);

/* Any thread that gets here before it is done writes the same. */
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
 * The function's zone is not the innermost one: those inside it were left without a call.  If it
 * was not entered (zones were enabled inside it), there is nothing to leave.
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
	/* The next end, of any function, undoes an entry that was not measured. */
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
