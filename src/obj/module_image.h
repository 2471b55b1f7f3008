#ifndef SONDE_OBJ_MODULE_IMAGE_H
#define SONDE_OBJ_MODULE_IMAGE_H

#include <stddef.h>

#include "base/error.h"
#include "base/str.h"
#include "obj/kernel_file.h"

struct objfile;

/*
 * Appends to out the relocatable file (a kernel module, or its debug file) as it was in memory: its
 * code at the addresses that the marks give, symbols and debug sections relocated to them, and
 * compressed debug sections unpacked.  bytes are file's own.  The result is for
 * objfile_open_memory; code itself is not relocated.  ERROR_INPUT if the file is malformed,
 * ERROR_UNSUPPORTED if the marks do not determine where its code was, or if its debug sections need
 * unknown relocations.
 */
must_use struct error *module_image_make(struct objfile *file, struct str bytes,
	const struct kernel_mark *marks, size_t count, struct strbuf *out);

#endif
