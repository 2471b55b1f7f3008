/*
 * Events by name, and lists of them.
 *
 * The cache events are a product: cache × operation × result, without the operations that a cache
 * cannot have (instruction caches have no stores).  So they are made from three short tables, by
 * number.  Names and combinations are those that `perf list` prints.
 *
 * In a list, a colon may be part of a tracepoint's name or begin a setting.  Settings contain an
 * equals sign, so a name ends at the first colon that is followed by a '=' before the next colon.
 */
#include "record/events/event_list.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/abbreviation.h"
#include "base/compiler.h"
#include "base/nearest.h"

/* ---- names ---- */

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

/* The i-th cache event; false: there are only *count. */
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

/* ---- lists ---- */

void event_list_deinit(struct event_list *list)
{
	vec_deinit(&list->specs);
	arena_destroy(list->arena);
	*list = (struct event_list){0};
}

const struct perf_counter *event_list_counters(const struct event_list *list)
{
	struct perf_counter *counters;

	if (list->specs.count == 0)
		return NULL;
	counters = ARENA_ARRAY(list->arena, struct perf_counter, list->specs.count);
	for (size_t i = 0; i < list->specs.count; i++) {
		const struct event_spec *spec = &list->specs.data[i];

		counters[i] = (struct perf_counter){
			.name = spec->name,
			.unit = spec->unit,
			.type = spec->type,
			.config = spec->config,
			.period = spec->period,
			.frequency_hz = spec->frequency_hz,
		};
	}
	return counters;
}

/* Takes the part before the next `end`, and the `end`, off the start of rest. */
static struct str take_until(struct str *rest, char end)
{
	const char *at = rest->size ? memchr(rest->data, end, rest->size) : NULL;
	struct str part = {rest->data, at ? (size_t)(at - rest->data) : rest->size};
	size_t taken = part.size + (at != NULL);

	*rest = (struct str){rest->data + taken, rest->size - taken};
	return part;
}

static struct str take_name(struct str *rest)
{
	struct str all = *rest, name = take_until(rest, ':');

	while (rest->size) {
		struct str behind = *rest;
		struct str part = take_until(&behind, ':');

		if (memchr(part.data, '=', part.size))
			break;
		name = (struct str){all.data, name.size + 1 + part.size};
		*rest = behind;
	}
	return name;
}

static bool parse_number(struct str digits, uint64_t base, uint64_t *number)
{
	uint64_t value = 0;

	if (digits.size == 0)
		return false;
	for (size_t i = 0; i < digits.size; i++) {
		char c = digits.data[i];
		uint64_t digit = c >= '0' && c <= '9'	? (uint64_t)(c - '0')
				 : c >= 'a' && c <= 'f' ? (uint64_t)(c - 'a') + 10
				 : c >= 'A' && c <= 'F' ? (uint64_t)(c - 'A') + 10
							: base;

		if (digit >= base || __builtin_mul_overflow(value, base, &value) ||
			__builtin_add_overflow(value, digit, &value))
			return false;
	}
	*number = value;
	return true;
}

static struct error *set_sampling(struct event_spec *spec, struct str setting)
{
	struct str value = setting, key = take_until(&value, '=');
	bool is_period = str_equal(key, STR("period")), is_freq = str_equal(key, STR("freq"));
	uint64_t number;

	if (!is_period && !is_freq)
		return error_new(ERROR_USAGE,
			"'%.*s': unknown setting '%.*s'; there are period=N "
			"and freq=HZ",
			STR_ARG(spec->name), STR_ARG(key));
	if (!parse_number(value, 10, &number) || number == 0 || number > INT64_MAX)
		return error_new(ERROR_USAGE, "'%.*s': %.*s is a number from 1, not '%.*s'",
			STR_ARG(spec->name), STR_ARG(key), STR_ARG(value));
	spec->period = is_period ? number : 0;
	spec->frequency_hz = is_freq ? number : 0;
	return NULL;
}

const char *event_tracepoint_directory(void)
{
	static const char *const places[] = {
		"/sys/kernel/tracing/events", "/sys/kernel/debug/tracing/events"};

	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		if (access(places[i], R_OK | X_OK) == 0)
			return places[i];
	return NULL;
}

/* Reads the number in a file; false with errno. */
static bool read_number(const char *path, uint64_t *number)
{
	char text[32];
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return false;
	ssize_t size = read(fd, text, sizeof(text));
	int code = errno;

	close(fd);
	errno = size < 0 ? code : EINVAL;
	while (size > 0 && text[size - 1] == '\n')
		size--;
	return size > 0 && parse_number((struct str){text, (size_t)size}, 10, number);
}

/* GROUP:NAME, where each is a name in tracefs and not a path. */
static bool is_tracepoint(struct str name)
{
	struct str second = name, first = take_until(&second, ':');

	return first.size && second.size && !memchr(name.data, '/', name.size) &&
	       !memchr(second.data, ':', second.size) && first.data[0] != '.' &&
	       second.data[0] != '.';
}

static struct error *find_tracepoint(struct event_spec *spec)
{
	const char *directory = event_tracepoint_directory();
	struct str second = spec->name, first = take_until(&second, ':');
	struct strbuf path = {0};
	int code = 0;

	spec->kind = EVENT_TRACEPOINT;
	spec->type = PERF_TYPE_TRACEPOINT;
	spec->in_kernel = true;
	if (directory == NULL)
		return error_new(ERROR_UNSUPPORTED,
			"'%.*s': tracepoints are for root, with /sys/kernel/tracing mounted: sudo "
			"mount -t tracefs tracefs /sys/kernel/tracing",
			STR_ARG(spec->name));
	strbuf_printf(&path, "%s/%.*s/%.*s/id", directory, STR_ARG(first), STR_ARG(second));
	if (!read_number(path.data, &spec->config))
		code = errno;
	strbuf_deinit(&path);
	if (code == ENOENT || code == ENOTDIR)
		return error_new(ERROR_USAGE, "'%.*s': this kernel has no such tracepoint (see %s)",
			STR_ARG(spec->name), directory);
	if (code)
		return error_system(code, "'%.*s': its number", STR_ARG(spec->name));
	return NULL;
}

/* perf's names for time, which is always recorded, and those of its metrics. */
static const char *const times[] = {
	"cpu-clock", "task-clock", "cpu-time", "time", "real-time", "blocked-time"};

/* What an abbreviation of an event's name means. */
struct meant {
	struct event_name event;
	bool is_event, is_time;
	struct strbuf several; /* it may be any of these, with ", " between them; else empty */
};

/* The caller deinits meant->several. */
static void find_meant(struct str name, struct meant *meant)
{
	size_t count = event_name_count();
	struct abbreviation a;

	*meant = (struct meant){0};
	abbreviation_init(&a, name);
	for (size_t i = 0; i < count; i++) {
		struct event_name event = event_name_at(i);

		if (abbreviation_offer(&a, str_from(event.name)) ||
			(event.alias && abbreviation_offer(&a, str_from(event.alias))))
			meant->event = event;
	}
	for (size_t i = 0; i < ARRAY_SIZE(times); i++)
		meant->is_time |= abbreviation_offer(&a, str_from(times[i]));
	if (abbreviation_is_ambiguous(&a)) {
		meant->several = a.names;
		return;
	}
	meant->is_event = abbreviation_found(&a) && !meant->is_time;
	meant->is_time &= abbreviation_found(&a);
	abbreviation_deinit(&a);
}

static struct error *no_such_event(struct str name)
{
	struct event_name scratch;
	const char *nearest = event_name_nearest(name, &scratch);

	if (nearest)
		return error_new(ERROR_USAGE, "no event is called '%.*s'; did you mean '%s'?",
			STR_ARG(name), nearest);
	return error_new(
		ERROR_USAGE, "no event is called '%.*s'; -e list shows them all", STR_ARG(name));
}

static bool parse_raw(struct str name, struct event_spec *spec)
{
	struct str digits = {name.data + 1, name.size - 1};

	if (name.size < 2 || name.data[0] != 'r' || !parse_number(digits, 16, &spec->config))
		return false;
	spec->kind = EVENT_RAW;
	spec->type = PERF_TYPE_RAW;
	return true;
}

/* Whether the name is that of an event with perf's modifiers: cycles:u, cpu-clock:ppp. */
static bool has_modifiers(struct str name, struct str *event)
{
	struct meant meant;
	struct str modifiers = name;

	*event = take_until(&modifiers, ':');
	for (size_t i = 0; i < modifiers.size; i++)
		if (memchr("ukhGHpPSDIWeb", modifiers.data[i], 13) == NULL)
			return false;
	if (modifiers.size == 0)
		return false;
	find_meant(*event, &meant);
	strbuf_deinit(&meant.several);
	return meant.is_event || meant.is_time;
}

static void set_event(struct arena *arena, const struct event_name *event, struct event_spec *spec)
{
	spec->name = arena_str(arena, str_from(event->name));
	spec->kind = event->kind;
	spec->type = event->type;
	spec->config = event->config;
	spec->in_kernel = event->in_kernel;
}

static struct error *find_event(struct arena *arena, struct str name, struct event_spec *spec)
{
	struct error *err = NULL;
	struct meant meant;
	struct str alone;

	spec->name = arena_str(arena, name);
	if (parse_raw(name, spec))
		return NULL;
	find_meant(name, &meant);
	if (meant.is_event)
		set_event(arena, &meant.event, spec);
	else if (meant.is_time)
		err = error_new(ERROR_USAGE, "'%.*s': time is always recorded; name what else",
			STR_ARG(name));
	else if (meant.several.size)
		err = error_new(ERROR_USAGE, "ambiguous event '%.*s': it may be %s", STR_ARG(name),
			meant.several.data);
	else if (has_modifiers(name, &alone))
		err = error_new(ERROR_USAGE,
			"'%.*s': sonde's events have no modifiers: write '%.*s'; 'sonde report "
			"--kernel none' leaves kernel frames out",
			STR_ARG(name), STR_ARG(alone));
	else if (is_tracepoint(name))
		err = find_tracepoint(spec);
	else
		err = no_such_event(name);
	strbuf_deinit(&meant.several);
	return err;
}

static struct error *add_spec(struct event_list *list, const struct event_spec *spec)
{
	for (size_t i = 0; i < list->specs.count; i++) {
		const struct event_spec *other = &list->specs.data[i];

		if (other->type != spec->type || other->config != spec->config)
			continue;
		if (other->period == spec->period && other->frequency_hz == spec->frequency_hz)
			return NULL;
		return error_new(ERROR_USAGE, "'%.*s' is there twice, sampled differently",
			STR_ARG(spec->name));
	}
	vec_push(&list->specs, *spec);
	return NULL;
}

static struct error *add_event(struct event_list *list, struct str text)
{
	struct event_spec spec = {.unit = STR("count"), .frequency_hz = EVENT_FREQUENCY_DEFAULT};
	struct str name = take_name(&text);
	struct error *err;

	if (name.size == 0)
		return error_new(ERROR_USAGE, "an event has no name");
	err = find_event(list->arena, name, &spec);
	while (err == NULL && text.size)
		err = set_sampling(&spec, take_until(&text, ':'));
	return err ? err : add_spec(list, &spec);
}

struct error *event_list_add(struct event_list *list, const char *text)
{
	struct str rest = str_from(text);
	struct error *err;

	if (list->arena == NULL)
		list->arena = arena_create();
	do {
		bool more = memchr(rest.data, ',', rest.size) != NULL;

		err = add_event(list, take_until(&rest, ','));
		if (!more)
			break;
	} while (err == NULL);
	return err;
}
