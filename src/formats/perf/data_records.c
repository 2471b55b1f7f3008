/*
 * One pass over all records of a perf.data file, for their positions and times.  The ring buffers
 * of the CPUs are written one after the other, so records are in order only within pieces; they are
 * sorted by time as a whole, which takes no work if they are already in order.
 *
 * Records without a time (from kernels before 2.6.38) belong to the round in which perf wrote them.
 * perf processes them before the samples of that round and of the previous one.
 */
#include "formats/perf/data_file.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/zstd_stream.h"

#define PART_SHIFT  48
#define OFFSET_MASK (((perf_data_place)1 << PART_SHIFT) - 1)
/* Half of the limit in base/decompress.h, because a growing buffer exists twice. */
#define UNPACKED_FREE  ((uint64_t)32 << 20)
#define UNPACKED_RATIO 256
enum { HEADER_SIZE = 8 };

static const char *const type_names[PERF_DATA_TYPE_COUNT] = {[1] = "MMAP",
	"LOST",
	"COMM",
	"EXIT",
	"THROTTLE",
	"UNTHROTTLE",
	"FORK",
	"READ",
	"SAMPLE",
	"MMAP2",
	"AUX",
	"ITRACE_START",
	"LOST_SAMPLES",
	"SWITCH",
	"SWITCH_CPU_WIDE",
	"NAMESPACES",
	"KSYMBOL",
	"BPF_EVENT",
	"CGROUP",
	"TEXT_POKE",
	"AUX_OUTPUT_HW_ID",
	"CALLCHAIN_DEFERRED",
	[64] = "HEADER_ATTR",
	"HEADER_EVENT_TYPE",
	"HEADER_TRACING_DATA",
	"HEADER_BUILD_ID",
	"FINISHED_ROUND",
	"ID_INDEX",
	"AUXTRACE_INFO",
	"AUXTRACE",
	"AUXTRACE_ERROR",
	"THREAD_MAP",
	"CPU_MAP",
	"STAT_CONFIG",
	"STAT",
	"STAT_ROUND",
	"EVENT_UPDATE",
	"TIME_CONV",
	"HEADER_FEATURE",
	"COMPRESSED",
	"FINISHED_INIT",
	"COMPRESSED2",
	"BPF_METADATA",
	"SCHEDSTAT_CPU",
	"SCHEDSTAT_DOMAIN"};

const char *perf_data_type_name(uint32_t type)
{
	return type < PERF_DATA_TYPE_COUNT ? type_names[type] : NULL;
}

static const uint8_t *place_bytes(const struct perf_data_file *file, perf_data_place place)
{
	uint32_t part = (uint32_t)(place >> PART_SHIFT);
	const uint8_t *bytes = part == PERF_DATA_UNPACKED ? (const uint8_t *)file->unpacked.data
							  : file->parts.data[part].bytes.data;

	return bytes + (place & OFFSET_MASK);
}

struct perfstream_record perf_data_record(const struct perf_data_file *file, size_t i)
{
	struct perfstream_record record;

	/* It was complete when the records were sorted. */
	(void)perfstream_record_at(place_bytes(file, file->places[file->order[i].index]),
		UINT16_MAX, file->is_swapped, &record);
	return record;
}

uint64_t perf_data_time(const struct perf_data_file *file, size_t i)
{
	return file->order[i].key;
}

void perf_data_bad(struct perf_data_file *file, const struct perfstream_record *record)
{
	if (file->bad_records++)
		return;
	file->first_bad_offset = UINT64_MAX;
	for (size_t i = 0; i < file->parts.count; i++) {
		const struct perf_data_part *part = &file->parts.data[i];
		uintptr_t offset = (uintptr_t)record->bytes - (uintptr_t)part->bytes.data;

		if (offset >= part->bytes.size)
			continue;
		file->first_bad_offset = offset;
		file->first_bad_part = part->name;
	}
}

/* ---- records processed immediately ---- */

/* Reads ATTR: an attribute, and its ids up to the record's end. */
static void read_attr(struct perf_data_file *file, const struct perfstream_record *record)
{
	struct cursor c = perfstream_body(record);
	size_t before = file->events.rows.count;

	perf_data_events_add(&file->events, &c, cursor_left(&c));
	if (file->events.rows.count == before)
		perf_data_bad(file, record);
	else
		perf_data_events_read_ids(&file->events, &c, cursor_left(&c) / sizeof(uint64_t));
}

static void read_event_update(struct perf_data_file *file, const struct perfstream_record *record)
{
	enum { UPDATE_NAME = 2 };
	struct cursor c = perfstream_body(record);
	uint64_t what = cursor_u64(&c), id = cursor_u64(&c);

	if (what == UPDATE_NAME)
		perf_data_events_name(&file->events, id, cursor_string(&c));
}

static void read_feature(struct perf_data_file *file, const struct perfstream_record *record)
{
	struct cursor c = perfstream_body(record);
	uint64_t feature = cursor_u64(&c);

	perf_data_feature(file, feature, cursor_sub(&c, cursor_left(&c)));
}

static void read_lost(struct perf_data_file *file, const struct perfstream_record *record)
{
	bool is_records = record->type == PERFSTREAM_LOST;

	*(is_records ? &file->lost_records : &file->lost_samples) += perfstream_lost(record);
}

/* AUXTRACE has the number of trace bytes that follow it, AUXTRACE_INFO the kind of trace. */
static void read_trace(struct perf_data_file *file, const struct perfstream_record *record)
{
	struct cursor c = perfstream_body(record);

	if (record->type == PERF_DATA_AUXTRACE_INFO) {
		file->trace_kind = cursor_u32(&c);
		return;
	}
	file->traces++;
	file->trace_bytes += cursor_u64(&c);
}

/* ---- order ---- */

/* The time by which a record is sorted; also counts the samples of each event. */
static bool time_of_record(
	struct perf_data_file *file, const struct perfstream_record *record, uint64_t *time_ns)
{
	struct perf_data_event *event = NULL;

	if (file->events.rows.count)
		event = perf_data_events_find(&file->events,
			perfstream_record_id(record, &file->events.rows.data[0].layout));
	if (record->type == PERFSTREAM_SAMPLE) {
		if (event == NULL)
			return false;
		event->samples++;
		file->sample_count++;
	}
	if (event == NULL && file->events.rows.count)
		event = &file->events.rows.data[0];
	if (event == NULL || !perfstream_record_time(record, &event->layout, time_ns))
		*time_ns = record->type == PERFSTREAM_SAMPLE ? file->most_ns : file->round_ns;
	else if (*time_ns > file->most_ns)
		file->most_ns = *time_ns;
	return true;
}

static void add_record(
	struct perf_data_file *file, const struct perfstream_record *record, perf_data_place place)
{
	uint64_t time_ns;

	if (!time_of_record(file, record, &time_ns) || file->record_count >= UINT32_MAX - 1) {
		perf_data_bad(file, record);
		return;
	}
	if (file->record_count == file->record_capacity) {
		file->record_capacity += file->record_capacity / 2 + 4096;
		file->order =
			xrealloc_array(file->order, file->record_capacity, sizeof(*file->order));
		file->places =
			xrealloc_array(file->places, file->record_capacity, sizeof(*file->places));
	}
	file->order[file->record_count] =
		(struct sort_item){.key = time_ns, .index = (uint32_t)file->record_count};
	file->places[file->record_count++] = place;
}

static void count_unknown(struct perf_data_file *file, uint32_t type)
{
	if (perf_data_type_name(type))
		file->unknown[type]++;
	else
		file->unknown_others++;
}

static void finish_round(struct perf_data_file *file)
{
	file->round_ns = file->next_round_ns;
	file->next_round_ns = file->most_ns;
}

static void take_record(
	struct perf_data_file *file, const struct perfstream_record *record, perf_data_place place);

/* Scans what was unpacked since the last call, except an incomplete record at the end. */
static void scan_unpacked(struct perf_data_file *file)
{
	struct perfstream_record record;
	size_t done;

	while ((done = file->unpacked_done) < file->unpacked.size) {
		const uint8_t *at = (const uint8_t *)file->unpacked.data + done;

		if (!perfstream_record_at(
			    at, file->unpacked.size - done, file->is_swapped, &record)) {
			if (file->unpacked.size - done >= HEADER_SIZE && record.size < HEADER_SIZE)
				file->unpacked_done = file->unpacked.size;
			return;
		}
		file->unpacked_done += record.size;
		/* Compressed records in compressed records could recurse endlessly. */
		if (record.type == PERF_DATA_COMPRESSED || record.type == PERF_DATA_COMPRESSED2)
			perf_data_bad(file, &record);
		else
			take_record(file, &record,
				done | (perf_data_place)PERF_DATA_UNPACKED << PART_SHIFT);
	}
}

static void unpack(struct perf_data_file *file, const struct perfstream_record *record)
{
	struct cursor c = perfstream_body(record);
	uint64_t size = record->type == PERF_DATA_COMPRESSED2 ? cursor_u64(&c) : cursor_left(&c);
	const uint8_t *bytes = cursor_bytes(&c, size);

	if (bytes == NULL) {
		perf_data_bad(file, record);
		return;
	}
	if (file->stream == NULL)
		file->stream = zstd_stream_create();
	file->packed_bytes += size;
	if (zstd_stream_add(file->stream, bytes, size,
		    UNPACKED_FREE + UNPACKED_RATIO * file->packed_bytes, &file->unpacked))
		perf_data_bad(file, record);
	scan_unpacked(file);
}

static void take_record(
	struct perf_data_file *file, const struct perfstream_record *record, perf_data_place place)
{
	switch (record->type) {
	case PERFSTREAM_SAMPLE:
	case PERFSTREAM_MMAP:
	case PERFSTREAM_MMAP2:
	case PERFSTREAM_COMM:
	case PERFSTREAM_FORK:
	case PERFSTREAM_EXIT:
		add_record(file, record, place);
		break;
	case PERFSTREAM_LOST:
	case PERFSTREAM_LOST_SAMPLES:
		read_lost(file, record);
		break;
	case PERFSTREAM_THROTTLE:
		file->throttled++;
		break;
	case PERF_DATA_ATTR:
		read_attr(file, record);
		break;
	case PERF_DATA_EVENT_UPDATE:
		read_event_update(file, record);
		break;
	case PERF_DATA_FEATURE:
		read_feature(file, record);
		break;
	case PERF_DATA_BUILD_ID:
		perf_data_read_build_id(file, record);
		break;
	case PERF_DATA_FINISHED_ROUND:
		finish_round(file);
		break;
	case PERF_DATA_AUXTRACE_INFO:
	case PERF_DATA_AUXTRACE:
		read_trace(file, record);
		break;
	case PERF_DATA_COMPRESSED:
	case PERF_DATA_COMPRESSED2:
		unpack(file, record);
		break;
	default:
		count_unknown(file, record->type);
	}
}

/* The number of bytes that follow a record but are not part of it. */
static uint64_t bytes_behind(
	const struct perf_data_file *file, const struct perfstream_record *record)
{
	bool is_trace = record->type == PERF_DATA_AUXTRACE;

	if (!is_trace && !(record->type == PERF_DATA_TRACING_DATA && file->is_pipe))
		return 0;
	struct cursor c = perfstream_body(record);

	return is_trace ? cursor_u64(&c) : ((uint64_t)cursor_u32(&c) + 7) & ~UINT64_C(7);
}

/* Each part has its own rounds and its own compressed stream. */
static void begin_part(struct perf_data_file *file)
{
	file->round_ns = file->next_round_ns = file->most_ns = 0;
	zstd_stream_destroy(file->stream);
	file->stream = NULL;
	file->unpacked_done = file->unpacked.size;
}

void perf_data_scan(
	struct perf_data_file *file, uint32_t part, uint64_t begin_off, uint64_t end_off)
{
	const uint8_t *bytes = file->parts.data[part].bytes.data;
	uint64_t at = begin_off;
	struct perfstream_record record;

	begin_part(file);
	while (at < end_off) {
		if (!perfstream_record_at(bytes + at, end_off - at, file->is_swapped, &record)) {
			file->is_cut = true;
			return;
		}
		take_record(file, &record, at | (perf_data_place)part << PART_SHIFT);
		uint64_t behind = bytes_behind(file, &record);

		at += record.size;
		if (behind > end_off - at) {
			file->is_cut = true;
			return;
		}
		at += behind;
	}
	file->is_cut |= begin_off > end_off || file->unpacked_done < file->unpacked.size;
}

void perf_data_sort(struct perf_data_file *file)
{
	if (file->record_count)
		sort_items(file->order, file->record_count);
}
