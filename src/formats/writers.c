/*
 * The table of writers.
 */
#include "formats/writers.h"

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

/* The length of the extension if the name ends in it, else 0. */
static size_t extension_size(struct str name, const char *extension)
{
	struct str end = extension ? str_from(extension) : STR("");

	return str_ends_with(name, end) ? end.size : 0;
}

/* The longest extension wins: x.trace.json is not an x.json. */
static const struct writer *writer_for_name(struct str name)
{
	const struct writer *best = NULL;
	size_t best_size = 0;

	for (size_t i = 0; writers[i]; i++) {
		size_t size = extension_size(name, writers[i]->extension);
		size_t other_size = extension_size(name, writers[i]->other);

		size = other_size > size ? other_size : size;
		if (size <= best_size)
			continue;
		best = writers[i];
		best_size = size;
	}
	return best;
}

static const struct writer *writer_by_beginning(const char *path)
{
	const char *slash = strrchr(path, '/');
	struct str name = str_from(slash ? slash + 1 : path);

	for (size_t i = 0; writers[i]; i++)
		if (writers[i]->beginning && str_starts_with(name, str_from(writers[i]->beginning)))
			return writers[i];
	return NULL;
}

const struct writer *writer_for_file(const char *path)
{
	struct str name = str_from(path), stem;
	const struct writer *writer = writer_for_name(name);

	if (writer == NULL && packing_of_name(name, &stem) != PACKING_NONE)
		writer = writer_for_name(stem);
	return writer ? writer : writer_by_beginning(path);
}

bool writer_has_negative(const struct profile *p, metric_id metric)
{
	bool is_negative = false;

	for (size_t i = 0; i < p->samples.count; i++)
		is_negative |= p->samples.weight[metric.i][i] < 0;
	for (size_t i = 0; i < p->row_count; i++)
		is_negative |= p->row_weight[metric.i][i] < 0;
	return is_negative;
}
