#ifndef SONDE_RECORD_SWITCHES_WAKING_H
#define SONDE_RECORD_SWITCHES_WAKING_H

/*
 * Who wakes threads that wait: the kernel's tracepoint sched:sched_waking, on each CPU, in the
 * context of whoever does it.
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

/* Of the tracepoint: its number, and where in its data the id of the woken thread is. */
struct waking_format {
	uint64_t id;
	uint32_t tid_offset;
};

/*
 * Reads it from tracefs.  ERROR_UNSUPPORTED, in one line with what would allow it: the tracepoint
 * is not to be had, or its ids are not those by which we know threads, as in a container.
 */
must_use struct error *waking_format_read(struct waking_format *format);
/* The text of the tracepoint's `format` file; false: it is not as expected. */
bool waking_format_parse(struct str text, struct waking_format *format);

struct waking {
	uint64_t time_ns;
	int64_t tid;		      /* who is woken */
	int64_t waker_pid, waker_tid; /* who ran there; 0: nobody */
	bool in_interrupt, in_softirq;
};

/* A sample of the tracepoint, opened with PERF_RECORD_WAKING_FIELDS.  False: malformed. */
bool waking_read(const struct perf_event_header *header, const struct waking_format *format,
	struct waking *waking);

struct waker_name {
	uint64_t read_ns;
	uint32_t name; /* of sample_labels_name */
};

/* The names of wakers, as they are shown. */
struct wakers {
	struct process_table *processes; /* the caller's, and so are the labels */
	struct sample_labels *labels;
	struct map found; /* (tid, whether in a softirq) → place in names; of who is not recorded */
	VEC(struct waker_name) names;
};

void wakers_init(struct wakers *w, struct process_table *processes, struct sample_labels *labels);
/* A zeroed one is fine. */
void wakers_deinit(struct wakers *w);
/*
 * A name of sample_labels_name: "NAME (TID)" of a thread, that with ", softirq" where the kernel
 * woke in its context, perhaps for others, and "[interrupt]".
 */
uint32_t wakers_name(struct wakers *w, const struct waking *waking);

#endif
