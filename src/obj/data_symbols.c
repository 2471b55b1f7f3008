/*
 * Symbols of type STT_OBJECT: gABI, "Symbol Table".  Thread-local ones (STT_TLS) count in another
 * way and are not looked at.  Of several that hold an address the smallest counts, and of equal
 * ones the first.
 */
#include "obj/data_symbols.h"

#include <elf.h>
#include <string.h>

#include "obj/objfile.h"

/* The names of a table, which end in NUL; false: it has none. */
static bool read_names(
	struct objfile *file, const struct objfile_section *symbols, struct str *names)
{
	struct objfile_section strings;

	if (!objfile_section_at(file, symbols->link, &strings) || strings.bytes == NULL)
		return false;
	*names = (struct str){(const char *)strings.bytes, strings.size};
	return strings.size > 0 && names->data[names->size - 1] == '\0';
}

static bool find_in(
	struct objfile *file, uint32_t section_type, uint64_t obj_addr, struct data_symbol *symbol)
{
	struct objfile_section symbols;
	uint64_t least = UINT64_MAX;
	struct str names;

	if (!objfile_section_of_type(file, section_type, &symbols) || symbols.bytes == NULL ||
		!read_names(file, &symbols, &names))
		return false;
	for (size_t off = 0; off + sizeof(Elf64_Sym) <= symbols.size; off += sizeof(Elf64_Sym)) {
		Elf64_Sym sym;

		memcpy(&sym, symbols.bytes + off, sizeof(sym));
		if (ELF64_ST_TYPE(sym.st_info) != STT_OBJECT || sym.st_shndx == SHN_UNDEF ||
			obj_addr < sym.st_value || obj_addr - sym.st_value >= sym.st_size ||
			sym.st_size >= least || sym.st_name >= names.size ||
			names.data[sym.st_name] == '\0')
			continue;
		least = sym.st_size;
		*symbol = (struct data_symbol){sym.st_value, str_from(names.data + sym.st_name)};
	}
	return least != UINT64_MAX;
}

bool data_symbol_find(struct objfile *object, struct objfile *debug, uint64_t obj_addr,
	struct data_symbol *symbol)
{
	return find_in(object, SHT_SYMTAB, obj_addr, symbol) ||
	       (debug && find_in(debug, SHT_SYMTAB, obj_addr, symbol)) ||
	       find_in(object, SHT_DYNSYM, obj_addr, symbol);
}
