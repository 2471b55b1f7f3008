/*
 * Symbols of type STT_OBJECT: gABI, "Symbol Table". Thread-local ones (STT_TLS) use different
 * addresses and are ignored.
 *
 * Variables hardly ever nest, so the one that contains an address is among the few that begin right
 * before it.
 */
#include "obj/data_symbols.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/sort.h"
#include "obj/objfile.h"

/* At most this many symbols that begin before an address are examined. */
#define NESTED_MAX 8

/* Reads the names of a table; false: there are none that end in NUL. */
static bool read_names(
	struct objfile *file, const struct objfile_section *symbols, struct str *names)
{
	struct objfile_section strings;

	if (!objfile_section_at(file, symbols->link, &strings) || strings.bytes == NULL)
		return false;
	*names = (struct str){(const char *)strings.bytes, strings.size};
	return strings.size > 0 && names->data[names->size - 1] == '\0';
}

static void add(struct data_symbols *symbols, const Elf64_Sym *sym, struct str names)
{
	uint64_t high;

	if (ELF64_ST_TYPE(sym->st_info) != STT_OBJECT || sym->st_shndx == SHN_UNDEF ||
		sym->st_size == 0 || sym->st_name >= names.size ||
		names.data[sym->st_name] == '\0' ||
		__builtin_add_overflow(sym->st_value, sym->st_size, &high))
		return;
	vec_push(&symbols->rows,
		(struct data_symbol){sym->st_value, high, str_from(names.data + sym->st_name)});
}

/* Reads the first table of that type. */
static void read_table(struct data_symbols *symbols, struct objfile *file, uint32_t section_type)
{
	struct objfile_section section;
	struct str names;

	if (!objfile_section_of_type(file, section_type, &section) || section.bytes == NULL ||
		!read_names(file, &section, &names))
		return;
	for (size_t off = 0; off + sizeof(Elf64_Sym) <= section.size; off += sizeof(Elf64_Sym)) {
		Elf64_Sym sym;

		memcpy(&sym, section.bytes + off, sizeof(sym));
		add(symbols, &sym, names);
	}
}

static int compare(const void *a, const void *b, void *context)
{
	const struct data_symbol *x = a, *y = b;

	(void)context;
	return COMPARE(x->low, y->low) ?: COMPARE(x->high, y->high);
}

void data_symbols_init(struct data_symbols *symbols, struct objfile *object, struct objfile *debug)
{
	*symbols = (struct data_symbols){0};
	read_table(symbols, object, SHT_SYMTAB);
	if (symbols->rows.count == 0 && debug)
		read_table(symbols, debug, SHT_SYMTAB);
	if (symbols->rows.count == 0)
		read_table(symbols, object, SHT_DYNSYM);
	if (symbols->rows.count)
		qsort_r(symbols->rows.data, symbols->rows.count, sizeof(*symbols->rows.data),
			compare, NULL);
}

void data_symbols_deinit(struct data_symbols *symbols)
{
	vec_deinit(&symbols->rows);
}

const struct data_symbol *data_symbols_find(const struct data_symbols *symbols, uint64_t obj_addr)
{
	size_t after =
		partition_point(i, 0, symbols->rows.count, symbols->rows.data[i].low <= obj_addr);

	for (size_t i = after; i > 0 && after - i < NESTED_MAX; i--)
		if (obj_addr < symbols->rows.data[i - 1].high)
			return &symbols->rows.data[i - 1];
	return NULL;
}
