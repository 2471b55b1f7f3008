#ifndef SONDE_RECORD_SAMPLE_LABELS_H
#define SONDE_RECORD_SAMPLE_LABELS_H

/*
 * The labels of samples: "cpu", the number of the CPU that it was taken on, and "cgroup", the
 * control group of its process (cgroups(7)), where that was asked for.  Written to the file at
 * their first sample.
 */

#include <stdint.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/str.h"
#include "record/capture_writer.h"

/* A sample that was not taken on a CPU that is known; a process whose group is not. */
#define SAMPLE_LABELS_NO_CPU   UINT32_MAX
#define SAMPLE_LABELS_NO_GROUP UINT32_MAX

struct sample_labels {
	struct capture_writer *writer; /* the caller's */
	struct arena *arena;
	struct str_table groups;
	struct map labels; /* (key, value) → number in the file, from 1 */
	struct map sets;   /* (set, label more) → number in the file, from 1 */
};

void sample_labels_init(struct sample_labels *l, struct capture_writer *writer);
/* One that was not begun must be zeroed. */
void sample_labels_deinit(struct sample_labels *l);
/* The number of a control group, such as "/system.slice/nginx.service". */
uint32_t sample_labels_group(struct sample_labels *l, struct str path);
/* The set that capture_writer_sample takes; 0: neither is known. */
uint32_t sample_labels_set(struct sample_labels *l, uint32_t group, uint32_t cpu);

#endif
