/*
 * The table of writers.
 */
#include "writers/writers.h"

const struct writer *const writers[] = {
	&writer_sonde,
	&writer_dump,
	&writer_folded,
	&writer_chrome,
	NULL,
};

const struct writer *writer_find(const char *name)
{
	for (size_t i = 0; writers[i]; i++)
		if (strcmp(writers[i]->name, name) == 0)
			return writers[i];
	return NULL;
}

const struct writer *writer_for_file(const char *path)
{
	const struct writer *found = NULL;

	for (size_t i = 0; writers[i]; i++) {
		struct str extension = str_from(writers[i]->extension);
		if (str_ends_with(str_from(path), extension) &&
			(found == NULL || extension.size > strlen(found->extension)))
			found = writers[i];
	}
	return found;
}
