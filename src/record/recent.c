/*
 * A queue of records of any size in one block of bytes.  When the used part is at most half of the
 * block, it is moved to the start, so each byte is moved at most once on average.
 */
#include "record/recent.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define CAPACITY_MIN 65536

struct head {
	uint64_t end_ns;
	uint32_t kind, size;
};

static size_t padded(size_t size)
{
	return (size + 7) / 8 * 8;
}

void recent_deinit(struct recent *r)
{
	free(r->bytes);
	if (r->arena) {
		str_table_deinit(&r->names);
		arena_destroy(r->arena);
	}
	*r = (struct recent){0};
}

static void make_room(struct recent *r, size_t more)
{
	size_t size = recent_size(r);

	if (r->end + more <= r->capacity)
		return;
	if (r->begin >= size) {
		if (size)
			memcpy(r->bytes, r->bytes + r->begin, size);
		r->begin = 0;
		r->end = size;
	}
	while (r->end + more > r->capacity) {
		r->capacity = r->capacity ? 2 * r->capacity : CAPACITY_MIN;
		r->bytes = xrealloc_array(r->bytes, r->capacity, 1);
	}
}

void recent_add(struct recent *r, const struct recent_entry *entry)
{
	struct head head = {entry->end_ns, (uint32_t)entry->kind, (uint32_t)entry->size};

	make_room(r, sizeof(head) + padded(entry->size));
	memcpy(r->bytes + r->end, &head, sizeof(head));
	memcpy(r->bytes + r->end + sizeof(head), entry->data, entry->size);
	r->end += sizeof(head) + padded(entry->size);
}

struct str recent_name(struct recent *r, struct str name)
{
	if (r->arena == NULL) {
		r->arena = arena_create();
		str_table_init(&r->names, r->arena);
	}
	uint32_t i = str_table_intern(&r->names, name);
	return r->names.strings[i];
}

bool recent_first(const struct recent *r, struct recent_entry *entry)
{
	struct head head;

	if (recent_size(r) == 0)
		return false;
	memcpy(&head, r->bytes + r->begin, sizeof(head));
	*entry = (struct recent_entry){.end_ns = head.end_ns,
		.kind = (enum recent_kind)head.kind,
		.data = r->bytes + r->begin + sizeof(head),
		.size = head.size};
	return true;
}

void recent_drop_first(struct recent *r)
{
	struct recent_entry first;

	if (recent_first(r, &first))
		r->begin += sizeof(struct head) + padded(first.size);
}
