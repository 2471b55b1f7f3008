/*
 * Takes over lines of /proc/PID/maps that were read by somebody else.
 */
#include "record/engines/preload/preload_maps.h"

#include <string.h>

#include "record/processes/maps.h"

/* The next line of the text that is one of code; false: there is none. */
static bool next_line(struct str *text, struct maps_line *line)
{
	while (text->size > 0) {
		const char *end = memchr(text->data, '\n', text->size);
		size_t size = end ? (size_t)(end - text->data) : text->size;
		struct str one = {text->data, size};

		text->data += size + (end != NULL);
		text->size -= size + (end != NULL);
		if (maps_line_parse(one, line) && line->executable)
			return true;
	}
	return false;
}

/* Whether the process has code in [low, high). */
static bool has_code(const struct process *p, uint64_t low_va, uint64_t high_va)
{
	for (size_t i = 0; i < p->space.count; i++)
		if (p->space.mappings[i].low_va < high_va && p->space.mappings[i].high_va > low_va)
			return true;
	return false;
}

static void unmap(struct process *p, uint64_t low_va, uint64_t high_va)
{
	/* A removal makes the stacks that are remembered worthless. */
	if (has_code(p, low_va, high_va))
		unwind_space_remove(&p->space, low_va, high_va);
}

/* What lies between the lines is mapped no more. */
static void unmap_others(struct process *p, struct str text)
{
	struct maps_line line;
	uint64_t low_va = 0;

	while (next_line(&text, &line)) {
		if (line.low_va > low_va)
			unmap(p, low_va, line.low_va);
		if (line.high_va > low_va)
			low_va = line.high_va;
	}
	unmap(p, low_va, UINT64_MAX);
}

void preload_maps_take(
	struct process_table *processes, struct process *p, struct str text, bool all)
{
	struct maps_line line;

	if (all)
		unmap_others(p, text);
	while (next_line(&text, &line)) {
		struct object_origin origin = {
			.pid = p->pid,
			.path = line.path,
			.build_id = "",
			.low_va = line.low_va,
			.high_va = line.high_va,
			.inode = line.inode,
		};

		process_table_map(processes, p, &origin, line.file_off);
	}
}
