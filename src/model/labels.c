/*
 * Labels of a frozen profile.
 */
#include <inttypes.h>

#include "base/nearest.h"
#include "model/profile.h"

size_t profile_label_count(const struct profile *p, label_set_id set)
{
	size_t count = 0;

	for (; set.i; set = p->label_sets[set.i].rest)
		count++;
	return count;
}

void profile_label_ids(const struct profile *p, label_set_id set, label_id *labels)
{
	for (size_t n = profile_label_count(p, set); n > 0; set = p->label_sets[set.i].rest)
		labels[--n] = p->label_sets[set.i].label;
}

struct str profile_label_value(const struct profile *p, label_id label, struct strbuf *b)
{
	const struct label *l = &p->labels[label.i];

	if (l->text.i)
		return profile_string(p, l->text);
	strbuf_clear(b);
	strbuf_printf(b, "%" PRId64, l->number);
	if (l->unit.i)
		strbuf_printf(b, " %.*s", STR_ARG(profile_string(p, l->unit)));
	return strbuf_str(b);
}

/* No such key: suggests similar ones, else one that exists. */
static struct error *no_such_key(const struct profile *p, struct str key)
{
	struct strbuf rest = {0};
	struct nearest_few near;

	bool has_others = false;

	nearest_few_init(&near, key);
	for (size_t i = 0; i < p->label_count; i++) {
		if (i == 0 || p->labels[i].key.i != p->labels[i - 1].key.i)
			nearest_few_offer(&near, profile_string(p, p->labels[i].key));
		has_others |= p->labels[i].key.i != p->labels[0].key.i;
	}
	nearest_few_put(&near, &rest);
	if (rest.size == 0)
		strbuf_printf(&rest, "; it has '%.*s'%s",
			STR_ARG(profile_string(p, p->labels[0].key)),
			has_others ? " and others" : "");
	struct error *err = error_new(ERROR_INPUT, "%.*s has no label '%.*s'%.*s",
		STR_ARG(profile_string(p, p->source)), STR_ARG(key), STR_ARG(strbuf_str(&rest)));
	strbuf_deinit(&rest);
	return err;
}

struct error *profile_needs_label(const struct profile *p, struct str key)
{
	if (p->samples.labels == NULL)
		return profile_is_empty(p)
			       ? NULL
			       : error_new(ERROR_UNSUPPORTED, "the samples of %.*s have no labels",
					 STR_ARG(profile_string(p, p->source)));
	for (size_t i = 0; i < p->label_count; i++)
		if (str_equal(profile_string(p, p->labels[i].key), key))
			return NULL;
	return no_such_key(p, key);
}
