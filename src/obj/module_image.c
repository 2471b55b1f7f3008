/*
 * A kernel module is a relocatable file: its sections have no addresses until the kernel's loader
 * chooses them, and its symbols and debug information are relative to sections.  Here, a copy in
 * memory gets the addresses that its code had, as a linker would assign them, so that whoever reads
 * it needs to know nothing about modules.
 *
 * The loader places a module's sections of code one after another in the file's order, except
 * .init* ones, which have memory of their own that is freed later.  So the address of the first
 * byte implies all others, unless the processor's loader adds stubs between them.
 *
 * Sources: the kernel's kernel/module/main.c (layout_sections) and arch/x86/kernel/module.c; the
 * System V gABI, chapter 4 "Relocation"; libdwfl's relocate.c for what debug sections need.
 */
#include "obj/module_image.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "base/alloc.h"
#include "obj/objfile.h"

struct image {
	struct objfile *file;
	const struct arch *arch;
	struct strbuf *out; /* begins with the file's bytes */
	Elf64_Ehdr header;
	Elf64_Shdr *sections; /* [count] */
	size_t count;
	struct str names; /* of sections; ends in NUL, or is empty */
};

static struct error *malformed(const struct image *m)
{
	return error_new(
		ERROR_INPUT, "%s: the relocatable ELF file is malformed", objfile_name(m->file));
}

/* ---- reading ---- */

/* Whether count rows of a size are within the image. */
static bool has_rows(const struct image *m, uint64_t offset, uint64_t count, uint64_t size)
{
	return offset <= m->out->size && count <= (m->out->size - offset) / size;
}

static struct error *read_headers(struct image *m)
{
	Elf64_Shdr first;

	if (m->out->size < sizeof(m->header))
		return malformed(m);
	memcpy(&m->header, m->out->data, sizeof(m->header));
	if (m->header.e_shentsize != sizeof(first) ||
		!has_rows(m, m->header.e_shoff, 1, sizeof(first)))
		return malformed(m);
	memcpy(&first, m->out->data + m->header.e_shoff, sizeof(first));
	m->count = m->header.e_shnum ? m->header.e_shnum : first.sh_size;
	if (m->count == 0 || !has_rows(m, m->header.e_shoff, m->count, sizeof(first)))
		return malformed(m);
	m->sections = xcalloc(m->count, sizeof(first));
	memcpy(m->sections, m->out->data + m->header.e_shoff, m->count * sizeof(first));
	return NULL;
}

static void read_names(struct image *m)
{
	struct objfile_section section;
	uint32_t index =
		m->header.e_shstrndx == SHN_XINDEX ? m->sections[0].sh_link : m->header.e_shstrndx;

	if (objfile_section_at(m->file, index, &section) && section.bytes && section.size &&
		section.bytes[section.size - 1] == '\0')
		m->names = (struct str){(const char *)section.bytes, section.size};
}

static struct str section_name(const struct image *m, size_t i)
{
	uint32_t at = m->sections[i].sh_name;

	return at < m->names.size ? str_from(m->names.data + at) : STR("");
}

static bool is_code(const struct image *m, size_t i)
{
	const uint64_t flags = SHF_ALLOC | SHF_EXECINSTR;

	return (m->sections[i].sh_flags & flags) == flags;
}

static bool is_debug(const struct image *m, size_t i)
{
	return (m->sections[i].sh_flags & SHF_ALLOC) == 0 &&
	       m->sections[i].sh_type == SHT_PROGBITS &&
	       str_starts_with(section_name(m, i), STR(".debug_"));
}

/* ---- addresses ---- */

/* Places the sections that the marks name; returns how many. */
static size_t place_by_name(struct image *m, const struct kernel_mark *marks, size_t count)
{
	size_t placed = 0;

	for (size_t i = 1; i < m->count; i++) {
		for (size_t k = 0; k < count && is_code(m, i); k++) {
			if (!str_equal(marks[k].name, section_name(m, i)))
				continue;
			m->sections[i].sh_addr = marks[k].va;
			placed++;
			break;
		}
	}
	return placed;
}

/* Places all code in order; false: it does not fit into memory. */
static bool place_in_order(struct image *m, uint64_t va)
{
	for (size_t i = 1; i < m->count; i++) {
		Elf64_Shdr *sh = &m->sections[i];
		uint64_t low = sh->sh_addralign ? sh->sh_addralign - 1 : 0;

		if (!is_code(m, i) || str_starts_with(section_name(m, i), STR(".init")))
			continue;
		if ((low & (low + 1)) != 0 || __builtin_add_overflow(va, low, &va))
			return false;
		va &= ~low;
		sh->sh_addr = va;
		if (__builtin_add_overflow(va, sh->sh_size, &va))
			return false;
	}
	return true;
}

static struct error *place_sections(struct image *m, const struct kernel_mark *marks, size_t count)
{
	if (place_by_name(m, marks, count))
		return NULL;
	for (size_t k = 0; k < count; k++) {
		if (marks[k].name.size)
			continue;
		if (!m->arch->module_code_is_in_order)
			return error_new(ERROR_UNSUPPORTED,
				"the recording has only the start of the module's code, and %s "
				"modules are loaded with stubs in between",
				m->arch->name);
		return place_in_order(m, marks[k].va) ? NULL : malformed(m);
	}
	return error_new(ERROR_UNSUPPORTED, "the recording does not have the module's addresses");
}

/* ---- what depends on addresses ---- */

static void relocate_symbols(struct image *m, const Elf64_Shdr *table)
{
	uint64_t count = table->sh_size / sizeof(Elf64_Sym);

	for (uint64_t i = 0; i < count; i++) {
		char *at = m->out->data + table->sh_offset + i * sizeof(Elf64_Sym);
		Elf64_Sym symbol;

		memcpy(&symbol, at, sizeof(symbol));
		if (symbol.st_shndx < m->count)
			symbol.st_value += m->sections[symbol.st_shndx].sh_addr;
		memcpy(at, &symbol, sizeof(symbol));
	}
}

static struct error *relocate_all_symbols(struct image *m)
{
	for (size_t i = 1; i < m->count; i++) {
		const Elf64_Shdr *sh = &m->sections[i];

		if (sh->sh_type != SHT_SYMTAB)
			continue;
		if (!has_rows(m, sh->sh_offset, sh->sh_size, 1))
			return malformed(m);
		relocate_symbols(m, sh);
	}
	return NULL;
}

/* Puts the unpacked contents of a compressed section at the image's end. */
static void unpack_section(struct image *m, size_t i)
{
	struct objfile_section section;
	Elf64_Shdr *sh = &m->sections[i];

	if (!(sh->sh_flags & SHF_COMPRESSED) ||
		!objfile_section_at(m->file, (uint32_t)i, &section) || section.bytes == NULL)
		return;
	sh->sh_offset = m->out->size;
	sh->sh_size = section.size;
	sh->sh_flags &= ~(uint64_t)SHF_COMPRESSED;
	strbuf_add(m->out, (struct str){(const char *)section.bytes, section.size});
}

/* The symbol that a relocation refers to; false: a bad one, or defined elsewhere. */
static bool relocation_symbol(
	const struct image *m, const Elf64_Shdr *table, uint64_t number, Elf64_Sym *symbol)
{
	if (number >= table->sh_size / sizeof(*symbol))
		return false;
	memcpy(symbol, m->out->data + table->sh_offset + number * sizeof(*symbol), sizeof(*symbol));
	return symbol->st_shndx != SHN_UNDEF;
}

/* False: an unknown type. */
static bool relocate(struct image *m, const Elf64_Shdr *target, const Elf64_Shdr *symbols,
	const Elf64_Rela *rela)
{
	const struct arch *arch = m->arch;
	uint32_t type = ELF64_R_TYPE(rela->r_info);
	uint64_t size = type == arch->address_relocation  ? 8
			: type == arch->offset_relocation ? 4
							  : 0;
	Elf64_Sym symbol;

	if (size == 0)
		return false;
	if (rela->r_offset > target->sh_size || target->sh_size - rela->r_offset < size ||
		!relocation_symbol(m, symbols, ELF64_R_SYM(rela->r_info), &symbol))
		return true;
	uint64_t value = symbol.st_value + (uint64_t)rela->r_addend;
	memcpy(m->out->data + target->sh_offset + rela->r_offset, &value, size);
	return true;
}

/* Applies a section of relocations, if it is for a debug section. */
static struct error *relocate_section(struct image *m, const Elf64_Shdr *sh)
{
	if (sh->sh_info >= m->count || sh->sh_link >= m->count || !is_debug(m, sh->sh_info))
		return NULL;
	const Elf64_Shdr *target = &m->sections[sh->sh_info], *symbols = &m->sections[sh->sh_link];
	if (symbols->sh_type != SHT_SYMTAB || !has_rows(m, sh->sh_offset, sh->sh_size, 1) ||
		!has_rows(m, target->sh_offset, target->sh_size, 1))
		return malformed(m);
	for (uint64_t i = 0; i < sh->sh_size / sizeof(Elf64_Rela); i++) {
		Elf64_Rela rela;

		memcpy(&rela, m->out->data + sh->sh_offset + i * sizeof(rela), sizeof(rela));
		if (!relocate(m, target, symbols, &rela))
			return error_new(ERROR_UNSUPPORTED,
				"%s: a relocation of an unknown type, %u, in debug information",
				objfile_name(m->file), (unsigned int)ELF64_R_TYPE(rela.r_info));
	}
	return NULL;
}

static struct error *relocate_debug_sections(struct image *m)
{
	struct error *err = NULL;

	for (size_t i = 1; i < m->count; i++)
		if (is_debug(m, i))
			unpack_section(m, i);
	for (size_t i = 1; i < m->count && err == NULL; i++)
		if (m->sections[i].sh_type == SHT_RELA)
			err = relocate_section(m, &m->sections[i]);
	return err;
}

/* ---- writing ---- */

/* Adds a segment for each placed section of code: readers look for code in segments. */
static void add_segments(struct image *m)
{
	strbuf_add(m->out, (struct str){"\0\0\0\0\0\0\0", -m->out->size & 7});
	m->header.e_phoff = m->out->size;
	m->header.e_phentsize = sizeof(Elf64_Phdr);
	m->header.e_phnum = 0;
	for (size_t i = 1; i < m->count && m->header.e_phnum < PN_XNUM - 1; i++) {
		const Elf64_Shdr *sh = &m->sections[i];

		if (!is_code(m, i) || sh->sh_addr == 0)
			continue;
		Elf64_Phdr ph = {.p_type = PT_LOAD,
			.p_flags = PF_R | PF_X,
			.p_offset = sh->sh_offset,
			.p_vaddr = sh->sh_addr,
			.p_filesz = sh->sh_type == SHT_NOBITS ? 0 : sh->sh_size,
			.p_memsz = sh->sh_size};
		strbuf_add(m->out, (struct str){(const char *)&ph, sizeof(ph)});
		m->header.e_phnum++;
	}
}

static void write_headers(struct image *m)
{
	m->header.e_type = ET_DYN;
	memcpy(m->out->data, &m->header, sizeof(m->header));
	memcpy(m->out->data + m->header.e_shoff, m->sections, m->count * sizeof(*m->sections));
}

static struct error *make(struct image *m, const struct kernel_mark *marks, size_t count)
{
	struct error *err = read_headers(m);

	if (err)
		return err;
	read_names(m);
	err = place_sections(m, marks, count);
	if (err == NULL)
		err = relocate_all_symbols(m);
	if (err == NULL)
		err = relocate_debug_sections(m);
	if (err)
		return err;
	add_segments(m);
	write_headers(m);
	return NULL;
}

struct error *module_image_make(struct objfile *file, struct str bytes,
	const struct kernel_mark *marks, size_t count, struct strbuf *out)
{
	struct image m = {.file = file, .arch = arch_of_machine(objfile_machine(file)), .out = out};

	if (m.arch == NULL)
		return error_new(ERROR_UNSUPPORTED, "%s: a module for an unknown processor",
			objfile_name(file));
	strbuf_add(out, bytes);
	struct error *err = make(&m, marks, count);

	free(m.sections);
	return err;
}
