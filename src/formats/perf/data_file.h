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

/* The contents of features; empty strings and 0: unknown. */
struct perf_data_facts {
	struct str host, os_release, arch, command; /* in the arena */
	uint64_t folder_version;		    /* layout version of a folder; 0: a single
						       file */
	uint32_t branch_depth; /* maximum calls that the processor records; 0: unknown */
	/* The wall clock and the recording's clock at the same moment. */
	uint64_t wall_ns, clock_ns;
};

/* Build IDs of load objects, from the table at the end or from records. */
struct perf_data_build_ids {
	struct str_table paths; /* to the same index in ids */
	VEC(struct str) ids;	/* in the arena, hex */
};

/*
 * The position of a record: the part in the upper 16 bits, and the offset in it.  Part
 * PERF_DATA_UNPACKED is the unpacked data.
 */
typedef uint64_t perf_data_place;
#define PERF_DATA_UNPACKED ((uint32_t)UINT16_MAX)

/*
 * A file has only part 0.  In a folder of perf record --threads, part 0 is the file "data", which
 * has the header, and each other part, "data.N", has the records written by one of perf's threads.
 */
struct perf_data_part {
	struct file_bytes bytes; /* owned, except a single file's */
	const char *name;	 /* in the arena; NULL: the single file */
};

struct perf_data_file {
	struct reader_input input; /* for a folder: with its main file's bytes */
	struct arena *arena;
	VEC(struct perf_data_part) parts;
	uint64_t size; /* of all parts */
	bool is_swapped, is_pipe, is_folder;
	uint64_t attr_size; /* of a row in the file's table of events, including the section of
			       its ids */
	struct perf_data_events events;
	struct perf_data_facts facts;
	struct perf_data_build_ids build_ids;

	/* The relevant records, ordered by time: items' indexes are into places. */
	struct sort_item *order;
	perf_data_place *places;
	size_t record_count;
	size_t record_capacity;
	uint64_t sample_count;

	struct strbuf unpacked;
	size_t unpacked_done; /* bytes of it already scanned */
	struct zstd_stream *stream;
	uint64_t packed_bytes;

	bool has_data_size; /* false: recording was interrupted */
	bool is_cut;	    /* the file is truncated within its records */
	bool lacks_parts;   /* of a folder whose other files are not available */
	uint64_t bad_records, first_bad_offset;
	const char *first_bad_part;		/* NULL: the single file */
	uint64_t unknown[PERF_DATA_TYPE_COUNT]; /* number of unsupported records, by type */
	uint64_t unknown_others;
	uint64_t lost_records, lost_samples, throttled;
	uint64_t traces, trace_bytes; /* hardware traces */
	uint32_t trace_kind;
	uint64_t round_ns, next_round_ns, most_ns; /* for records without a time */
};

int perf_data_bid(const uint8_t *data, size_t size);
/*
 * Reads header, events and features, and scans all records once.  Close the file in any case.
 * ERROR_INPUT if it is not a perf.data file at all.
 */
must_use struct error *perf_data_open(
	const struct reader_input *input, struct arena *arena, struct perf_data_file *file);
void perf_data_close(struct perf_data_file *file);

/* The i-th record, by time. */
struct perfstream_record perf_data_record(const struct perf_data_file *file, size_t i);
uint64_t perf_data_time(const struct perf_data_file *file, size_t i);
/* Counts a record that could not be read. */
void perf_data_bad(struct perf_data_file *file, const struct perfstream_record *record);
/* The build ID for a path; empty: unknown. */
struct str perf_data_find_build_id(const struct perf_data_file *file, struct str path);

/*
 * A path in the folder that contains the perf.data file or folder; NULL: there is none.  The caller
 * frees it.
 */
char *perf_data_beside(const struct perf_data_file *file, struct str name);

/* Reads one feature, from a header or a record. */
void perf_data_feature(struct perf_data_file *file, uint64_t feature, struct cursor c);
/* Reads a build-ID record, from the table or among the records. */
void perf_data_read_build_id(struct perf_data_file *file, const struct perfstream_record *record);

/* Scans the records between two offsets of that part. */
void perf_data_scan(
	struct perf_data_file *file, uint32_t part, uint64_t begin_off, uint64_t end_off);
/* Uses a folder's main file as the input. */
must_use struct error *perf_data_open_folder(struct perf_data_file *file);
/* For a folder's main file: scans the records of the other files. */
must_use struct error *perf_data_scan_folder(struct perf_data_file *file);
/* How certain it is that a folder is one of perf record's. */
int perf_data_bid_folder(const char *path);
/* Sorts the records, after all are scanned. */
void perf_data_sort(struct perf_data_file *file);
/* perf's name for a type of record. */
const char *perf_data_type_name(uint32_t type);

#endif
