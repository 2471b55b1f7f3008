/*
 * CIEs and FDEs.
 *
 * Two passes over a section, each linear: the first reads the CIEs and the positions of the FDEs,
 * the second reads the FDEs' addresses.  A CIE is looked up by its offset in a hash table; only
 * real entry offsets are valid, so that FDEs cannot cause the same byte to be parsed over and over.
 *
 * Sources: DWARF 5 section 6.4.1; LSB Core 5.0 section 10.6 (.eh_frame); the "eh" augmentation of
 * gcc 2 is not supported.
 */
#include "obj/cfi_parse.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "obj/cfi_read.h"
#include "obj/lazy_bytes.h"

/* Not in every dwarf.h; LSB Core 5.0, table 10-2. */
enum { ENCODING_FORMAT = 0x0f, ENCODING_BASE = 0x70 };

/* Linkers merge equal CIEs, so that large libraries have hundreds. */
enum { CIE_COUNT_MAX = 1 << 17 };

/* A CIE that is read again for each FDE must be short; most have about 24 bytes. */
enum { LONE_CIE_SIZE_MAX = 4096 };

/* The rules of a function of several megabytes take about 100 KiB. */
#define FDE_SIZE_MAX ((uint64_t)4 << 20)
/* The two lengths and the id at the start of an entry. */
enum { ENTRY_HEAD_BYTES = 20 };

struct section_walk {
	struct cfi_entries *entries;
	const struct cfi_section *section;
	struct map cie_at; /* offset of the entry → index of the CIE */
	VEC(uint64_t) fde_at;
};

struct entry_header {
	uint64_t offset;    /* of the entry */
	uint64_t id_offset; /* of the CIE pointer */
	uint64_t id;	    /* CIE id or CIE pointer */
	bool is_cie;
	struct cursor body; /* the rest of the entry */
};

void cfi_entries_deinit(struct cfi_entries *e)
{
	vec_deinit(&e->cies);
	vec_deinit(&e->fdes);
}

/* ---- encoded addresses ---- */

static uint64_t read_format(struct cursor *c, uint8_t format)
{
	switch (format) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		return cursor_u64(c);
	case DW_EH_PE_uleb128:
		return cursor_uleb(c);
	case DW_EH_PE_sleb128:
		return (uint64_t)cursor_sleb(c);
	case DW_EH_PE_udata2:
		return cursor_u16(c);
	case DW_EH_PE_sdata2:
		return (uint64_t)(int16_t)cursor_u16(c);
	case DW_EH_PE_udata4:
		return cursor_u32(c);
	case DW_EH_PE_sdata4:
		return (uint64_t)(int32_t)cursor_u32(c);
	default:
		cursor_fail(c, "an unknown address encoding");
		return 0;
	}
}

uint64_t cfi_read_address(
	struct cursor *c, uint8_t encoding, uint64_t section_addr, const struct cfi_object *object)
{
	uint64_t here = section_addr + cursor_offset(c);
	uint64_t value = read_format(c, encoding & ENCODING_FORMAT);

	if (encoding & DW_EH_PE_indirect) {
		cursor_fail(c, "an address by way of memory");
		return 0;
	}
	switch (encoding & ENCODING_BASE) {
	case DW_EH_PE_absptr:
		return value;
	case DW_EH_PE_pcrel:
		return value + here;
	case DW_EH_PE_textrel:
		return value + object->text_addr;
	case DW_EH_PE_datarel:
		return value + object->data_addr;
	default: /* relative to the function, aligned */
		cursor_fail(c, "an invalid address encoding");
		return 0;
	}
}

/* ---- entry headers ---- */

static bool is_eh(const struct cfi_section *section)
{
	return section->kind != CFI_DEBUG_FRAME;
}

/*
 * Reads one entry's header and moves c past the entry.  False at a terminator, or, with c bad, if
 * the entry does not fit.
 */
static bool read_header(struct cursor *c, const struct cfi_section *section, struct entry_header *h)
{
	bool wide = false;

	h->offset = cursor_offset(c);
	uint64_t size = cursor_u32(c);
	if (size == 0xffffffff) {
		size = cursor_u64(c);
		wide = true;
	}
	if (size == 0)
		return false;
	h->body = cursor_sub(c, size);
	h->id_offset = cursor_offset(&h->body);
	if (is_eh(section)) {
		h->id = cursor_u32(&h->body);
		h->is_cie = h->id == 0;
	} else {
		h->id = wide ? cursor_u64(&h->body) : cursor_u32(&h->body);
		h->is_cie = h->id == (wide ? UINT64_MAX : UINT32_MAX);
	}
	return cursor_ok(c);
}

/* ---- CIEs ---- */

/* The personality's address is not needed, but it must be skipped. */
static void skip_personality(struct cursor *c, uint64_t section_addr)
{
	uint8_t encoding = cursor_u8(c);

	if (encoding == DW_EH_PE_omit)
		return;
	if (encoding == DW_EH_PE_aligned) {
		cursor_skip(c, -(section_addr + cursor_offset(c)) & 7);
		encoding = DW_EH_PE_absptr;
	}
	(void)read_format(c, encoding & ENCODING_FORMAT);
}

static void read_augmentation(
	struct cursor *c, struct str letters, uint64_t section_addr, struct cfi_cie *cie)
{
	cie->has_augmentation = true;
	uint64_t size = cursor_uleb(c);
	struct cursor data = cursor_sub(c, size);
	for (size_t i = 1; i < letters.size; i++) {
		switch (letters.data[i]) {
		case 'R':
			cie->pointer_encoding = cursor_u8(&data);
			break;
		case 'L':
			(void)cursor_u8(&data);
			break;
		case 'P':
			skip_personality(&data, section_addr);
			break;
		case 'S':
			cie->is_signal = true;
			break;
		case 'B': /* aarch64: signed by the B key */
		case 'G': /* aarch64: tagged stack frames */
			break;
		default:
			/*
			 * The data has a size, but 'R' or 'S' may follow, so it cannot be trusted.
			 */
			cursor_fail(c, "an unknown augmentation");
		}
	}
	if (!cursor_ok(&data))
		cursor_fail(c, "augmentation data too short");
}

static bool read_cie(struct cursor *c, const struct cfi_section *section,
	const struct cfi_object *object, struct cfi_cie *cie)
{
	uint8_t version = cursor_u8(c);
	struct str letters = cursor_string(c);

	*cie = (struct cfi_cie){.pointer_encoding = DW_EH_PE_absptr,
		.arch = object->arch ? object->arch : arch_here()};
	if (version != 1 && version != 3 && version != 4)
		cursor_fail(c, "an unknown CIE version");
	if (version == 4 && (cursor_u8(c) != 8 || cursor_u8(c) != 0))
		cursor_fail(c, "an address size other than 8, or segments");
	cie->code_factor = cursor_uleb(c);
	cie->data_factor = cursor_sleb(c);
	uint64_t return_register = version == 1 ? cursor_u8(c) : cursor_uleb(c);
	if (arch_reg(cie->arch, return_register) != cie->arch->return_reg)
		cursor_fail(c, "the return address in a register of another machine");
	if (letters.size && letters.data[0] == 'z')
		read_augmentation(c, letters, section->obj_addr, cie);
	else if (letters.size)
		cursor_fail(c, "an unknown augmentation");
	cie->program = c->at;
	cie->program_size = cursor_left(c);
	return cursor_ok(c);
}

static void take_cie(struct section_walk *w, struct entry_header *h)
{
	struct cfi_cie cie;

	if (w->entries->cies.count == CIE_COUNT_MAX ||
		!read_cie(&h->body, w->section, w->entries->object, &cie)) {
		w->entries->bad++;
		return;
	}
	map_put(&w->cie_at, h->offset, 0, (uint32_t)w->entries->cies.count);
	vec_push(&w->entries->cies, cie);
}

/* ---- FDEs ---- */

static uint64_t cie_offset(const struct cfi_section *section, const struct entry_header *h)
{
	return is_eh(section) ? h->id_offset - h->id : h->id;
}

static bool find_cie(struct section_walk *w, const struct entry_header *h, uint32_t *cie)
{
	return map_get(&w->cie_at, cie_offset(w->section, h), 0, cie);
}

/* Reads an FDE after its header.  The caller sets the section's index. */
static bool read_fde(struct cursor *c, const struct cfi_cie *cie, const struct cfi_section *section,
	const struct cfi_object *object, struct cfi_fde *fde)
{
	fde->low = cfi_read_address(c, cie->pointer_encoding, section->obj_addr, object);
	uint64_t size = read_format(c, cie->pointer_encoding & ENCODING_FORMAT);
	if (__builtin_add_overflow(fde->low, size, &fde->high))
		return false;
	if (cie->has_augmentation)
		cursor_skip(c, cfi_read_uleb(c));
	fde->program = c->at;
	fde->program_size = cursor_left(c);
	return cursor_ok(c);
}

static void take_fde(struct section_walk *w, uint64_t offset)
{
	struct cursor c;
	struct entry_header h;
	struct cfi_fde fde;

	cursor_init(&c, w->section->bytes, w->section->size, w->entries->object->name, 0);
	cursor_seek(&c, offset);
	fde.offset = offset;
	if (!read_header(&c, w->section, &h) || !find_cie(w, &h, &fde.cie) ||
		!read_fde(&h.body, &w->entries->cies.data[fde.cie], w->section, w->entries->object,
			&fde)) {
		w->entries->bad++;
		return;
	}
	/* For functions that they dropped, linkers leave entries with address 0. */
	if (fde.low != 0 && fde.high > fde.low)
		vec_push(&w->entries->fdes, fde);
}

/* ---- single entries ---- */

static bool need(const struct cfi_section *section, uint64_t offset, uint64_t size)
{
	return section->lazy == NULL || lazy_bytes_need(section->lazy, offset, size);
}

/* Reads an entry of up to size_max bytes; *size: its whole size. */
static bool read_entry_at(const struct cfi_section *section, uint64_t offset, uint64_t size_max,
	struct entry_header *h, uint64_t *size)
{
	struct cursor c;

	cursor_init(&c, section->bytes, section->size, "call frame information", 0);
	cursor_seek(&c, offset);
	if (!cursor_ok(&c) || !need(section, offset, ENTRY_HEAD_BYTES) ||
		!read_header(&c, section, h))
		return false;
	*size = cursor_offset(&c) - offset;
	return cursor_left(&h->body) <= size_max && need(section, offset, *size);
}

/* Reads and parses a CIE. */
static bool load_cie(const struct cfi_section *section, const struct cfi_object *object,
	uint64_t offset, struct cfi_cie *cie)
{
	struct entry_header h;
	uint64_t size;

	if (!read_entry_at(section, offset, LONE_CIE_SIZE_MAX, &h, &size) || !h.is_cie ||
		!read_cie(&h.body, section, object, cie))
		return false;
	cie->offset = offset;
	cie->size = size;
	return true;
}

/* The index of a CIE.  Its bytes are loaded, because its program may contain expressions. */
static bool find_or_load_cie(const struct cfi_section *section, const struct cfi_object *object,
	uint64_t offset, struct cfi_cies *cies, uint32_t *index)
{
	struct cfi_cie cie;

	if (map_get(&cies->at, offset, 0, index))
		return need(section, offset, cies->list.data[*index].size);
	if (cies->list.count == CIE_COUNT_MAX || !load_cie(section, object, offset, &cie))
		return false;
	*index = (uint32_t)cies->list.count;
	map_put(&cies->at, offset, 0, *index);
	vec_push(&cies->list, cie);
	return true;
}

void cfi_cies_deinit(struct cfi_cies *cies)
{
	map_deinit(&cies->at);
	vec_deinit(&cies->list);
}

bool cfi_fde_load(const struct cfi_section *section, const struct cfi_object *object,
	uint64_t offset, struct cfi_cies *cies, struct cfi_fde *fde)
{
	struct entry_header h;
	uint64_t size;

	fde->offset = offset;
	return read_entry_at(section, offset, FDE_SIZE_MAX, &h, &size) && !h.is_cie &&
	       find_or_load_cie(section, object, cie_offset(section, &h), cies, &fde->cie) &&
	       read_fde(&h.body, &cies->list.data[fde->cie], section, object, fde);
}

bool cfi_fde_read(const struct cfi_section *section, const struct cfi_object *object,
	uint64_t offset, uint64_t *low, uint64_t *high)
{
	struct entry_header h;
	struct cfi_cie cie;
	struct cfi_fde fde;
	uint64_t size;

	if (!read_entry_at(section, offset, FDE_SIZE_MAX, &h, &size) || h.is_cie ||
		!load_cie(section, object, cie_offset(section, &h), &cie) ||
		!read_fde(&h.body, &cie, section, object, &fde))
		return false;
	*low = fde.low;
	*high = fde.high;
	return true;
}

/* ---- sections ---- */

static void walk_section(struct section_walk *w)
{
	struct cursor c;

	cursor_init(&c, w->section->bytes, w->section->size, w->entries->object->name, 0);
	while (cursor_left(&c) >= 4) {
		struct entry_header h;
		if (read_header(&c, w->section, &h)) {
			if (h.is_cie)
				take_cie(w, &h);
			else
				vec_push(&w->fde_at, h.offset);
		} else if (!cursor_ok(&c)) {
			w->entries->bad++;
		} else if (w->section->kind == CFI_EH_FRAME_UNSIZED) {
			return;
		}
	}
}

void cfi_entries_add(struct cfi_entries *e, const struct cfi_section *section)
{
	struct section_walk w = {.entries = e, .section = section};

	if (!need(section, 0, section->size)) {
		e->bad++;
		return;
	}
	walk_section(&w);
	vec_reserve(&e->fdes, e->fdes.count + w.fde_at.count);
	for (size_t i = 0; i < w.fde_at.count; i++)
		take_fde(&w, w.fde_at.data[i]);
	vec_deinit(&w.fde_at);
	map_deinit(&w.cie_at);
}

/* ---- order ---- */

struct sort_key {
	uint64_t low;
	uint32_t index;
};

static bool is_sorted(const struct cfi_fde *fdes, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		if (fdes[i - 1].low > fdes[i].low)
			return false;
	}
	return true;
}

/* One pass of a radix sort, by 11 bits of the key from bit `shift`; stable. */
static void radix_pass(const struct sort_key *from, struct sort_key *to, size_t count,
	uint64_t lowest, unsigned int shift)
{
	size_t place[1 << 11] = {0}, sum = 0;

	for (size_t i = 0; i < count; i++)
		place[(from[i].low - lowest) >> shift & 0x7ff]++;
	for (size_t i = 0; i < ARRAY_SIZE(place); i++) {
		size_t n = place[i];
		place[i] = sum;
		sum += n;
	}
	for (size_t i = 0; i < count; i++)
		to[place[(from[i].low - lowest) >> shift & 0x7ff]++] = from[i];
}

/* Keys are indices and addresses, so that each FDE moves only once. */
static void sort_fdes(struct cfi_fde *fdes, size_t count)
{
	struct sort_key *keys = xcalloc(count, sizeof(*keys)),
			*spare = xcalloc(count, sizeof(*keys));
	uint64_t lowest = UINT64_MAX, highest = 0;

	for (size_t i = 0; i < count; i++) {
		keys[i] = (struct sort_key){fdes[i].low, (uint32_t)i};
		lowest = fdes[i].low < lowest ? fdes[i].low : lowest;
		highest = fdes[i].low > highest ? fdes[i].low : highest;
	}
	for (unsigned int shift = 0; shift < 64 && (highest - lowest) >> shift; shift += 11) {
		radix_pass(keys, spare, count, lowest, shift);
		struct sort_key *swap = keys;
		keys = spare;
		spare = swap;
	}
	struct cfi_fde *sorted = xcalloc(count, sizeof(*sorted));
	for (size_t i = 0; i < count; i++)
		sorted[i] = fdes[keys[i].index];
	memcpy(fdes, sorted, count * sizeof(*sorted));
	free(sorted);
	free(keys);
	free(spare);
}

/* Keeps entries within half the span of the median: a stray address must not exclude the others. */
static void drop_strays(struct cfi_entries *e)
{
	struct cfi_fde *fdes = e->fdes.data;
	size_t kept = 0;

	if (e->fdes.count == 0)
		return;
	uint64_t middle = fdes[e->fdes.count / 2].low;
	for (size_t i = 0; i < e->fdes.count; i++) {
		uint64_t far = fdes[i].low < middle ? middle - fdes[i].low : fdes[i].high - middle;
		if (far < CFI_SPAN_MAX / 2)
			fdes[kept++] = fdes[i];
		else
			e->bad++;
	}
	e->fdes.count = kept;
}

void cfi_entries_sort(struct cfi_entries *e)
{
	if (!is_sorted(e->fdes.data, e->fdes.count))
		sort_fdes(e->fdes.data, e->fdes.count);
	drop_strays(e);
}
