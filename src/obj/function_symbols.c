/*
 * Symbol tables as gprof reads them.
 *
 * Every symbol in an executable section is a function, including untyped ones, but not ifuncs, as
 * no time is spent in their resolver under that name.  Among several at one address, a strong
 * global one is preferred to local and weak ones, then one without a leading underscore, then one
 * without a second underscore, then a typed one, then the first.  A function ends where the next
 * begins, so that code without a symbol (PLT stubs, padding) belongs to the function before it; the
 * last one ends with its section.
 *
 * gprof ignores local symbols with a dot and a word in their name, so parts that GCC splits off a
 * function (f.part.0, f.isra.0, f.cold) belong to the function before them.  Here they are
 * functions.
 *
 * Sources: the System V gABI, chapter 4; the gprof manual, "Implementation"; the output of GNU
 * gprof 2.40.
 */
#include "obj/function_symbols.h"

#include <elf.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/search.h"
#include "base/sort.h"
#include "base/vec.h"
#include "base/word.h"
#include "obj/objfile.h"

struct candidate {
	uint64_t addr;
	uint64_t limit; /* the end of its section */
	const char *name;
	bool is_strong; /* global, not weak */
	bool is_typed;
};

struct function_symbols {
	VEC(struct candidate) all;
	VEC(struct function_symbol) functions;
};

/* A symbol table and the sections it refers to. */
struct table {
	struct objfile *file;
	struct objfile_section symbols;
	const char *strings; /* up to and including its last NUL */
	size_t string_size;
	bool is_64bit, is_big_endian;
};

/* A symbol of either class. */
struct symbol_row {
	uint64_t name, value;
	unsigned int info, section;
};

static uint64_t field(const struct table *t, size_t row, size_t offset, size_t size)
{
	return word_read(t->symbols.bytes + row + offset, size, t->is_big_endian);
}

static struct symbol_row read_row(const struct table *t, size_t at)
{
	if (t->is_64bit)
		return (struct symbol_row){
			.name = field(t, at, offsetof(Elf64_Sym, st_name), 4),
			.value = field(t, at, offsetof(Elf64_Sym, st_value), 8),
			.info = t->symbols.bytes[at + offsetof(Elf64_Sym, st_info)],
			.section = (unsigned int)field(t, at, offsetof(Elf64_Sym, st_shndx), 2),
		};
	return (struct symbol_row){
		.name = field(t, at, offsetof(Elf32_Sym, st_name), 4),
		.value = field(t, at, offsetof(Elf32_Sym, st_value), 4),
		.info = t->symbols.bytes[at + offsetof(Elf32_Sym, st_info)],
		.section = (unsigned int)field(t, at, offsetof(Elf32_Sym, st_shndx), 2),
	};
}

static bool table_open(struct table *t, struct objfile *file)
{
	struct objfile_section strings;

	*t = (struct table){.file = file,
		.is_64bit = objfile_is_64bit(file),
		.is_big_endian = objfile_is_big_endian(file)};
	if (!objfile_section_of_type(file, SHT_SYMTAB, &t->symbols) || t->symbols.bytes == NULL)
		return false;
	if (!objfile_section_at(file, t->symbols.link, &strings) || strings.bytes == NULL)
		return false;
	const char *last_nul = memrchr(strings.bytes, '\0', strings.size);
	if (last_nul == NULL)
		return false;
	t->strings = (const char *)strings.bytes;
	t->string_size = (size_t)(last_nul - t->strings) + 1;
	return true;
}

/* Labels that assemblers make for themselves, and the marks between code and data ($x, $d). */
static bool name_is_label(const char *name)
{
	return name[0] == '\0' || name[0] == '$' || (name[0] == '.' && name[1] == 'L');
}

static void add_row(struct function_symbols *s, const struct table *t, const struct symbol_row *row)
{
	unsigned int type = ELF64_ST_TYPE(row->info), bind = ELF64_ST_BIND(row->info);
	struct objfile_section section;

	if (type != STT_FUNC && type != STT_NOTYPE)
		return;
	if (row->section == SHN_UNDEF || row->section >= SHN_LORESERVE ||
		row->name >= t->string_size || name_is_label(t->strings + row->name))
		return;
	if (!objfile_section_header(t->file, row->section, &section) ||
		!(section.flags & SHF_EXECINSTR))
		return;
	/* No function begins at the last address, as nothing could follow. */
	uint64_t limit;
	if (__builtin_add_overflow(section.obj_addr, section.size, &limit))
		limit = UINT64_MAX;
	if (row->value < section.obj_addr || row->value >= limit)
		return;
	vec_push(&s->all, (struct candidate){.addr = row->value,
				  .limit = limit,
				  .name = t->strings + row->name,
				  .is_strong = bind == STB_GLOBAL,
				  .is_typed = type == STT_FUNC});
}

static void read_table(struct function_symbols *s, const struct table *t)
{
	size_t size = t->is_64bit ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);

	for (size_t at = 0; t->symbols.size - at >= size; at += size) {
		struct symbol_row row = read_row(t, at);
		add_row(s, t, &row);
	}
}

/* Whether b's name is preferred to a's at the same address. */
static bool is_better(const struct candidate *b, const struct candidate *a)
{
	if (b->is_strong != a->is_strong)
		return b->is_strong;
	if ((b->name[0] == '_') != (a->name[0] == '_'))
		return a->name[0] == '_';
	bool second_a = a->name[0] && a->name[1] == '_';
	bool second_b = b->name[0] && b->name[1] == '_';
	if (second_a != second_b)
		return second_a;
	return b->is_typed && !a->is_typed;
}

/* Ends the last function at the start of another or at the end of its section. */
static void end_last(struct function_symbols *s, uint64_t end)
{
	if (s->functions.count)
		s->functions.data[s->functions.count - 1].high = end;
}

static void choose(struct function_symbols *s)
{
	struct sort_item *items = xcalloc(s->all.count, sizeof(*items));
	uint64_t limit = 0;

	for (size_t i = 0; i < s->all.count; i++)
		items[i] = (struct sort_item){s->all.data[i].addr, (uint32_t)i};
	sort_items(items, s->all.count);
	for (size_t i = 0, next; i < s->all.count; i = next) {
		const struct candidate *best = &s->all.data[items[i].index];
		for (next = i + 1; next < s->all.count && items[next].key == items[i].key; next++)
			if (is_better(&s->all.data[items[next].index], best))
				best = &s->all.data[items[next].index];
		end_last(s, best->addr);
		vec_push(&s->functions,
			(struct function_symbol){.low = best->addr, .name = str_from(best->name)});
		limit = best->limit;
	}
	end_last(s, limit);
	free(items);
}

struct error *function_symbols_create(
	struct objfile *file, struct objfile *debug, struct function_symbols **symbols)
{
	struct function_symbols *s = xalloc(sizeof(*s));
	struct table table;

	if (table_open(&table, file) || (debug && table_open(&table, debug)))
		read_table(s, &table);
	choose(s);
	if (s->functions.count) {
		*symbols = s;
		return NULL;
	}
	function_symbols_destroy(s);
	return error_new(
		ERROR_INPUT, "%s: has no symbol table; was it stripped?", objfile_name(file));
}

void function_symbols_destroy(struct function_symbols *s)
{
	if (s == NULL)
		return;
	vec_deinit(&s->all);
	vec_deinit(&s->functions);
	free(s);
}

size_t function_symbols_count(const struct function_symbols *s)
{
	return s->functions.count;
}

struct function_symbol function_symbols_at(const struct function_symbols *s, size_t i)
{
	return s->functions.data[i];
}

size_t function_symbols_from(const struct function_symbols *s, uint64_t obj_addr)
{
	return partition_point(i, 0, s->functions.count, s->functions.data[i].high <= obj_addr);
}

bool function_symbols_find(const struct function_symbols *s, uint64_t obj_addr, size_t *index)
{
	size_t i = function_symbols_from(s, obj_addr);

	if (i == s->functions.count || obj_addr < s->functions.data[i].low)
		return false;
	*index = i;
	return true;
}
