/*
 * The files of a gprofng experiment that describe the others, and the packets in all data files.
 * See experiment.h.
 *
 * Source: gprofng/src/data_pckts.h and Experiment::readPacket of binutils.
 */
#include "formats/gprofng/experiment.h"

#include <stdlib.h>

#include "base/search.h"
#include "base/sort.h"
#include "base/word.h"
#include "formats/gprofng/xml_scan.h"

/* ---- log.xml ---- */

/*
 * Elements come in any order.  Fields are nested in their packet's element, and packets in the
 * profile's, which names the file with them.
 */

/* A limit, because each kind is checked for each packet. */
enum { KINDS_MAX = 64 };

static const char *const field_names[FIELD_COUNT] = {"LWPID", "THRID", "CPUID", "TSTAMP", "FRINFO",
	"MSTATE", "NTICK", "SRQST", "HTYPE", "HSIZE", "HVADDR", "HOVADDR", "HWCTAG", "HWCINT"};

struct log_reader {
	struct gprofng_log *log;
	struct arena *arena;
	struct strbuf value;
	struct str file; /* of the current profile */
};

static bool attribute(struct log_reader *r, const struct xml_element *e, const char *name)
{
	return xml_attribute(e, name, &r->value);
}

static struct str kept(struct log_reader *r)
{
	return arena_str(r->arena, strbuf_str(&r->value));
}

static void read_process(struct log_reader *r, const struct xml_element *e)
{
	r->log->pid = xml_number(e, "pid", r->log->pid);
	r->log->word_size = xml_number(e, "wsize", r->log->word_size);
	/* The one without attributes is the command. */
	if (memchr(e->attributes.data, '=', e->attributes.size) == NULL && e->text.size &&
		r->log->command.size == 0)
		r->log->command = arena_str(r->arena, e->text);
}

static void read_event(struct log_reader *r, const struct xml_element *e)
{
	if (!attribute(r, e, "kind"))
		return;
	struct str kind = strbuf_str(&r->value);
	if (str_equal(kind, STR("run")) && r->log->start_ns == 0) {
		r->log->start_ns = xml_seconds(e, "tstamp", 0);
		r->log->start_unix_ns = xml_seconds(e, "time", 0);
	} else if (str_equal(kind, STR("exit"))) {
		r->log->duration_ns = xml_seconds(e, "tstamp", 0);
	}
}

static void read_field(struct log_reader *r, const struct xml_element *e)
{
	if (r->log->kinds.count == 0 || !attribute(r, e, "name"))
		return;
	struct gprofng_kind *kind = &r->log->kinds.data[r->log->kinds.count - 1];
	for (size_t i = 0; i < FIELD_COUNT; i++) {
		if (!str_equal(strbuf_str(&r->value), str_from(field_names[i])))
			continue;
		uint64_t offset = xml_number(e, "offset", UINT64_MAX);
		if (offset > UINT16_MAX || !attribute(r, e, "type"))
			return;
		bool is_long = str_ends_with(strbuf_str(&r->value), STR("64"));
		kind->fields[i] = (struct gprofng_place){(uint32_t)offset, is_long ? 8 : 4};
		return;
	}
}

static void read_element(struct log_reader *r, const struct xml_element *e)
{
	if (str_equal(e->name, STR("experiment")) && attribute(r, e, "version")) {
		r->log->version = kept(r);
	} else if (str_equal(e->name, STR("system")) && attribute(r, e, "hostname")) {
		r->log->host = kept(r);
	} else if (str_equal(e->name, STR("process"))) {
		read_process(r, e);
	} else if (str_equal(e->name, STR("event"))) {
		read_event(r, e);
	} else if (str_equal(e->name, STR("profile"))) {
		r->file = STR("");
		r->log->interval_ns = xml_number(e, "ptimer", r->log->interval_ns / 1000) * 1000;
	} else if (str_equal(e->name, STR("profdata")) && attribute(r, e, "fname")) {
		r->file = kept(r);
	} else if (str_equal(e->name, STR("profpckt")) && r->log->kinds.count < KINDS_MAX) {
		vec_push(&r->log->kinds,
			(struct gprofng_kind){
				.number = (uint32_t)xml_number(e, "kind", 0), .file = r->file});
	} else if (str_equal(e->name, STR("field"))) {
		read_field(r, e);
	}
}

void gprofng_log_read(struct gprofng_log *log, struct str text, struct arena *arena)
{
	struct xml_scan scan = {.rest = text};
	struct log_reader r = {.log = log, .arena = arena};
	struct xml_element element;

	*log = (struct gprofng_log){0};
	while (xml_scan_next(&scan, &element))
		read_element(&r, &element);
	strbuf_deinit(&r.value);
}

void gprofng_log_deinit(struct gprofng_log *log)
{
	vec_deinit(&log->kinds);
}

uint64_t gprofng_field(const struct gprofng_kind *kind, const uint8_t *packet, size_t size,
	enum gprofng_field field)
{
	struct gprofng_place place = kind->fields[field];

	if (place.size == 0 || place.offset > size || size - place.offset < place.size)
		return 0;
	return word_read(packet + place.offset, place.size, false);
}

/* ---- map.xml ---- */

/*
 * Segments that are not code are dropped.  If one replaced another during the run, the last one
 * counts.
 */

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

/* By start; equal ones stay in the order of the file, so that later ones come last. */
static int segment_compare(const void *a, const void *b)
{
	const struct gprofng_segment *x = *(const struct gprofng_segment *const *)a;
	const struct gprofng_segment *y = *(const struct gprofng_segment *const *)b;

	return COMPARE(x->start, y->start) ?: COMPARE(x, y);
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

	/* A function may be inside a larger segment, so several are tried. */
	for (int tried = 0; next > 0 && tried < NESTED_MAX; next--, tried++) {
		const struct gprofng_segment *s = &map->segments.data[next - 1];
		if (va - s->start < s->size)
			return s;
	}
	return NULL;
}

/* ---- packets ---- */

/*
 * Size (2 bytes), kind (2), data.  Kind 0 fills up a block, 65535 closes it.  If a size is 0 or not
 * a multiple of 4, reading continues at the next 16 KiB: threads fill such blocks one by one.
 */

enum { HEAD_SIZE = 4, CHUNK_SIZE = 16384, KIND_EMPTY = 0, KIND_CLOSED = 65535 };

void gprofng_packets_init(struct gprofng_packets *p, const struct file_bytes *bytes)
{
	*p = (struct gprofng_packets){.data = bytes->data, .size = bytes->size};
}

bool gprofng_packets_next(struct gprofng_packets *p, struct gprofng_packet *packet)
{
	while (p->size - p->at >= HEAD_SIZE) {
		const uint8_t *at = p->data + p->at;
		uint16_t size = (uint16_t)word_read(at, 2, false);
		uint16_t kind = (uint16_t)word_read(at + 2, 2, false);
		size_t left = p->size - p->at;
		if (size < HEAD_SIZE || size % HEAD_SIZE) {
			size_t skip = CHUNK_SIZE - p->at % CHUNK_SIZE;
			p->bad += size != 0 || kind != 0;
			p->at += skip < left ? skip : left;
			continue;
		}
		if (size > left) {
			p->bad += kind != KIND_EMPTY && kind != KIND_CLOSED;
			break;
		}
		p->at += size;
		if (kind == KIND_EMPTY || kind == KIND_CLOSED)
			continue;
		*packet = (struct gprofng_packet){at, size, kind};
		return true;
	}
	p->at = p->size;
	return false;
}
