/*
 * Filters by labels of samples.  Each label and each set of labels is tested once, however many
 * samples have it.
 */
#include "analysis/selection_state.h"

#include "base/cgroup.h"

/* Whether the filter means a label of its key with that value, NUL-terminated. */
static bool is_meant(const struct filter *f, struct str value)
{
	if (f->kind == FILTER_LABEL)
		return f->names == NULL || name_pattern_matches_text(f->names, value.data);
	for (size_t i = 0; i < f->ids.count; i++)
		if (cgroup_is(value, f->ids.data[i]))
			return true;
	return false;
}

static struct str key_of(const struct filter *f)
{
	return f->kind == FILTER_LABEL ? f->ids.data[0] : STR("cgroup");
}

/* [label]: whether the filter means it. */
static void labels_meant(struct selecting *s, const struct filter *f, bool *meant)
{
	const struct profile *p = s->profile;
	struct strbuf value = {0};

	for (uint32_t i = 0; i < p->label_count; i++)
		meant[i] = str_equal(profile_string(p, p->labels[i].key), key_of(f)) &&
			   is_meant(f, profile_label_value(p, (label_id){i}, &value));
	strbuf_deinit(&value);
}

struct error *selecting_keep_labels(struct selecting *s, const struct filter *f)
{
	const struct profile *p = s->profile;
	struct error *err = profile_needs_label(p, key_of(f));

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
