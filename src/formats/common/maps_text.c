/*
 * Mappings in text.  See maps_text.h.
 */
#include "formats/common/maps_text.h"

#include <stdlib.h>

#include "base/search.h"
#include "base/sort.h"
#include "formats/common/text_field.h"

/* Takes a hexadecimal number, with or without 0x, off the start of s; false: there is none. */
static bool take_hex(struct str *s, uint64_t *value)
{
	size_t i = str_starts_with(*s, STR("0x")) ? 2 : 0, first = i;

	*value = 0;
	for (; i < s->size && i - first < 16; i++) {
		char c = s->data[i];
		unsigned int digit = c >= '0' && c <= '9'   ? (unsigned int)(c - '0')
				     : c >= 'a' && c <= 'f' ? (unsigned int)(c - 'a') + 10
				     : c >= 'A' && c <= 'F' ? (unsigned int)(c - 'A') + 10
							    : 16;
		if (digit == 16)
			break;
		*value = *value << 4 | digit;
	}
	if (i == first)
		return false;
	*s = (struct str){s->data + i, s->size - i};
	return true;
}

/* Parses the rest of a line of proc(5)'s form: "r-xp 00000000 08:02 173521   /usr/bin/dbus". */
static bool parse_long(struct str rest, struct code_mapping *mapping, bool *is_code)
{
	struct str rights = text_take_word(&rest);

	if (rights.size != 4 || (rights.data[0] != 'r' && rights.data[0] != '-'))
		return false;
	*is_code = rights.data[2] == 'x';
	rest = str_trim(rest);
	if (!take_hex(&rest, &mapping->file_off))
		return false;
	(void)text_take_word(&rest); /* device */
	(void)text_take_word(&rest); /* inode */
	rest = str_trim(rest);
	mapping->path = rest;
	return true;
}

/* Parses the rest of a line of the short form: "/usr/lib/libc.so (@1000) ab12". */
static void parse_short(struct str rest, struct code_mapping *mapping, struct strbuf *build_id)
{
	mapping->path = text_take_word(&rest);
	struct str word = text_take_word(&rest);

	if (str_starts_with(word, STR("(@"))) {
		struct str number = {word.data + 2, word.size - 2};
		if (!take_hex(&number, &mapping->file_off))
			mapping->file_off = 0;
		word = text_take_word(&rest);
	}
	build_id_normalize(word, build_id);
}

static void read_line(struct maps_text *maps, struct str line, struct mapped_code *code)
{
	struct code_mapping mapping = {.path = STR("")};
	struct strbuf build_id = {0};
	bool is_code = true;
	uint64_t limit;

	line = str_trim(line);
	if (!take_hex(&line, &mapping.start) || line.size == 0 || line.data[0] != '-')
		return;
	line = (struct str){line.data + 1, line.size - 1};
	if (!take_hex(&line, &limit) || limit <= mapping.start)
		return;
	if (line.size && line.data[0] == ':')
		line = (struct str){line.data + 1, line.size - 1};
	if (!parse_long(line, &mapping, &is_code))
		parse_short(line, &mapping, &build_id);
	mapping.build_id = strbuf_str(&build_id);
	if (is_code)
		vec_push(&maps->ranges,
			(struct maps_range){mapping.start, limit, mapped_code_add(code, &mapping)});
	strbuf_deinit(&build_id);
}

static int range_compare(const void *a, const void *b)
{
	const struct maps_range *x = a, *y = b;

	return COMPARE(x->start, y->start) ?: COMPARE(x->mapping, y->mapping);
}

void maps_text_read(struct maps_text *maps, struct str text, struct mapped_code *code)
{
	while (text.size)
		read_line(maps, str_take_line(&text), code);
	if (maps->ranges.count)
		qsort(maps->ranges.data, maps->ranges.count, sizeof(*maps->ranges.data),
			range_compare);
}

uint32_t maps_text_find(const struct maps_text *maps, uint64_t va)
{
	size_t next = partition_point(i, 0, maps->ranges.count, maps->ranges.data[i].start <= va);

	if (next == 0 || va >= maps->ranges.data[next - 1].limit)
		return MAPPING_NONE;
	return maps->ranges.data[next - 1].mapping;
}

void maps_text_deinit(struct maps_text *maps)
{
	vec_deinit(&maps->ranges);
}
