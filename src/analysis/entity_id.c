/*
 * Ids of entities: a hash of what makes an entity that one, FNV-1a of 64 bits (G. Fowler,
 * L. C. Noll, K.-P. Vo; RFC 9923) folded to 40.  Among 100,000 functions, two have the same id once
 * in 200 profiles; both are then found by it, and whoever looks one up reports that.
 */
#include "analysis/entity_id.h"

#include <inttypes.h>

#define FNV_OFFSET 0xcbf29ce484222325u
#define FNV_PRIME  0x100000001b3u
#define ID_BITS	   40
#define ID_DIGITS  (ENTITY_ID_SIZE - 1)

static uint64_t add_bytes(uint64_t hash, const char *data, size_t size)
{
	for (size_t i = 0; i < size; i++)
		hash = (hash ^ (uint8_t)data[i]) * FNV_PRIME;
	return hash;
}

/* With an end that no UTF-8 text contains. */
static uint64_t add_text(uint64_t hash, struct str text)
{
	return add_bytes(add_bytes(hash, text.data, text.size), "\xff", 1);
}

/* Least significant byte first, on every machine. */
static uint64_t add_number(uint64_t hash, uint64_t number)
{
	for (unsigned shift = 0; shift < 64; shift += 8)
		hash = (hash ^ (number >> shift & 0xff)) * FNV_PRIME;
	return hash;
}

uint64_t entity_id(const struct entity *e)
{
	uint64_t hash = FNV_OFFSET;

	hash = add_text(hash, e->name);
	hash = add_text(hash, e->module);
	hash = add_text(hash, e->file);
	hash = add_number(hash, e->line);
	hash = add_number(hash, e->address);
	hash = add_number(hash, e->occurrence);
	return (hash ^ hash >> ID_BITS) & (((uint64_t)1 << ID_BITS) - 1);
}

struct entity entity_of_function(const struct profile *profile, function_id function)
{
	const struct function *f = &profile->functions[function.i];

	return (struct entity){.name = profile_string(profile, f->name),
		.module = profile_module(profile, f->object),
		.file = profile_string(profile, f->file),
		.line = f->line,
		.occurrence = 1};
}

void entity_id_put(struct strbuf *out, const struct entity *e)
{
	strbuf_printf(out, "@%0*" PRIx64, ID_DIGITS, entity_id(e));
}

bool entity_id_parse(struct str text, uint64_t *id)
{
	uint64_t value = 0;

	if (text.size != ENTITY_ID_SIZE || text.data[0] != '@')
		return false;
	for (size_t i = 1; i < text.size; i++) {
		char c = text.data[i];

		if (!char_is_digit(c) && (c < 'a' || c > 'f'))
			return false;
		value = value << 4 | (uint64_t)(char_is_digit(c) ? c - '0' : c - 'a' + 10);
	}
	*id = value;
	return true;
}
