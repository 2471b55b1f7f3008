#ifndef SONDE_RECORD_SAMPLES_SAMPLE_LABELS_H
#define SONDE_RECORD_SAMPLES_SAMPLE_LABELS_H

/*
 * The labels of samples: "cpu", the number of the CPU; and, if requested, "waker", who ended the
 * wait, "cgroup", the control group of the process (cgroups(7)), and "lock" and "holder", what the
 * thread waited for and who held it (switches/locks.h).  In place of the first and the group there
 * may be "service", "unit", "container" and "command" (processes/service.h).  A label is written to
 * the file when first used.
 */

#include <stdint.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/str.h"
#include "record/file/capture_writer.h"

#define SAMPLE_LABELS_NONE UINT32_MAX

/* All are from sample_labels_name, or SAMPLE_LABELS_NONE. */
struct sample_owner {
	uint32_t service, unit, container, command;
};

/* Each is SAMPLE_LABELS_NONE if unknown. */
struct sample_labeling {
	uint32_t cpu;
	uint32_t group, waker, lock, holder; /* from sample_labels_name */
	struct sample_owner owner;
};
extern const struct sample_labeling sample_labeling_none;

struct sample_labels {
	struct capture_writer *writer; /* the caller's */
	struct arena *arena;
	struct str_table names;
	struct map labels; /* (key, value) → number in the file, from 1 */
	struct map sets;   /* (set, added label) → number in the file, from 1 */
};

void sample_labels_init(struct sample_labels *l, struct capture_writer *writer);
/* A zeroed one is allowed. */
void sample_labels_deinit(struct sample_labels *l);
/* The number of a name: a control group, such as "/system.slice/nginx.service", a waker, a lock. */
uint32_t sample_labels_name(struct sample_labels *l, struct str name);
/* The number of a thread's name as reports show it: "NAME (TID)", then `more`. */
uint32_t sample_labels_thread(
	struct sample_labels *l, struct str name, int64_t tid, const char *more);
/* The set for capture_writer_sample; 0: no labels are known. */
uint32_t sample_labels_set(struct sample_labels *l, struct sample_labeling labeling);

#endif
