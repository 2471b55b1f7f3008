/*
 * The table of writers.
 */
#include "writers/writers.h"

const struct writer *const writers[] = {
	&writer_sonde,
	&writer_callgrind,
	&writer_dump,
	&writer_firefox,
	&writer_folded,
	&writer_pprof,
	&writer_chrome,
	&writer_perfetto,
	&writer_csv,
	&writer_json,
	&writer_otlp,
	&writer_perf_script,
	&writer_speedscope,
	NULL,
};

const struct writer *writer_find(const char *name)
{
	for (size_t i = 0; writers[i]; i++)
		if (strcmp(writers[i]->name, name) == 0)
			return writers[i];
	return NULL;
}

/* The longest extension wins: x.trace.json is no x.json. */
static const struct writer *writer_for_name(struct str name)
{
	const struct writer *best = NULL;
	size_t best_size = 0;

	for (size_t i = 0; writers[i]; i++) {
		struct str extension = str_from(writers[i]->extension);

		if (extension.size <= best_size || !str_ends_with(name, extension))
			continue;
		best = writers[i];
		best_size = extension.size;
	}
	return best;
}

const struct writer *writer_for_file(const char *path)
{
	struct str name = str_from(path), stem;
	const struct writer *writer = writer_for_name(name);

	if (writer == NULL && packing_of_name(name, &stem) != PACKING_NONE)
		writer = writer_for_name(stem);
	return writer;
}
