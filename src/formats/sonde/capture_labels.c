/*
 * Labels of a capture file.  See capture_labels.h.
 *
 * A set must have its labels in order, as written.  Then each set costs one step here, whatever its
 * size.
 */
#include "formats/sonde/capture_labels.h"

#include "formats/sonde/layout/capture_rows.h"

void capture_labels_init(struct capture_labels *l, struct builder *b)
{
	*l = (struct capture_labels){.builder = b};
	vec_push(&l->sets, (label_set_id){0});
	vec_push(&l->set_labels, (label_id){NO_ID});
}

void capture_labels_deinit(struct capture_labels *l)
{
	vec_deinit(&l->labels);
	vec_deinit(&l->sets);
	vec_deinit(&l->set_labels);
}

struct error *capture_labels_read(struct capture_labels *l, struct cursor *payload)
{
	struct builder *b = l->builder;
	struct capture_label row;

	while (capture_get_label(payload, &row))
		vec_push(&l->labels,
			builder_label(b, &(struct label){.key = builder_string(b, row.key),
						 .text = builder_string(b, row.text),
						 .number = row.number,
						 .unit = builder_string(b, row.unit)}));
	return cursor_error(payload);
}

struct error *capture_labels_read_sets(struct capture_labels *l, struct cursor *payload)
{
	struct capture_label_set row;

	while (capture_get_label_set(payload, &row)) {
		if (row.rest >= l->sets.count || row.label >= l->labels.count) {
			cursor_fail(payload, "undefined labels in a set");
			break;
		}
		label_id label = l->labels.data[row.label];
		if (row.rest && l->set_labels.data[row.rest].i >= label.i) {
			cursor_fail(payload, "a set of labels out of order");
			break;
		}
		vec_push(&l->sets,
			builder_label_set_with(l->builder, l->sets.data[row.rest], label));
		vec_push(&l->set_labels, label);
	}
	return cursor_error(payload);
}

size_t capture_labels_sets(const struct capture_labels *l, const uint32_t *sets, size_t count,
	label_set_id *found, bool *is_any)
{
	size_t missing = 0;
	uint32_t any = 0;

	for (size_t i = 0; i < count; i++) {
		bool is_known = sets[i] < l->sets.count;

		missing += !is_known;
		found[i] = is_known ? l->sets.data[sets[i]] : (label_set_id){0};
		any |= found[i].i;
	}
	*is_any = any != 0;
	return missing;
}
