/* The chain of resolvers.  See symbolize.h for the results, resolver.h for how to add one. */
#include "symbolize/symbolize.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/cache_directory.h"
#include "obj/demangle.h"
#include "obj/jitdump.h"
#include "symbolize/kernel_names.h"
#include "symbolize/section_store.h"
#include "symbolize/resolver.h"

/* Answers that take longer are cached. */
#define COSTLY_NS 5000000

/* Starts come last, as they stand in for missing names. */
static const struct resolver *const resolvers[] = {
	&resolver_cache,
	&resolver_elf,
	&resolver_kernel_file,
	&resolver_kernel,
	&resolver_jitdump,
	&resolver_perfmap,
	&resolver_starts,
};

/* As asked; NULL: where the environment says.  The caller frees it; NULL: no cache. */
static char *cache_folder(const char *asked)
{
	if (asked == NULL)
		return cache_directory_path("sym");
	return asked[0] ? xstrdup(asked) : NULL;
}

struct symbolizer *symbolizer_create(const struct symbolize_options *options)
{
	struct symbolizer *s = xalloc(sizeof(*s));

	s->options = *options;
	s->cache_directory = cache_folder(options->cache_directory);
	s->debug_directory =
		xstrdup(options->debug_directory ? options->debug_directory : "/usr/lib/debug");
	if (s->options.costly_ns == 0)
		s->options.costly_ns = COSTLY_NS;
	s->demangler = demangler_create();
	section_store_init(&s->sections, s->cache_directory);
	s->kernel_names = kernel_names_create(s->cache_directory);
	return s;
}

void symbolizer_destroy(struct symbolizer *s)
{
	if (s == NULL)
		return;
	demangler_destroy(s->demangler);
	jitdump_close(s->jitdump);
	free(s->jitdump_path);
	kernel_names_destroy(s->kernel_names);
	free(s->cache_directory);
	free(s->debug_directory);
	free(s);
}

struct str resolve_string(struct resolve_job *job, struct str s)
{
	uint32_t i = str_table_intern(&job->strings, s);

	return job->strings.strings[i];
}

void resolve_with_name(struct resolve_job *job, size_t i, struct str function, struct str aliases)
{
	struct symbol_frame *frame = ARENA_NEW(job->arena, struct symbol_frame);

	frame->function = resolve_string(job, function);
	frame->aliases = resolve_string(job, aliases);
	job->places[i] = (struct symbol_place){.frames = frame, .count = 1};
	job->is_known[i] = true;
}

void resolve_problem(struct resolve_job *job, const char *format, ...)
{
	va_list args;

	if (job->status->problem)
		return;
	va_start(args, format);
	char *sentence = xvasprintf(format, args);
	va_end(args);
	job->status->problem = arena_str(job->arena, str_from(sentence)).data;
	free(sentence);
}

static bool job_is_done(const struct resolve_job *job)
{
	for (size_t i = 0; i < job->count; i++)
		if (!job->is_known[i])
			return false;
	return true;
}

/* Keeps only the function that the code belongs to, for each place. */
static void drop_inlined(struct resolve_job *job)
{
	for (size_t i = 0; i < job->count; i++) {
		struct symbol_place *place = &job->places[i];
		if (place->count > 1) {
			place->frames += place->count - 1;
			place->count = 1;
		}
	}
}

void symbolize_addresses(struct symbolizer *s, const struct symbolize_object *object,
	const uint64_t *obj_addrs, size_t count, struct arena *arena, struct symbol_place *places,
	struct symbolize_status *status)
{
	struct resolve_job job = {.symbolizer = s,
		.object = object,
		.obj_addrs = obj_addrs,
		.count = count,
		.symbol_ends = xcalloc(count, sizeof(*job.symbol_ends)),
		.is_known = xcalloc(count, sizeof(*job.is_known)),
		.places = places,
		.status = status,
		.arena = arena};

	*status = (struct symbolize_status){0};
	for (size_t i = 0; i < count; i++)
		places[i] = (struct symbol_place){0};
	str_table_init(&job.strings, arena);
	for (size_t i = 0; i < ARRAY_SIZE(resolvers) && !job_is_done(&job); i++)
		if (resolvers[i]->fits(object->kind))
			resolvers[i]->resolve(&job);
	for (size_t i = 0; i < ARRAY_SIZE(resolvers); i++)
		if (resolvers[i]->finish && resolvers[i]->fits(object->kind))
			resolvers[i]->finish(&job);
	if (s->options.no_inline)
		drop_inlined(&job);
	if (!status->found_file)
		resolve_problem(&job, "%.*s: nothing is known of this code", STR_ARG(object->path));
	str_table_deinit(&job.strings);
	free(job.is_known);
	free(job.symbol_ends);
}
