/* Resolver for code generated at run time: reads the perf map that the process wrote. */
#include "symbolize/resolver.h"

#include "obj/demangle.h"
#include "obj/perfmap.h"

static bool perfmap_fits(enum object_kind kind)
{
	return kind == OBJECT_JIT;
}

static void perfmap_resolve(struct resolve_job *job)
{
	struct perfmap *map;
	struct str name;

	if (job->object->pid <= 0)
		return;
	struct error *err = perfmap_open(job->object->pid, &map);
	if (err) {
		resolve_problem(job, "no perf map: %s", err->message);
		error_destroy(err);
		return;
	}
	job->status->found_file = true;
	job->status->has_names = perfmap_count(map) != 0;
	size_t bad = perfmap_bad_lines(map);
	if (bad)
		resolve_problem(job, "perf map of process %lld: %zu line%s could not be read",
			(long long)job->object->pid, bad, bad == 1 ? "" : "s");
	for (size_t i = 0; i < job->count; i++)
		if (!job->is_known[i] && perfmap_find(map, job->obj_addrs[i], &name))
			resolve_with_name(
				job, i, demangle(job->symbolizer->demangler, name), STR(""));
	perfmap_close(map);
}

const struct resolver resolver_perfmap = {
	.name = "perfmap",
	.fits = perfmap_fits,
	.resolve = perfmap_resolve,
};
