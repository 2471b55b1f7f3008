/*
 * Load objects of a perf.data file.  See data_objects.h.
 */
#include "formats/perf/data_objects.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>

#include "arch/arch.h"
#include "base/alloc.h"
#include "base/file.h"
#include "obj/build_id.h"
#include "obj/cfi.h"
#include "obj/debugfile.h"
#include "obj/kallsyms.h"
#include "obj/object_open.h"
#include "obj/objfile.h"
#include "symbolize/build_source.h"

/* Files kept open; others are reopened when needed. */
enum { OPEN_MAX = 256 };
/* Beyond that number, files up to this size are read completely instead of being kept open. */
#define SMALL_FILE ((uint64_t)1 << 20)

/* Whether the recording was made on this machine, according to the file. */
static bool is_same_machine(const struct perf_data_facts *facts)
{
	struct utsname name;

	if (uname(&name) != 0)
		return false;
	return str_equal(facts->host, str_from(name.nodename)) &&
	       (facts->arch.size == 0 || str_equal(facts->arch, str_from(name.machine)));
}

static bool is_same_kernel(const struct perf_data_facts *facts)
{
	struct utsname name;

	return uname(&name) == 0 && facts->os_release.size &&
	       str_equal(facts->os_release, str_from(name.release)) &&
	       str_equal(facts->host, str_from(name.nodename));
}

/* Old files do not state it. */
static const struct arch *arch_of(const struct perf_data_facts *facts)
{
	return facts->arch.size ? arch_of_name(facts->arch) : arch_here();
}

void perf_data_objects_init(
	struct perf_data_objects *o, const struct perf_data_file *file, struct arena *arena)
{
	*o = (struct perf_data_objects){.file = file,
		.arena = arena,
		.is_this_machine = is_same_machine(&file->facts),
		.arch = file->is_swapped ? NULL : arch_of(&file->facts)};
	str_table_init(&o->keys, arena);
}

void perf_data_objects_deinit(struct perf_data_objects *o)
{
	for (size_t i = 0; i < o->rows.count; i++) {
		cfi_table_destroy(o->rows.data[i].cfi);
		objfile_close(o->rows.data[i].cfi_file);
		file_bytes_deinit(&o->rows.data[i].bytes);
		objfile_close(o->rows.data[i].file);
	}
	vec_deinit(&o->rows);
	map_deinit(&o->slides);
	vec_deinit(&o->distances);
	str_table_deinit(&o->keys);
}

uint32_t perf_data_objects_add(
	struct perf_data_objects *o, struct str path, struct str build_id, enum object_kind kind)
{
	struct strbuf key = {0};

	if (build_id.size == 0)
		build_id = perf_data_find_build_id(o->file, path);
	strbuf_add(&key, path);
	strbuf_add_char(&key, '\0');
	strbuf_add(&key, build_id);
	strbuf_add_char(&key, (char)('0' + kind));
	uint32_t number = str_table_intern(&o->keys, strbuf_str(&key));

	strbuf_deinit(&key);
	if (number == o->rows.count)
		vec_push(&o->rows, (struct perf_data_object){.path = arena_str(o->arena, path),
					   .build_id = arena_str(o->arena, build_id),
					   .kind = kind});
	return number;
}

/* ---- the kernel ---- */

uint32_t perf_data_objects_add_kernel(
	struct perf_data_objects *o, struct str path, struct str build_id)
{
	static const char *const kernels[] = {
		"[kernel", "[guest.kernel", "/vmlinux", "/boot/vmlinu", "vmlinux"};
	struct strbuf name = {0};

	if (build_id.size == 0)
		build_id = perf_data_find_build_id(o->file, path);
	for (size_t i = 0; i < ARRAY_SIZE(kernels); i++)
		if (str_starts_with(path, str_from(kernels[i])))
			return perf_data_objects_add(o, STR("[kernel]"),
				perf_data_find_build_id(o->file, STR("[kernel.kallsyms]")),
				OBJECT_KERNEL);
	/* "/lib/modules/…/snd-hda.ko.xz" and "[snd_hda]" are the same. */
	char *module = kernel_module_name(path, &name) ? xasprintf("[%s]", name.data) : NULL;
	uint32_t object =
		perf_data_objects_add(o, module ? str_from(module) : path, build_id, OBJECT_KERNEL);

	free(module);
	strbuf_deinit(&name);
	return object;
}

/* Whether the running kernel has the build ID; -1: unknown. */
static int kernel_has_build_id(struct str build_id)
{
	uint8_t bytes[4096];
	build_id_text text;
	FILE *f = fopen("/sys/kernel/notes", "re");

	if (f == NULL)
		return -1;
	size_t size = fread(bytes, 1, sizeof(bytes), f);

	fclose(f);
	if (size == 0)
		return -1;
	build_id_in_notes(bytes, size, 4, text);
	return str_equal(build_id, str_from(text));
}

/* Whether the kernel is still loaded at this address: a reboot may have moved it. */
static bool kernel_is_at(uint64_t va)
{
	struct kallsyms *names;
	struct kernel_symbol symbol;
	struct error *err = kallsyms_open(NULL, &names);

	if (err) {
		error_destroy(err);
		return false;
	}
	bool is_there = kallsyms_find(names, va, &symbol) && symbol.low_va == va;

	kallsyms_close(names);
	return is_there;
}

void perf_data_objects_check_kernel(struct perf_data_objects *o)
{
	struct str build_id = perf_data_find_build_id(o->file, STR("[kernel.kallsyms]"));
	int fits = build_id.size ? kernel_has_build_id(build_id) : -1;

	if (fits < 0)
		fits = is_same_kernel(&o->file->facts);
	o->is_this_kernel = fits && (o->kernel_va == 0 || kernel_is_at(o->kernel_va));
}

/* ---- files ---- */

/* Tries a path, and frees it. */
static void try_path(struct perf_data_objects *o, struct perf_data_object *row, char *path)
{
	if (path && row->file == NULL) {
		struct error *err =
			object_open(row->path, str_from(path), row->build_id, &row->file);

		if (err)
			row->file = NULL;
		else
			row->open_path = arena_str(o->arena, str_from(path));
		error_destroy(err);
	}
	free(path);
}

static struct str without_deleted(struct str path)
{
	static const struct str mark = {" (deleted)", 10};

	if (str_ends_with(path, mark))
		path.size -= mark.size;
	return path;
}

static void try_by_build_id(struct perf_data_objects *o, struct perf_data_object *row)
{
	const char *home = getenv("HOME");
	struct str id = row->build_id;

	if (id.size < 6)
		return;
	if (home) {
		char *cache = xasprintf("%s/.debug", home);

		try_path(o, row, debugfile_build_id_path(cache, id, "/elf"));
		try_path(o, row, debugfile_build_id_path(cache, id, ""));
		free(cache);
	}
	try_path(o, row, debugfile_build_id_path("/usr/lib/debug", id, ".debug"));
}

/* The program itself is needed: only that has the layout of its mappings. */
static void try_source(struct perf_data_objects *o, struct perf_data_object *row)
{
	char *problem = NULL;

	if (o->source && row->file == NULL)
		try_path(o, row, build_source_find(o->source, row->build_id, BUILD_CODE, &problem));
	free(problem);
}

/* Whether the file has an executable segment that matches the object's mapping. */
static bool has_layout(const struct perf_data_object *row)
{
	const uint64_t page = 4096;

	for (size_t i = 0; i < objfile_segment_count(row->file); i++) {
		struct objfile_segment segment = objfile_segment(row->file, i);
		uint64_t low = segment.file_off & ~(page - 1);
		uint64_t high = (segment.file_off + segment.file_size + page - 1) & ~(page - 1);

		if (segment.executable && low == row->map_off && high - low == row->map_size)
			return true;
	}
	return false;
}

/* Tries the file at the path, without a build ID to confirm that it is the one that ran. */
static void try_guess(struct perf_data_objects *o, struct perf_data_object *row, struct str path)
{
	try_path(o, row, xstrndup(path.data, path.size));
	if (row->file == NULL || o->is_this_machine)
		return;
	row->is_guess = has_layout(row);
	if (row->is_guess)
		return;
	objfile_close(row->file);
	row->file = NULL;
	row->open_path = STR("");
}

static struct perf_data_object *open_object(struct perf_data_objects *o, uint32_t object)
{
	struct perf_data_object *row = &o->rows.data[object];

	if (row->is_tried || row->kind != OBJECT_USER)
		return row;
	row->is_tried = true;
	struct str path = without_deleted(row->path);
	bool is_path = path.size && path.data[0] == '/';

	if (row->build_id.size && (is_path || str_equal(path, STR("[vdso]"))))
		try_path(o, row, xstrndup(path.data, path.size));
	else if (row->build_id.size == 0 &&
		 (is_path ? path.size == row->path.size : o->is_this_machine))
		try_guess(o, row, path);
	if (is_path)
		try_path(o, row, perf_data_beside(o->file, str_base_name(path)));
	try_by_build_id(o, row);
	try_source(o, row);
	return row;
}

/* Reopens the object if it was closed to limit open files. */
static struct perf_data_object *reopen_object(struct perf_data_objects *o, uint32_t object)
{
	struct perf_data_object *row = open_object(o, object);

	if (row->file == NULL && row->open_path.size)
		error_destroy(object_open(row->path, row->open_path, STR(""), &row->file));
	return row;
}

/* Programs with code made at run time may have thousands of load objects (perf inject --jit). */
static void close_object(struct perf_data_objects *o, uint32_t object)
{
	struct perf_data_object *row = &o->rows.data[object];

	bool has_readers = row->cfi && row->cfi_file == NULL;

	if (row->file == NULL || (o->keeps_open && o->open_count++ < OPEN_MAX) || has_readers)
		return;
	objfile_close(row->file);
	row->file = NULL;
}

bool perf_data_objects_is_missing(struct perf_data_objects *o, uint32_t object)
{
	const struct perf_data_object *row = open_object(o, object);

	return row->kind == OBJECT_USER && row->open_path.size == 0;
}

uint64_t perf_data_objects_slide(
	struct perf_data_objects *o, uint32_t object, uint64_t low_va, uint64_t file_off)
{
	bool added;
	uint32_t place;
	uint64_t slide;

	if (o->rows.data[object].kind != OBJECT_USER)
		return 0;
	place = *map_at(&o->slides, object, file_off, (uint32_t)o->distances.count, &added);
	if (!added)
		return low_va - file_off + o->distances.data[place];
	const struct perf_data_object *row = reopen_object(o, object);

	if (row->file == NULL || !objfile_slide(row->file, low_va, file_off, &slide))
		slide = low_va - file_off;
	vec_push(&o->distances, slide - (low_va - file_off));
	if (!o->keeps_open)
		close_object(o, object);
	return slide;
}

/*
 * The file to read unwind rules from, open as long as the object.  The file of code made at run
 * time is small, so it is read into memory.  NULL: there is none.
 */
static struct objfile *file_for_cfi(struct perf_data_objects *o, uint32_t object)
{
	struct perf_data_object *row = reopen_object(o, object);
	struct error *err = NULL;

	if (row->file == NULL || o->open_count < OPEN_MAX)
		return row->file;
	err = file_read(objfile_name(row->file), SMALL_FILE, &row->bytes);
	if (err == NULL)
		err = objfile_open_memory(
			row->bytes.data, row->bytes.size, objfile_name(row->file), &row->cfi_file);
	error_destroy(err);
	return row->cfi_file ? row->cfi_file : row->file;
}

struct cfi_table *perf_data_objects_cfi(struct perf_data_objects *o, uint32_t object)
{
	struct perf_data_object *row = &o->rows.data[object];

	if (row->is_cfi_tried)
		return row->cfi;
	row->is_cfi_tried = true;
	struct objfile *file = file_for_cfi(o, object);
	row = &o->rows.data[object];
	/* Without rules, the walker can still use its heuristics. */
	if (file)
		row->cfi = objfile_open_cfi(file);
	close_object(o, object);
	return row->cfi;
}

bool perf_data_objects_code(struct perf_data_objects *o, uint32_t object, uint64_t obj_addr,
	uint8_t *bytes, size_t size)
{
	const struct perf_data_object *row = &o->rows.data[object];
	struct cfi_code code;

	if (row->file == NULL)
		return false;
	objfile_code(row->file, &code);
	return code.read && code.read(code.context, obj_addr, bytes, size);
}
