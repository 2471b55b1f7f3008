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
	for (size_t i = 0; writers[i]; i++)
		if (str_ends_with(str_from(path), str_from(writers[i]->extension)))
			return writers[i];
	return NULL;
}
