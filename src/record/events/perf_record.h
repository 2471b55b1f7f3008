#ifndef SONDE_RECORD_EVENTS_PERF_RECORD_H
#define SONDE_RECORD_EVENTS_PERF_RECORD_H

/*
 * The records in a ring buffer.  Their layout follows from the attributes of our events
 * (perf_attr.h).  perfstream/record.h decodes them.
 */

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "perfstream/record.h"
#include "unwind/walk.h"

/* sample_type of the events that do not sample: the trailer of all records except samples. */
#define PERF_RECORD_OTHER_FIELDS (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME)
/* sample_type of the events that sample; PERF_SAMPLE_CALLCHAIN is added for kernel frames. */
#define PERF_RECORD_SAMPLE_FIELDS                                                                  \
	(PERF_RECORD_OTHER_FIELDS | PERF_SAMPLE_IP | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |        \
		PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER)
/* sample_type of the tracepoint sched_waking. */
#define PERF_RECORD_WAKING_FIELDS (PERF_RECORD_OTHER_FIELDS | PERF_SAMPLE_IP | PERF_SAMPLE_RAW)

uint64_t perf_record_time_ns(const struct perf_event_header *header);
/* The same record for the decoders of perfstream/record.h; valid as long as the header is. */
struct perfstream_record perf_record_of(const struct perf_event_header *header);

struct perf_sample {
	uint64_t event_id; /* of its event */
	uint64_t ip, time_ns, period;
	int64_t pid, tid;
	uint32_t cpu; /* where it was taken */
	bool in_kernel;
	const uint64_t *kernel_chain; /* addresses, innermost first; in the record */
	size_t kernel_count;
	bool has_user; /* regs and stack are valid */
	struct unwind_regs regs;
	const uint8_t *stack; /* the bytes from the stack pointer up; in the record */
	size_t stack_size;
};

/* has_chain: whether the event was opened with PERF_SAMPLE_CALLCHAIN.  False: malformed. */
bool perf_record_sample(
	const struct perf_event_header *header, bool has_chain, struct perf_sample *sample);
/* The same for an event without PERF_SAMPLE_PERIOD; the sample gets the given period. */
bool perf_record_sample_of_period(const struct perf_event_header *header, bool has_chain,
	uint64_t period, struct perf_sample *sample);
/*
 * The unused part of the copy of the stack, which comes last in a sample with a period: size bytes
 * just before the last word.
 */
struct perf_record_spare {
	size_t size;	/* 0: none, or not such a record */
	size_t room_at; /* offset in the record of the size of the copy */
};
struct perf_record_spare perf_record_spare(const struct perf_event_header *header, bool has_chain);
/* Copies a record without its spare part. */
void perf_record_copy(
	void *to, const struct perf_event_header *header, struct perf_record_spare spare);
/* The id of a sample's event. */
uint64_t perf_record_event_id(const struct perf_event_header *header);

/* SWITCH and SWITCH_CPU_WIDE. */
struct perf_switch {
	uint64_t event_id; /* of the event that reported it */
	int64_t pid, tid;
	uint64_t time_ns;
	bool out;	/* left its CPU; otherwise returned to one */
	bool preempted; /* out, although it could have run on */
};
void perf_record_switch(const struct perf_event_header *header, struct perf_switch *s);

#endif
