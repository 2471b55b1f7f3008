#ifndef SONDE_FORMATS_PERF_DATA_FILE_H
#define SONDE_FORMATS_PERF_DATA_FILE_H

/*
 * A perf.data file as a container: its header, its events, its features, and its records by time,
 * including those in compressed records.
 */

#include "base/file.h"
#include "base/map.h"
#include "base/sort.h"
#include "base/str.h"
#include "base/vec.h"
#include "formats/perf/data_events.h"
#include "formats/perf/data_format.h"
#include "perfstream/record.h"
#include "formats/readers.h"

struct zstd_stream;

/* What the features tell; empty strings and 0: they don't. */
struct perf_data_facts {
	struct str host, os_release, arch, command; /* in the arena */
	uint64_t folder_version;		    /* of a folder's layout; 0: there is one file */
	uint32_t branch_depth; /* calls that the processor remembers; 0: unknown */
	/* The time of day and that of the recording's clock at one moment. */
	uint64_t wall_ns, clock_ns;
};

/* A load object's build-id, as a table at the end or records of its own tell. */
struct perf_data_build_ids {
	struct str_table paths; /* to the same place in ids */
	VEC(struct str) ids;	/* in the arena, hex */
};

/*
 * Where a record is: the part in the upper 16 bits, and its offset there; PERF_DATA_UNPACKED is
 * what was unpacked.
 */
typedef uint64_t perf_data_place;
#define PERF_DATA_UNPACKED ((uint32_t)UINT16_MAX)

/*
 * The file is part 0.  Of a folder, perf record --threads, part 0 is the file "data", which has the
 * header, and each of the others, "data.N", the records that one thread of perf's wrote.
 */
struct perf_data_part {
	struct file_bytes bytes; /* its own, but for a file's part 0 */
	const char *name;	 /* in the arena; NULL: the file */
};

struct perf_data_file {
	struct reader_input input; /* of a folder: with its main file's bytes */
	struct arena *arena;
	VEC(struct perf_data_part) parts;
	uint64_t size; /* of all parts */
	bool is_swapped, is_pipe, is_folder;
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
	bool is_cut;	    /* the file ends within its records */
	bool lacks_parts;   /* of a folder, whose other files are not at hand */
	uint64_t bad_records, first_bad_offset;
	const char *first_bad_part;		/* NULL: the file */
	uint64_t unknown[PERF_DATA_TYPE_COUNT]; /* records that sonde has no use for, by type */
	uint64_t unknown_others;
	uint64_t lost_records, lost_samples, throttled;
	uint64_t traces, trace_bytes; /* of hardware */
	uint32_t trace_kind;
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
struct perfstream_record perf_data_record(const struct perf_data_file *file, size_t i);
uint64_t perf_data_time(const struct perf_data_file *file, size_t i);
/* Counts a record that could not be read. */
void perf_data_bad(struct perf_data_file *file, const struct perfstream_record *record);
/* The build-id of that path; empty: not known. */
struct str perf_data_find_build_id(const struct perf_data_file *file, struct str path);

/* A path in the folder where the perf.data file, or folder, is; NULL: it is nowhere.  To be freed.
 */
char *perf_data_beside(const struct perf_data_file *file, struct str name);

/* One feature's bytes, of a header or of a record. */
void perf_data_feature(struct perf_data_file *file, uint64_t feature, struct cursor c);
/* A build-id's record: of the table, or among the records. */
void perf_data_read_build_id(struct perf_data_file *file, const struct perfstream_record *record);

/* Goes through the records between the offsets, which are in that part. */
void perf_data_scan(
	struct perf_data_file *file, uint32_t part, uint64_t begin_off, uint64_t end_off);
/* Takes a folder's main file for the input. */
must_use struct error *perf_data_open_folder(struct perf_data_file *file);
/* Of a folder's main file: goes through the records of the other files. */
must_use struct error *perf_data_scan_folder(struct perf_data_file *file);
/* How sure it is that a folder is one of perf record. */
int perf_data_bid_folder(const char *path);
/* When all are scanned: brings them into order. */
void perf_data_sort(struct perf_data_file *file);
/* What perf calls that type of record. */
const char *perf_data_type_name(uint32_t type);

#endif
