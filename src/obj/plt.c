/*
 * PLT stubs, by decoding.  Counting entries of .rela.plt goes wrong with the second tables that
 * linkers make (.plt.sec, .plt.got); every x86-64 stub though holds one `jmp *disp(%rip)`, and the
 * slot it reads has a relocation with a symbol.
 *
 * Source: x86-64 psABI sections 5.2 "Dynamic Linking" and 13 (IBT); IA SDM volume 2 for the bytes.
 */
#include "obj/plt.h"

#include <elf.h>
#include <string.h>

#include "base/map.h"
#include "obj/objfile.h"

#define STUB_BYTES 16 /* .plt.got without IBT has stubs of 8 */

static const char *const section_names[PLT_SECTION_MAX] = {".plt", ".plt.sec", ".plt.got"};

struct plt_reader {
	struct objfile *file;
	struct map slots; /* of the GOT: obj_addr → index of the symbol in .dynsym */
	struct objfile_section symbols, strings;
	size_t string_size; /* up to and including the last NUL */
};

static bool plt_reader_open(struct plt_reader *r, struct objfile *file)
{
	*r = (struct plt_reader){.file = file};
	if (objfile_machine(file) != EM_X86_64)
		return false;
	if (!objfile_section_of_type(file, SHT_DYNSYM, &r->symbols) || r->symbols.bytes == NULL)
		return false;
	if (!objfile_section_at(file, r->symbols.link, &r->strings) || r->strings.bytes == NULL)
		return false;
	const uint8_t *nul = memrchr(r->strings.bytes, 0, r->strings.size);
	r->string_size = nul ? (size_t)(nul - r->strings.bytes) + 1 : 0;
	return true;
}

static void plt_read_slots(struct plt_reader *r, const char *section_name)
{
	struct objfile_section section;
	Elf64_Rela rela;

	if (!objfile_section(r->file, section_name, &section) || section.bytes == NULL)
		return;
	for (size_t off = 0; off + sizeof(rela) <= section.size; off += sizeof(rela)) {
		memcpy(&rela, section.bytes + off, sizeof(rela));
		uint32_t type = (uint32_t)ELF64_R_TYPE(rela.r_info);
		if (type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT)
			map_put(&r->slots, rela.r_offset, 0, (uint32_t)ELF64_R_SYM(rela.r_info));
	}
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

/* The address of the slot that a stub jumps through; false if there is no such jump. */
static bool stub_slot(const uint8_t *code, size_t size, uint64_t obj_addr, uint64_t *slot)
{
	/* An endbr64 or a bnd prefix, or both, may come before ff 25. */
	for (size_t i = 0; i + 6 <= size; i++) {
		if (code[i] != 0xff || code[i + 1] != 0x25)
			continue;
		int32_t disp;
		memcpy(&disp, code + i + 2, sizeof(disp));
		*slot = obj_addr + i + 6 + (uint64_t)(int64_t)disp;
		return true;
	}
	return false;
}

/* Stubs of .plt.got are 8 bytes unless they begin with endbr64. */
static size_t stub_size(const struct objfile_section *section, const char *name)
{
	static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};

	if (strcmp(name, ".plt.got") != 0)
		return STUB_BYTES;
	if (section->size >= 4 && memcmp(section->bytes, endbr64, 4) == 0)
		return STUB_BYTES;
	return STUB_BYTES / 2;
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
	plt_read_slots(&reader, ".rela.plt");
	plt_read_slots(&reader, ".rela.dyn");
	for (size_t i = 0; i < PLT_SECTION_MAX; i++) {
		if (!objfile_section(file, section_names[i], &section) || section.bytes == NULL)
			continue;
		size_t step = stub_size(&section, section_names[i]);
		for (size_t off = 0; off + step <= section.size; off += step) {
			uint64_t slot, addr = section.obj_addr + off;
			uint32_t index;
			if (!stub_slot(section.bytes + off, step, addr, &slot) ||
				!map_get(&reader.slots, slot, 0, &index))
				continue;
			const char *name = plt_symbol_name(&reader, index);
			if (name)
				found(context, addr, step, name);
		}
	}
	map_deinit(&reader.slots);
}
