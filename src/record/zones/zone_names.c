/*
 * Zones get numbers.  See zone_names.h.
 */
#include "record/zones/zone_names.h"

void zone_names_init(
	struct zone_names *n, struct capture_writer *writer, struct object_table *objects)
{
	*n = (struct zone_names){.writer = writer, .objects = objects, .object = UINT32_MAX};
	n->arena = arena_create();
	str_table_init(&n->words, n->arena);
}

void zone_names_deinit(struct zone_names *n)
{
	map_deinit(&n->numbers);
	map_deinit(&n->functions);
	str_table_deinit(&n->words);
	arena_destroy(n->arena);
}

uint32_t zone_names_object(struct zone_names *n)
{
	if (n->object == UINT32_MAX)
		n->object = object_table_named(n->objects, CAPTURE_OBJECT_ZONE, STR("[zones]"));
	return n->object;
}

static void write_name(
	struct zone_names *n, uint32_t number, struct str name, struct str file, uint32_t line)
{
	struct capture_symbol_frame frame = {.function = name,
		.file = file,
		.function_file = file,
		.line = line,
		.function_line = line};

	capture_writer_symbol(n->writer, zone_names_object(n), number, &frame, 1);
}

uint32_t zone_names_number(struct zone_names *n, struct str name, struct str file, uint32_t line)
{
	uint64_t words = (uint64_t)str_table_intern(&n->words, name) << 32 |
			 str_table_intern(&n->words, file);
	bool added;
	uint32_t number = *map_at(&n->numbers, words, line, n->count + 1, &added);

	if (added) {
		n->count++;
		write_name(n, number, name, file, line);
	}
	return number;
}

void zone_names_function(struct zone_names *n, uint32_t object, uint64_t address)
{
	bool added;

	(void)map_at(&n->functions, object, address, 0, &added);
	n->function_count += added;
}

uint32_t zone_names_unknown(struct zone_names *n)
{
	if (!n->has_unknown)
		write_name(n, 0, STR("[unknown]"), STR(""), 0);
	n->has_unknown = true;
	return 0;
}
