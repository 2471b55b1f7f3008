/*
 * The kernel's names, from the cache or from /proc/kallsyms.
 *
 * A cached table is valid for one boot (addresses are random) and one set of modules; both are in
 * the file's name.  They do not identify other code that comes and goes, such as BPF programs.  So
 * a cached answer is used only for a function that is followed by another one of the same module;
 * for everything else, the kernel is asked again.
 */
#include "symbolize/kernel_names.h"

#include <ctype.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/cache_directory.h"
#include "base/file.h"
#include "base/hash.h"
#include "obj/kallsyms.h"

#define FILE_SIZE_MAX  ((uint64_t)256 << 20)
#define TOTAL_SIZE_MAX ((uint64_t)256 << 20)
#define MODULES_MAX    ((uint64_t)16 << 20)

struct kernel_names {
	char *directory;	  /* of the cache; NULL: no cache */
	struct kallsyms *cached;  /* NULL: none */
	struct kallsyms *current; /* NULL: not read */
	char *problem;
	bool is_cache_read;
};

struct kernel_names *kernel_names_create(const char *cache_directory)
{
	struct kernel_names *names = xalloc(sizeof(*names));

	names->directory = cache_directory ? xstrdup(cache_directory) : NULL;
	return names;
}

void kernel_names_destroy(struct kernel_names *names)
{
	kallsyms_close(names->cached);
	kallsyms_close(names->current);
	free(names->problem);
	free(names->directory);
	free(names);
}

/* Reads a whole file in /proc; false: cannot be read. */
static bool read_proc(const char *path, struct file_bytes *bytes)
{
	struct error *err = file_read(path, MODULES_MAX, bytes);

	error_destroy(err);
	return err == NULL;
}

/* The file name for this boot and these modules; NULL if there can be none. */
static char *cache_name(const struct kernel_names *names)
{
	struct file_bytes boot, modules;
	struct strbuf name = {0};

	if (!names->directory || !read_proc("/proc/sys/kernel/random/boot_id", &boot))
		return NULL;
	strbuf_add(&name, STR("kernel-"));
	for (size_t i = 0; i < boot.size; i++)
		if (isxdigit(boot.data[i]))
			strbuf_add_char(&name, (char)boot.data[i]);
	file_bytes_deinit(&boot);
	if (read_proc("/proc/modules", &modules)) {
		strbuf_printf(&name, "-%08x", crc32c(0, modules.data, modules.size));
		file_bytes_deinit(&modules);
	}
	char *result = xasprintf("%.*s.names", STR_ARG(strbuf_str(&name)));

	strbuf_deinit(&name);
	return result;
}

static void read_cache(struct kernel_names *names)
{
	char *name = cache_name(names);
	struct file_bytes bytes;

	names->is_cache_read = true;
	if (name && cache_directory_read(names->directory, name, FILE_SIZE_MAX, &bytes)) {
		names->cached = kallsyms_unpack((struct str){(const char *)bytes.data, bytes.size});
		file_bytes_deinit(&bytes);
	}
	free(name);
}

static void write_cache(const struct kernel_names *names)
{
	char *name = cache_name(names);

	if (name)
		cache_directory_write(
			names->directory, name, kallsyms_packed(names->current), TOTAL_SIZE_MAX);
	free(name);
}

static void read_current(struct kernel_names *names)
{
	struct error *err = kallsyms_open(NULL, &names->current);

	if (err) {
		names->problem = xasprintf("kernel functions have no names: %s", err->message);
		error_destroy(err);
	} else if (kallsyms_are_hidden(names->current)) {
		names->problem = xstrdup("kernel functions have no names: the kernel hides its "
					 "addresses (sysctl kernel.kptr_restrict)");
	} else {
		write_cache(names);
	}
}

bool kernel_names_find(struct kernel_names *names, uint64_t va, struct str *name)
{
	struct kernel_symbol symbol;

	if (!names->is_cache_read)
		read_cache(names);
	if (names->cached && kallsyms_find(names->cached, va, &symbol) && symbol.is_bounded &&
		!str_equal(symbol.module, STR("[bpf]"))) {
		*name = symbol.name;
		return true;
	}
	if (!names->current && !names->problem)
		read_current(names);
	if (names->problem || !kallsyms_find(names->current, va, &symbol))
		return false;
	*name = symbol.name;
	return true;
}

const char *kernel_names_problem(const struct kernel_names *names)
{
	return names->problem;
}
