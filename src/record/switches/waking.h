#ifndef SONDE_RECORD_SWITCHES_WAKING_H
#define SONDE_RECORD_SWITCHES_WAKING_H

/*
 * Who wakes waiting threads, from the kernel's tracepoint sched:sched_waking, on each CPU, in the
 * waker's context.
 */

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include "record/processes/process_table.h"
#include "record/samples/sample_labels.h"

/* The tracepoint's number, and the offset of the woken thread's id in its data. */
struct waking_format {
	uint64_t id;
	uint32_t tid_offset;
};

/*
 * Reads it from tracefs.  ERROR_UNSUPPORTED, in one line that states what would allow it: the
 * tracepoint is not available, or its thread ids differ from ours, as in a container.
 */
must_use struct error *waking_format_read(struct waking_format *format);
/* Parses the tracepoint's `format` file; false: it is not as expected. */
bool waking_format_parse(struct str text, struct waking_format *format);

struct waking {
	uint64_t time_ns;
	int64_t tid;		      /* the woken thread */
	int64_t waker_pid, waker_tid; /* the running thread; 0: none */
	bool in_interrupt, in_softirq;
};

/* A sample of the tracepoint, opened with PERF_RECORD_WAKING_FIELDS.  False: malformed. */
bool waking_read(const struct perf_event_header *header, const struct waking_format *format,
	struct waking *waking);

struct waker_name {
	uint64_t read_ns;
	uint32_t name; /* from sample_labels_name */
};

/* The names of wakers, as reports show them. */
struct wakers {
	struct process_table *processes; /* the caller's, like the labels */
	struct sample_labels *labels;
	struct map found; /* (tid, whether in a softirq) → index in names; for unrecorded threads */
	VEC(struct waker_name) names;
};

void wakers_init(struct wakers *w, struct process_table *processes, struct sample_labels *labels);
/* A zeroed one is allowed. */
void wakers_deinit(struct wakers *w);
/*
 * The number from sample_labels_name: "NAME (TID)" of a thread, with ", softirq" if the kernel woke
 * in its context, possibly for others; or "[interrupt]".
 */
uint32_t wakers_name(struct wakers *w, const struct waking *waking);

#endif
