/*
 * Converts OTLP in JSON to protocol buffers: the fields of the schema, named in lowerCamelCase or
 * as in the .proto, so that one reader handles both encodings.
 *
 * As defined by OTLP, 64-bit numbers are strings (or numbers), ids are hexadecimal, and all other
 * bytes are base64, which is not needed here.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/json_reader.h"
#include "formats/otlp/reader.h"

struct json_field {
	const char *name; /* as in the .proto; NULL at the end */
	uint32_t number;
	enum otlp_kind kind;
	const struct json_field *fields; /* of messages */
};

#define JSON_FIELD(constant, number, name, kind, fields) {name, number, kind, fields},
#define JSON_FIELDS(message, list)                                                                 \
	static const struct json_field message##_fields[] = {                                      \
		list(JSON_FIELD){NULL, 0, FIELD_NUMBER, NULL},                                     \
	}
#define OTLP_NONE(F)

JSON_FIELDS(element, OTLP_SCALAR);
JSON_FIELDS(array, OTLP_ARRAY);
JSON_FIELDS(none, OTLP_NONE); /* maps are skipped */
JSON_FIELDS(value, OTLP_VALUE);
JSON_FIELDS(key_value, OTLP_KEY_VALUE);
JSON_FIELDS(attribute, OTLP_ATTRIBUTE);
JSON_FIELDS(mapping, OTLP_MAPPING);
JSON_FIELDS(line, OTLP_LINE);
JSON_FIELDS(location, OTLP_LOCATION);
JSON_FIELDS(function, OTLP_FUNCTION);
JSON_FIELDS(link, OTLP_LINK);
JSON_FIELDS(stack, OTLP_STACK);
JSON_FIELDS(dictionary, OTLP_DICTIONARY);
JSON_FIELDS(type, OTLP_TYPE);
JSON_FIELDS(sample, OTLP_SAMPLE);
JSON_FIELDS(profile, OTLP_PROFILE);
JSON_FIELDS(scope_profiles, OTLP_SCOPE_PROFILES);
JSON_FIELDS(resource, OTLP_RESOURCE);
JSON_FIELDS(resource_profiles, OTLP_RESOURCE_PROFILES);
JSON_FIELDS(data, OTLP_DATA);

/* The maximum nesting of messages: the depth of the tables above. */
enum { DEPTH_MAX = 9 };

/* Whether a key is this name, in lowerCamelCase or with underscores. */
static bool is_name(struct str key, const char *name)
{
	size_t i = 0;

	for (; *name; name++, i++) {
		char c = *name;

		if (i < key.size && c == '_' && key.data[i] != '_')
			c = (char)(*++name - 'a' + 'A');
		if (i >= key.size || key.data[i] != c)
			return false;
	}
	return i == key.size;
}

static const struct json_field *find_field(const struct json_field *fields, struct str key)
{
	for (; fields->name; fields++)
		if (is_name(key, fields->name))
			return fields;
	return NULL;
}

/* Takes a number of up to 64 bits, signed or unsigned. */
static uint64_t take_number(struct json_reader *r)
{
	char text[24];
	int64_t number = 0;
	struct str s;

	if (json_peek(r) != JSON_STRING) {
		(void)json_int(r, &number);
		return (uint64_t)number;
	}
	if (!json_string(r, &s) || s.size == 0 || s.size >= sizeof(text))
		return 0;
	memcpy(text, s.data, s.size);
	text[s.size] = '\0';
	return *text == '-' ? (uint64_t)strtoll(text, NULL, 10) : strtoull(text, NULL, 10);
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static void put_hex(struct json_reader *r, struct strbuf *out, uint32_t number)
{
	struct str s;

	if (!json_string(r, &s))
		return;
	size_t begun = proto_begin(out, number);
	for (size_t i = 0; i + 1 < s.size; i += 2) {
		int high = hex_digit(s.data[i]), low = hex_digit(s.data[i + 1]);

		if (high >= 0 && low >= 0)
			strbuf_add_char(out, (char)(high << 4 | low));
	}
	proto_end(out, begun);
}

static void put_double(struct json_reader *r, struct strbuf *out, uint32_t number)
{
	double value = 0;
	uint64_t bits;

	(void)json_double(r, &value);
	memcpy(&bits, &value, sizeof(bits));
	proto_put_fixed64(out, number, bits);
}

static void put_scalar(struct json_reader *r, struct strbuf *out, const struct json_field *field)
{
	struct str s;
	bool is_true;

	switch (field->kind) {
	case FIELD_STRING:
		if (json_string(r, &s))
			proto_put_bytes(out, field->number, s);
		break;
	case FIELD_HEX:
		put_hex(r, out, field->number);
		break;
	case FIELD_NUMBER:
		proto_put_varint(out, field->number, take_number(r));
		break;
	case FIELD_FIXED64:
		proto_put_fixed64(out, field->number, take_number(r));
		break;
	case FIELD_BOOL:
		if (json_bool(r, &is_true))
			proto_put_varint(out, field->number, is_true);
		break;
	case FIELD_DOUBLE:
		put_double(r, out, field->number);
		break;
	case FIELD_MESSAGE:
		break;
	}
}

/* An open object, or the open array of a repeated field. */
struct level {
	const struct json_field *field; /* NULL: the whole message */
	const struct json_field *fields;
	size_t begun;
	bool is_array;
	bool is_packed; /* an array of numbers; by that the reader recognizes the layout */
};

struct conversion {
	struct json_reader r;
	struct strbuf *out;
	struct level levels[2 * DEPTH_MAX];
	size_t depth;
};

static void open_level(struct conversion *v, const struct json_field *field, bool is_array)
{
	struct level *level = &v->levels[v->depth++];

	*level = (struct level){.field = field, .fields = field->fields, .is_array = is_array};
	level->is_packed = is_array && field->kind == FIELD_NUMBER;
	if (!is_array || level->is_packed)
		level->begun = proto_begin(v->out, field->number);
}

/* Takes a value of that field. */
static void take_value(struct conversion *v, const struct json_field *field)
{
	bool is_message = field->kind == FIELD_MESSAGE;

	if (!is_message && json_peek(&v->r) != JSON_ARRAY)
		put_scalar(&v->r, v->out, field);
	else if (json_peek(&v->r) == JSON_OBJECT && json_object(&v->r))
		open_level(v, field, false);
	else if (json_peek(&v->r) == JSON_ARRAY && !v->levels[v->depth - 1].is_array &&
		 json_array(&v->r))
		open_level(v, field, true);
}

/* Takes the next value of the innermost open object or array; false: it is closed. */
static bool step(struct conversion *v)
{
	struct level *level = &v->levels[v->depth - 1];
	const struct json_field *field = level->field;
	struct str key;

	if (level->is_array) {
		if (!json_element(&v->r))
			return false;
		if (level->is_packed)
			proto_put_packed(v->out, take_number(&v->r));
		else
			take_value(v, field);
		return true;
	}
	if (!json_key(&v->r, &key))
		return false;
	field = find_field(level->fields, key);
	if (field)
		take_value(v, field);
	return true;
}

struct error *otlp_json_convert(
	struct str *text, const char *name, struct strbuf *out, bool *is_cut)
{
	struct conversion v = {.out = out};
	struct error *err = NULL;

	json_reader_init(&v.r, text->data, text->size, name);
	if (json_object(&v.r))
		v.levels[v.depth++] = (struct level){.fields = data_fields};
	while (v.depth) {
		if (step(&v))
			continue;
		struct level *level = &v.levels[--v.depth];
		if (level->field && (!level->is_array || level->is_packed))
			proto_end(out, level->begun);
	}
	*is_cut |= json_is_cut(&v.r);
	if (!json_is_cut(&v.r))
		err = json_error(&v.r);
	size_t taken = json_ok(&v.r) ? json_offset(&v.r) : text->size;
	*text = (struct str){text->data + taken, text->size - taken};
	json_reader_deinit(&v.r);
	return err;
}

bool otlp_is_json(const uint8_t *data, size_t size)
{
	struct json_reader r;
	struct str key;
	bool found = false, has_dictionary = false;

	if (size == 0 || memchr("{ \t\r\n\xef", data[0], 6) == NULL)
		return false;
	/* In other formats, a member may be as large as the file. */
	json_reader_init(&r, data, size < 65536 ? size : 65536, "");
	if (json_object(&r))
		for (int i = 0; i < 4 && !found && json_key(&r, &key); i++) {
			found = is_name(key, "resource_profiles");
			has_dictionary |= str_equal(key, STR("dictionary"));
		}
	/* The profiles may come after the part that was read. */
	found |= has_dictionary && json_is_cut(&r);
	json_reader_deinit(&r);
	return found;
}
