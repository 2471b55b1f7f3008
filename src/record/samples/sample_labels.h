#ifndef SONDE_RECORD_SAMPLES_SAMPLE_LABELS_H
#define SONDE_RECORD_SAMPLES_SAMPLE_LABELS_H

/*
 * The labels of samples: "cpu", the number of the CPU that it was taken on; "waker", who ended the
 * wait, where that was asked for; and "cgroup", the control group of its process (cgroups(7)),
 * likewise; "lock" and "holder", what it waited for and who had it (switches/locks.h), likewise.
 * Written to the file at their first sample.
 */

#include <stdint.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/str.h"
#include "record/file/capture_writer.h"

#define SAMPLE_LABELS_NONE UINT32_MAX

/* Each is SAMPLE_LABELS_NONE where it is not known. */
struct sample_labeling {
	uint32_t cpu;
	uint32_t group, waker, lock, holder; /* of sample_labels_name */
};

struct sample_labels {
	struct capture_writer *writer; /* the caller's */
	struct arena *arena;
	struct str_table names;
	struct map labels; /* (key, value) → number in the file, from 1 */
	struct map sets;   /* (set, label more) → number in the file, from 1 */
};

void sample_labels_init(struct sample_labels *l, struct capture_writer *writer);
/* One that was not begun must be zeroed. */
void sample_labels_deinit(struct sample_labels *l);
/* The number of a control group, such as "/system.slice/nginx.service", or of a waker. */
uint32_t sample_labels_name(struct sample_labels *l, struct str name);
/* The number of a thread's name, as it is shown: "NAME (TID)", and what more says. */
uint32_t sample_labels_thread(
	struct sample_labels *l, struct str name, int64_t tid, const char *more);
/* The set that capture_writer_sample takes; 0: none is known. */
uint32_t sample_labels_set(struct sample_labels *l, struct sample_labeling labeling);

#endif
