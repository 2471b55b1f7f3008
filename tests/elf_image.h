#ifndef SONDE_TESTS_ELF_IMAGE_H
#define SONDE_TESTS_ELF_IMAGE_H

/*
 * Writes small ELF files into memory: for tests and fuzz harnesses that need one with just these
 * sections.
 */

#include <stdint.h>

#include "base/str.h"
#include "base/vec.h"

struct elf_image_section {
	const char *name;
	uint32_t type, link;
	uint64_t flags, obj_addr, entry_size;
	struct str bytes; /* borrowed until elf_image_write */
};

struct elf_image {
	VEC(struct elf_image_section) sections;
};

void elf_image_deinit(struct elf_image *image);
/* Adds a section and returns its index, from 1. */
uint32_t elf_image_add(struct elf_image *image, struct elf_image_section section);
/* Appends the file to out: x86-64; each allocated section gets a PT_LOAD of its own. */
void elf_image_write(const struct elf_image *image, struct strbuf *out);

#endif
