/*
 * Resolver for kernel code: names from /proc/kallsyms, read at the first kernel address.
 */
#include "symbolize/resolver.h"

#include "base/alloc.h"
#include "obj/kallsyms.h"

static bool kernel_fits(enum object_kind kind)
{
	return kind == OBJECT_KERNEL;
}

static void read_kallsyms(struct symbolizer *s)
{
	struct error *err = kallsyms_open(NULL, &s->kallsyms);

	if (err) {
		s->kernel_problem = xasprintf("kernel functions have no names: %s", err->message);
		error_destroy(err);
	} else if (kallsyms_are_hidden(s->kallsyms)) {
		s->kernel_problem = xstrdup("kernel functions have no names: the kernel hides its "
					    "addresses (sysctl kernel.kptr_restrict)");
	}
}

static void kernel_resolve(struct resolve_job *job)
{
	struct symbolizer *s = job->symbolizer;
	struct kernel_symbol symbol;

	if (s->kallsyms == NULL && s->kernel_problem == NULL)
		read_kallsyms(s);
	if (s->kernel_problem) {
		resolve_problem(job, "%s", s->kernel_problem);
		return;
	}
	job->status->found_file = true;
	job->status->has_names = true;
	for (size_t i = 0; i < job->count; i++)
		if (!job->is_known[i] && kallsyms_find(s->kallsyms, job->obj_addrs[i], &symbol))
			resolve_with_name(job, i, symbol.name);
}

const struct resolver resolver_kernel = {
	.name = "kernel",
	.fits = kernel_fits,
	.resolve = kernel_resolve,
};
