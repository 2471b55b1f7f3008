/*
 * Resolver for earlier answers: reads them by build ID from files in the user's cache folder, so
 * that debug information is read once per address, not once per report.
 *
 * It is asked first. At the end, it adds the other resolvers' answers to the object's file, if
 * finding them took long and there was no problem.
 */
#include "symbolize/resolver.h"

#include <ctype.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/cache_directory.h"
#include "symbolize/cache_file.h"

#define FILE_SIZE_MAX  ((uint64_t)64 << 20)
#define TOTAL_SIZE_MAX ((uint64_t)256 << 20)
#define PLACES_MAX     ((size_t)1 << 20)

static bool cache_fits(enum object_kind kind)
{
	return kind == OBJECT_USER;
}

/* The name of the object's file, owned by the caller; NULL if the object cannot be cached. */
static char *cache_name(const struct resolve_job *job)
{
	struct str id = job->object->build_id;

	if (job->symbolizer->cache_directory == NULL || id.size < 16 || id.size > 128)
		return NULL;
	/* The build ID comes from a file and becomes part of a path. */
	for (size_t i = 0; i < id.size; i++)
		if (!isxdigit((unsigned char)id.data[i]))
			return NULL;
	return xasprintf("%.*s.sym", STR_ARG(id));
}

/* Reads the cached answers for the object; false if there are none. Release bytes. */
static bool cache_read(const struct resolve_job *job, const char *name, struct arena *arena,
	struct cache_contents *contents, struct file_bytes *bytes)
{
	if (!cache_directory_read(job->symbolizer->cache_directory, name, FILE_SIZE_MAX, bytes))
		return false;
	if (cache_file_decode(
		    (struct str){(const char *)bytes->data, bytes->size}, arena, contents))
		return true;
	file_bytes_deinit(bytes);
	return false;
}

static struct symbol_place copy_place(struct resolve_job *job, const struct symbol_place *place)
{
	struct symbol_frame *frames = ARENA_ARRAY(job->arena, struct symbol_frame, place->count);

	for (uint32_t i = 0; i < place->count; i++) {
		frames[i] = place->frames[i];
		frames[i].function = resolve_string(job, frames[i].function);
		frames[i].aliases = resolve_string(job, frames[i].aliases);
		frames[i].file = resolve_string(job, frames[i].file);
		frames[i].function_file = resolve_string(job, frames[i].function_file);
	}
	return (struct symbol_place){.frames = frames, .count = place->count};
}

/* Both lists ascend, so one pass over both is enough. */
static void take_answers(struct resolve_job *job, const struct cache_contents *contents)
{
	size_t k = 0;

	for (size_t i = 0; i < job->count; i++) {
		while (k < contents->count && contents->obj_addrs[k] < job->obj_addrs[i])
			k++;
		if (k == contents->count)
			break;
		if (contents->obj_addrs[k] != job->obj_addrs[i])
			continue;
		job->places[i] = copy_place(job, &contents->places[k]);
		job->is_known[i] = true;
	}
	job->status->found_file = true;
	job->status->has_names = contents->has_names;
	job->status->has_lines = contents->has_lines;
}

static void cache_resolve(struct resolve_job *job)
{
	char *name = cache_name(job);
	struct arena *arena = arena_create();
	struct cache_contents contents;
	struct file_bytes bytes;

	if (name && cache_read(job, name, arena, &contents, &bytes)) {
		/* A further source may have the missing lines. */
		if (contents.has_lines || job->symbolizer->options.source == NULL)
			take_answers(job, &contents);
		file_bytes_deinit(&bytes);
	}
	arena_destroy(arena);
	free(name);
}

/* Merges the job's answers with those cached for other addresses, in order. */
static struct cache_contents merge(
	const struct resolve_job *job, const struct cache_contents *old, struct arena *arena)
{
	uint64_t *obj_addrs = ARENA_ARRAY(arena, uint64_t, job->count + old->count);
	struct symbol_place *places =
		ARENA_ARRAY(arena, struct symbol_place, job->count + old->count);
	size_t count = 0, i = 0, k = 0;

	while (i < job->count || k < old->count) {
		bool is_new = i < job->count &&
			      (k == old->count || job->obj_addrs[i] <= old->obj_addrs[k]);
		if (is_new && k < old->count && job->obj_addrs[i] == old->obj_addrs[k])
			k++;
		obj_addrs[count] = is_new ? job->obj_addrs[i] : old->obj_addrs[k];
		places[count++] = is_new ? job->places[i++] : old->places[k++];
	}
	return (struct cache_contents){.obj_addrs = obj_addrs,
		.places = places,
		.count = count,
		.has_names = job->status->has_names,
		.has_lines = job->status->has_lines};
}

static void cache_finish(struct resolve_job *job)
{
	struct cache_contents old = {0}, all;
	struct file_bytes bytes = {0};
	struct strbuf out = {0};

	/* A debug file that is installed later may have the missing names. */
	if (!job->is_costly || job->status->problem || !job->status->has_names)
		return;
	char *name = cache_name(job);
	if (name == NULL)
		return;
	struct arena *arena = arena_create();
	if (!cache_read(job, name, arena, &old, &bytes) || old.count + job->count > PLACES_MAX)
		old = (struct cache_contents){0};
	all = merge(job, &old, arena);
	cache_file_encode(&all, &out);
	if (out.size <= FILE_SIZE_MAX)
		cache_directory_write(
			job->symbolizer->cache_directory, name, strbuf_str(&out), TOTAL_SIZE_MAX);
	strbuf_deinit(&out);
	file_bytes_deinit(&bytes);
	arena_destroy(arena);
	free(name);
}

const struct resolver resolver_cache = {
	.name = "cache",
	.fits = cache_fits,
	.resolve = cache_resolve,
	.finish = cache_finish,
};
