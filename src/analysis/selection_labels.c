/*
 * The filter that looks at samples' labels.  What it asks is asked once of each label and once of
 * each set of labels, however many samples have it.
 */
#include "analysis/selection_state.h"

/* [label]: whether the filter means it. */
static void labels_meant(struct selecting *s, const struct filter *f, bool *meant)
{
	const struct profile *p = s->profile;
	struct strbuf value = {0};

	for (uint32_t i = 0; i < p->label_count; i++) {
		if (!str_equal(profile_string(p, p->labels[i].key), f->ids.data[0]))
			continue;
		meant[i] = f->names == NULL ||
			   name_pattern_matches_text(
				   f->names, profile_label_value(p, (label_id){i}, &value).data);
	}
	strbuf_deinit(&value);
}

struct error *selecting_keep_labels(struct selecting *s, const struct filter *f)
{
	const struct profile *p = s->profile;
	struct error *err = profile_needs_label(p, f->ids.data[0]);

	if (err)
		return err;
	bool *meant = ARENA_ARRAY(s->arena, bool, p->label_count);
	bool *holds = ARENA_ARRAY(s->arena, bool, p->label_set_count);

	labels_meant(s, f, meant);
	for (size_t i = 1; i < p->label_set_count; i++)
		holds[i] = holds[p->label_sets[i].rest.i] || meant[p->label_sets[i].label.i];
	selecting_keep_all_samples(s);
	for (size_t i = 0; i < p->samples.count; i++)
		s->sample_kept[i] &= holds[p->samples.labels[i].i];
	return NULL;
}
