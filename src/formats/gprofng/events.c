/*
 * Packets as samples.  See events.h; the names are those of gprofng's metrics command, the
 * numbers those of gprofng/src/data_pckts.h and common/cc_libcollector.h.
 */
#include "formats/gprofng/events.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/vec.h"

static const char *const state_names[GP_STATE_END - GP_STATE] = {"User CPU Time", "System CPU Time",
	"Trap CPU Time", "Text Page Fault Time", "Data Page Fault Time", "Kernel Page Fault Time",
	"User Lock Time", "Sleep Time", "Wait CPU Time", "Stopped Time", "Total CPU Time",
	"Kernel CPU Time"};

static bool is_count(size_t metric)
{
	return metric == GP_SAMPLES || metric == GP_SYNC_COUNT || metric == GP_ALLOCATIONS ||
	       metric == GP_LEAKS || metric >= GP_COUNTER;
}

static struct str metric_name(size_t metric, struct strbuf *buffer)
{
	static const char *const names[] = {"Sync Wait Time", "Sync Wait Count", "Bytes Allocated",
		"Allocations", "Bytes Leaked", "Leaks"};

	strbuf_clear(buffer);
	if (metric == GP_SAMPLES)
		return STR("samples");
	if (metric >= GP_COUNTER)
		strbuf_printf(buffer, "Hardware Counter %zu", metric - GP_COUNTER);
	else if (metric >= GP_SYNC_TIME)
		return str_from(names[metric - GP_SYNC_TIME]);
	else if (state_names[metric - GP_STATE])
		return str_from(state_names[metric - GP_STATE]);
	else
		strbuf_printf(buffer, "Time in State %zu", metric - GP_STATE);
	return strbuf_str(buffer);
}

void gprofng_metrics_add(struct gprofng_metrics *metrics, struct builder *builder)
{
	struct strbuf buffer = {0};
	bool has_default = false;

	metrics->is_used[GP_SAMPLES] = true;
	for (size_t i = 0; i < GP_METRICS; i++) {
		bool is_bytes = i == GP_BYTES_ALLOCATED || i == GP_BYTES_LEAKED;
		if (!metrics->is_used[i])
			continue;
		metrics->id[i] = builder_metric(builder, metric_name(i, &buffer),
			is_count(i) ? STR("count") : (is_bytes ? STR("bytes") : STR("ns")));
		metrics->count++;
		if (i != GP_SAMPLES && !has_default) {
			builder_header(builder)->default_metric = metrics->id[i];
			has_default = true;
		}
	}
	strbuf_deinit(&buffer);
}

static int64_t bounded(uint64_t number)
{
	return number <= INT64_MAX ? (int64_t)number : INT64_MAX;
}

static bool clock_event(const struct gprofng_kind *kind, const struct gprofng_packet *p,
	uint64_t interval_ns, struct gprofng_event *e)
{
	uint64_t state = gprofng_field(kind, p->data, p->size, FIELD_MSTATE);
	uint64_t ticks = gprofng_field(kind, p->data, p->size, FIELD_NTICK), time_ns;

	if (state >= GP_STATE_END - GP_STATE)
		return false;
	if (__builtin_mul_overflow(ticks, interval_ns, &time_ns))
		time_ns = UINT64_MAX;
	e->metric[0] = (enum gprofng_metric)(GP_STATE + state);
	e->weight[0] = bounded(time_ns);
	e->is_sample = true;
	return true;
}

static bool sync_event(
	const struct gprofng_kind *kind, const struct gprofng_packet *p, struct gprofng_event *e)
{
	uint64_t from_ns = gprofng_field(kind, p->data, p->size, FIELD_SRQST);

	e->metric[0] = GP_SYNC_TIME;
	e->weight[0] = e->time_ns > from_ns ? bounded(e->time_ns - from_ns) : 0;
	e->metric[1] = GP_SYNC_COUNT;
	e->weight[1] = 1;
	return true;
}

enum heap_type { HEAP_MALLOC, HEAP_FREE, HEAP_REALLOC, HEAP_MMAP, HEAP_MUNMAP };

static bool is_allocation(uint64_t type)
{
	return type == HEAP_MALLOC || type == HEAP_REALLOC || type == HEAP_MMAP;
}

static bool heap_event(
	const struct gprofng_kind *kind, const struct gprofng_packet *p, struct gprofng_event *e)
{
	if (!is_allocation(gprofng_field(kind, p->data, p->size, FIELD_HTYPE)))
		return false;
	e->metric[0] = GP_BYTES_ALLOCATED;
	e->weight[0] = bounded(gprofng_field(kind, p->data, p->size, FIELD_HSIZE));
	e->metric[1] = GP_ALLOCATIONS;
	e->weight[1] = 1;
	return true;
}

static bool counter_event(
	const struct gprofng_kind *kind, const struct gprofng_packet *p, struct gprofng_event *e)
{
	uint64_t tag = gprofng_field(kind, p->data, p->size, FIELD_HWCTAG);

	if (tag >= GP_COUNTER_END - GP_COUNTER)
		return false;
	e->metric[0] = (enum gprofng_metric)(GP_COUNTER + tag);
	e->weight[0] = bounded(gprofng_field(kind, p->data, p->size, FIELD_HWCINT));
	e->is_sample = true;
	return true;
}

bool gprofng_event_of(const struct gprofng_kind *kind, const struct gprofng_packet *p,
	uint64_t interval_ns, struct gprofng_event *e)
{
	*e = (struct gprofng_event){.metric = {GP_METRICS, GP_METRICS}};
	e->time_ns = gprofng_field(kind, p->data, p->size, FIELD_TSTAMP);
	e->frinfo = gprofng_field(kind, p->data, p->size, FIELD_FRINFO);
	e->thread = gprofng_field(
		kind, p->data, p->size, kind->fields[FIELD_LWPID].size ? FIELD_LWPID : FIELD_THRID);
	switch (kind->number) {
	case KIND_CLOCK:
		return clock_event(kind, p, interval_ns, e);
	case KIND_SYNC:
		return sync_event(kind, p, e);
	case KIND_HEAP:
		return heap_event(kind, p, e);
	case KIND_HWC:
	case KIND_MHWC:
		return counter_event(kind, p, e);
	default:
		return false;
	}
}

/* ---- leaks ---- */

struct heap_packet {
	uint64_t time_ns, number;
	const uint8_t *data;
	size_t size;
};

static int heap_compare(const void *a, const void *b)
{
	const struct heap_packet *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

/* Memory at that address is gone. */
static void release(struct map *owners, uint64_t addr, uint8_t *leaked)
{
	uint32_t owner;

	if (!map_get(owners, addr, 0, &owner))
		return;
	leaked[owner] = 0;
	map_remove(owners, addr, 0);
}

static void play_heap(const struct gprofng_kind *kind, const struct heap_packet *p,
	struct map *owners, uint8_t *leaked)
{
	uint64_t type = gprofng_field(kind, p->data, p->size, FIELD_HTYPE);
	uint64_t addr = gprofng_field(kind, p->data, p->size, FIELD_HVADDR);
	uint64_t old = gprofng_field(kind, p->data, p->size, FIELD_HOVADDR);

	if (type == HEAP_REALLOC)
		release(owners, old, leaked);
	if (type == HEAP_FREE || type == HEAP_MUNMAP)
		release(owners, addr, leaked);
	if (is_allocation(type) && addr) {
		leaked[p->number] = 1;
		map_put(owners, addr, 0, (uint32_t)p->number);
	}
}

uint8_t *gprofng_leaks(
	const struct gprofng_kind *kind, const struct file_bytes *bytes, size_t *count)
{
	VEC(struct heap_packet) all = {0};
	struct gprofng_packets packets;
	struct gprofng_packet p;
	struct map owners = {0};

	gprofng_packets_init(&packets, bytes);
	while (gprofng_packets_next(&packets, &p)) {
		struct heap_packet packet = {.number = all.count, .data = p.data, .size = p.size};
		if (p.kind != kind->number)
			continue;
		packet.time_ns = gprofng_field(kind, p.data, p.size, FIELD_TSTAMP);
		vec_push(&all, packet);
	}
	/* Each thread has blocks of its own. */
	if (all.count)
		qsort(all.data, all.count, sizeof(*all.data), heap_compare);
	uint8_t *leaked = xcalloc(all.count + 1, 1);
	for (size_t i = 0; i < all.count; i++)
		play_heap(kind, &all.data[i], &owners, leaked);
	*count = all.count;
	map_deinit(&owners);
	vec_deinit(&all);
	return leaked;
}
