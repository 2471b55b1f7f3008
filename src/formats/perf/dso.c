/*
 * perf's names for load objects that are not files (tools/perf/util/dso.c, machine.c, map.c of
 * Linux): the kernel and its modules are in brackets; memory of programs begins with two slashes or
 * is also in brackets.
 */
#include "formats/perf/dso.h"

/* Names in brackets that are not the kernel's. */
static const char *const user_names[] = {
	"[vdso]", "[vdso32]", "[vdsox32]", "[vsyscall]", "[uprobes]"};
static const char *const unknown_names[] = {"[unknown]", "[heap]", "[stack", "[anon", "//anon",
	"anon_inode:", "/anon_hugepage", "/dev/zero", "/SYSV", "/memfd:", "/i915"};

static bool is_jit(struct str name)
{
	struct str base = str_base_name(name);

	return (str_starts_with(base, STR("perf-")) && str_ends_with(base, STR(".map"))) ||
	       (str_starts_with(base, STR("jitted-")) && str_ends_with(base, STR(".so")));
}

static bool is_kernel(struct str name)
{
	struct str base = str_base_name(name);

	return str_starts_with(name, STR("[")) || str_starts_with(base, STR("vmlinux")) ||
	       str_starts_with(base, STR("bpf_prog_")) || str_ends_with(name, STR(".ko")) ||
	       str_ends_with(name, STR(".ko.xz")) || str_ends_with(name, STR(".ko.zst")) ||
	       str_ends_with(name, STR(".ko.gz"));
}

enum object_kind perf_dso_kind(struct str name)
{
	for (size_t i = 0; i < ARRAY_SIZE(user_names); i++)
		if (str_equal(name, str_from(user_names[i])))
			return OBJECT_USER;
	for (size_t i = 0; i < ARRAY_SIZE(unknown_names); i++)
		if (str_starts_with(name, str_from(unknown_names[i])))
			return OBJECT_UNKNOWN;
	if (is_jit(name))
		return OBJECT_JIT;
	return is_kernel(name) ? OBJECT_KERNEL : OBJECT_USER;
}
