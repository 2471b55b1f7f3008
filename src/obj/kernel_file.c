/*
 * The kernel's files.  vmlinux is linked at a fixed address; where it ran differs by one offset,
 * which a symbol with a known address determines.  Modules are placed by module_image.
 *
 * Sources: the kernel's Documentation/kbuild/modules.rst (names), scripts/Makefile.modinst
 * (packing).
 */
#include "obj/kernel_file.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/decompress.h"
#include "obj/module_image.h"
#include "obj/objfile.h"
#include "obj/xz_unpack.h"

/* The largest modules have some 100 MB of debug information. */
#define MODULE_MAX ((uint64_t)512 << 20)

struct kernel_file {
	struct objfile *object;
	struct strbuf image; /* of a module; else empty */
	uint64_t slide;
};

/* ---- names ---- */

/* What may follow ".ko" in a file's name. */
static const char *const endings[] = {".xz", ".zst", ".gz", ".debug"};

bool kernel_module_name(struct str path, struct strbuf *name)
{
	struct str base = str_base_name(path);

	for (size_t i = 0; i < ARRAY_SIZE(endings); i++) {
		struct str ending = str_from(endings[i]);

		if (str_ends_with(base, ending)) {
			base.size -= ending.size;
			break;
		}
	}
	if (!str_ends_with(base, STR(".ko")) || base.size == 3)
		return false;
	strbuf_clear(name);
	for (size_t i = 0; i < base.size - 3; i++)
		strbuf_add_char(name, base.data[i] == '-' ? '_' : base.data[i]);
	return true;
}

bool kernel_module_is_packed(struct str path)
{
	return str_ends_with(path, STR(".ko.xz")) || str_ends_with(path, STR(".ko.zst")) ||
	       str_ends_with(path, STR(".ko.gz"));
}

/* ---- reading ---- */

static bool is_xz(const struct file_bytes *bytes)
{
	return bytes->size >= 6 && memcmp(bytes->data, "\xfd\x37\x7a\x58\x5a\x00", 6) == 0;
}

static struct error *unpack(const char *path, struct file_bytes *bytes)
{
	struct file_bytes unpacked = {0};

	if (!is_xz(bytes))
		return decompress(path, MODULE_MAX, bytes, NULL);
	unpacked.data = xz_unpack(bytes->data, bytes->size, &unpacked.size);
	if (unpacked.data == NULL)
		return error_new(
			ERROR_INPUT, "%s: cannot unpack the xz data; try xz --decompress", path);
	file_bytes_deinit(bytes);
	*bytes = unpacked;
	return NULL;
}

struct error *kernel_module_read(const char *path, struct file_bytes *bytes)
{
	struct error *err = file_read(path, MODULE_MAX, bytes);

	if (err)
		return err;
	err = unpack(path, bytes);
	if (err)
		file_bytes_deinit(bytes);
	return err;
}

/* ---- opening ---- */

static struct error *check_build(const char *path, struct str build_id, struct objfile *object)
{
	if (str_equal(build_id, objfile_build_id(object)))
		return NULL;
	return error_new(
		ERROR_INPUT, "%s is not used: it is another build than the one that ran", path);
}

/* The value of the first symbol with that name; false: there is none. */
static bool symbol_value(struct objfile *object, struct str name, uint64_t *value)
{
	struct objfile_section symbols, strings;

	if (!objfile_section_of_type(object, SHT_SYMTAB, &symbols) || symbols.bytes == NULL ||
		!objfile_section_at(object, symbols.link, &strings) || strings.bytes == NULL)
		return false;
	for (size_t off = 0; off + sizeof(Elf64_Sym) <= symbols.size; off += sizeof(Elf64_Sym)) {
		Elf64_Sym symbol;

		memcpy(&symbol, symbols.bytes + off, sizeof(symbol));
		if (symbol.st_name >= strings.size || strings.size - symbol.st_name <= name.size ||
			strings.bytes[symbol.st_name + name.size] != '\0' ||
			memcmp(strings.bytes + symbol.st_name, name.data, name.size) != 0)
			continue;
		*value = symbol.st_value;
		return true;
	}
	return false;
}

static struct error *find_slide(
	struct kernel_file *f, const struct kernel_mark *marks, size_t count)
{
	uint64_t value;

	for (size_t i = 0; i < count; i++) {
		if (marks[i].name.size == 0 || !symbol_value(f->object, marks[i].name, &value))
			continue;
		f->slide = marks[i].va - value;
		return NULL;
	}
	if (count == 0)
		return error_new(ERROR_UNSUPPORTED, "the recording does not have its address");
	return error_new(ERROR_UNSUPPORTED, "%s has no symbol %.*s, whose address is known",
		objfile_name(f->object), STR_ARG(marks[0].name));
}

static struct error *open_module_bytes(struct kernel_file *f, const char *path, struct str build_id,
	struct str bytes, const struct kernel_mark *marks, size_t count)
{
	struct objfile *file;
	struct error *err = objfile_open_memory(bytes.data, bytes.size, path, &file);

	if (err)
		return err;
	err = check_build(path, build_id, file);
	if (err == NULL && !objfile_is_relocatable(file))
		err = error_new(ERROR_INPUT, "%s: not a kernel module", path);
	if (err == NULL)
		err = module_image_make(file, bytes, marks, count, &f->image);
	objfile_close(file);
	if (err == NULL)
		err = objfile_open_memory(f->image.data, f->image.size, path, &f->object);
	return err;
}

static struct error *open_module(struct kernel_file *f, const char *path, struct str build_id,
	const struct kernel_mark *marks, size_t count)
{
	struct file_bytes bytes;
	struct error *err = kernel_module_read(path, &bytes);

	if (err)
		return err;
	err = open_module_bytes(f, path, build_id,
		(struct str){(const char *)bytes.data, bytes.size}, marks, count);
	file_bytes_deinit(&bytes);
	return err;
}

static struct error *open_kernel(struct kernel_file *f, const char *path, struct str build_id,
	const struct kernel_mark *marks, size_t count)
{
	struct error *err = check_build(path, build_id, f->object);

	return err ? err : find_slide(f, marks, count);
}

static struct error *open_file(struct kernel_file *f, const char *path, struct str build_id,
	const struct kernel_mark *marks, size_t count)
{
	if (kernel_module_is_packed(str_from(path)))
		return open_module(f, path, build_id, marks, count);
	struct error *err = objfile_open(path, &f->object);

	if (err) {
		f->object = NULL;
		return err;
	}
	if (!objfile_is_relocatable(f->object))
		return open_kernel(f, path, build_id, marks, count);
	objfile_close(f->object);
	f->object = NULL;
	return open_module(f, path, build_id, marks, count);
}

struct error *kernel_file_open(const char *path, struct str build_id,
	const struct kernel_mark *marks, size_t count, struct kernel_file **file)
{
	struct kernel_file *f = xalloc(sizeof(*f));
	struct error *err = open_file(f, path, build_id, marks, count);

	if (err)
		kernel_file_close(f);
	else
		*file = f;
	return err;
}

void kernel_file_close(struct kernel_file *f)
{
	if (f == NULL)
		return;
	objfile_close(f->object);
	strbuf_deinit(&f->image);
	free(f);
}

struct objfile *kernel_file_object(const struct kernel_file *f)
{
	return f->object;
}

uint64_t kernel_file_slide(const struct kernel_file *f)
{
	return f->slide;
}
