#ifndef SONDE_READERS_PERF_DATA_FILE_H
#define SONDE_READERS_PERF_DATA_FILE_H

/*
 * A perf.data file as a container: its header, its events, what its features say, and its records
 * in the order of time, those of packed records among them.
 */

#include "base/map.h"
#include "base/sort.h"
#include "base/str.h"
#include "base/vec.h"
#include "readers/perf_data_events.h"
#include "readers/perf_data_format.h"
#include "readers/perf_data_sample.h"
#include "readers/readers.h"

struct zstd_stream;

/* What the features tell; empty strings and 0: they don't. */
struct perf_data_facts {
	struct str host, os_release, arch, command; /* in the arena */
	/* The time of day and that of the recording's clock at one moment. */
	uint64_t wall_ns, clock_ns;
};

/* A load object's build-id, as a table at the end or records of its own tell. */
struct perf_data_build_ids {
	struct str_table paths; /* to the same place in ids */
	VEC(struct str) ids;	/* in the arena, hex */
};

/* Where a record is: in the file, or, with the highest bit, among what was unpacked. */
typedef uint64_t perf_data_place;

struct perf_data_file {
	const struct reader_input *input;
	struct arena *arena;
	bool is_swapped, is_pipe;
	uint64_t attr_size; /* of the file's table of events, ids included */
	struct perf_data_events events;
	struct perf_data_facts facts;
	struct perf_data_build_ids build_ids;

	/* Records that count, in the order of time: items' indices are into places. */
	struct sort_item *order;
	perf_data_place *places;
	size_t record_count;
	size_t record_capacity;
	uint64_t sample_count;

	struct strbuf unpacked;
	size_t unpacked_done; /* bytes of it that have been looked through */
	struct zstd_stream *stream;
	uint64_t packed_bytes;

	bool has_data_size; /* false: recording was not brought to its end */
	bool is_cut;	    /* the file ends amid its records */
	uint64_t bad_records, first_bad_offset;
	uint64_t unknown[PERF_DATA_TYPE_COUNT]; /* records that sonde has no use for, by type */
	uint64_t unknown_others;
	uint64_t lost_records, lost_samples, throttled, traces;
	uint64_t round_ns, next_round_ns, most_ns; /* for records without a time */
};

int perf_data_bid(const uint8_t *data, size_t size);
/*
 * Reads header, events and features, and goes through all records once.  The file is to be closed
 * in any case.  ERROR_INPUT if it is no perf.data file at all.
 */
must_use struct error *perf_data_open(
	const struct reader_input *input, struct arena *arena, struct perf_data_file *file);
void perf_data_close(struct perf_data_file *file);

/* The i-th record by time. */
struct perf_data_record perf_data_record(const struct perf_data_file *file, size_t i);
uint64_t perf_data_time(const struct perf_data_file *file, size_t i);
/* Counts a record that could not be read. */
void perf_data_bad(struct perf_data_file *file, const struct perf_data_record *record);
/* The build-id of that path; empty: not known. */
struct str perf_data_find_build_id(const struct perf_data_file *file, struct str path);

/* A path in the folder where the perf.data file is; NULL: it is nowhere.  To be freed. */
char *perf_data_beside(const struct perf_data_file *file, struct str name);

/* One feature's bytes, of a header or of a record. */
void perf_data_feature(struct perf_data_file *file, uint64_t feature, struct cursor c);
/* A build-id's record: of the table, or among the records. */
void perf_data_read_build_id(struct perf_data_file *file, const struct perf_data_record *record);

/* Goes through the records between the offsets, which are in the file. */
void perf_data_scan(struct perf_data_file *file, uint64_t begin_off, uint64_t end_off);
/* When all are scanned: brings them into order. */
void perf_data_sort(struct perf_data_file *file);
/* What perf calls that type of record. */
const char *perf_data_type_name(uint32_t type);

#endif
