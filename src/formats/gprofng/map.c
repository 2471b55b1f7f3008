/*
 * map.xml.  Segments that are no code are not kept.  Where one took another's place in the course
 * of time the last one counts.
 */
#include "formats/gprofng/map.h"

#include <stdlib.h>

#include "base/search.h"
#include "formats/gprofng/xml_scan.h"

enum { MODE_EXEC = 4, NESTED_MAX = 16 };

struct map_reader {
	struct gprofng_map *map;
	struct arena *arena;
	struct strbuf object, name;
};

static void add_segment(struct map_reader *r, const struct xml_element *e)
{
	struct gprofng_segment s = {.start = xml_number(e, "vaddr", 0),
		.size = xml_number(e, "size", 0),
		.file_off = xml_number(e, "foffset", 0),
		.object = UINT32_MAX};
	bool is_object = str_equal(strbuf_str(&r->object), STR("segment"));

	if (s.size == 0 || s.size > UINT64_MAX - s.start)
		return;
	if (is_object && !(xml_number(e, "modes", MODE_EXEC) & MODE_EXEC))
		return;
	if (is_object)
		s.object = str_table_intern(&r->map->paths, strbuf_str(&r->name));
	else if (xml_attribute(e, "funcname", &r->name) || r->name.size)
		s.function = arena_str(r->arena, strbuf_str(&r->name));
	vec_push(&r->map->segments, s);
}

/* Stable, for what came later is to stand behind: by place where all else is alike. */
static int segment_compare(const void *a, const void *b)
{
	const struct gprofng_segment *x = *(const struct gprofng_segment *const *)a;
	const struct gprofng_segment *y = *(const struct gprofng_segment *const *)b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x > y) - (x < y);
}

static void sort_segments(struct gprofng_map *map)
{
	size_t count = map->segments.count;
	const struct gprofng_segment **order = xcalloc(count + 1, sizeof(*order));
	struct gprofng_segment *sorted = xcalloc(count + 1, sizeof(*sorted));

	for (size_t i = 0; i < count; i++)
		order[i] = &map->segments.data[i];
	qsort(order, count, sizeof(*order), segment_compare);
	for (size_t i = 0; i < count; i++)
		sorted[i] = *order[i];
	if (count)
		memcpy(map->segments.data, sorted, count * sizeof(*sorted));
	free(sorted);
	free(order);
}

void gprofng_map_read(struct gprofng_map *map, struct str text, struct arena *arena)
{
	struct xml_scan scan = {.rest = text};
	struct map_reader r = {.map = map, .arena = arena};
	struct xml_element e;

	*map = (struct gprofng_map){0};
	str_table_init(&map->paths, arena);
	while (xml_scan_next(&scan, &e)) {
		if (!xml_attribute(&e, "kind", &r.name) ||
			!str_equal(strbuf_str(&r.name), STR("map")) ||
			!xml_attribute(&e, "object", &r.object) ||
			!xml_attribute(&e, "name", &r.name))
			continue;
		add_segment(&r, &e);
	}
	sort_segments(map);
	strbuf_deinit(&r.object);
	strbuf_deinit(&r.name);
}

void gprofng_map_deinit(struct gprofng_map *map)
{
	vec_deinit(&map->segments);
	str_table_deinit(&map->paths);
}

const struct gprofng_segment *gprofng_map_find(const struct gprofng_map *map, uint64_t va)
{
	size_t next = partition_point(i, 0, map->segments.count, map->segments.data[i].start <= va);

	/* A function may stand within something larger, so a few are tried. */
	for (int tried = 0; next > 0 && tried < NESTED_MAX; next--, tried++) {
		const struct gprofng_segment *s = &map->segments.data[next - 1];
		if (va - s->start < s->size)
			return s;
	}
	return NULL;
}
