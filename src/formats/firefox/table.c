/*
 * Tables of Firefox profiles.  See table.h; the shapes are those of
 * docs-developer/gecko-profile-format.md and src/types/profile.ts of firefox-devtools/profiler.
 */
#include "formats/firefox/table.h"

static uint32_t read_index(struct json_reader *r)
{
	int64_t value;

	if (json_peek(r) != JSON_NUMBER) {
		json_skip(r);
		return NO_ID;
	}
	if (!json_int(r, &value) || value < 0 || value >= NO_ID)
		return NO_ID;
	return (uint32_t)value;
}

static bool read_column(struct json_reader *r, struct firefox_column *c, size_t row_max)
{
	enum { BLOCK = 512 };
	int64_t values[BLOCK];
	size_t count = BLOCK;

	if (!json_array(r))
		return false;
	c->is_there = true;
	while (count == BLOCK) {
		count = json_numbers(r, 0, values, BLOCK);
		bool is_cut = count > row_max - c->values.count;
		if (is_cut)
			count = row_max - c->values.count;
		vec_reserve(&c->values, c->values.count + count);
		for (size_t i = 0; i < count; i++)
			c->values.data[c->values.count++] =
				values[i] >= 0 && values[i] < NO_ID ? (uint32_t)values[i] : NO_ID;
		if (is_cut) {
			json_leave(r);
			return true;
		}
	}
	return false;
}

void firefox_schema_read(
	struct json_reader *r, const char *const *names, size_t count, uint8_t *position)
{
	struct str key;
	int64_t at;

	memset(position, FIREFOX_SCHEMA_MAX, count);
	if (!json_object(r))
		return;
	while (json_key(r, &key)) {
		size_t i = 0;
		while (i < count && !str_equal(key, str_from(names[i])))
			i++;
		if (i < count && json_int(r, &at) && at >= 0 && at < FIREFOX_SCHEMA_MAX)
			position[i] = (uint8_t)at;
	}
}

/* Fills every column up to `rows` rows. */
static void fill_up(struct firefox_column *columns, size_t rows)
{
	for (struct firefox_column *c = columns; c->name; c++)
		while (c->is_there && c->values.count < rows)
			vec_push(&c->values, NO_ID);
}

static void read_row(struct json_reader *r, struct firefox_column *const *column_at)
{
	size_t position = 0;

	if (!json_array(r))
		return;
	for (; json_element(r); position++) {
		struct firefox_column *c =
			position < FIREFOX_SCHEMA_MAX ? column_at[position] : NULL;
		if (c == NULL)
			continue;
		uint32_t value = read_index(r);
		vec_push(&c->values, value);
	}
}

static bool read_rows(struct json_reader *r, const uint8_t *position,
	struct firefox_column *columns, size_t row_max)
{
	struct firefox_column *column_at[FIREFOX_SCHEMA_MAX] = {0};
	size_t rows = 0;

	for (size_t i = 0; columns[i].name; i++) {
		if (position[i] == FIREFOX_SCHEMA_MAX || column_at[position[i]])
			continue;
		column_at[position[i]] = &columns[i];
		columns[i].is_there = true;
	}
	if (!json_array(r))
		return false;
	while (json_element(r)) {
		if (rows == row_max) {
			json_leave(r);
			return true;
		}
		read_row(r, column_at);
		fill_up(columns, ++rows);
	}
	return false;
}

static struct firefox_column *find_column(struct firefox_column *columns, struct str name)
{
	for (struct firefox_column *c = columns; c->name; c++)
		if (str_equal(name, str_from(c->name)))
			return c;
	return NULL;
}

#define COLUMNS_MAX 12

bool firefox_table_read(
	struct json_reader *r, size_t place, struct firefox_column *columns, size_t row_max)
{
	const char *names[COLUMNS_MAX];
	uint8_t position[COLUMNS_MAX];
	size_t count = 0, data = 0;
	bool is_cut = false, has_schema = false;
	struct str key;

	for (; columns[count].name; count++)
		names[count] = columns[count].name;
	json_seek(r, place);
	if (!json_object(r))
		return false;
	while (json_key(r, &key)) {
		struct firefox_column *c = find_column(columns, key);
		if (c && !c->is_there) {
			is_cut |= read_column(r, c, row_max);
		} else if (str_equal(key, STR("schema"))) {
			firefox_schema_read(r, names, count, position);
			has_schema = true;
		} else if (str_equal(key, STR("data"))) {
			data = json_offset(r);
		}
	}
	if (has_schema && data) {
		json_seek(r, data);
		is_cut |= read_rows(r, position, columns, row_max);
	}
	return is_cut;
}

void firefox_table_deinit(struct firefox_column *columns)
{
	for (struct firefox_column *c = columns; c->name; c++)
		vec_deinit(&c->values);
}

bool firefox_strings_read(
	struct json_reader *r, size_t place, struct firefox_strings *strings, size_t row_max)
{
	json_seek(r, place);
	if (!json_array(r))
		return false;
	while (json_element(r)) {
		if (strings->places.count == row_max) {
			json_leave(r);
			return true;
		}
		vec_push(&strings->places, json_offset(r));
	}
	return false;
}

bool firefox_string(const struct firefox_strings *strings, uint32_t number, struct json_reader *r,
	struct str *text)
{
	if (number >= strings->places.count)
		return false;
	json_seek(r, strings->places.data[number]);
	return json_string(r, text);
}
