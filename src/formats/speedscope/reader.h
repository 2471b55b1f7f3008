#ifndef SONDE_FORMATS_SPEEDSCOPE_READER_H
#define SONDE_FORMATS_SPEEDSCOPE_READER_H

/* What speedscope.c, the file, and profile.c, one profile of it, share; nobody else
 * includes it. */

#include "base/json_reader.h"
#include "base/vec.h"
#include "formats/readers.h"
#include "formats/common/importer.h"
#include "formats/common/spans.h"
#include "formats/common/stack_budget.h"

#define SPEEDSCOPE_METRICS_MAX 16

enum speedscope_fault {
	FAULT_FRAME,   /* a reference to a frame that is not there */
	FAULT_ORDER,   /* an event without a time, or before the last */
	FAULT_CLOSE,   /* an event that closes another frame than the innermost */
	FAULT_OPEN,    /* a frame that is not closed */
	FAULT_LENGTH,  /* not as many weights as samples */
	FAULT_WEIGHT,  /* a weight below zero, or none */
	FAULT_PROFILE, /* of an unknown kind */
	FAULT_METRIC,  /* of one metric too many */
	FAULT_COUNT
};

/* A profile of the file as its members tell; strings are borrowed or in the reader's scratch. */
struct speedscope_profile {
	struct str type, name, unit;
	struct str metric, metric_unit, process, thread; /* of our own files */
	int64_t pid, tid;
	bool has_thread;    /* and pid and tid are known */
	int64_t start, end; /* in units of the metric */
	bool has_samples, has_weights, has_events;
	struct json_mark samples, weights, events;
};

struct speedscope_metric {
	struct str name, unit; /* in the arena */
};

struct speedscope {
	const struct reader_input *input;
	struct builder *builder;
	struct arena *arena;
	struct json_reader json, second; /* the second goes along in an array beside the first */
	VEC(frame_id) frames;		 /* shared; the last is of those that are not there */
	struct speedscope_metric metrics[SPEEDSCOPE_METRICS_MAX];
	size_t metric_count; /* of the file; one more counts samples, where there are several */
	int64_t weight[SPEEDSCOPE_METRICS_MAX + 1];
	size_t samples_metric; /* that counts samples; metric_count: none of the file's */
	size_t profile_count;
	bool has_events;	  /* a profile is told by events */
	bool has_times, has_rows; /* samples have times; are samples, not totals */
	int64_t base;		  /* the lowest start, in ns */
	struct stack_budget budget;
	struct row_table stacks; /* struct span: texts of samples, their ids those of stacks */
	size_t stacks_max;
	struct fault faults[FAULT_COUNT];
};

/* Of the profile that comes next, all but its samples and events, which are marked. */
struct speedscope_profile speedscope_members(struct speedscope *s);
/* Which of the file's metrics it is of; metric_count: none. */
size_t speedscope_find_metric(const struct speedscope *s, const struct speedscope_profile *p);
/* Its metric's name and unit, and the power of ten that takes its values there. */
struct speedscope_metric speedscope_metric_of(
	const struct speedscope_profile *p, unsigned int *digits);
/* Puts its samples into the builder. thread may be NO_ID. */
void speedscope_add(struct speedscope *s, const struct speedscope_profile *p, thread_id thread);

#endif
