#ifndef SONDE_MODEL_MERGE_STATE_H
#define SONDE_MODEL_MERGE_STATE_H

/* Shared by the files of model/merge, and private to them. */

#include "base/map.h"
#include "base/vec.h"
#include "model/builder.h"
#include "model/import.h"

struct merge_input {
	const struct profile *profile;
	struct import import;
	/* [its function]: what it counts as in a difference; else NULL. */
	const struct import_function *functions_as;
	uint32_t *column; /* [its metric]: the column of the union */
	/* Its number of samples is known, but not from one of its metrics. */
	bool fills_samples;
	/* For shares: the whole; how much has been imported, and the share of that. */
	int64_t whole, seen, share;
};

/* A metric of the union. */
struct merge_column {
	struct str name, unit; /* of the first input that has it */
	size_t first_input;
	size_t input_count; /* number of inputs that have it */
};

struct merge {
	struct import_objects objects_as; /* of a difference; from NULL: none */
	struct merge_input *inputs;
	size_t input_count;
	bool is_difference; /* the second input minus the first */
	struct builder *to;
	struct arena *scratch;
	struct str_table words; /* names and units */
	struct map column_of;	/* (name, unit) → column */
	VEC(struct merge_column) columns;
	uint32_t samples_column; /* NO_ID: there is none */
	struct str run_metric;	 /* wanted separately for each input; or empty */
	size_t run_count;
	uint32_t run_of, first_run;	      /* columns; first_run NO_ID: none */
	struct str shared_metric;	      /* shares of this metric are wanted; or empty */
	uint32_t shared_column, share_column; /* share_column NO_ID: none */
	bool with_samples, with_threads, with_times, with_zones, with_arc_costs;
	int64_t *sum; /* [column]: of one row */
	int64_t *row; /* [builder's metric] */
};

/* Whether ticks and zone events are imported: ticks of two programs cannot be compared. */
static inline bool merge_has_ticks(const struct merge *m)
{
	return m->with_threads && m->with_times && !m->is_difference;
}

/* merge_metrics.c: the metrics, and the weights of an input's row in them. */
must_use struct error *merge_plan_metrics(struct merge *m);
/* After m->to is created. */
must_use struct error *merge_add_metrics(struct merge *m);
/* of[metric of input][i]; samples: the row's number of samples; UINT64_MAX: unknown. */
const int64_t *merge_row(
	struct merge *m, size_t input, const int64_t *const *of, size_t i, uint64_t samples);

/* merge_header.c: the fields outside tables. */
void merge_add_header(struct merge *m);
/* When the inputs' times begin in the merged profile, or 0 if unknown. */
uint64_t merge_start_unix_ns(const struct merge *m);

#endif
