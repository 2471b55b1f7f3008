/* Resolver for code generated at run time: by the names that were found while it was recorded. */
#include "symbolize/resolver.h"

#include "obj/demangle.h"

static bool perfmap_fits(enum object_kind kind)
{
	return kind == OBJECT_JIT;
}

static void perfmap_resolve(struct resolve_job *job)
{
	const struct symbolize_object *object = job->object;
	struct str name;

	if (object->generated_name == NULL)
		return;
	for (size_t i = 0; i < job->count; i++) {
		if (job->is_known[i] ||
			!object->generated_name(object->names, job->obj_addrs[i], &name))
			continue;
		job->status->found_file = job->status->has_names = true;
		resolve_with_name(job, i, demangle(job->symbolizer->demangler, name), STR(""));
	}
	if (!job->status->found_file)
		resolve_problem(job, "%.*s: no perf map of process %lld names its code",
			STR_ARG(object->path), (long long)object->pid);
}

const struct resolver resolver_perfmap = {
	.name = "perfmap",
	.fits = perfmap_fits,
	.resolve = perfmap_resolve,
};
