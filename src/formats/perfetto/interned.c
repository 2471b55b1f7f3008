/*
 * The interned data of a Perfetto trace's sequences: strings, mappings, frames, callstacks and
 * counters, by kind, sequence and id.
 *
 * Source: interned_data.proto, profile_common.proto and their like in protos/perfetto/trace of
 * Perfetto.
 *
 * Only an entry's position in the file is stored: most entries are never used, and an entry of five
 * bytes must not cost a row of fifty.  A sequence that clears its state gets a new scope, so that
 * earlier samples still find their entries.
 */
#include "base/hash.h"
#include "formats/perfetto/reader.h"

static uint64_t entry_hash(const void *row)
{
	const struct perfetto_entry *e = row;

	return hash_pair(e->iid, e->scope);
}

static bool entry_same(const void *a, const void *b)
{
	const struct perfetto_entry *x = a, *y = b;

	return x->iid == y->iid && x->scope == y->scope;
}

static const struct row_kind entry_rows = {sizeof(struct perfetto_entry), entry_hash, entry_same};

uint32_t perfetto_intern(struct perfetto *f, enum perfetto_kind kind, uint32_t scope, uint64_t iid,
	const struct proto_field *message)
{
	struct perfetto_entry entry = {.iid = iid,
		.offset = message->offset,
		.size = (uint32_t)message->bytes.size,
		.scope = scope};
	struct row_table *t = &f->interned[kind];
	uint32_t row;

	if (message->bytes.size > UINT32_MAX ||
		(f->entries_left == 0 && !row_table_find(t, &entry_rows, &entry, &row))) {
		f->too_many++;
		return NO_ID;
	}
	size_t before = t->count;
	row = row_table_intern(t, &entry_rows, &entry);
	f->entries_left -= t->count - before;
	/* The meaning of an id may change. */
	((struct perfetto_entry *)t->rows)[row] = entry;
	return row;
}

struct perfetto_entry *perfetto_entry(
	const struct perfetto *f, enum perfetto_kind kind, uint32_t scope, uint64_t iid)
{
	const struct perfetto_entry key = {.iid = iid, .scope = scope};
	uint32_t row;

	if (!row_table_find(&f->interned[kind], &entry_rows, &key, &row))
		return NULL;
	return (struct perfetto_entry *)f->interned[kind].rows + row;
}

struct cursor perfetto_entry_message(const struct perfetto *f, const struct perfetto_entry *e)
{
	struct cursor c;

	cursor_init(&c, f->file.start + e->offset, e->size, f->file.name, e->offset);
	return c;
}

string_id perfetto_text(struct perfetto *f, enum perfetto_kind kind, uint32_t scope, uint64_t iid)
{
	struct perfetto_entry *e = iid ? perfetto_entry(f, kind, scope, iid) : NULL;
	struct proto_field field;
	string_id text = {0};

	if (e == NULL)
		return text;
	if (e->made)
		return (string_id){e->made - 1};
	struct cursor c = perfetto_entry_message(f, e);
	while (proto_next(&c, &field))
		if (field.number == STRING_TEXT && field.type == PROTO_BYTES)
			text = builder_string(f->chrome.builder, field.bytes);
	e->made = text.i + 1;
	return text;
}

/* The kind of a field of InternedData; PERFETTO_KINDS: not needed. */
static enum perfetto_kind kind_of(uint32_t field)
{
	switch (field) {
	case INTERNED_EVENT_NAMES:
		return PERFETTO_EVENT_NAMES;
	case INTERNED_FUNCTION_NAMES:
		return PERFETTO_FUNCTION_NAMES;
	case INTERNED_FRAMES:
		return PERFETTO_FRAMES;
	case INTERNED_CALLSTACKS:
		return PERFETTO_CALLSTACKS;
	case INTERNED_BUILD_IDS:
		return PERFETTO_BUILD_IDS;
	case INTERNED_MAPPING_PATHS:
		return PERFETTO_MAPPING_PATHS;
	case INTERNED_SOURCE_PATHS:
		return PERFETTO_SOURCE_PATHS;
	case INTERNED_MAPPINGS:
		return PERFETTO_MAPPINGS;
	case INTERNED_TASKS:
		return PERFETTO_TASKS;
	case INTERNED_COUNTERS:
		return PERFETTO_COUNTERS;
	default:
		return PERFETTO_KINDS;
	}
}

void perfetto_intern_all(struct perfetto *f, uint32_t scope, const struct proto_field *message)
{
	struct cursor c = proto_message(&f->file, message);
	struct proto_field field, member;

	while (proto_next(&c, &field)) {
		struct cursor entry = proto_message(&c, &field);
		enum perfetto_kind kind = kind_of(field.number);
		uint64_t iid = 0;
		if (kind == PERFETTO_KINDS || field.type != PROTO_BYTES)
			continue;
		while (iid == 0 && proto_next(&entry, &member))
			if (member.number == ENTRY_IID)
				iid = member.value;
		(void)perfetto_intern(f, kind, scope, iid, &field);
	}
}

void perfetto_read_symbols(struct perfetto *f, const struct proto_field *message)
{
	struct cursor c = proto_message(&f->file, message), all = c;
	struct proto_field field, member;
	string_id build_id = {0};

	while (proto_next(&c, &field))
		if (field.number == SYMBOLS_BUILD_ID)
			build_id = builder_string(f->chrome.builder, field.bytes);
	while (proto_next(&all, &field)) {
		struct cursor m = proto_message(&all, &field);
		if (field.number != SYMBOLS_ADDRESS || field.type != PROTO_BYTES)
			continue;
		while (proto_next(&m, &member))
			if (member.number == ADDRESS_ADDRESS)
				(void)perfetto_intern(
					f, PERFETTO_SYMBOLS, build_id.i, member.value, &field);
	}
}
