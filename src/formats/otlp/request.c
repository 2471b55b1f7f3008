/*
 * Takes requests with OTLP profiles apart, by resource.  See request.h.
 *
 * The parts are messages for the reader: a copy of the dictionary, made once, with the
 * ResourceProfiles of one resource after it.  If there is only one resource, the request is its own
 * part, without a copy.
 */
#include "formats/otlp/request.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/protobuf.h"
#include "formats/otlp/reader.h"

/* A field: its place in the bytes; of a ResourceProfiles, also the next of the same resource. */
struct piece {
	uint32_t offset, size, next; /* next: plus 1; 0: none */
};

struct group {
	struct otlp_request_resource resource;
	struct str message; /* the Resource */
	uint32_t first, last;
};

struct otlp_request {
	const char *name;
	struct arena *arena;
	struct strbuf converted; /* from JSON */
	struct str bytes;
	struct str_table resources; /* by their bytes */
	VEC(struct group) groups;
	VEC(struct piece) pieces;
	VEC(struct piece) dictionary; /* its fields, which readers merge */
	uint64_t dictionary_size;
	VEC(struct piece) strings; /* found when an attribute needs one */
	bool are_strings_known;
	struct strbuf message; /* the dictionary, and one resource */
	size_t dictionary_end; /* in that */
};

/* ---- strings of the dictionary ---- */

static void find_strings(struct otlp_request *r)
{
	r->are_strings_known = true;
	for (size_t i = 0; i < r->dictionary.count; i++) {
		const struct piece *piece = &r->dictionary.data[i];
		struct proto_field f;
		struct cursor c;

		cursor_init(&c, r->bytes.data + piece->offset, piece->size, r->name, piece->offset);
		while (proto_next(&c, &f))
			if (f.number == TABLE_STRING && f.type == PROTO_BYTES)
				vec_push(&r->strings, (struct piece){.offset = (uint32_t)f.offset,
							      .size = (uint32_t)f.bytes.size});
	}
}

static struct str string_of(struct otlp_request *r, uint64_t number)
{
	if (!r->are_strings_known)
		find_strings(r);
	if (number >= r->strings.count)
		return STR("");
	return (struct str){
		r->bytes.data + r->strings.data[number].offset, r->strings.data[number].size};
}

/* ---- attributes ---- */

/* A number as text. */
static printf_like(2, 3) struct str arena_number(struct otlp_request *r, const char *format, ...)
{
	char text[64];
	va_list args;

	va_start(args, format);
	int size = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return arena_str(r->arena, (struct str){text, (size_t)size});
}

/* The value as text; false: a list, a map or bytes. */
static bool read_value(struct otlp_request *r, struct cursor c, struct str *value)
{
	struct proto_field f;
	bool found = false;

	while (proto_next(&c, &f)) {
		double number;

		found = true;
		if (f.number == VALUE_STRING && f.type == PROTO_BYTES)
			*value = f.bytes;
		else if (f.number == VALUE_STRINDEX)
			*value = string_of(r, f.value);
		else if (f.number == VALUE_BOOL)
			*value = f.value ? STR("true") : STR("false");
		else if (f.number == VALUE_INT)
			*value = arena_number(r, "%" PRId64, (int64_t)f.value);
		else if (f.number == VALUE_DOUBLE && f.type == PROTO_FIXED64)
			memcpy(&number, &f.value, sizeof(number)),
				*value = arena_number(r, "%.17g", number);
		else
			found = false;
	}
	return found;
}

static bool read_attribute(
	struct otlp_request *r, struct cursor c, struct otlp_request_attribute *attribute)
{
	struct proto_field f;
	bool has_value = false;

	*attribute = (struct otlp_request_attribute){STR(""), STR("")};
	while (proto_next(&c, &f)) {
		if (f.number == KEY_VALUE_KEY && f.type == PROTO_BYTES)
			attribute->key = f.bytes;
		else if (f.number == KEY_VALUE_STRINDEX)
			attribute->key = string_of(r, f.value);
		else if (f.number == KEY_VALUE_VALUE)
			has_value = read_value(r, proto_message(&c, &f), &attribute->value);
	}
	return has_value && attribute->key.size;
}

static void read_attributes(struct otlp_request *r, struct group *group)
{
	struct otlp_request_attribute *list =
		ARENA_ARRAY(r->arena, struct otlp_request_attribute, OTLP_REQUEST_ATTRIBUTES_MAX);
	struct otlp_request_resource *resource = &group->resource;
	struct proto_field f;
	struct cursor c;

	resource->attributes = list;
	cursor_init(&c, group->message.data, group->message.size, r->name, 0);
	while (resource->attribute_count < OTLP_REQUEST_ATTRIBUTES_MAX && proto_next(&c, &f))
		if (f.number == RESOURCE_ATTRIBUTE &&
			read_attribute(r, proto_message(&c, &f), &list[resource->attribute_count]))
			resource->attribute_count++;
}

/* ---- resources ---- */

/* Counts the profiles in a ScopeProfiles; false: malformed bytes. */
static bool count_profiles(struct cursor c, uint64_t *count)
{
	struct proto_field f;

	while (proto_next(&c, &f))
		*count += f.number == SCOPE_PROFILES_PROFILE && f.type == PROTO_BYTES;
	return cursor_ok(&c);
}

static struct group *group_of(struct otlp_request *r, struct str message)
{
	uint32_t number = str_table_intern(&r->resources, message);

	if (number == r->groups.count)
		vec_push(&r->groups, (struct group){.message = message});
	return &r->groups.data[number];
}

/* Takes a ResourceProfiles; false: malformed bytes. */
static bool take_resource(struct otlp_request *r, struct cursor c, struct piece piece)
{
	struct str message = STR("");
	uint64_t profiles = 0;
	struct proto_field f;

	while (proto_next(&c, &f)) {
		if (f.type != PROTO_BYTES)
			continue;
		if (f.number == RESOURCE_PROFILES_RESOURCE)
			message = f.bytes;
		else if (f.number == RESOURCE_PROFILES_SCOPES &&
			 !count_profiles(proto_message(&c, &f), &profiles))
			return false;
	}
	if (!cursor_ok(&c))
		return false;
	if (profiles == 0)
		return true;
	struct group *group = group_of(r, message);

	group->resource.profile_count += profiles;
	vec_push(&r->pieces, piece);
	if (group->first == 0)
		group->first = (uint32_t)r->pieces.count;
	else
		r->pieces.data[group->last - 1].next = (uint32_t)r->pieces.count;
	group->last = (uint32_t)r->pieces.count;
	return true;
}

static struct error *malformed(const struct otlp_request *r, uint64_t offset)
{
	return error_new(ERROR_INPUT,
		"%s: offset %" PRIu64 ": malformed; expected an ExportProfilesServiceRequest",
		r->name, offset);
}

static struct error *take_apart(struct otlp_request *r)
{
	struct proto_field f;
	struct cursor c;

	cursor_init(&c, r->bytes.data, r->bytes.size, r->name, 0);
	while (proto_next(&c, &f)) {
		if (f.type != PROTO_BYTES)
			return malformed(r, f.offset);
		struct piece piece = {.offset = (uint32_t)f.offset, .size = (uint32_t)f.bytes.size};

		if (f.number == DATA_DICTIONARY) {
			vec_push(&r->dictionary, piece);
			r->dictionary_size += piece.size;
		} else if (f.number == DATA_RESOURCE_PROFILES &&
			   !take_resource(r, proto_message(&c, &f), piece)) {
			return malformed(r, f.offset);
		}
	}
	return cursor_ok(&c) ? NULL : cursor_error(&c);
}

/* Sets the attributes of the resources, and which are beyond the bounds. */
static void look_at_resources(struct otlp_request *r)
{
	uint64_t most = OTLP_REQUEST_RATIO * (uint64_t)r->bytes.size / (r->dictionary_size + 1);

	if (most > OTLP_REQUEST_RESOURCES_MAX)
		most = OTLP_REQUEST_RESOURCES_MAX;
	for (size_t i = 0; i < r->groups.count; i++) {
		r->groups.data[i].resource.is_too_many = i >= most;
		if (i < most)
			read_attributes(r, &r->groups.data[i]);
	}
}

static struct error *convert(struct otlp_request *r)
{
	struct str rest = r->bytes;
	bool is_cut = false;

	if (!str_starts_with(str_trim(rest), STR("{")))
		return error_new(ERROR_INPUT, "%s: expected a JSON object", r->name);
	struct error *err = otlp_json_convert(&rest, r->name, &r->converted, &is_cut);

	if (err == NULL && (is_cut || str_trim(rest).size))
		err = error_new(ERROR_INPUT,
			is_cut ? "%s: the JSON ends early"
			       : "%s: expected one JSON object, and something follows it",
			r->name);
	r->bytes = strbuf_str(&r->converted);
	return err;
}

struct error *otlp_request_read(
	const char *name, struct str bytes, bool is_json, struct otlp_request **request)
{
	if (bytes.size > UINT32_MAX)
		return error_new(ERROR_INPUT, "%s: more than 4 GiB", name);
	struct otlp_request *r = xcalloc(1, sizeof(*r));
	struct error *err = NULL;

	*r = (struct otlp_request){.name = name, .arena = arena_create(), .bytes = bytes};
	str_table_init(&r->resources, r->arena);
	if (is_json)
		err = convert(r);
	if (err == NULL)
		err = take_apart(r);
	if (err) {
		otlp_request_destroy(r);
		return err;
	}
	look_at_resources(r);
	*request = r;
	return NULL;
}

void otlp_request_destroy(struct otlp_request *r)
{
	if (r == NULL)
		return;
	str_table_deinit(&r->resources);
	vec_deinit(&r->groups);
	vec_deinit(&r->pieces);
	vec_deinit(&r->dictionary);
	vec_deinit(&r->strings);
	strbuf_deinit(&r->converted);
	strbuf_deinit(&r->message);
	arena_destroy(r->arena);
	free(r);
}

size_t otlp_request_resource_count(const struct otlp_request *r)
{
	return r->groups.count;
}

const struct otlp_request_resource *otlp_request_resource(
	const struct otlp_request *r, size_t number)
{
	return &r->groups.data[number].resource;
}

static void put_piece(struct otlp_request *r, uint32_t field, const struct piece *piece)
{
	proto_put_bytes(
		&r->message, field, (struct str){r->bytes.data + piece->offset, piece->size});
}

struct str otlp_request_message(struct otlp_request *r, size_t number)
{
	if (r->groups.count == 1)
		return r->bytes;
	if (r->message.size == 0) {
		for (size_t i = 0; i < r->dictionary.count; i++)
			put_piece(r, DATA_DICTIONARY, &r->dictionary.data[i]);
		r->dictionary_end = r->message.size;
	}
	r->message.size = r->dictionary_end;
	for (uint32_t i = r->groups.data[number].first; i; i = r->pieces.data[i - 1].next)
		put_piece(r, DATA_RESOURCE_PROFILES, &r->pieces.data[i - 1]);
	return strbuf_str(&r->message);
}
