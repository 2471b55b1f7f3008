/*
 * The DWARF reader over sections made of the input: each is a byte for which section, two for its
 * size, then its bytes. Every part of the text is asked for.
 */
#include <dwarf.h>

#include "../dwarf_bytes.h"
#include "base/alloc.h"
#include "base/cursor.h"
#include "obj/debug_info.h"
#include "obj/dwarf_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t fuzz_seed(size_t n, uint8_t *data, size_t capacity);

enum { TEXT_LOW = 0x1000, TEXT_HIGH = 0x1400 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dwarf_section sections[DWARF_SECTION_COUNT] = {0};
	uint64_t addrs[TEXT_HIGH - TEXT_LOW];
	struct debug_place places[TEXT_HIGH - TEXT_LOW];
	const struct debug_caller *callers[ARRAY_SIZE(places)];
	struct cursor c;
	size_t bytes = 0;

	cursor_init(&c, data, size, "input", 0);
	while (cursor_left(&c) > 3) {
		unsigned int id = cursor_u8(&c) % DWARF_SECTION_COUNT;
		size_t length = cursor_u16(&c);
		if (length > cursor_left(&c))
			length = cursor_left(&c);
		sections[id] = (struct dwarf_section){cursor_bytes(&c, length), length, true};
	}
	for (size_t i = 0; i < ARRAY_SIZE(addrs); i++)
		addrs[i] = TEXT_LOW + i;
	struct debug_info *info =
		debug_info_open_sections(sections, (struct pc_range){TEXT_LOW, TEXT_HIGH});
	debug_info_find(info, addrs, ARRAY_SIZE(addrs), places);
	for (size_t i = 0; i < ARRAY_SIZE(addrs); i++)
		for (uint32_t k = 0; k < places[i].count; k++)
			bytes += places[i].frames[k].function.size + places[i].frames[k].file.size;
	debug_info_callers(info, addrs, ARRAY_SIZE(addrs), callers);
	for (size_t i = 0; i < ARRAY_SIZE(addrs); i++)
		bytes += callers[i] ? callers[i]->count : 0;
	debug_info_problem(info);
	debug_info_close(info);
	return bytes == SIZE_MAX;
}

static size_t put_section(
	uint8_t *data, size_t at, size_t capacity, unsigned int id, struct strbuf *bytes)
{
	if (at + 3 + bytes->size > capacity)
		abort();
	data[at] = (uint8_t)id;
	data[at + 1] = (uint8_t)bytes->size;
	data[at + 2] = (uint8_t)(bytes->size >> 8);
	memcpy(data + at + 3, bytes->data, bytes->size);
	at += 3 + bytes->size;
	strbuf_deinit(bytes);
	return at;
}

static void seed_abbrevs(struct strbuf *out, unsigned int version)
{
	const uint16_t string = version >= 5 ? DW_FORM_strx1 : DW_FORM_strp;
	const uint16_t ranges = version >= 5 ? DW_FORM_rnglistx : DW_FORM_sec_offset;
	const uint16_t address = version >= 5 ? DW_FORM_addrx : DW_FORM_addr;
	const uint16_t unit[][2] = {{DW_AT_low_pc, DW_FORM_addr}, {DW_AT_high_pc, DW_FORM_data2},
		{DW_AT_stmt_list, DW_FORM_sec_offset}, {DW_AT_comp_dir, DW_FORM_string},
		{DW_AT_str_offsets_base, DW_FORM_data1}, {DW_AT_addr_base, DW_FORM_data1},
		{DW_AT_rnglists_base, DW_FORM_data1}, {0, 0}};
	const uint16_t function[][2] = {{DW_AT_name, string}, {DW_AT_low_pc, address},
		{DW_AT_high_pc, DW_FORM_udata}, {DW_AT_decl_file, DW_FORM_data1},
		{DW_AT_decl_line, DW_FORM_data1}, {DW_AT_sibling, DW_FORM_ref1}, {0, 0}};
	const uint16_t inlined[][2] = {{DW_AT_abstract_origin, DW_FORM_ref1},
		{DW_AT_ranges, ranges}, {DW_AT_call_file, DW_FORM_data1},
		{DW_AT_call_line, DW_FORM_data1}, {0, 0}};
	const uint16_t abstract[][2] = {
		{DW_AT_linkage_name, DW_FORM_string}, {DW_AT_specification, DW_FORM_ref1}, {0, 0}};
	const uint16_t other[][2] = {{DW_AT_location, DW_FORM_exprloc},
		{DW_AT_type, DW_FORM_ref_addr}, {DW_AT_name, DW_FORM_indirect}, {0, 0}};

	put_abbrev(out, 1, DW_TAG_compile_unit, 1, unit);
	put_abbrev(out, 2, DW_TAG_subprogram, 1, function);
	put_abbrev(out, 3, DW_TAG_inlined_subroutine, 1, inlined);
	put_abbrev(out, 4, DW_TAG_subprogram, 0, abstract);
	put_abbrev(out, 5, DW_TAG_lexical_block, 1, other);
	put_u8(out, 0);
}

static void seed_info(struct strbuf *out, unsigned int version)
{
	size_t length = put_length_begin(out);

	put_u16(out, version);
	if (version >= 5) {
		put_u8(out, DW_UT_compile);
		put_u8(out, 8);
	}
	put_u32(out, 0);
	if (version < 5)
		put_u8(out, 8);
	put_u8(out, 1);
	put_u64(out, TEXT_LOW);
	put_u16(out, TEXT_HIGH - TEXT_LOW);
	put_u32(out, 0);
	put_string(out, "/src");
	put_u8(out, 8);
	put_u8(out, 8);
	put_u8(out, 12);
	unsigned int abstract = (unsigned int)out->size;
	put_u8(out, 4);
	put_string(out, "_Z3fooi.constprop.0");
	put_u8(out, abstract);
	put_u8(out, 2);
	if (version >= 5) {
		put_u16(out, 0); /* string 0, address 0 */
	} else {
		put_u32(out, 1);
		put_u64(out, TEXT_LOW + 0x10);
	}
	put_uleb(out, 0x100);
	put_u16(out, 0x0201);
	put_u8(out, 0);
	put_u8(out, 5);
	put_u16(out, 0x1201);
	put_u32(out, abstract);
	put_u16(out, 0x0508);
	put_u8(out, 3);
	put_u8(out, abstract);
	if (version >= 5)
		put_u8(out, 0);
	else
		put_u32(out, 0);
	put_u16(out, 0x0301);
	put_u32(out, 0);
	put_length_end(out, length);
}

static void seed_ranges(struct strbuf *out, unsigned int version)
{
	if (version < 5) {
		put_u64(out, 0x20);
		put_u64(out, 0x40);
		put_u64(out, UINT64_MAX);
		put_u64(out, TEXT_LOW);
		put_u64(out, 0x50);
		put_u64(out, 0x60);
		put_u64(out, UINT64_MAX);
		put_u64(out, 1); /* dropped by the linker */
		put_u64(out, TEXT_LOW);
		put_u64(out, TEXT_LOW + 0x90);
		put_u64(out, 0);
		put_u64(out, 0);
		return;
	}
	size_t length = put_length_begin(out);

	put_u16(out, 5);
	put_u16(out, 8);
	put_u32(out, 1);
	put_u32(out, 4);
	put_u8(out, DW_RLE_offset_pair);
	put_u16(out, 0x4020);
	put_u8(out, DW_RLE_startx_length);
	put_u16(out, 0x2000);
	put_u8(out, DW_RLE_start_length);
	put_u64(out, TEXT_LOW + 0x80);
	put_u8(out, 9);
	put_u8(out, DW_RLE_base_address);
	put_u64(out, UINT64_MAX);
	put_u8(out, DW_RLE_offset_pair);
	put_u16(out, 0x2001);
	put_u8(out, DW_RLE_base_addressx);
	put_u8(out, 0);
	put_u8(out, DW_RLE_offset_pair);
	put_u16(out, 0x2010);
	put_u8(out, DW_RLE_startx_endx);
	put_u16(out, 0);
	put_u8(out, DW_RLE_start_end);
	put_u64(out, TEXT_LOW + 0x90);
	put_u64(out, TEXT_LOW + 0xa0);
	put_u8(out, DW_RLE_end_of_list);
	put_length_end(out, length);
}

static void seed_lines(struct strbuf *out, unsigned int version)
{
	static const unsigned char lengths[] = {0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1};
	size_t length = put_length_begin(out);

	put_u16(out, version);
	if (version >= 5)
		put_u16(out, 8);
	size_t header = put_length_begin(out);
	put_u8(out, 1);
	put_u8(out, 1);
	put_u8(out, 1);
	put_u8(out, (unsigned int)-5);
	put_u8(out, 14);
	put_u8(out, 13);
	strbuf_add(out, (struct str){(const char *)lengths, sizeof(lengths)});
	if (version >= 5) {
		put_u8(out, 1);
		put_u16(out, DW_LNCT_path | DW_FORM_string << 8);
		put_u8(out, 1);
		put_string(out, "/src");
		put_u8(out, 2);
		put_u16(out, DW_LNCT_path | DW_FORM_string << 8);
		put_u16(out, DW_LNCT_directory_index | DW_FORM_udata << 8);
		put_u8(out, 1);
	} else {
		put_u8(out, 0);
	}
	put_string(out, "a.c");
	put_u8(out, 0);
	if (version < 5) {
		put_u16(out, 0);
		put_u8(out, 0);
	}
	put_length_end(out, header);
	put_u16(out, 9 << 8);
	put_u8(out, DW_LNE_set_address);
	put_u64(out, TEXT_LOW);
	put_u32(out, 0x80604020);
	put_u16(out, DW_LNS_advance_pc | 0x20 << 8);
	put_u16(out, 1 << 8);
	put_u8(out, DW_LNE_end_sequence);
	put_length_end(out, length);
}

size_t fuzz_seed(size_t n, uint8_t *data, size_t capacity)
{
	unsigned int version = (unsigned int)n + 2;
	struct strbuf bytes = {0};
	size_t at = 0;

	if (version > 5)
		return 0;
	seed_abbrevs(&bytes, version);
	at = put_section(data, at, capacity, DWARF_ABBREV, &bytes);
	seed_info(&bytes, version);
	at = put_section(data, at, capacity, DWARF_INFO, &bytes);
	seed_ranges(&bytes, version);
	at = put_section(data, at, capacity, version >= 5 ? DWARF_RNGLISTS : DWARF_RANGES, &bytes);
	seed_lines(&bytes, version);
	at = put_section(data, at, capacity, DWARF_LINE, &bytes);
	put_string(&bytes, "");
	put_string(&bytes, "main");
	at = put_section(data, at, capacity, DWARF_STR, &bytes);
	put_u64(&bytes, 0);
	put_u32(&bytes, 1);
	at = put_section(data, at, capacity, DWARF_STR_OFFSETS, &bytes);
	put_u64(&bytes, 0);
	put_u64(&bytes, TEXT_LOW + 0x10);
	return put_section(data, at, capacity, DWARF_ADDR, &bytes);
}
