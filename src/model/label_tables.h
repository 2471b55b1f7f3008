#ifndef SONDE_MODEL_LABEL_TABLES_H
#define SONDE_MODEL_LABEL_TABLES_H

/*
 * The labels of a profile while it is built, and their sets.  For model/builder alone.
 *
 * A set has at most SAMPLE_LABELS_MAX labels, those that came first in the profile; others are left
 * out of it, and counted.  So what takes time by the labels of each sample stays linear.
 */

#include "base/row_table.h"
#include "base/vec.h"
#include "model/budget.h"
#include "model/profile.h"

struct label_tables {
	struct budget *budget;	       /* borrowed */
	struct row_table labels, sets; /* both interned */
	VEC(uint16_t) sizes;	       /* of the sets: how many labels each has */
	uint64_t left_out;	       /* labels of samples beyond the most that are kept */
	VEC(label_id) scratch;
	VEC(label_set_id) of_sample; /* as long as the last sample that has any needs */
};

/* The most labels of a sample that are kept. */
#define SAMPLE_LABELS_MAX 256

/* Makes set 0. */
void label_tables_init(struct label_tables *t, struct budget *budget);
void label_tables_deinit(struct label_tables *t);
label_id label_tables_label(struct label_tables *t, const struct label *label);
/* Whether the label exists, or there is room for it. */
bool label_tables_takes(const struct label_tables *t, const struct label *label);
/* A set that there is no room for is made without its last labels. */
label_set_id label_tables_set(struct label_tables *t, const label_id *labels, size_t count);
label_set_id label_tables_with(struct label_tables *t, label_set_id set, label_id label);
/* Moves the labels into the profile, whose arena owns them; its number of samples is known. */
void label_tables_freeze(struct label_tables *t, struct profile *p);

#endif
