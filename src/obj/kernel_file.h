#ifndef SONDE_OBJ_KERNEL_FILE_H
#define SONDE_OBJ_KERNEL_FILE_H

/*
 * Files of a kernel that ran somewhere: vmlinux, modules (.ko, also packed), and the debug files of
 * both.  What is known about their place in memory is a few marks.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/file.h"
#include "base/str.h"

struct kernel_file;
struct objfile;

/*
 * An address in the kernel's memory: of a symbol ("_text"); of a module's section (".text"), or, if
 * the name is empty, of the first byte of a module's code.
 */
struct kernel_mark {
	struct str name;
	uint64_t va;
};

/*
 * Opens a file of the kernel and finds out where it was.  ERROR_INPUT if it has another build ID or
 * is malformed, ERROR_UNSUPPORTED if the marks do not determine its place, and the failures of
 * objfile_open.
 */
must_use struct error *kernel_file_open(const char *path, struct str build_id,
	const struct kernel_mark *marks, size_t count, struct kernel_file **file);
void kernel_file_close(struct kernel_file *f);
/* The file to read names from; owned by f. */
struct objfile *kernel_file_object(const struct kernel_file *f);
/* va - obj_addr, for addresses of the kernel's code and of the object. */
uint64_t kernel_file_slide(const struct kernel_file *f);

/*
 * Sets name to that of the module in a file, as kernels have it: "snd_hda" for "…/snd-hda.ko.xz".
 * False: the file is not called like a module.
 */
bool kernel_module_name(struct str path, struct strbuf *name);
/* Whether a file is called like a packed module. */
bool kernel_module_is_packed(struct str path);
/* Reads a file that may be packed with xz, zstd or gzip. */
must_use struct error *kernel_module_read(const char *path, struct file_bytes *bytes);

#endif
