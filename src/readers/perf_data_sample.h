#ifndef SONDE_READERS_PERF_DATA_SAMPLE_H
#define SONDE_READERS_PERF_DATA_SAMPLE_H

/*
 * The records of a perf.data file, decoded one at a time.  Bytes are borrowed: what is decoded
 * points into the record.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/cursor.h"
#include "base/str.h"
#include "readers/perf_data_events.h"

/* A record's own header and where it stands. */
struct perf_data_record {
	const uint8_t *bytes; /* [size], the header first */
	uint32_t type;	      /* enum perf_data_type, or one that is not known */
	uint16_t misc;
	size_t size;
	bool is_swapped;
};
enum { PERF_DATA_HEADER_SIZE = 8 };

/* Eight bytes as a number. */
static inline uint64_t perf_data_word_at(const uint8_t *bytes, bool is_swapped)
{
	uint64_t value;

	memcpy(&value, bytes, sizeof(value));
	return is_swapped ? __builtin_bswap64(value) : value;
}

/* The record at the start of size bytes; false if it is not there whole, or has no size. */
static inline bool perf_data_record_at(
	const uint8_t *bytes, size_t size, bool is_swapped, struct perf_data_record *record)
{
	uint32_t type;
	uint16_t misc, record_size;

	if (size < PERF_DATA_HEADER_SIZE)
		return false;
	memcpy(&type, bytes, sizeof(type));
	memcpy(&misc, bytes + 4, sizeof(misc));
	memcpy(&record_size, bytes + 6, sizeof(record_size));
	*record = (struct perf_data_record){
		.bytes = bytes,
		.type = is_swapped ? __builtin_bswap32(type) : type,
		.misc = is_swapped ? __builtin_bswap16(misc) : misc,
		.size = is_swapped ? __builtin_bswap16(record_size) : record_size,
		.is_swapped = is_swapped,
	};
	return record->size >= PERF_DATA_HEADER_SIZE && record->size <= size;
}

/* A cursor over what stands behind the header. */
struct cursor perf_data_body(const struct perf_data_record *record);

/*
 * Of samples and others alike: the id of the event that it is of, and its time; false if the record
 * does not tell.  first: the file's first event; where ids stand is the same in all.
 */
uint64_t perf_data_record_id(
	const struct perf_data_record *record, const struct perf_data_event *first);
bool perf_data_record_time(const struct perf_data_record *record,
	const struct perf_data_event *event, uint64_t *time_ns);

/* Numbers in a record that may be in the other byte order, and anywhere. */
struct perf_data_words {
	const uint8_t *bytes;
	size_t count;
	bool is_swapped;
};
static inline uint64_t perf_data_word(const struct perf_data_words *words, size_t i)
{
	return perf_data_word_at(words->bytes + i * sizeof(uint64_t), words->is_swapped);
}

enum { PERF_DATA_BRANCH_WORDS = 3 };

struct perf_data_read {
	uint64_t value, id; /* id 0: not told */
};

#define PERF_DATA_NO_CPU UINT32_MAX
struct perf_data_sample {
	uint64_t ip, time_ns, period;
	int64_t pid, tid;
	uint32_t cpu;		      /* PERF_DATA_NO_CPU: not known */
	uint8_t mode;		      /* PERF_DATA_MODE_… */
	bool has_period;	      /* told in the sample */
	struct perf_data_words chain; /* addresses and contexts, innermost first */
	bool has_chain;
	/* From where, to where, flags: of each branch that the processor remembers, last first. */
	struct perf_data_words branches;
	struct cursor reads; /* for perf_data_next_read; empty if nothing was counted */
	uint64_t read_count;
	bool has_regs; /* those of 64-bit user code */
	struct perf_data_words regs;
	const uint8_t *stack; /* bytes from the stack pointer on */
	size_t stack_size;
};
/* False: it is cut short, or makes no sense. */
bool perf_data_sample_decode(const struct perf_data_record *record,
	const struct perf_data_event *event, struct perf_data_sample *sample);
/* The next counter's value of a sample; false: there are no more. */
bool perf_data_next_read(struct perf_data_sample *sample, const struct perf_data_event *event,
	struct perf_data_read *read);

/* MMAP and MMAP2. */
struct perf_data_mmap {
	int64_t pid;
	uint64_t low_va, size, file_off;
	bool is_code;
	char build_id[41]; /* hex; empty: not told */
	struct str path;
};
bool perf_data_mmap_decode(const struct perf_data_record *record, struct perf_data_mmap *mmap);

/* FORK and EXIT; COMM has no parents, but a name. */
struct perf_data_task {
	int64_t pid, tid, parent_pid, parent_tid;
	struct str name;
};
bool perf_data_task_decode(const struct perf_data_record *record, struct perf_data_task *task);

/* Writes up to 20 bytes in hex; nothing if all are 0. */
void perf_data_build_id(const uint8_t *bytes, size_t size, char hex[41]);

#endif
