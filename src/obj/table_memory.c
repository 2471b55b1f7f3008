/*
 * Sections are read as a whole, so their unpacked sizes are most of it.  Symbols become candidates,
 * which are sorted and then flattened to ranges (obj/symtab.c): eight times their size, as measured
 * with libraries of 30,000 to 200,000 symbols.
 */
#include "obj/table_memory.h"

#include <elf.h>
#include <stddef.h>

#include "base/compiler.h"

#define SYMBOL_FACTOR 8

static const struct {
	const char *name;
	unsigned factor;
} sections[] = {
	{".symtab", SYMBOL_FACTOR},
	{".strtab", 1},
	{".dynsym", SYMBOL_FACTOR},
	{".dynstr", 1},
	{".eh_frame", 1},
	{".eh_frame_hdr", 1},
	/* A symbol table, packed to a fourth. */
	{".gnu_debugdata", 4 * SYMBOL_FACTOR},
	{".debug_info", 1},
	{".debug_abbrev", 1},
	{".debug_line", 1},
	{".debug_str", 1},
	{".debug_line_str", 1},
	{".debug_str_offsets", 1},
	{".debug_addr", 1},
	{".debug_ranges", 1},
	{".debug_rnglists", 1},
	{".debug_aranges", 1},
};

/* The size of the section in memory; a packed one begins with it. */
static uint64_t unpacked_size(struct objfile *file, const struct objfile_section *section)
{
	Elf64_Chdr header;

	if ((section->flags & SHF_COMPRESSED) == 0 ||
		!objfile_read(file, section->file_off, (uint8_t *)&header, sizeof(header)))
		return section->size;
	return header.ch_size;
}

static uint64_t add(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

uint64_t table_memory(struct objfile *file)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < ARRAY_SIZE(sections); i++) {
		struct objfile_section section;

		if (!objfile_header_named(file, sections[i].name, &section) ||
			section.type == SHT_NOBITS)
			continue;
		uint64_t size = unpacked_size(file, &section);

		for (unsigned k = 0; k < sections[i].factor; k++)
			sum = add(sum, size);
	}
	return sum;
}
