/*
 * Names of events.
 *
 * The cache events are a product: cache × operation × result, less the operations that a cache can
 * not have (nobody stores into instructions).  So they are made from three short tables, by number.
 * Names and pairs are those that `perf list` prints, as people know them from there.
 */
#include "record/events/event_names.h"

#include <assert.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <strings.h>

#include "base/compiler.h"
#include "base/nearest.h"

#define SOFTWARE(name_, alias_, config_, in_kernel_, is_rare_, help_)                              \
	{                                                                                          \
		.name = (name_), .alias = (alias_), .help = (help_), .kind = EVENT_SOFTWARE,       \
		.type = PERF_TYPE_SOFTWARE, .config = (config_), .in_kernel = (in_kernel_),        \
		.is_rare = (is_rare_)                                                              \
	}
#define HARDWARE(name_, alias_, config_, help_)                                                    \
	{                                                                                          \
		.name = (name_), .alias = (alias_), .help = (help_), .kind = EVENT_HARDWARE,       \
		.type = PERF_TYPE_HARDWARE, .config = (config_)                                    \
	}

static const struct event_name plain[] = {
	SOFTWARE("page-faults", "faults", PERF_COUNT_SW_PAGE_FAULTS, false, false,
		"memory touched that was not mapped yet"),
	SOFTWARE("minor-faults", NULL, PERF_COUNT_SW_PAGE_FAULTS_MIN, false, false,
		"page faults that needed no disk"),
	SOFTWARE("major-faults", NULL, PERF_COUNT_SW_PAGE_FAULTS_MAJ, false, false,
		"page faults that waited for the disk"),
	SOFTWARE("context-switches", "cs", PERF_COUNT_SW_CONTEXT_SWITCHES, true, false,
		"times that a thread left its CPU"),
	SOFTWARE("cpu-migrations", "migrations", PERF_COUNT_SW_CPU_MIGRATIONS, true, false,
		"times that a thread came to another CPU"),
	SOFTWARE("alignment-faults", NULL, PERF_COUNT_SW_ALIGNMENT_FAULTS, false, true,
		"accesses that the kernel had to mend; never on x86"),
	SOFTWARE("emulation-faults", NULL, PERF_COUNT_SW_EMULATION_FAULTS, false, true,
		"instructions that the kernel had to mend; never on x86"),
	HARDWARE("cycles", "cpu-cycles", PERF_COUNT_HW_CPU_CYCLES,
		"of the processor's clock, as it goes"),
	HARDWARE(
		"instructions", NULL, PERF_COUNT_HW_INSTRUCTIONS, "instructions that were retired"),
	HARDWARE("cache-references", NULL, PERF_COUNT_HW_CACHE_REFERENCES,
		"accesses to the last level of cache, mostly"),
	HARDWARE("cache-misses", NULL, PERF_COUNT_HW_CACHE_MISSES, "those that went to memory"),
	HARDWARE("branches", "branch-instructions", PERF_COUNT_HW_BRANCH_INSTRUCTIONS,
		"branches that were retired"),
	HARDWARE("branch-misses", NULL, PERF_COUNT_HW_BRANCH_MISSES,
		"branches that were foretold wrongly"),
	HARDWARE("bus-cycles", NULL, PERF_COUNT_HW_BUS_CYCLES, NULL),
	HARDWARE("stalled-cycles-frontend", "idle-cycles-frontend",
		PERF_COUNT_HW_STALLED_CYCLES_FRONTEND, "cycles without instructions to run"),
	HARDWARE("stalled-cycles-backend", "idle-cycles-backend",
		PERF_COUNT_HW_STALLED_CYCLES_BACKEND, "cycles that waited for results"),
	HARDWARE("ref-cycles", NULL, PERF_COUNT_HW_REF_CPU_CYCLES, "of a clock of constant rate"),
};

enum {
	CACHE_READ = 1 << PERF_COUNT_HW_CACHE_OP_READ,
	CACHE_WRITE = 1 << PERF_COUNT_HW_CACHE_OP_WRITE,
	CACHE_PREFETCH = 1 << PERF_COUNT_HW_CACHE_OP_PREFETCH,
};

static const struct {
	const char *name;
	uint32_t id;
	int operations;
} caches[] = {
	{"L1-dcache", PERF_COUNT_HW_CACHE_L1D, CACHE_READ | CACHE_WRITE | CACHE_PREFETCH},
	{"L1-icache", PERF_COUNT_HW_CACHE_L1I, CACHE_READ | CACHE_PREFETCH},
	{"LLC", PERF_COUNT_HW_CACHE_LL, CACHE_READ | CACHE_WRITE | CACHE_PREFETCH},
	{"dTLB", PERF_COUNT_HW_CACHE_DTLB, CACHE_READ | CACHE_WRITE | CACHE_PREFETCH},
	{"iTLB", PERF_COUNT_HW_CACHE_ITLB, CACHE_READ},
	{"branch", PERF_COUNT_HW_CACHE_BPU, CACHE_READ},
	{"node", PERF_COUNT_HW_CACHE_NODE, CACHE_READ | CACHE_WRITE | CACHE_PREFETCH},
};

/* [operation][0: all accesses, 1: misses] */
static const char *const access_names[PERF_COUNT_HW_CACHE_OP_MAX][2] = {
	{"loads", "load-misses"},
	{"stores", "store-misses"},
	{"prefetches", "prefetch-misses"},
};

/* The i-th event of the caches; false: there are only *count. */
static bool cache_event(size_t i, struct event_name *event, size_t *count)
{
	size_t n = 0;

	for (size_t c = 0; c < ARRAY_SIZE(caches); c++) {
		for (uint32_t op = 0; op < PERF_COUNT_HW_CACHE_OP_MAX; op++) {
			if (!(caches[c].operations & 1 << op))
				continue;
			if (i - n < 2) {
				uint32_t miss = (uint32_t)(i - n);

				*event = (struct event_name){.kind = EVENT_CACHE,
					.type = PERF_TYPE_HW_CACHE,
					.config = caches[c].id | op << 8 | miss << 16};
				snprintf(event->name, sizeof(event->name), "%s-%s", caches[c].name,
					access_names[op][miss]);
				return true;
			}
			n += 2;
		}
	}
	*count = n;
	return false;
}

size_t event_name_count(void)
{
	struct event_name none;
	size_t count = 0;

	(void)cache_event(SIZE_MAX, &none, &count);
	return ARRAY_SIZE(plain) + count;
}

struct event_name event_name_at(size_t i)
{
	struct event_name event = {0};
	size_t count;

	if (i < ARRAY_SIZE(plain))
		return plain[i];
	bool found = cache_event(i - ARRAY_SIZE(plain), &event, &count);

	assert(found);
	return event;
}

static bool same(struct str a, const char *b)
{
	return b && strlen(b) == a.size && strncasecmp(a.data, b, a.size) == 0;
}

bool event_name_find(struct str name, struct event_name *event)
{
	size_t count = event_name_count();

	for (size_t i = 0; i < count; i++) {
		struct event_name candidate = event_name_at(i);

		if (same(name, candidate.name) || same(name, candidate.alias)) {
			*event = candidate;
			return true;
		}
	}
	return false;
}

const char *event_name_nearest(struct str name, struct event_name *scratch)
{
	size_t count = event_name_count();
	struct nearest n;
	size_t best = SIZE_MAX;

	nearest_init(&n, name);
	for (size_t i = 0; i < count; i++) {
		struct event_name candidate = event_name_at(i);
		size_t before = n.best_distance;

		nearest_offer(&n, str_from(candidate.name));
		if (candidate.alias)
			nearest_offer(&n, str_from(candidate.alias));
		if (n.best_distance < before)
			best = i;
	}
	if (best == SIZE_MAX)
		return NULL;
	*scratch = event_name_at(best);
	return scratch->name;
}
