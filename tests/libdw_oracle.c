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
#include "base/vec.h"
#include "obj/demangle.h"
#include "obj/source_path.h"

struct oracle {
	Dwarf *dwarf;
	int fd;
	VEC(Dwarf_Die) functions; /* that have code */
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

/* By the rule of debug_info.h: the mangled name if it is one. */
static struct str function_of(Dwarf_Die *die, struct arena *arena)
{
	struct str linkage = string_of(die, DW_AT_linkage_name);
	struct str name = string_of(die, DW_AT_name);

	if (linkage.size && (demangle_is_mangled(linkage) || name.size == 0))
		return arena_str(arena, linkage);
	return arena_str(arena, name);
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
static void set_frames(struct debug_frame *frames, Dwarf_Die *chain, uint32_t count,
	Dwarf_Die *unit, struct arena *arena)
{
	for (uint32_t i = 0; i < count; i++) {
		Dwarf_Die *die = &chain[count - 1 - i];
		frames[i].function = function_of(die, arena);
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
	set_frames(frames, chain, count, &unit, arena);
	Dwarf_Line *row = dwarf_getsrc_die(&unit, addr);
	if (row) {
		dwarf_lineno(row, &line);
		frames[0].file = path_of(dwarf_linesrc(row, NULL, NULL), arena);
		frames[0].line = (uint32_t)line;
		count += count == 0;
	}
	return (struct debug_place){.frames = frames, .count = count};
}
