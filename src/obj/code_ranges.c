/*
 * Finds the ranges of code that contain given addresses: a function's range, by its symbol if that
 * has a size, else by the unwind table; a split function has several.
 */
#include "obj/disassemble.h"
#include "obj/function_starts.h"
#include "obj/symtab.h"

struct range_finder {
	struct objfile *file;
	const struct symtab *names;
	struct function_starts *starts; /* NULL: not created yet, as it takes long */
};

static bool find_range(struct range_finder *f, uint64_t addr, struct code_range *range)
{
	struct function_extent extent;
	struct symbol symbol;

	if (symtab_find(f->names, addr, &symbol)) {
		*range = (struct code_range){symbol.low, symbol.high};
		return true;
	}
	if (f->starts == NULL)
		f->starts = function_starts_create(f->file);
	if (!function_starts_find(f->starts, addr, &extent))
		return false;
	*range = (struct code_range){extent.low, extent.high};
	return true;
}

size_t code_ranges_find(struct objfile *file, const struct symtab *names, const uint64_t *addrs,
	size_t count, struct code_range *ranges)
{
	struct range_finder finder = {.file = file, .names = names};
	size_t found = 0;

	for (size_t i = 0; i < count; i++) {
		struct code_range range;

		if (found && addrs[i] < ranges[found - 1].high)
			continue;
		if (!find_range(&finder, addrs[i], &range))
			continue;
		/* If ranges nest or overlap, keep the part after the previous one. */
		if (found && range.low < ranges[found - 1].high)
			range.low = ranges[found - 1].high;
		ranges[found++] = range;
	}
	function_starts_destroy(finder.starts);
	return found;
}
