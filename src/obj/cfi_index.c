/*
 * Finds an address's entry, by bisecting the table of .eh_frame_hdr or a list of all entries.  See
 * cfi_index.h.
 */
#include "obj/cfi_index.h"

#include <dwarf.h>
#include <string.h>

#include "base/search.h"
#include "obj/lazy_bytes.h"

enum { TABLE_ROW_BYTES = 8, HEADER_MAX = 4 + 2 * 10 };
/* After this many useless entries in a row, the table counts as useless too. */
enum { USELESS_MAX = 64 };

static bool need(const struct cfi_header *header, uint64_t offset, uint64_t size)
{
	return header->lazy == NULL || lazy_bytes_need(header->lazy, offset, size);
}

/* Reads the header itself; false if its table cannot be bisected. */
static bool read_header(struct cfi_index *index)
{
	const struct cfi_header *header = index->header;
	const struct cfi_object base = {.data_addr = header->obj_addr};
	struct cursor c;

	if (!need(header, 0, HEADER_MAX))
		return false;
	cursor_init(&c, header->bytes, header->size, ".eh_frame_hdr", 0);
	uint8_t version = cursor_u8(&c), frame_encoding = cursor_u8(&c);
	uint8_t count_encoding = cursor_u8(&c), table_encoding = cursor_u8(&c);
	if (version != 1 || table_encoding != (DW_EH_PE_datarel | DW_EH_PE_sdata4))
		return false;
	uint64_t frame = cfi_read_address(&c, frame_encoding, header->obj_addr, &base);
	uint64_t count = cfi_read_address(&c, count_encoding, header->obj_addr, &base);
	if (!cursor_ok(&c) || count == 0 || count > cursor_left(&c) / TABLE_ROW_BYTES ||
		frame != index->section->obj_addr)
		return false;
	index->table_off = cursor_offset(&c);
	index->count = count;
	return true;
}

void cfi_index_init(struct cfi_index *index, const struct cfi_section *section,
	const struct cfi_header *header, const struct cfi_object *object)
{
	*index = (struct cfi_index){
		.section = section, .header = header, .object = object, .state = CFI_INDEX_NONE};
	if (section && header->size && read_header(index))
		index->state = CFI_INDEX_TABLE;
	if (section == NULL)
		index->state = CFI_INDEX_ENTRIES;
}

void cfi_index_deinit(struct cfi_index *index)
{
	vec_deinit(&index->entries);
	cfi_cies_deinit(&index->cies);
}

size_t cfi_index_size_bytes(const struct cfi_index *index)
{
	return index->entries.capacity * sizeof(struct cfi_entry_place) +
	       index->cies.list.capacity * sizeof(struct cfi_cie) +
	       index->cies.at.capacity * sizeof(struct map_slot);
}

/* ---- all entries ---- */

static bool is_distrusted(const struct cfi_object *object, uint64_t low)
{
	for (size_t i = 0; i < object->distrusted_count; i++)
		if (object->distrusted[i] == low)
			return true;
	return false;
}

static void collect(struct cfi_index *index)
{
	struct cfi_entries all = {.object = index->object};

	cfi_entries_add(&all, index->section);
	cfi_entries_sort(&all);
	vec_reserve(&index->entries, all.fdes.count);
	for (size_t i = 0; i < all.fdes.count; i++) {
		const struct cfi_fde *fde = &all.fdes.data[i];
		if (!is_distrusted(index->object, fde->low))
			vec_push(&index->entries, (struct cfi_entry_place){fde->low, fde->offset});
	}
	index->count = index->entries.count;
	index->bad += all.bad;
	index->state = CFI_INDEX_ENTRIES;
	cfi_entries_deinit(&all);
}

/* ---- one entry ---- */

/* Row i of the table, or entry i; false if it cannot be read. */
static bool place_at(struct cfi_index *index, size_t i, struct cfi_entry_place *place)
{
	const struct cfi_header *header = index->header;
	uint64_t offset = index->table_off + (uint64_t)i * TABLE_ROW_BYTES;
	int32_t row[2];

	if (index->state == CFI_INDEX_ENTRIES) {
		*place = index->entries.data[i];
		return true;
	}
	if (!need(header, offset, sizeof(row)))
		return false;
	memcpy(row, header->bytes + offset, sizeof(row));
	place->low = header->obj_addr + (uint64_t)(int64_t)row[0];
	place->offset = header->obj_addr + (uint64_t)(int64_t)row[1] - index->section->obj_addr;
	return true;
}

/*
 * Counts the entries that begin at or before obj_addr.  False: the rows visited are out of order or
 * cannot be read.
 */
static bool count_until(struct cfi_index *index, uint64_t obj_addr, size_t *count)
{
	struct cfi_entry_place place;
	uint64_t lowest = 0, highest = UINT64_MAX;
	size_t low = 0, end = index->count;

	while (low < end) {
		size_t middle = low + (end - low) / 2;
		if (!place_at(index, middle, &place) || place.low < lowest || place.low > highest)
			return false;
		if (place.low <= obj_addr) {
			low = middle + 1;
			lowest = place.low;
		} else {
			end = middle;
			highest = place.low;
		}
	}
	*count = low;
	return true;
}

enum entry_use { ENTRY_GOOD, ENTRY_USELESS, ENTRY_FALSE };

/*
 * Reads entry i.  Entries of functions that the linker dropped, and distrusted ones, are useless.
 */
static enum entry_use load(struct cfi_index *index, size_t i, struct cfi_fde *fde)
{
	struct cfi_entry_place place;

	if (!place_at(index, i, &place))
		return ENTRY_FALSE;
	if (index->state == CFI_INDEX_TABLE && is_distrusted(index->object, place.low))
		return ENTRY_USELESS;
	if (place.offset >= index->section->size ||
		!cfi_fde_load(index->section, index->object, place.offset, &index->cies, fde) ||
		fde->low != place.low)
		return ENTRY_FALSE;
	if (fde->low == 0 || fde->high == fde->low || fde->high - fde->low >= CFI_SPAN_MAX / 2)
		return ENTRY_USELESS;
	return ENTRY_GOOD;
}

/* Finds the last useful entry before number `until`.  False: the table is wrong. */
static bool last_of(struct cfi_index *index, size_t until, struct cfi_fde *fde, bool *found)
{
	*found = false;
	for (size_t passed = 0; until > 0; until--) {
		enum entry_use use = load(index, until - 1, fde);

		if (use == ENTRY_GOOD) {
			*found = true;
			return true;
		}
		if (index->state == CFI_INDEX_TABLE && use == ENTRY_FALSE)
			return false;
		index->bad += use == ENTRY_FALSE;
		if (++passed == USELESS_MAX)
			return index->state != CFI_INDEX_TABLE;
	}
	return true;
}

/*
 * The start of the first entry from number i on that is not distrusted; UINT64_MAX: there is none.
 * False: the table cannot be read.
 */
static bool next_low(struct cfi_index *index, size_t i, uint64_t *low)
{
	struct cfi_entry_place place = {.low = UINT64_MAX};

	for (; i < index->count; i++) {
		if (!place_at(index, i, &place))
			return false;
		if (!is_distrusted(index->object, place.low))
			break;
		place.low = UINT64_MAX;
	}
	*low = place.low;
	return true;
}

/* Whether row i, if it exists, agrees with its entry. */
static bool is_true(struct cfi_index *index, size_t i)
{
	struct cfi_fde fde;

	return index->state != CFI_INDEX_TABLE || i >= index->count ||
	       load(index, i, &fde) != ENTRY_FALSE;
}

/* False: the table is wrong. */
static bool find(struct cfi_index *index, uint64_t obj_addr, struct cfi_stretch *stretch)
{
	struct cfi_fde *fde = &stretch->fde;
	uint64_t next;
	size_t until;
	bool found;

	if (!count_until(index, obj_addr, &until) || !last_of(index, until, fde, &found) ||
		!next_low(index, until, &next) || next <= obj_addr)
		return false;
	stretch->has_fde = found && obj_addr < fde->high;
	/* If no entry was found, check the next row as well: a wrong one could hide an entry. */
	if (!stretch->has_fde && !is_true(index, until))
		return false;
	if (stretch->has_fde) {
		stretch->low = fde->low;
		stretch->high = fde->high < next ? fde->high : next;
	} else {
		stretch->low = found ? fde->high : 0;
		stretch->high = next;
	}
	return true;
}

void cfi_index_find(struct cfi_index *index, uint64_t obj_addr, struct cfi_stretch *stretch)
{
	if (index->state == CFI_INDEX_TABLE && find(index, obj_addr, stretch))
		return;
	if (index->state != CFI_INDEX_ENTRIES)
		collect(index);
	if (!find(index, obj_addr, stretch))
		*stretch = (struct cfi_stretch){.low = obj_addr, .high = obj_addr + 1};
}
