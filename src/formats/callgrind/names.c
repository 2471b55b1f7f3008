/*
 * Name compression of callgrind files ("Name Compression" in the format's manual).
 */
#include "formats/callgrind/names.h"

/* What a name costs beside its bytes, in the tables of builder and ids. */
#define NAME_COST 160
/* What an id takes in the map while it grows. */
#define FAR_ID_COST (4 * sizeof(struct map_slot))

void callgrind_names_init(struct callgrind_names *n, struct builder *b, size_t room)
{
	*n = (struct callgrind_names){.builder = b,
		.demangler = demangler_create(),
		.function_object = NO_ID,
		.room = room};
}

void callgrind_names_deinit(struct callgrind_names *n)
{
	for (size_t i = 0; i < ARRAY_SIZE(n->counted); i++)
		vec_deinit(&n->counted[i]);
	map_deinit(&n->ids);
	vec_deinit(&n->paths);
	strbuf_deinit(&n->nameless);
	demangler_destroy(n->demangler);
}

static bool is_unknown(struct str name)
{
	return name.size == 0 || str_equal(name, STR("???"));
}

static void take_room(struct callgrind_names *n, size_t cost)
{
	n->room = n->room > cost ? n->room - cost : 0;
}

/* Takes the cost of a string that is new; it is if its number is the highest so far. */
static string_id charge(struct callgrind_names *n, string_id id, size_t size)
{
	if (id.i <= n->string_most)
		return id;
	n->string_most = id.i;
	take_room(n, size + NAME_COST);
	return id;
}

static bool is_hex_digit(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

/*
 * Of a function without a name callgrind writes where in its load object it is, in 16 digits, and
 * maybe how deep in a recursion ("'2").  sonde says "[MODULE+0xADDRESS]" of such ones.
 */
static struct str say_nameless(struct callgrind_names *n, struct str name)
{
	size_t at = 2, end = 2;

	if (n->function_object >= n->paths.count || !str_starts_with(name, STR("0x")))
		return name;
	while (end < name.size && is_hex_digit(name.data[end]))
		end++;
	if (end - 2 < 8 || end - 2 > 16 || (end < name.size && name.data[end] != '\''))
		return name;
	while (at + 1 < end && name.data[at] == '0')
		at++;
	struct str path = builder_string_bytes(n->builder, n->paths.data[n->function_object]);
	strbuf_clear(&n->nameless);
	strbuf_printf(&n->nameless, "[%.*s+0x%.*s]", STR_ARG(str_base_name(path)), (int)(end - at),
		name.data + at);
	strbuf_add(&n->nameless, (struct str){name.data + end, name.size - end});
	return strbuf_str(&n->nameless);
}

static uint32_t intern_function(struct callgrind_names *n, struct str name)
{
	name = say_nameless(n, name);
	/* What is demangled is there twice, and may be much longer. */
	struct str shown = demangle(n->demangler, name);
	size_t cost = shown.data == name.data ? name.size : name.size + 2 * shown.size;

	return charge(n, builder_string(n->builder, shown), cost).i;
}

static uint32_t intern_object(struct callgrind_names *n, struct str name)
{
	string_id path = charge(n, builder_string(n->builder, name), name.size);
	object_id object = builder_object(n->builder, name, STR(""), OBJECT_USER);

	/* They are numbered by first sight. */
	if (object.i == n->paths.count)
		vec_push(&n->paths, path);
	return object.i;
}

static uint32_t intern(struct callgrind_names *n, enum callgrind_space space, struct str name)
{
	if (!is_unknown(name) && n->room == 0) {
		n->too_many++;
		name.size = 0;
	}
	switch (space) {
	case CALLGRIND_FILES:
		return is_unknown(name) ? 0
					: charge(n, builder_string(n->builder, name), name.size).i;
	case CALLGRIND_OBJECTS:
		if (is_unknown(name))
			return NO_ID;
		return intern_object(n, name);
	case CALLGRIND_FUNCTIONS:
	case CALLGRIND_SPACES:
		break;
	}
	return intern_function(n, is_unknown(name) ? STR("[unknown]") : name);
}

/* "(12)" at the start of text: true, and text goes on behind it. */
static bool take_id(struct str *text, uint64_t *id)
{
	size_t at = 1;

	*id = 0;
	if (text->size < 3 || text->data[0] != '(')
		return false;
	for (; at < text->size && text->data[at] >= '0' && text->data[at] <= '9' && at < 19; at++)
		*id = 10 * *id + (uint64_t)(text->data[at] - '0');
	if (at == 1 || at == text->size || text->data[at] != ')')
		return false;
	at++;
	while (at < text->size && text->data[at] == ' ')
		at++;
	*text = (struct str){text->data + at, text->size - at};
	return true;
}

/* No more of an array of ids is free than is used, or than so many. */
#define COUNTED_FREE 64

static bool get_id(
	const struct callgrind_names *n, enum callgrind_space space, uint64_t id, uint32_t *known)
{
	if (id < n->counted[space].count) {
		*known = n->counted[space].data[id];
		if (*known != CALLGRIND_NAME_UNKNOWN)
			return true;
	}
	return n->ids.count && map_get(&n->ids, space, id, known);
}

static void put_far_id(
	struct callgrind_names *n, enum callgrind_space space, uint64_t id, uint32_t known)
{
	bool added;

	/* Its name is counted as one too many already. */
	if (n->room == 0)
		return;
	*map_at(&n->ids, space, id, known, &added) = known;
	if (added)
		take_room(n, FAR_ID_COST);
}

/* An id that was put into the map is found there until one is put into the array, once it may be.
 */
static void put_id(
	struct callgrind_names *n, enum callgrind_space space, uint64_t id, uint32_t known)
{
	if (id > 2 * (uint64_t)n->put[space] + COUNTED_FREE) {
		put_far_id(n, space, id, known);
		return;
	}
	while (n->counted[space].count <= id)
		vec_push(&n->counted[space], CALLGRIND_NAME_UNKNOWN);
	n->put[space] += n->counted[space].data[id] == CALLGRIND_NAME_UNKNOWN;
	n->counted[space].data[id] = known;
}

uint32_t callgrind_names_read(
	struct callgrind_names *n, enum callgrind_space space, struct str text)
{
	uint64_t id;
	uint32_t known;

	if (!take_id(&text, &id))
		return intern(n, space, text);
	bool is_known = get_id(n, space, id, &known);
	if (text.size == 0) {
		n->undefined += !is_known;
		return is_known ? known : intern(n, space, STR("???"));
	}
	known = intern(n, space, text);
	put_id(n, space, id, known);
	return known;
}
