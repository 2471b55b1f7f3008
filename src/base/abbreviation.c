/*
 * Abbreviated names.  See abbreviation.h.  The rule is that of getopt_long(3) for options, with
 * other cases added for values, which people copy from other tools and from headings.
 */
#include "base/abbreviation.h"

#include <strings.h>

enum { FIT_NONE, FIT_BEGUN, FIT_OTHER_CASE, FIT_SAME };

static int fit_of(struct str text, struct str name)
{
	if (str_equal(text, name))
		return FIT_SAME;
	if (text.size == 0 || text.size > name.size ||
		strncasecmp(text.data, name.data, text.size) != 0)
		return FIT_NONE;
	return text.size == name.size ? FIT_OTHER_CASE : FIT_BEGUN;
}

void abbreviation_init(struct abbreviation *a, struct str text)
{
	*a = (struct abbreviation){.text = text};
}

void abbreviation_deinit(struct abbreviation *a)
{
	strbuf_deinit(&a->names);
}

bool abbreviation_offer(struct abbreviation *a, struct str name)
{
	int fit = fit_of(a->text, name);
	bool is_better = fit > a->fit;

	if (fit == FIT_NONE || fit < a->fit)
		return false;
	if (is_better) {
		strbuf_clear(&a->names);
		a->count = 0;
	}
	a->fit = fit;
	strbuf_printf(&a->names, "%s%.*s", a->count++ ? ", " : "", STR_ARG(name));
	return is_better;
}
