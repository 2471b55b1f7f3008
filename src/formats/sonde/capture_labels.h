#ifndef SONDE_FORMATS_SONDE_CAPTURE_LABELS_H
#define SONDE_FORMATS_SONDE_CAPTURE_LABELS_H

/*
 * Labels of samples in a capture file that a profile was written to.
 */

#include "base/cursor.h"
#include "base/vec.h"
#include "model/builder.h"

struct capture_labels {
	struct builder *builder;
	VEC(label_id) labels;	  /* by number in the file */
	VEC(label_set_id) sets;	  /* the same; 0: none */
	VEC(label_id) set_labels; /* the highest label of each set; for set 0: NO_ID */
};

void capture_labels_init(struct capture_labels *l, struct builder *b);
void capture_labels_deinit(struct capture_labels *l);
/* Read the payloads of chunks; labels come first. */
must_use struct error *capture_labels_read(struct capture_labels *l, struct cursor *payload);
must_use struct error *capture_labels_read_sets(struct capture_labels *l, struct cursor *payload);
/*
 * Converts set numbers to the builder's sets; returns how many are missing.  Missing sets become
 * empty. is_any: whether any set has labels.
 */
size_t capture_labels_sets(const struct capture_labels *l, const uint32_t *sets, size_t count,
	label_set_id *found, bool *is_any);

#endif
