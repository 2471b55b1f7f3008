/* What all sources of files by build ID share.  See build_source.h. */
#include "symbolize/build_source.h"

void build_source_destroy(struct build_source *source)
{
	if (source)
		source->destroy(source);
}

/* It comes from a file, and becomes part of a path or a URL. */
static bool is_build_id(struct str id)
{
	if (id.size < 6 || id.size > 128 || id.size % 2)
		return false;
	for (size_t i = 0; i < id.size; i++)
		if (!char_is_digit(id.data[i]) && !(id.data[i] >= 'a' && id.data[i] <= 'f'))
			return false;
	return true;
}

char *build_source_find(
	struct build_source *source, struct str build_id, enum build_part part, char **problem)
{
	return build_source_find_module(
		source, &(struct build_wanted){.build_id = build_id, .part = part}, problem);
}

char *build_source_find_module(
	struct build_source *source, const struct build_wanted *wanted, char **problem)
{
	return is_build_id(wanted->build_id) ? source->find(source, wanted, problem) : NULL;
}
