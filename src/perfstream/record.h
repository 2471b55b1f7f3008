#ifndef SONDE_PERFSTREAM_RECORD_H
#define SONDE_PERFSTREAM_RECORD_H

/*
 * Decodes the records of the kernel's event stream, one at a time, from a ring buffer or a file.
 * Bytes are borrowed: results point into the record.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/cursor.h"
#include "base/str.h"

/*
 * The parts of an event's attributes, struct perf_event_attr, that define the layout of its
 * records.
 */
struct perfstream_layout {
	uint64_t sample_type, read_format, branch_type;
	uint64_t user_regs; /* mask of a sample's registers, by perf's numbers */
	bool has_trailer;   /* records other than samples also have time and thread */
};

/* A record's own header, and its bytes. */
struct perfstream_record {
	const uint8_t *bytes; /* [size], the header first */
	uint32_t type;	      /* enum perfstream_type, one of perf's own, or an unknown one */
	uint16_t misc;
	size_t size;
	bool is_swapped;
};
enum { PERFSTREAM_HEADER_SIZE = 8 };

/* Eight bytes as a number. */
static inline uint64_t perfstream_word_at(const uint8_t *bytes, bool is_swapped)
{
	uint64_t value;

	memcpy(&value, bytes, sizeof(value));
	return is_swapped ? __builtin_bswap64(value) : value;
}

/* The record at the start of size bytes; false if it is incomplete, or its size is invalid. */
static inline bool perfstream_record_at(
	const uint8_t *bytes, size_t size, bool is_swapped, struct perfstream_record *record)
{
	uint32_t type;
	uint16_t misc, record_size;

	if (size < PERFSTREAM_HEADER_SIZE)
		return false;
	memcpy(&type, bytes, sizeof(type));
	memcpy(&misc, bytes + 4, sizeof(misc));
	memcpy(&record_size, bytes + 6, sizeof(record_size));
	*record = (struct perfstream_record){
		.bytes = bytes,
		.type = is_swapped ? __builtin_bswap32(type) : type,
		.misc = is_swapped ? __builtin_bswap16(misc) : misc,
		.size = is_swapped ? __builtin_bswap16(record_size) : record_size,
		.is_swapped = is_swapped,
	};
	return record->size >= PERFSTREAM_HEADER_SIZE && record->size <= size;
}

/* A cursor over the bytes after the header. */
struct cursor perfstream_body(const struct perfstream_record *record);

/*
 * For samples and other records: the event's id, 0 if the record has none (layout: that of any
 * event of the stream, as ids have the same place in all); and the time, false if the record has
 * none.
 */
uint64_t perfstream_record_id(
	const struct perfstream_record *record, const struct perfstream_layout *layout);
bool perfstream_record_time(const struct perfstream_record *record,
	const struct perfstream_layout *layout, uint64_t *time_ns);

/* Numbers in a record, possibly in the other byte order and unaligned. */
struct perfstream_words {
	const uint8_t *bytes;
	size_t count;
	bool is_swapped;
};
static inline uint64_t perfstream_word(const struct perfstream_words *words, size_t i)
{
	return perfstream_word_at(words->bytes + i * sizeof(uint64_t), words->is_swapped);
}

enum { PERFSTREAM_BRANCH_WORDS = 3 };

struct perfstream_read {
	uint64_t value, id; /* id 0: unknown */
};

#define PERFSTREAM_NO_CPU UINT32_MAX
struct perfstream_sample {
	uint64_t ip, time_ns, period;
	int64_t pid, tid;
	uint32_t cpu;		       /* PERFSTREAM_NO_CPU: unknown */
	uint8_t mode;		       /* PERFSTREAM_MODE_… */
	bool has_period;	       /* the sample has a period */
	struct perfstream_words chain; /* addresses and contexts, innermost first */
	bool has_chain;
	/* From, to and flags of each branch record of the processor, the last one first. */
	struct perfstream_words branches;
	struct cursor reads; /* for perfstream_next_read; empty if nothing was counted */
	uint64_t read_count;
	const uint8_t *raw; /* a tracepoint's own fields, in the recorded machine's byte order */
	size_t raw_size;
	bool has_regs; /* registers of 64-bit user code */
	struct perfstream_words regs;
	const uint8_t *stack; /* bytes from the stack pointer on */
	size_t stack_size;
};
/* False: it is truncated or invalid. */
bool perfstream_sample_decode(const struct perfstream_record *record,
	const struct perfstream_layout *layout, struct perfstream_sample *sample);
/* The next counter's value of a sample; false: there are no more. */
bool perfstream_next_read(struct perfstream_sample *sample, const struct perfstream_layout *layout,
	struct perfstream_read *read);

/* MMAP and MMAP2. */
struct perfstream_mmap {
	int64_t pid;
	uint64_t low_va, size, file_off;
	uint64_t device; /* its major number in the upper half, its minor one in the lower */
	uint64_t inode;	 /* 0: unknown, as is the device; MMAP2 has both, or a build ID */
	bool is_code;
	char build_id[41]; /* hex; empty: unknown */
	struct str path;
};
bool perfstream_mmap_decode(const struct perfstream_record *record, struct perfstream_mmap *mmap);

/* FORK and EXIT; COMM has a name instead of parents. */
struct perfstream_task {
	int64_t pid, tid, parent_pid, parent_tid;
	struct str name;
};
bool perfstream_task_decode(const struct perfstream_record *record, struct perfstream_task *task);

/* SWITCH and SWITCH_CPU_WIDE; the thread is in the record's trailer. */
struct perfstream_switch {
	int64_t pid, tid;
	bool is_out;	   /* it left its CPU, instead of returning to it */
	bool is_preempted; /* out, although it could have continued */
};
bool perfstream_switch_decode(const struct perfstream_record *record,
	const struct perfstream_layout *layout, struct perfstream_switch *s);

/* The count of LOST and LOST_SAMPLES. */
uint64_t perfstream_lost(const struct perfstream_record *record);

/* Writes up to 20 bytes in hex; nothing if all are 0, or there are more. */
void perfstream_build_id(const uint8_t *bytes, size_t size, char hex[41]);

#endif
