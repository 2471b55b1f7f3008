/*
 * Zones by name, file and line, each once.
 *
 * A program's Prof_Zone may disappear with its shared object, and return with it at another
 * address; rows of this table stay.  A zone that is a function is identified by its address,
 * whatever its name, because names may be found later.
 *
 * Zones are added under the lock and looked up without it: a row and its object are complete before
 * the hash table has its id (a release that the look-up acquires), and never change again.  So a
 * known name needs neither a lock nor waiting, also in signal handlers.
 */
#include <string.h>

#include "zones/runtime.h"

/* A word at a time: a multiplication takes four cycles, each after the one before. */
static uint64_t hash_more(uint64_t hash, const void *data, size_t size)
{
	const uint8_t *from = data;

	size_t done;

	for (done = 0; done < size; done += sizeof(uint64_t)) {
		uint64_t word = 0;

		memcpy(&word, from + done, size - done < sizeof(word) ? size - done : sizeof(word));
		hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
		hash ^= hash >> 32;
	}
	return hash;
}

/*
 * For the file, its length is enough: zones with paths of equal length seldom share name and line.
 */
static uint32_t zone_hash(const Prof_Zone *zone)
{
	uint64_t place = zone->line;

	if (zone->code)
		return (uint32_t)hash_more(0, &zone->code, sizeof(zone->code));
	if (zone->file)
		place |= (uint64_t)strlen(zone->file) << 32;
	return (uint32_t)hash_more(place, zone->name, strlen(zone->name));
}

static bool is_same_zone(const Prof_Zone *a, const Prof_Zone *b)
{
	if (a->code || b->code)
		return a->code == b->code;
	return a->line == b->line && !strcmp(a->name, b->name) && !a->file == !b->file &&
	       (!a->file || !strcmp(a->file, b->file));
}

/* The offset of a copy; 0: no room, or nothing to copy. */
static uint32_t string_keep(const char *text)
{
	struct zonewire_header *header = zones_rt.memory.header;
	uint64_t offset = header->strings_used;
	size_t bytes;

	if (!text || !*text)
		return 0;
	bytes = strlen(text) + 1;
	if (bytes > header->strings_bytes - offset)
		return 0;
	memcpy(zones_rt.memory.strings + offset, text, bytes);
	__atomic_store_n(&header->strings_used, offset + bytes, __ATOMIC_RELEASE);
	return (uint32_t)offset;
}

/*
 * Zones come from few files, and the next zone is usually in the same file, so the newest zones are
 * searched for the name before it is copied again.
 */
static uint32_t file_keep(const char *file, uint32_t count)
{
	uint32_t id, least = count > 64 ? count - 64 : 1;

	for (id = count; file && id-- > least;) {
		uint32_t offset = zones_rt.memory.zones[id].file;

		if (offset && !strcmp(zones_rt.memory.strings + offset, file))
			return offset;
	}
	return string_keep(file);
}

/*
 * Adds a zone and returns its id, which is stored in `place` when the row is complete; 0: no room.
 * Locked.
 */
static uint32_t zone_add(const Prof_Zone *zone, uint32_t *place)
{
	struct zonewire_table *table = &zones_rt.memory.header->zones;
	uint32_t id = table->count ? table->count : 1;
	struct zonewire_zone *row = &zones_rt.memory.zones[id];
	Prof_Zone *object = &zones_rt.object[id];

	if (id >= table->capacity)
		return 0;
	row->name = string_keep(zone->name);
	if (!row->name && zone->name && *zone->name)
		return 0;
	row->file = file_keep(zone->file, id);
	row->line = zone->line;
	row->code = (uint64_t)(uintptr_t)zone->code;
	object->name = zones_rt.memory.strings + row->name;
	object->file = row->file ? zones_rt.memory.strings + row->file : NULL;
	object->line = zone->line;
	object->code = zone->code;
	Prof_PUT_(object->id, id);
	__atomic_store_n(&table->count, id + 1, __ATOMIC_RELEASE);
	__atomic_store_n(place, id, __ATOMIC_RELEASE);
	return id;
}

/*
 * The zone's id if it is known; else 0, and *place is where it belongs unless others are added
 * meanwhile.  There must be memory; needs no lock.
 */
static uint32_t zone_find(const Prof_Zone *zone, uint32_t **place)
{
	uint32_t mask = zones_rt.zone_hash_mask, at = zone_hash(zone) & mask, id;

	for (;; at = (at + 1) & mask) {
		*place = &zones_rt.zone_hash[at];
		id = __atomic_load_n(*place, __ATOMIC_ACQUIRE);
		if (!id || is_same_zone(&zones_rt.object[id], zone))
			return id;
	}
}

/* The zone's id, new or old; locked. */
static uint32_t zone_intern(const Prof_Zone *zone)
{
	uint32_t *place, id = zone_find(zone, &place);

	if (id)
		return id;
	id = zone_add(zone, place);
	if (!id) {
		zones_trouble(ZONEWIRE_NO_ZONES, 1);
		id = ZONEWIRE_ZONE_OTHER;
	}
	return id;
}

void zones_table_start(void)
{
	static const char *const names[] = {"_global", "...other", "prof_update"};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		Prof_Zone zone = Prof_ZONE_(NULL, NULL, 0);

		zone.name = names[i];
		zone_intern(&zone);
	}
}

uint32_t zones_id(Prof_Zone *zone)
{
	uint32_t id = Prof_GET_(zone->id);
	Prof_Zone named = Prof_ZONE_(NULL, NULL, 0);
	uint32_t *place;

	if (id && id < __atomic_load_n(&zones_rt.memory.header->zones.count, __ATOMIC_ACQUIRE))
		return id;
	/* Another thread may be writing its id. */
	named.name = zone->name ? zone->name : zone->code ? "" : "?";
	named.file = zone->file;
	named.line = zone->line;
	named.code = zone->code;
	id = zone_find(&named, &place);
	if (!id) {
		zones_lock();
		id = zone_intern(&named);
		zones_unlock();
	}
	Prof_PUT_(zone->id, id);
	return id;
}

Prof_Zone *zones_object(uint32_t id)
{
	struct zonewire_header *header = zones_header();

	return header && id && id < __atomic_load_n(&header->zones.count, __ATOMIC_ACQUIRE)
		       ? &zones_rt.object[id]
		       : NULL;
}

Prof_Zone *Prof_zone(const char *name, const char *file, uint32_t line)
{
	static Prof_Zone none = Prof_ZONE_("...other", NULL, 0);
	Prof_Thread_ *t = &Prof_thread_;
	Prof_Zone zone = Prof_ZONE_(NULL, NULL, 0), *found = &none;
	uint32_t skipped, id, *place;

	zone.name = name ? name : "?";
	zone.file = file;
	zone.line = line;
	if (zones_header() && (id = zone_find(&zone, &place)) != 0)
		return &zones_rt.object[id];
	if (!zones_hold(t, &skipped))
		return &none;
	zones_lock();
	if (zones_memory_make())
		found = &zones_rt.object[zone_intern(&zone)];
	zones_unlock();
	zones_release(t, skipped);
	return found;
}
