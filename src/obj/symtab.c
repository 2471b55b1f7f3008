/*
 * Turns symbol tables into a flat table of names by address.
 *
 * Which symbols count: functions (STT_FUNC, STT_GNU_IFUNC), and untyped ones in executable sections
 * (hand-written assembly).  Among several at one address, the best name is kept, by alias_compare.
 * A symbol of size 0 is dropped inside a sized one, where it is a label.  Else it extends to the
 * next one, or to the next function in the unwind rules, as nameless functions after it are
 * separate: assemblers keep no symbols of local labels, and a stripped file has those of exported
 * functions only.  Without rules, as the C library's frame_dummy, which the program's own code
 * follows, a symbol covers the code that can be reached from it.
 *
 * A stripped Go program still has the table of its runtime.
 *
 * Sources: the System V gABI, chapter 4 "Symbol Table"; the x86-64 psABI for PLT relocations.
 */
#include "obj/symtab.h"

#include <assert.h>
#include <elf.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/search.h"
#include "base/sort.h"
#include "base/vec.h"
#include "obj/function_starts.h"
#include "obj/go_functions.h"
#include "obj/minidebug.h"
#include "obj/objfile.h"
#include "obj/plt.h"
#include "obj/range_table.h"

enum symbol_type { SYMBOL_UNTYPED, SYMBOL_FUNCTION };

struct candidate {
	uint64_t addr, size;
	uint64_t limit; /* the end of its section */
	const char *name;
	const char *file; /* of a local symbol: the source file's name; NULL: not known */
	enum symbol_type type;
	bool is_global, is_plt;
	bool is_twin; /* another local symbol at another address has its name */
};

struct symtab {
	VEC(struct candidate) candidates;
	struct sort_item *by_addr; /* [candidates.count] */
	struct range_table ranges; /* value: index of the candidate */
	struct minidebug *minidebug;
	struct function_starts *starts; /* NULL: not needed yet */
	bool is_full;
};

/* What the reader of one symbol table needs to know about a section. */
struct section_facts {
	bool known, executable;
	uint64_t low, high;
};

struct table_reader {
	struct symtab *table;
	struct objfile *file;
	const char *strings; /* up to and including its last NUL */
	size_t string_size;
	const char *source_file;	    /* of the local symbols that follow; NULL: not known */
	VEC(struct section_facts) sections; /* by number, filled on demand */
};

/* Section numbers of symbols go to SHN_LORESERVE; files have some dozens. */
static const struct section_facts *reader_section(struct table_reader *r, uint32_t index)
{
	while (r->sections.count <= index)
		vec_push(&r->sections, (struct section_facts){0});
	struct section_facts *facts = &r->sections.data[index];
	if (facts->known)
		return facts;
	facts->known = true;
	struct objfile_section section;
	if (!objfile_section_header(r->file, index, &section))
		return facts;
	facts->executable = (section.flags & SHF_EXECINSTR) != 0;
	facts->low = section.obj_addr;
	if (__builtin_add_overflow(section.obj_addr, section.size, &facts->high))
		facts->high = UINT64_MAX;
	return facts;
}

/* Labels that assemblers make for themselves, and the marks between code and data ($x, $d). */
static bool name_is_label(const char *name)
{
	return name[0] == '\0' || name[0] == '$' || (name[0] == '.' && name[1] == 'L');
}

static void reader_add(struct table_reader *r, const Elf64_Sym *sym)
{
	unsigned int type = ELF64_ST_TYPE(sym->st_info);
	bool is_function = type == STT_FUNC || type == STT_GNU_IFUNC;

	if (type == STT_FILE && sym->st_name < r->string_size)
		r->source_file = r->strings[sym->st_name] ? r->strings + sym->st_name : NULL;
	if (!is_function && type != STT_NOTYPE)
		return;
	if (sym->st_shndx == SHN_UNDEF || sym->st_shndx >= SHN_LORESERVE)
		return;
	if (sym->st_name >= r->string_size || name_is_label(r->strings + sym->st_name))
		return;
	const struct section_facts *section = reader_section(r, sym->st_shndx);
	if (!section->executable || sym->st_value < section->low || sym->st_value >= section->high)
		return;
	vec_push(&r->table->candidates,
		(struct candidate){
			.addr = sym->st_value,
			.size = sym->st_size,
			.limit = section->high,
			.name = r->strings + sym->st_name,
			.file = ELF64_ST_BIND(sym->st_info) == STB_LOCAL ? r->source_file : NULL,
			.type = is_function ? SYMBOL_FUNCTION : SYMBOL_UNTYPED,
			.is_global = ELF64_ST_BIND(sym->st_info) != STB_LOCAL,
		});
}

/* Reads the first table of that type; false if there is none. */
static bool symtab_read(struct symtab *t, struct objfile *file, uint32_t section_type)
{
	struct objfile_section symbols, strings;
	struct table_reader reader = {.table = t, .file = file};

	if (!objfile_section_of_type(file, section_type, &symbols) || symbols.bytes == NULL)
		return false;
	if (!objfile_section_at(file, symbols.link, &strings) || strings.bytes == NULL)
		return false;
	const char *last_nul = memrchr(strings.bytes, '\0', strings.size);
	if (last_nul == NULL)
		return false;
	reader.strings = (const char *)strings.bytes;
	reader.string_size = (size_t)(last_nul - reader.strings) + 1;
	for (size_t off = 0; off + sizeof(Elf64_Sym) <= symbols.size; off += sizeof(Elf64_Sym)) {
		Elf64_Sym sym;
		memcpy(&sym, symbols.bytes + off, sizeof(sym));
		reader_add(&reader, &sym);
	}
	vec_deinit(&reader.sections);
	return true;
}

static void symtab_add_plt(void *context, uint64_t obj_addr, uint64_t size, const char *name)
{
	struct symtab *t = context;

	vec_push(&t->candidates, (struct candidate){.addr = obj_addr,
					 .size = size,
					 .limit = UINT64_MAX,
					 .name = name,
					 .type = SYMBOL_FUNCTION,
					 .is_plt = true});
}

static void symtab_add_go(void *context, uint64_t low, uint64_t high, const char *name)
{
	struct symtab *t = context;

	vec_push(&t->candidates, (struct candidate){.addr = low,
					 .size = high - low,
					 .limit = UINT64_MAX,
					 .name = name,
					 .type = SYMBOL_FUNCTION,
					 .is_global = true});
}

/* Order of names for people: reserved aliases, as glibc's __libc_malloc or _IO_puts, come last. */
static int name_compare(const char *a, const char *b)
{
	size_t underscores_a = strspn(a, "_"), underscores_b = strspn(b, "_");

	if (underscores_a != underscores_b)
		return underscores_a < underscores_b ? -1 : 1;
	size_t size_a = strlen(a), size_b = strlen(b);
	if (size_a != size_b)
		return size_a < size_b ? -1 : 1;
	return strcmp(a, b);
}

/* Order of aliases, the best first: typed, sized, global, then the plainest name. */
static int alias_compare(const struct candidate *a, const struct candidate *b)
{
	if (a->is_plt != b->is_plt)
		return a->is_plt ? 1 : -1;
	if (a->type != b->type)
		return a->type > b->type ? -1 : 1;
	if ((a->size == 0) != (b->size == 0))
		return a->size ? -1 : 1;
	if (a->is_global != b->is_global)
		return a->is_global ? -1 : 1;
	return name_compare(a->name, b->name);
}

/* The end of the function of a symbol without size, at most high. */
static uint64_t function_end(struct symtab *t, struct objfile *object, uint64_t addr, uint64_t high)
{
	if (t->starts == NULL)
		t->starts = t->is_full ? function_starts_create_from_rules(object)
				       : function_starts_create(object);
	if (t->is_full)
		return function_starts_end_of(t->starts, addr, high);
	uint64_t start = function_starts_after(t->starts, addr);
	return start < high ? start : high;
}

/*
 * The end of the best candidate at its address; 0 if it is only a label.  next_addr: the address of
 * the next candidate.
 */
static uint64_t candidate_end(struct symtab *t, struct objfile *object, const struct candidate *c,
	uint64_t next_addr, uint64_t sized_until)
{
	uint64_t end;

	if (c->size) {
		if (__builtin_add_overflow(c->addr, c->size, &end) || end > c->limit)
			end = c->limit;
		return end;
	}
	if (c->addr < sized_until)
		return 0;
	end = next_addr < c->limit ? next_addr : c->limit;
	return function_end(t, object, c->addr, end);
}

/* Sorts pointers to the candidates by address. */
static void symtab_sort(struct symtab *t)
{
	t->by_addr = xcalloc(t->candidates.count ? t->candidates.count : 1, sizeof(*t->by_addr));
	for (size_t i = 0; i < t->candidates.count; i++)
		t->by_addr[i] = (struct sort_item){t->candidates.data[i].addr, (uint32_t)i};
	sort_items(t->by_addr, t->candidates.count);
}

/* The best candidate at the address of number first; *next: the first at the next address. */
static uint32_t best_candidate(
	const struct symtab *t, const struct sort_item *items, size_t first, size_t *next)
{
	const struct candidate *candidates = t->candidates.data;
	uint32_t best = items[first].index;
	size_t i = first + 1;

	for (; i < t->candidates.count && items[i].key == items[first].key; i++)
		if (alias_compare(&candidates[items[i].index], &candidates[best]) < 0)
			best = items[i].index;
	*next = i;
	return best;
}

/* Marks items[count], local symbols of one name, if they are at several addresses. */
static void mark_twins(struct symtab *t, const struct sort_item *items, size_t count)
{
	struct candidate *candidates = t->candidates.data;
	struct sort_item *files = xcalloc(count, sizeof(*files));
	const struct candidate *first = &candidates[items[0].index];
	bool are_twins = false, are_alike = false;

	for (size_t i = 0; i < count; i++) {
		const struct candidate *c = &candidates[items[i].index];
		const char *file = c->file ? c->file : "";

		if (strcmp(c->name, first->name) != 0) {
			free(files);
			return;
		}
		are_twins |= c->addr != first->addr;
		are_alike |= c->file == NULL;
		files[i] = (struct sort_item){hash_bytes(file, strlen(file)), items[i].index};
	}
	sort_items(files, count);
	for (size_t i = 1; i < count; i++)
		are_alike |= files[i].key == files[i - 1].key;
	for (size_t i = 0; are_twins && i < count; i++) {
		candidates[items[i].index].is_twin = true;
		if (are_alike)
			candidates[items[i].index].file = NULL;
	}
	free(files);
}

/* Static functions of several files may have one name. */
static void find_twins(struct symtab *t)
{
	struct sort_item *items = xcalloc(t->candidates.count + 1, sizeof(*items));
	size_t count = 0, next;

	for (size_t i = 0; i < t->candidates.count; i++) {
		const struct candidate *c = &t->candidates.data[i];
		if (!c->is_global && !c->is_plt && c->type == SYMBOL_FUNCTION)
			items[count++] = (struct sort_item){
				hash_bytes(c->name, strlen(c->name)), (uint32_t)i};
	}
	sort_items(items, count);
	for (size_t i = 0; i < count; i = next) {
		for (next = i + 1; next < count && items[next].key == items[i].key; next++)
			continue;
		if (next > i + 1)
			mark_twins(t, items + i, next - i);
	}
	free(items);
}

static void symtab_flatten(struct symtab *t, struct objfile *object)
{
	uint64_t sized_until = 0;
	size_t next;

	symtab_sort(t);
	const struct sort_item *items = t->by_addr;
	for (size_t i = 0; i < t->candidates.count; i = next) {
		uint32_t best = best_candidate(t, items, i, &next);
		const struct candidate *c = &t->candidates.data[best];
		uint64_t next_addr = next < t->candidates.count ? items[next].key : UINT64_MAX;
		uint64_t end = candidate_end(t, object, c, next_addr, sized_until);

		if (c->size && end > sized_until)
			sized_until = end;
		/* Of nested ranges, the inner one begins later, so it has the higher rank. */
		range_table_add(&t->ranges,
			(struct range){c->addr, end, .rank = (uint32_t)i, .value = best});
	}
	range_table_flatten(&t->ranges);
}

struct symtab *symtab_create(struct objfile *object, struct objfile *debug)
{
	struct symtab *t = xalloc(sizeof(*t));

	t->is_full =
		symtab_read(t, object, SHT_SYMTAB) || (debug && symtab_read(t, debug, SHT_SYMTAB));
	if (!t->is_full) {
		t->minidebug = minidebug_open(object);
		t->is_full =
			t->minidebug && symtab_read(t, minidebug_objfile(t->minidebug), SHT_SYMTAB);
		symtab_read(t, object, SHT_DYNSYM);
		t->is_full |= go_functions_each(object, symtab_add_go, t);
	}
	find_twins(t);
	plt_each(object, symtab_add_plt, t);
	symtab_flatten(t, object);
	return t;
}

void symtab_destroy(struct symtab *t)
{
	if (t == NULL)
		return;
	vec_deinit(&t->candidates);
	free(t->by_addr);
	range_table_deinit(&t->ranges);
	function_starts_destroy(t->starts);
	minidebug_close(t->minidebug);
	free(t);
}

bool symtab_is_full(const struct symtab *t)
{
	return t->is_full;
}

size_t symtab_count(const struct symtab *t)
{
	return t->ranges.count;
}

/* "write@@GLIBC_2.2.5" becomes "write"; a name may begin with '@'. */
static struct str name_without_version(const char *name)
{
	assert(name[0]); /* readers skip empty names */
	const char *at = strchr(name + 1, '@');
	return (struct str){name, at ? (size_t)(at - name) : strlen(name)};
}

/*
 * "sort.__part.3", as clang names the pieces of a function whose blocks it lays out one by one,
 * becomes "sort".
 */
static struct str name_of_whole(struct str name)
{
	static const struct str mark = {".__part.", 8};
	size_t size = name.size;

	while (size && name.data[size - 1] >= '0' && name.data[size - 1] <= '9')
		size--;
	struct str head = {name.data, size};
	if (size < name.size && str_ends_with(head, mark) && head.size > mark.size)
		name.size = head.size - mark.size;
	return name;
}

static struct str shown_name(const char *name)
{
	return name_of_whole(name_without_version(name));
}

struct symbol symtab_at(const struct symtab *t, size_t i)
{
	const struct range *range = &t->ranges.data[i];
	const struct candidate *c = &t->candidates.data[range->value];

	return (struct symbol){.low = range->low,
		.high = range->high,
		.name = shown_name(c->name),
		.is_plt = c->is_plt,
		.is_twin = c->is_twin,
		.file = c->file,
		.start = c->addr};
}

bool symtab_find(const struct symtab *t, uint64_t obj_addr, struct symbol *symbol)
{
	const struct range *range = range_table_find(&t->ranges, obj_addr);

	if (range == NULL)
		return false;
	*symbol = symtab_at(t, (size_t)(range - t->ranges.data));
	return true;
}

uint64_t symtab_end_before(const struct symtab *t, uint64_t obj_addr)
{
	size_t next = partition_point(i, 0, t->ranges.count, t->ranges.data[i].high <= obj_addr);

	return next ? t->ranges.data[next - 1].high : 0;
}

/* The first candidate at or after the address. */
static size_t first_at(const struct symtab *t, uint64_t addr)
{
	return partition_point(i, (size_t)0, t->candidates.count, t->by_addr[i].key < addr);
}

/* The candidates at the start of the range's function: [*first, the result). */
static size_t namesakes(const struct symtab *t, const struct range *range, size_t *first)
{
	uint64_t addr = t->candidates.data[range->value].addr;

	*first = first_at(t, addr);
	return addr == UINT64_MAX ? t->candidates.count : first_at(t, addr + 1);
}

static struct str namesake(const struct symtab *t, size_t i)
{
	return shown_name(t->candidates.data[t->by_addr[i].index].name);
}

bool symtab_find_alias(
	const struct symtab *t, uint64_t obj_addr, struct str alias, struct symbol *symbol)
{
	const struct range *range = range_table_find(&t->ranges, obj_addr);
	size_t i, end;

	if (range == NULL)
		return false;
	for (end = namesakes(t, range, &i); i < end; i++)
		if (str_equal(namesake(t, i), alias)) {
			*symbol = symtab_at(t, (size_t)(range - t->ranges.data));
			return true;
		}
	return false;
}

size_t symtab_aliases(
	const struct symtab *t, uint64_t obj_addr, struct str own, struct str *names, size_t count)
{
	const struct range *range = range_table_find(&t->ranges, obj_addr);
	bool is_own = false;
	size_t found = 0, i, end;

	if (range == NULL)
		return 0;
	for (end = namesakes(t, range, &i); i < end; i++) {
		struct str name = namesake(t, i);

		if (t->candidates.data[t->by_addr[i].index].is_plt)
			continue;
		if (str_equal(name, own))
			is_own = true;
		else if (found < count)
			names[found++] = name;
	}
	return is_own ? found : 0;
}
