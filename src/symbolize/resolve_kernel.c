/* Resolver for kernel code: only names. */
#include "symbolize/kernel_names.h"
#include "symbolize/resolver.h"

static bool kernel_fits(enum object_kind kind)
{
	return kind == OBJECT_KERNEL;
}

static void kernel_resolve(struct resolve_job *job)
{
	struct kernel_names *names = job->symbolizer->kernel_names;
	struct str name;

	if (job->object->is_other_kernel)
		return;
	for (size_t i = 0; i < job->count; i++)
		if (!job->is_known[i] && kernel_names_find(names, job->obj_addrs[i], &name))
			resolve_with_name(job, i, name, STR(""));
	if (kernel_names_problem(names)) {
		resolve_problem(job, "%s", kernel_names_problem(names));
		return;
	}
	job->status->found_file = true;
	job->status->has_names = true;
}

const struct resolver resolver_kernel = {
	.name = "kernel",
	.fits = kernel_fits,
	.resolve = kernel_resolve,
};
