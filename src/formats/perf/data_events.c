/*
 * Events, from attributes of any version of struct perf_event_attr: each has its size, so newer
 * ones can be longer, and older ones shorter, than the struct read here.
 *
 * Sources: perf_event_open(2); for names tools/perf/util/evsel.c and parse-events.l.
 */
#include "formats/perf/data_events.h"

#include <inttypes.h>

#include "formats/perf/data_format.h"

/* Attributes without a size are of the first version, PERF_ATTR_SIZE_VER0. */
enum { ATTR_SIZE_MIN = 64, ATTR_SIZE_MAX = 4096 };
enum { EVENTS_MAX = 65536, IDS_MAX = 1 << 24 };
enum { TYPE_HARDWARE = 0, TYPE_SOFTWARE = 1, TYPE_TRACEPOINT = 2, TYPE_CACHE = 3, TYPE_RAW = 4 };

void perf_data_events_init(struct perf_data_events *e, struct arena *arena)
{
	*e = (struct perf_data_events){.arena = arena};
}

void perf_data_events_deinit(struct perf_data_events *e)
{
	vec_deinit(&e->rows);
	map_deinit(&e->by_id);
}

/*
 * Bit fields start at a word's lowest bit in one byte order, at its highest in the other, so they
 * are not swapped like numbers.
 */
static bool flag_of(const uint8_t *word, unsigned int number, bool is_swapped)
{
	unsigned int bit = is_swapped ? 7 - number % 8 : number % 8;

	return word[number / 8] >> bit & 1;
}

static void read_flags(struct cursor *c, struct perf_data_event *event)
{
	const uint8_t *word = cursor_bytes(c, 8);

	if (word == NULL)
		return;
	event->is_freq = flag_of(word, PERF_DATA_FLAG_FREQ, c->is_swapped);
	event->layout.has_trailer = flag_of(word, PERF_DATA_FLAG_SAMPLE_ID_ALL, c->is_swapped);
}

/* Reads the fields in order; fields that an older attribute lacks stay 0. */
static void read_fields(struct cursor *c, struct perf_data_event *event)
{
	event->type = cursor_u32(c);
	cursor_skip(c, 4); /* the size */
	event->config = cursor_u64(c);
	event->period = cursor_u64(c);
	event->layout.sample_type = cursor_u64(c);
	event->layout.read_format = cursor_u64(c);
	read_flags(c, event);
	cursor_skip(c, 8); /* wakeup, bp_type */
	event->config1 = cursor_u64(c);
	event->config2 = cursor_u64(c);
	event->layout.branch_type = cursor_u64(c);
	event->layout.user_regs = cursor_u64(c);
	cursor_skip(c, 20); /* sample_stack_user, clockid, sample_regs_intr, aux_watermark */
	event->max_stack = cursor_u16(c);
}

void perf_data_events_add(struct perf_data_events *e, struct cursor *c, uint64_t most)
{
	struct cursor peek = *c;
	struct perf_data_event event = {0};

	cursor_skip(&peek, 4);
	uint64_t size = cursor_u32(&peek);

	if (size == 0)
		size = ATTR_SIZE_MIN;
	if (size < ATTR_SIZE_MIN || size > ATTR_SIZE_MAX || size > most ||
		e->rows.count >= EVENTS_MAX) {
		cursor_fail(c, "an event has an impossible size");
		return;
	}
	struct cursor fields = cursor_sub(c, size);

	read_fields(&fields, &event);
	if (cursor_ok(c))
		vec_push(&e->rows, event);
}

void perf_data_events_put_id(struct perf_data_events *e, uint64_t id, uint32_t place)
{
	if (e->by_id.count < IDS_MAX)
		map_put(&e->by_id, id, 0, place);
}

void perf_data_events_read_ids(struct perf_data_events *e, struct cursor *c, uint64_t count)
{
	for (uint64_t i = 0; i < count && cursor_left(c) >= sizeof(uint64_t); i++)
		perf_data_events_put_id(e, cursor_u64(c), (uint32_t)(e->rows.count - 1));
}

struct perf_data_event *perf_data_events_find(struct perf_data_events *e, uint64_t id)
{
	uint32_t place;

	if (e->rows.count == 0)
		return NULL;
	if (id && map_get(&e->by_id, id, 0, &place) && place < e->rows.count)
		return &e->rows.data[place];
	return id == 0 || e->by_id.count == 0 ? &e->rows.data[0] : NULL;
}

void perf_data_events_name(struct perf_data_events *e, uint64_t id, struct str name)
{
	struct perf_data_event *event = perf_data_events_find(e, id);

	if (event && name.size)
		event->name = arena_str(e->arena, name);
}

bool perf_data_event_has_calls(const struct perf_data_event *event)
{
	return (event->layout.sample_type & PERFSTREAM_FIELD_BRANCH_STACK) &&
	       (event->layout.branch_type & PERFSTREAM_BRANCH_CALL_STACK);
}

/* ---- names ---- */

static const char *const hardware_names[] = {"cycles", "instructions", "cache-references",
	"cache-misses", "branches", "branch-misses", "bus-cycles", "stalled-cycles-frontend",
	"stalled-cycles-backend", "ref-cycles"};
static const char *const software_names[] = {"cpu-clock", "task-clock", "page-faults",
	"context-switches", "cpu-migrations", "minor-faults", "major-faults", "alignment-faults",
	"emulation-faults", "dummy", "bpf-output", "cgroup-switches"};
static const char *const cache_names[] = {
	"L1-dcache", "L1-icache", "LLC", "dTLB", "iTLB", "branch", "node"};
static const char *const cache_operations[] = {"load", "store", "prefetch"};

static struct str cache_name(struct perf_data_events *e, uint64_t config)
{
	uint64_t cache = config & 0xff, operation = config >> 8 & 0xff, result = config >> 16;

	if (cache >= ARRAY_SIZE(cache_names) || operation >= ARRAY_SIZE(cache_operations))
		return STR("");
	return str_from(arena_printf(e->arena, "%s-%s%s", cache_names[cache],
		cache_operations[operation], result == 1 ? "-misses" : "s"));
}

static struct str default_name(struct perf_data_events *e, const struct perf_data_event *event)
{
	/* The upper half selects one of the CPU's kinds of cores. */
	uint64_t config = event->type == TYPE_HARDWARE || event->type == TYPE_CACHE
				  ? event->config & UINT32_MAX
				  : event->config;
	struct str name = STR("");

	if (event->type == TYPE_HARDWARE && config < ARRAY_SIZE(hardware_names))
		name = str_from(hardware_names[config]);
	else if (event->type == TYPE_SOFTWARE && config < ARRAY_SIZE(software_names))
		name = str_from(software_names[config]);
	else if (event->type == TYPE_CACHE)
		name = cache_name(e, config);
	else if (event->type == TYPE_RAW)
		name = str_from(arena_printf(e->arena, "raw 0x%" PRIx64, config));
	if (name.size)
		return name;
	return str_from(arena_printf(e->arena, "%s %" PRIu32 ":%" PRIu64,
		event->type == TYPE_TRACEPOINT ? "tracepoint" : "event", event->type, config));
}

/* Software clocks count time.  The weights of perf --off-cpu are times asleep. */
static bool counts_time(const struct perf_data_event *event)
{
	if (event->type != TYPE_SOFTWARE)
		return false;
	return event->config <= 1 || str_starts_with(event->name, STR("offcpu-time"));
}

void perf_data_events_finish(struct perf_data_events *e)
{
	for (size_t i = 0; i < e->rows.count; i++) {
		struct perf_data_event *event = &e->rows.data[i];

		if (event->name.size == 0)
			event->name = default_name(e, event);
		event->unit = counts_time(event) ? STR("ns") : STR("count");
	}
}
