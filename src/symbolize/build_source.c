/* What all sources of files by build ID share.  See build_source.h. */
#include "symbolize/build_source.h"

#include <signal.h>
#include <string.h>

enum { PATH_SIZE_MAX = 4096 };

void build_source_destroy(struct build_source *source)
{
	if (source)
		source->destroy(source);
}

void build_source_heed_interrupt(const struct build_source *source)
{
	if (source == NULL || !source->is_interrupted)
		return;
	signal(SIGINT, SIG_DFL);
	raise(SIGINT);
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

/* An absolute path without ".." and control characters. */
static bool is_plain_path(struct str path)
{
	if (path.size < 2 || path.size > PATH_SIZE_MAX || path.data[0] != '/')
		return false;
	for (size_t i = 0; i < path.size; i++)
		if ((unsigned char)path.data[i] < ' ' || path.data[i] == 0x7f)
			return false;
	return memmem(path.data, path.size, "/../", 4) == NULL && !str_ends_with(path, STR("/.."));
}

char *build_source_find_text(
	struct build_source *source, struct str build_id, struct str path, char **problem)
{
	if (source->find_text == NULL || !is_build_id(build_id) || !is_plain_path(path))
		return NULL;
	return source->find_text(source, build_id, path, problem);
}
