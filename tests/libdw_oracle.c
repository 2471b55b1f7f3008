/*
 * A plain walk over the tree of entries with libdw's calls: slow and thorough.  (Its own
 * dwarf_getscopes misses functions in namespaces, and inlined ones of other units.)
 */
#include "libdw_oracle.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/vec.h"
#include "obj/demangle.h"
#include "obj/source_path.h"

struct oracle {
	Dwarf *dwarf;
	int fd;
	VEC(Dwarf_Die) functions; /* that have code */
	struct map homes;	  /* offset of a declaration → index into prefixes */
	VEC(char *) prefixes;
};

/* Adds the functions below a list of entries, wherever they are nested. */
static void collect_functions(struct oracle *o, Dwarf_Die *first)
{
	Dwarf_Die die = *first, child;
	Dwarf_Addr low;

	do {
		if (dwarf_tag(&die) == DW_TAG_subprogram &&
			(dwarf_lowpc(&die, &low) == 0 || dwarf_hasattr(&die, DW_AT_ranges)))
			vec_push(&o->functions, die);
		if (dwarf_child(&die, &child) == 0)
			collect_functions(o, &child);
	} while (dwarf_siblingof(&die, &die) == 0);
}

struct oracle *oracle_open(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	Dwarf *dwarf = fd < 0 ? NULL : dwarf_begin(fd, DWARF_C_READ);

	if (dwarf == NULL) {
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	struct oracle *o = xalloc(sizeof(*o));
	*o = (struct oracle){.dwarf = dwarf, .fd = fd};
	Dwarf_CU *cu = NULL;
	Dwarf_Die unit, child;
	while (dwarf_get_units(dwarf, cu, &cu, NULL, NULL, &unit, NULL) == 0)
		if (dwarf_child(&unit, &child) == 0)
			collect_functions(o, &child);
	return o;
}

void oracle_close(struct oracle *o)
{
	for (size_t i = 0; i < o->prefixes.count; i++)
		free(o->prefixes.data[i]);
	vec_deinit(&o->prefixes);
	map_deinit(&o->homes);
	vec_deinit(&o->functions);
	dwarf_end(o->dwarf);
	close(o->fd);
	free(o);
}

static bool find_unit(struct oracle *o, uint64_t addr, Dwarf_Die *unit)
{
	Dwarf_CU *cu = NULL;

	while (dwarf_get_units(o->dwarf, cu, &cu, NULL, NULL, unit, NULL) == 0)
		if (dwarf_haspc(unit, addr) == 1)
			return true;
	return false;
}

/* The call inlined next into die at addr, through blocks. */
static bool find_inlined(Dwarf_Die *die, uint64_t addr, Dwarf_Die *call)
{
	Dwarf_Die child;

	if (dwarf_child(die, &child) != 0)
		return false;
	do {
		int tag = dwarf_tag(&child);
		if (tag == DW_TAG_inlined_subroutine && dwarf_haspc(&child, addr) == 1) {
			*call = child;
			return true;
		}
		if (tag == DW_TAG_lexical_block && find_inlined(&child, addr, call))
			return true;
	} while (dwarf_siblingof(&child, &child) == 0);
	return false;
}

static struct str string_of(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attr;

	return str_from(dwarf_formstring(dwarf_attr_integrate(die, name, &attr)));
}

/* The entry that says where a function or type is declared. */
static Dwarf_Die declaration_of(Dwarf_Die die)
{
	Dwarf_Attribute attr;
	Dwarf_Die next;

	while ((dwarf_attr(&die, DW_AT_abstract_origin, &attr) ||
		       dwarf_attr(&die, DW_AT_specification, &attr)) &&
		dwarf_formref_die(&attr, &next))
		die = next;
	return die;
}

static bool is_type(Dwarf_Die *die)
{
	int tag = dwarf_tag(die);

	return tag == DW_TAG_class_type || tag == DW_TAG_structure_type || tag == DW_TAG_union_type;
}

static bool holds_function(Dwarf_Die *die)
{
	Dwarf_Die child;

	if (dwarf_child(die, &child) != 0)
		return false;
	do
		if (dwarf_tag(&child) == DW_TAG_subprogram ||
			(is_type(&child) && holds_function(&child)))
			return true;
	while (dwarf_siblingof(&child, &child) == 0);
	return false;
}

/* Counts nameless types with functions below die, through blocks, up to this one. */
static bool count_nameless(Dwarf_Die *die, Dwarf_Die *until, int *count)
{
	Dwarf_Die child;

	if (dwarf_child(die, &child) != 0)
		return false;
	do {
		if (is_type(&child) && string_of(&child, DW_AT_name).size == 0)
			*count += holds_function(&child);
		if (dwarf_dieoffset(&child) == dwarf_dieoffset(until) ||
			(dwarf_tag(&child) == DW_TAG_lexical_block &&
				count_nameless(&child, until, count)))
			return true;
	} while (dwarf_siblingof(&child, &child) == 0);
	return false;
}

/* The entry's name as it is in a qualified one; around[0] is the entry. */
static char *name_in_prefix(Dwarf_Die *around, struct str inner)
{
	struct str name = string_of(&around[0], DW_AT_name);
	int number = 0, i = 1;

	if (name.size)
		return xasprintf("%.*s", STR_ARG(name));
	if (!is_type(&around[0]))
		return xasprintf("(anonymous namespace)");
	while (dwarf_tag(&around[i]) == DW_TAG_lexical_block)
		i++;
	count_nameless(&around[i], &around[0], &number);
	return xasprintf("{%s#%d}",
		str_starts_with(inner, STR("operator()")) ? "lambda" : "unnamed type", number);
}

/* What stands before the name of a declaration; is_inner: it is the function itself. */
static char *prefix_of(Dwarf_Die die, bool is_inner)
{
	Dwarf_Die *scopes = NULL;
	char *prefix = NULL;
	int count = dwarf_getscopes_die(&die, &scopes);
	struct str inner = string_of(&die, DW_AT_name);

	for (int i = 1; i < count && prefix == NULL; i++) {
		int tag = dwarf_tag(&scopes[i]);
		if (tag == DW_TAG_subprogram && is_inner)
			break;
		if (tag != DW_TAG_subprogram && tag != DW_TAG_namespace && !is_type(&scopes[i]))
			continue;
		char *outer = prefix_of(declaration_of(scopes[i]), false);
		char *name = name_in_prefix(&scopes[i], inner);
		prefix = xasprintf("%s%s::", outer, name);
		free(outer);
		free(name);
	}
	free(scopes);
	return prefix ? prefix : xasprintf("%s", "");
}

static const char *prefix_known(struct oracle *o, Dwarf_Die *die)
{
	Dwarf_Die declared = declaration_of(*die);
	bool added;

	uint32_t i = *map_at(
		&o->homes, dwarf_dieoffset(&declared), 0, (uint32_t)o->prefixes.count, &added);
	if (added)
		vec_push(&o->prefixes, prefix_of(declared, true));
	return o->prefixes.data[i];
}

static bool is_cplusplus(Dwarf_Die *die)
{
	Dwarf_Die unit;
	int language = dwarf_srclang(dwarf_diecu(die, &unit, NULL, NULL));

	return language == DW_LANG_C_plus_plus || language == DW_LANG_C_plus_plus_11 ||
	       language == DW_LANG_C_plus_plus_14;
}

/* By the rule of debug_info.h: the mangled name if it is one; else where it stands, too, in C++. */
static struct str function_of(struct oracle *o, Dwarf_Die *die, struct arena *arena)
{
	struct str linkage = string_of(die, DW_AT_linkage_name);
	struct str name = string_of(die, DW_AT_name);

	if (linkage.size && (demangle_is_mangled(linkage) || name.size == 0))
		return arena_str(arena, linkage);
	if (linkage.size || !is_cplusplus(die))
		return arena_str(arena, name);
	return str_from(arena_printf(arena, "%s%.*s", prefix_known(o, die), STR_ARG(name)));
}

static struct str path_of(const char *path, struct arena *arena)
{
	return source_path_join(arena, STR(""), STR(""), str_from(path));
}

static uint64_t number_of(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attr;
	Dwarf_Word value = 0;

	dwarf_formudata(dwarf_attr(die, name, &attr), &value);
	return value;
}

static void set_call_place(
	struct debug_frame *frame, Dwarf_Die *unit, Dwarf_Die *call, struct arena *arena)
{
	Dwarf_Files *files;
	size_t count = 0, file = number_of(call, DW_AT_call_file);

	if (dwarf_getsrcfiles(unit, &files, &count) == 0 && file < count)
		frame->file = path_of(dwarf_filesrc(files, file, NULL, NULL), arena);
	frame->line = (uint32_t)number_of(call, DW_AT_call_line);
}

/* The function at addr and what is inlined there, outermost first. */
static uint32_t find_chain(struct oracle *o, uint64_t addr, Dwarf_Die *chain, uint32_t most)
{
	uint32_t count = 0;

	for (size_t i = 0; i < o->functions.count && count == 0; i++)
		if (dwarf_haspc(&o->functions.data[i], addr) == 1)
			chain[count++] = o->functions.data[i];
	while (count && count < most && find_inlined(&chain[count - 1], addr, &chain[count]))
		count++;
	return count;
}

/* Frames of these functions, innermost first. */
static void set_frames(struct oracle *o, struct debug_frame *frames, Dwarf_Die *chain,
	uint32_t count, Dwarf_Die *unit, struct arena *arena)
{
	for (uint32_t i = 0; i < count; i++) {
		Dwarf_Die *die = &chain[count - 1 - i];
		frames[i].function = function_of(o, die, arena);
		frames[i].is_inline = i + 1 < count;
		if (i + 1 < count)
			set_call_place(&frames[i + 1], unit, die, arena);
	}
}

struct debug_place oracle_find(struct oracle *o, uint64_t addr, struct arena *arena)
{
	enum { MOST = 64 };
	Dwarf_Die chain[MOST];
	struct debug_frame *frames = ARENA_ARRAY(arena, struct debug_frame, MOST);
	Dwarf_Die unit;
	int line = 0;

	if (!find_unit(o, addr, &unit))
		return (struct debug_place){0};
	uint32_t count = find_chain(o, addr, chain, MOST);
	set_frames(o, frames, chain, count, &unit, arena);
	Dwarf_Line *row = dwarf_getsrc_die(&unit, addr);
	if (row) {
		dwarf_lineno(row, &line);
		frames[0].file = path_of(dwarf_linesrc(row, NULL, NULL), arena);
		frames[0].line = (uint32_t)line;
		count += count == 0;
	}
	return (struct debug_place){.frames = frames, .count = count};
}
