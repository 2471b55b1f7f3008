/*
 * Finds PLT stubs by decoding.  Counting entries of .rela.plt fails with linkers' secondary tables
 * (.plt.sec, .plt.got).  But every stub jumps through one slot, and the slot has a relocation with
 * a symbol.  The form of stubs depends on the processor (arch/arch.h).
 */
#include "obj/plt.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "base/alloc.h"
#include "base/map.h"
#include "obj/cfi.h"
#include "obj/objfile.h"

#define STUB_BYTES 16

static const char *const section_names[PLT_SECTION_MAX] = {".plt", ".plt.sec", ".plt.got"};

struct plt_reader {
	struct objfile *file;
	const struct arch *arch;
	struct map slots; /* of the GOT: obj_addr → symbol index in .dynsym */
	struct objfile_section symbols, strings;
	size_t string_size; /* up to and including the last NUL */
};

static bool plt_reader_open(struct plt_reader *r, struct objfile *file)
{
	*r = (struct plt_reader){.file = file, .arch = arch_of_machine(objfile_machine(file))};
	if (r->arch == NULL || r->arch->plt_slot == NULL)
		return false;
	if (!objfile_section_of_type(file, SHT_DYNSYM, &r->symbols) || r->symbols.bytes == NULL)
		return false;
	if (!objfile_section_at(file, r->symbols.link, &r->strings) || r->strings.bytes == NULL)
		return false;
	const uint8_t *nul = memrchr(r->strings.bytes, 0, r->strings.size);
	r->string_size = nul ? (size_t)(nul - r->strings.bytes) + 1 : 0;
	return true;
}

static void plt_add_slots(struct plt_reader *r, const Elf64_Rela *relocations, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint32_t type = (uint32_t)ELF64_R_TYPE(relocations[i].r_info);

		if (type == r->arch->jump_slot_relocation || type == r->arch->data_slot_relocation)
			map_put(&r->slots, relocations[i].r_offset, 0,
				(uint32_t)ELF64_R_SYM(relocations[i].r_info));
	}
}

/* Reads in pieces: a large library has megabytes of relocations, nearly all of other types. */
static void plt_read_relocations(struct plt_reader *r, const struct objfile_section *section)
{
	static const size_t most = 1024;
	Elf64_Rela *relocations = xcalloc(most, sizeof(*relocations));
	uint64_t left = section->size / sizeof(*relocations), addr = section->obj_addr;
	struct cfi_code code;

	objfile_code(r->file, &code);
	while (left > 0) {
		size_t count = left < most ? (size_t)left : most;
		size_t size = count * sizeof(*relocations);

		if (!code.read(code.context, addr, (uint8_t *)relocations, size))
			break;
		plt_add_slots(r, relocations, count);
		addr += size;
		left -= count;
	}
	free(relocations);
}

/* Reads the relocations applied at load time, from .rela.plt and .rela.dyn. */
static void plt_read_slots(struct plt_reader *r)
{
	struct objfile_section section;

	for (uint32_t i = 1; objfile_section_header(r->file, i, &section); i++)
		if (section.type == SHT_RELA && (section.flags & SHF_ALLOC))
			plt_read_relocations(r, &section);
}

static const char *plt_symbol_name(const struct plt_reader *r, uint32_t index)
{
	Elf64_Sym sym;
	size_t off = (size_t)index * sizeof(sym);

	if (index == 0 || off + sizeof(sym) > r->symbols.size)
		return NULL;
	memcpy(&sym, r->symbols.bytes + off, sizeof(sym));
	if (sym.st_name >= r->string_size)
		return NULL;
	const char *name = (const char *)r->strings.bytes + sym.st_name;
	return name[0] ? name : NULL;
}

static size_t stub_size(
	const struct arch *arch, const struct objfile_section *section, const char *name)
{
	return strcmp(name, ".plt.got") == 0
		       ? arch->plt_got_stub_size(section->bytes, section->size)
		       : STUB_BYTES;
}

size_t plt_sections(struct objfile *file, struct plt_section *sections)
{
	struct objfile_section section;
	size_t count = 0;

	for (size_t i = 0; i < PLT_SECTION_MAX; i++) {
		if (objfile_section(file, section_names[i], &section))
			sections[count++] = (struct plt_section){
				section.obj_addr, section.obj_addr + section.size};
	}
	return count;
}

void plt_each(struct objfile *file,
	void (*found)(void *context, uint64_t obj_addr, uint64_t size, const char *name),
	void *context)
{
	struct plt_reader reader;
	struct objfile_section section;

	if (!plt_reader_open(&reader, file))
		return;
	plt_read_slots(&reader);
	for (size_t i = 0; i < PLT_SECTION_MAX; i++) {
		if (!objfile_section(file, section_names[i], &section) || section.bytes == NULL)
			continue;
		size_t step = stub_size(reader.arch, &section, section_names[i]);
		for (size_t off = 0; off + step <= section.size; off += step) {
			uint64_t slot, addr = section.obj_addr + off;
			uint32_t index;
			if (!reader.arch->plt_slot(section.bytes + off, step, addr, &slot) ||
				!map_get(&reader.slots, slot, 0, &index))
				continue;
			const char *name = plt_symbol_name(&reader, index);
			if (name)
				found(context, addr, step, name);
		}
	}
	map_deinit(&reader.slots);
}
