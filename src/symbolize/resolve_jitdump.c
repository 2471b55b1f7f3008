/*
 * Resolver for code generated at run time by a process with a jitdump: finds the code at an address
 * at the beginning of the generation that the object stands for.
 */
#include "symbolize/resolver.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "obj/demangle.h"
#include "obj/jitdump.h"

static bool jitdump_fits(enum object_kind kind)
{
	return kind == OBJECT_JIT;
}

/* The object's file, read unless the last object had the same; NULL if it cannot be read. */
static struct jitdump *find_dump(struct resolve_job *job)
{
	struct symbolizer *s = job->symbolizer;
	struct str path = job->object->open_path;

	if (s->jitdump && str_equal(str_from(s->jitdump_path), path))
		return s->jitdump;
	jitdump_close(s->jitdump);
	free(s->jitdump_path);
	s->jitdump = NULL;
	s->jitdump_path = xstrndup(path.data, path.size);
	struct error *err = jitdump_open(s->jitdump_path, &s->jitdump);
	if (err) {
		resolve_problem(job, "no jitdump: %s", err->message);
		error_destroy(err);
	}
	return s->jitdump;
}

static void answer(struct resolve_job *job, size_t i, const struct jitdump_place *place)
{
	struct symbol_frame *frame = ARENA_NEW(job->arena, struct symbol_frame);

	frame->function =
		resolve_string(job, demangle(job->symbolizer->demangler, place->function));
	frame->file = frame->function_file = resolve_string(job, place->file);
	frame->line = place->line;
	job->places[i] = (struct symbol_place){.frames = frame, .count = 1};
	job->is_known[i] = true;
}

static void jitdump_resolve(struct resolve_job *job)
{
	const struct symbolize_object *object = job->object;
	struct jitdump_place place;

	if (object->open_path.size == 0)
		return;
	struct jitdump *dump = find_dump(job);
	if (dump == NULL)
		return;
	job->status->found_file = true;
	job->status->has_names = jitdump_count(dump) != 0;
	if (jitdump_is_cut(dump))
		resolve_problem(
			job, "the jitdump of process %lld is truncated", (long long)object->pid);
	for (size_t i = 0; i < job->count; i++)
		if (!job->is_known[i] &&
			jitdump_find(dump, job->obj_addrs[i], object->begin_ns, job->arena, &place))
			answer(job, i, &place);
}

const struct resolver resolver_jitdump = {
	.name = "jitdump",
	.fits = jitdump_fits,
	.resolve = jitdump_resolve,
};
