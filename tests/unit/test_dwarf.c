/* The DWARF reader over hand-made sections: sensible ones, and ones made to mislead it. */
#include <dwarf.h>
#include <time.h>

#include "../dwarf_bytes.h"
#include "../unit.h"
#include "obj/debug_info.h"
#include "obj/dwarf_file.h"

#define TEXT_LOW  0x1000
#define TEXT_HIGH 0x100000

/* The abbreviations of all units here. */
enum {
	UNIT = 1,    /* language, low, size, line table */
	FUNCTION,    /* name, low, size, decl_line; children */
	FUNCTION_OF, /* origin, low, size; children */
	INLINED,     /* origin, low, size, call_file, call_line; children */
	ABSTRACT,    /* name, decl_file, decl_line */
	SPECIFIED,   /* specification */
	RANGED,	     /* name, ranges; children */
	BLOCK,	     /* children */
	TYPE,	     /* sibling; children */
	MEMBER,	     /* name */
	LINKED,	     /* name, linkage name, low, size */
	NAMESPACE,   /* name; children */
	UNNAMED,     /* namespace; children */
	CLASS,	     /* name; children */
	CLOSURE,     /* class; children */
};

struct sections {
	struct strbuf info, abbrev, line, ranges;
	size_t length, unit;
};

static void put_abbrevs(struct strbuf *out)
{
	static const uint16_t unit[][2] = {{DW_AT_language, DW_FORM_data1},
		{DW_AT_low_pc, DW_FORM_addr}, {DW_AT_high_pc, DW_FORM_data4},
		{DW_AT_stmt_list, DW_FORM_sec_offset}, {DW_AT_comp_dir, DW_FORM_string}, {0, 0}};
	static const uint16_t function[][2] = {{DW_AT_name, DW_FORM_string},
		{DW_AT_low_pc, DW_FORM_addr}, {DW_AT_high_pc, DW_FORM_data4},
		{DW_AT_decl_line, DW_FORM_udata}, {0, 0}};
	static const uint16_t function_of[][2] = {{DW_AT_abstract_origin, DW_FORM_ref4},
		{DW_AT_low_pc, DW_FORM_addr}, {DW_AT_high_pc, DW_FORM_data4}, {0, 0}};
	static const uint16_t inlined[][2] = {{DW_AT_abstract_origin, DW_FORM_ref4},
		{DW_AT_low_pc, DW_FORM_addr}, {DW_AT_high_pc, DW_FORM_data4},
		{DW_AT_call_file, DW_FORM_data1}, {DW_AT_call_line, DW_FORM_data2}, {0, 0}};
	static const uint16_t abstract[][2] = {{DW_AT_name, DW_FORM_string},
		{DW_AT_decl_file, DW_FORM_data1}, {DW_AT_decl_line, DW_FORM_data2}, {0, 0}};
	static const uint16_t specified[][2] = {{DW_AT_specification, DW_FORM_ref4}, {0, 0}};
	static const uint16_t ranged[][2] = {
		{DW_AT_name, DW_FORM_string}, {DW_AT_ranges, DW_FORM_sec_offset}, {0, 0}};
	static const uint16_t none[][2] = {{0, 0}};
	static const uint16_t type[][2] = {{DW_AT_sibling, DW_FORM_ref4}, {0, 0}};
	static const uint16_t member[][2] = {{DW_AT_name, DW_FORM_string}, {0, 0}};
	static const uint16_t linked[][2] = {{DW_AT_name, DW_FORM_string},
		{DW_AT_linkage_name, DW_FORM_string}, {DW_AT_low_pc, DW_FORM_addr},
		{DW_AT_high_pc, DW_FORM_data4}, {0, 0}};

	put_abbrev(out, UNIT, DW_TAG_compile_unit, 1, unit);
	put_abbrev(out, FUNCTION, DW_TAG_subprogram, 1, function);
	put_abbrev(out, FUNCTION_OF, DW_TAG_subprogram, 1, function_of);
	put_abbrev(out, INLINED, DW_TAG_inlined_subroutine, 1, inlined);
	put_abbrev(out, ABSTRACT, DW_TAG_subprogram, 0, abstract);
	put_abbrev(out, SPECIFIED, DW_TAG_subprogram, 0, specified);
	put_abbrev(out, RANGED, DW_TAG_subprogram, 1, ranged);
	put_abbrev(out, BLOCK, DW_TAG_lexical_block, 1, none);
	put_abbrev(out, TYPE, DW_TAG_structure_type, 1, type);
	put_abbrev(out, MEMBER, DW_TAG_member, 0, member);
	put_abbrev(out, LINKED, DW_TAG_subprogram, 0, linked);
	put_abbrev(out, NAMESPACE, DW_TAG_namespace, 1, member);
	put_abbrev(out, UNNAMED, DW_TAG_namespace, 1, none);
	put_abbrev(out, CLASS, DW_TAG_class_type, 1, member);
	put_abbrev(out, CLOSURE, DW_TAG_structure_type, 1, none);
	put_u8(out, 0);
}

static void begin_in(struct sections *s, unsigned int language)
{
	*s = (struct sections){0};
	put_abbrevs(&s->abbrev);
	s->length = put_length_begin(&s->info);
	put_u16(&s->info, 4);
	put_u32(&s->info, 0);
	put_u8(&s->info, 8);
	put_uleb(&s->info, UNIT);
	put_u8(&s->info, language);
	put_u64(&s->info, TEXT_LOW);
	put_u32(&s->info, TEXT_HIGH - TEXT_LOW);
	put_u32(&s->info, 0);
	put_string(&s->info, "/src");
}

static void begin(struct sections *s)
{
	begin_in(s, DW_LANG_C11);
}

static void end_children(struct sections *s)
{
	put_u8(&s->info, 0);
}

/* Where the next entry will stand: as a reference within the unit, which begins at 0. */
static uint32_t here(const struct sections *s)
{
	return (uint32_t)s->info.size;
}

static void put_function(struct sections *s, const char *name, uint64_t low, uint32_t size)
{
	put_uleb(&s->info, FUNCTION);
	put_string(&s->info, name);
	put_u64(&s->info, low);
	put_u32(&s->info, size);
	put_uleb(&s->info, 7);
}

static void put_inlined(
	struct sections *s, uint32_t origin, uint64_t low, uint32_t size, unsigned int line)
{
	put_uleb(&s->info, INLINED);
	put_u32(&s->info, origin);
	put_u64(&s->info, low);
	put_u32(&s->info, size);
	put_u8(&s->info, 1);
	put_u16(&s->info, line);
}

static uint32_t put_abstract(struct sections *s, const char *name, unsigned int line)
{
	uint32_t at = here(s);

	put_uleb(&s->info, ABSTRACT);
	put_string(&s->info, name);
	put_u8(&s->info, 2);
	put_u16(&s->info, line);
	return at;
}

/* The reader over s; it is closed by finish. */
static struct debug_info *open_sections(struct sections *s)
{
	struct dwarf_section sections[DWARF_SECTION_COUNT] = {0};

	sections[DWARF_INFO] =
		(struct dwarf_section){(const uint8_t *)s->info.data, s->info.size, true};
	sections[DWARF_ABBREV] =
		(struct dwarf_section){(const uint8_t *)s->abbrev.data, s->abbrev.size, true};
	sections[DWARF_LINE] =
		(struct dwarf_section){(const uint8_t *)s->line.data, s->line.size, true};
	sections[DWARF_RANGES] =
		(struct dwarf_section){(const uint8_t *)s->ranges.data, s->ranges.size, true};
	return debug_info_open_sections(sections, (struct pc_range){TEXT_LOW, TEXT_HIGH});
}

static struct debug_info *end(struct sections *s)
{
	end_children(s);
	put_length_end(&s->info, s->length);
	return open_sections(s);
}

static void finish(struct sections *s, struct debug_info *info)
{
	debug_info_close(info);
	strbuf_deinit(&s->info), strbuf_deinit(&s->abbrev);
	strbuf_deinit(&s->line);
	strbuf_deinit(&s->ranges);
}

static struct debug_place find(struct debug_info *info, uint64_t addr)
{
	struct debug_place place;

	debug_info_find(info, &addr, 1, &place);
	return place;
}

/* The functions at an address, innermost first, as "a<b<c". */
static void check(struct debug_info *info, uint64_t addr, const char *expected)
{
	struct debug_place place = find(info, addr);
	struct strbuf got = {0};

	for (uint32_t i = 0; i < place.count; i++) {
		if (i)
			strbuf_add_char(&got, '<');
		strbuf_add(&got, place.frames[i].function);
		assert_int_equal(place.frames[i].is_inline, i + 1 < place.count);
	}
	assert_string_equal(got.data ? got.data : "", expected);
	strbuf_deinit(&got);
}

/* A line table, version 2 to 4: two folders, two files, then the program. */
static size_t begin_lines(struct sections *s, unsigned int version)
{
	static const unsigned char lengths[] = {0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1};
	struct strbuf *out = &s->line;
	size_t length = put_length_begin(out);

	put_u16(out, version);
	size_t header = put_length_begin(out);
	put_u8(out, 1);
	if (version >= 4)
		put_u8(out, 1);
	put_u8(out, 1);
	put_u8(out, (unsigned int)-5);
	put_u8(out, 14);
	put_u8(out, 13);
	strbuf_add(out, (struct str){(const char *)lengths, sizeof(lengths)});
	put_string(out, "sub");
	put_string(out, "/usr/include");
	put_u8(out, 0);
	put_string(out, "a.c");
	put_uleb(out, 1);
	put_u16(out, 0);
	put_string(out, "b.h");
	put_uleb(out, 2);
	put_u16(out, 0);
	put_u8(out, 0);
	put_length_end(out, header);
	return length;
}

static void put_address(struct sections *s, uint64_t addr)
{
	put_u8(&s->line, 0);
	put_uleb(&s->line, 9);
	put_u8(&s->line, DW_LNE_set_address);
	put_u64(&s->line, addr);
}

static void put_row(struct sections *s, int advance_line, unsigned int advance_pc)
{
	put_u8(&s->line, DW_LNS_advance_line);
	put_sleb(&s->line, advance_line);
	put_u8(&s->line, DW_LNS_advance_pc);
	put_uleb(&s->line, advance_pc);
	put_u8(&s->line, DW_LNS_copy);
}

static void put_end_sequence(struct sections *s)
{
	put_u8(&s->line, 0);
	put_uleb(&s->line, 1);
	put_u8(&s->line, DW_LNE_end_sequence);
}

static void check_line(struct debug_info *info, uint64_t addr, const char *file, uint32_t line)
{
	struct debug_place place = find(info, addr);

	assert_int_equal(place.count, 1);
	assert_true(str_equal(place.frames[0].file, str_from(file)));
	assert_int_equal(place.frames[0].line, line);
}

TEST(functions_and_inlined_calls)
{
	struct sections s;

	begin(&s);
	uint32_t middle = put_abstract(&s, "middle", 30), inner = put_abstract(&s, "inner", 40);
	put_function(&s, "outer", 0x2000, 0x100);
	put_inlined(&s, middle, 0x2010, 0x40, 11);
	put_uleb(&s.info, BLOCK);
	put_inlined(&s, inner, 0x2020, 0x10, 31);
	end_children(&s);
	end_children(&s);
	end_children(&s);
	end_children(&s);
	put_function(&s, "next", 0x2100, 0x10);
	end_children(&s);
	struct debug_info *info = end(&s);
	check(info, 0x1fff, "");
	check(info, 0x2000, "outer");
	check(info, 0x2010, "middle<outer");
	check(info, 0x2020, "inner<middle<outer");
	check(info, 0x2030, "middle<outer");
	check(info, 0x2050, "outer");
	check(info, 0x20ff, "outer");
	check(info, 0x2100, "next");
	check(info, 0x2110, "");
	struct debug_place place = find(info, 0x2020);
	assert_int_equal(place.frames[0].function_line, 40);
	assert_int_equal(place.frames[1].line, 31);
	assert_int_equal(place.frames[2].line, 11);
	assert_int_equal(place.frames[2].function_line, 7);
	finish(&s, info);
}

TEST(lines_and_files)
{
	for (unsigned int version = 2; version <= 4; version++) {
		struct sections s;
		begin(&s);
		size_t length = begin_lines(&s, version);
		put_address(&s, 0x2000);
		put_row(&s, 9, 0);   /* line 10 */
		put_row(&s, 1, 4);   /* 0x2004: 11 */
		put_row(&s, -11, 4); /* 0x2008: 0 */
		put_u8(&s.line, DW_LNS_set_file);
		put_uleb(&s.line, 2);
		put_row(&s, 5, 4);		      /* 0x200c: 5 of b.h */
		put_row(&s, 1, 0);		      /* the same address again: 6 */
		put_u8(&s.line, 13 + 14 * 2 + 5 + 3); /* 0x200e: 9 */
		put_u8(&s.line, DW_LNS_advance_pc);
		put_uleb(&s.line, 2);
		put_end_sequence(&s);
		put_length_end(&s.line, length);
		struct debug_info *info = end(&s);
		check_line(info, 0x2000, "/src/sub/a.c", 10);
		check_line(info, 0x2003, "/src/sub/a.c", 10);
		check_line(info, 0x2004, "/src/sub/a.c", 11);
		check_line(info, 0x2008, "/src/sub/a.c", 0);
		check_line(info, 0x200c, "/usr/include/b.h", 6);
		check_line(info, 0x200e, "/usr/include/b.h", 9);
		check_line(info, 0x200f, "/usr/include/b.h", 9);
		assert_int_equal(find(info, 0x2010).count, 0);
		assert_int_equal(find(info, 0x1fff).count, 0);
		finish(&s, info);
	}
}

TEST(code_that_the_linker_dropped_counts_for_nothing)
{
	struct sections s;

	begin(&s);
	size_t length = begin_lines(&s, 4);
	put_address(&s, 0);
	put_row(&s, 99, 0);
	put_row(&s, 99, 0x8000);
	put_end_sequence(&s);
	put_address(&s, 0x2000);
	put_row(&s, 9, 0);
	put_row(&s, 1, 16);
	put_end_sequence(&s);
	put_length_end(&s.line, length);
	put_function(&s, "dropped", 0, 0x8000);
	end_children(&s);
	put_function(&s, "kept", 0x2000, 16);
	end_children(&s);
	struct debug_info *info = end(&s);
	check(info, 0x2008, "kept");
	check_line(info, 0x2008, "/src/sub/a.c", 10);
	check(info, 0x3000, "");
	finish(&s, info);
}

TEST(the_linkage_name_is_for_mangled_names)
{
	static const char *const names[][3] = {{"f", "_Z1fi", "_Z1fi"},
		{"f", "_Z1fi.constprop.0", "_Z1fi"}, {"f", "renamed", "f"}, {"", "only", "only"},
		{"f", "", "f"}};
	struct sections s;

	begin(&s);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		put_uleb(&s.info, LINKED);
		put_string(&s.info, names[i][0]);
		put_string(&s.info, names[i][1]);
		put_u64(&s.info, 0x2000 + i * 16);
		put_u32(&s.info, 16);
	}
	struct debug_info *info = end(&s);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		check(info, 0x2008 + i * 16, names[i][2]);
	finish(&s, info);
}

static void put_named(struct sections *s, unsigned int code, const char *name)
{
	put_uleb(&s->info, code);
	put_string(&s->info, name);
}

/*
 * namespace a { namespace { class B { run(); }; } run(); }, main() with two lambdas and a function
 * of its own.
 */
static struct debug_info *functions_with_homes(struct sections *s, unsigned int language)
{
	uint32_t run, lambdas[2];

	begin_in(s, language);
	put_named(s, NAMESPACE, "a");
	put_uleb(&s->info, UNNAMED);
	put_named(s, CLASS, "Empty");
	end_children(s);
	put_named(s, CLASS, "B");
	run = put_abstract(s, "run", 1);
	end_children(s);
	end_children(s);
	put_function(s, "run", 0x2000, 0x10);
	end_children(s);
	end_children(s);
	put_function(s, "main", 0x2100, 0x100);
	for (int i = 0; i < 2; i++) {
		put_uleb(&s->info, CLOSURE);
		lambdas[i] = put_abstract(s, i ? "operator()<int>" : "operator()", 2);
		end_children(s);
	}
	put_function(s, "nested", 0x2400, 0x10);
	end_children(s);
	put_inlined(s, run, 0x2110, 0x10, 3);
	put_inlined(s, lambdas[0], 0x2118, 0x8, 3);
	end_children(s);
	end_children(s);
	end_children(s);
	put_uleb(&s->info, FUNCTION_OF);
	put_u32(&s->info, lambdas[1]);
	put_u64(&s->info, 0x2300);
	put_u32(&s->info, 0x10);
	end_children(s);
	put_uleb(&s->info, LINKED);
	put_string(&s->info, "f");
	put_string(&s->info, "_ZN1a1fEi");
	put_u64(&s->info, 0x2500);
	put_u32(&s->info, 0x10);
	return end(s);
}

TEST(functions_without_linkage_names_are_told_apart_by_where_they_stand)
{
	struct sections s;

	struct debug_info *info = functions_with_homes(&s, DW_LANG_C_plus_plus_14);
	check(info, 0x2000, "a::run");
	check(info, 0x2110, "a::(anonymous namespace)::B::run<main");
	check(info, 0x2118, "main::{lambda#1}::operator()<a::(anonymous namespace)::B::run<main");
	check(info, 0x2300, "main::{lambda#2}::operator()<int>");
	check(info, 0x2400, "nested");
	check(info, 0x2500, "_ZN1a1fEi");
	finish(&s, info);
	info = functions_with_homes(&s, DW_LANG_C11);
	check(info, 0x2000, "run");
	check(info, 0x2110, "run<main");
	finish(&s, info);
}

TEST(a_name_is_not_longer_than_is_of_use)
{
	struct sections s;
	char name[2001];

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = 0;
	begin_in(&s, DW_LANG_C_plus_plus);
	for (int i = 0; i < 3; i++)
		put_named(&s, NAMESPACE, name);
	put_function(&s, "f", 0x2000, 0x10);
	end_children(&s);
	for (int i = 0; i < 3; i++)
		end_children(&s);
	struct debug_info *info = end(&s);
	check(info, 0x2000, "f");
	finish(&s, info);
}

TEST(ranges_in_a_list)
{
	struct sections s;

	begin(&s);
	put_u64(&s.ranges, 0x1000); /* offsets from the unit's low_pc */
	put_u64(&s.ranges, 0x1010);
	put_u64(&s.ranges, UINT64_MAX);
	put_u64(&s.ranges, 0x8000);
	put_u64(&s.ranges, 0x0);
	put_u64(&s.ranges, 0x8);
	put_u64(&s.ranges, 0);
	put_u64(&s.ranges, 0);
	put_uleb(&s.info, RANGED);
	put_string(&s.info, "split");
	put_u32(&s.info, 0);
	end_children(&s);
	struct debug_info *info = end(&s);
	check(info, 0x2000, "split");
	check(info, 0x2010, "");
	check(info, 0x8000, "split");
	check(info, 0x8008, "");
	finish(&s, info);
}

/* Linkers give dropped code a base like -2, 1 or 0; with an offset, that may be anywhere. */
TEST(offsets_from_a_dropped_base_are_none)
{
	static const uint64_t bases[] = {UINT64_MAX - 1, 1, TEXT_HIGH};
	struct sections s;

	for (size_t i = 0; i < ARRAY_SIZE(bases); i++) {
		begin(&s);
		put_u64(&s.ranges, UINT64_MAX);
		put_u64(&s.ranges, bases[i]);
		put_u64(&s.ranges, 0x1ff0 - bases[i]);
		put_u64(&s.ranges, 0x2020 - bases[i]);
		put_u64(&s.ranges, UINT64_MAX);
		put_u64(&s.ranges, 0); /* addresses follow */
		put_u64(&s.ranges, 0x3000);
		put_u64(&s.ranges, 0x3010);
		put_u64(&s.ranges, 0);
		put_u64(&s.ranges, 0);
		put_uleb(&s.info, RANGED);
		put_string(&s.info, "dropped");
		put_u32(&s.info, 0);
		end_children(&s);
		put_function(&s, "kept", 0x2000, 0x10);
		end_children(&s);
		struct debug_info *info = end(&s);
		check(info, 0x2008, "kept");
		check(info, 0x2018, "");
		check(info, 0x3008, "dropped");
		finish(&s, info);
	}
}

TEST(functions_within_what_is_skipped_are_found)
{
	struct sections s;

	begin(&s);
	put_uleb(&s.info, TYPE);
	size_t sibling = s.info.size;
	put_u32(&s.info, 0);
	put_function(&s, "method", 0x3000, 0x10);
	end_children(&s);
	end_children(&s);
	uint32_t next = here(&s);
	memcpy(s.info.data + sibling, &next, sizeof(next));
	put_function(&s, "outer", 0x2000, 0x100);
	put_function(&s, "nested", 0x4000, 0x10);
	end_children(&s);
	end_children(&s);
	struct debug_info *info = end(&s);
	check(info, 0x2000, "outer");
	check(info, 0x3000, "method");
	check(info, 0x4000, "nested");
	finish(&s, info);
}

TEST(an_inlined_call_outside_its_function_is_none)
{
	struct sections s;

	begin(&s);
	uint32_t inner = put_abstract(&s, "inner", 40);
	put_function(&s, "first", 0x2000, 0x10);
	put_inlined(&s, inner, 0x2000, 0x1000, 11);
	end_children(&s);
	end_children(&s);
	put_function(&s, "second", 0x2010, 0x10);
	end_children(&s);
	put_function(&s, "second again", 0x2010, 0x10);
	end_children(&s);
	struct debug_info *info = end(&s);
	check(info, 0x2008, "inner<first");
	check(info, 0x2018, "second");
	finish(&s, info);
}

TEST(references_in_a_circle_end)
{
	struct sections s;

	begin(&s);
	uint32_t first = here(&s);
	put_uleb(&s.info, SPECIFIED);
	put_u32(&s.info, first + 5);
	put_uleb(&s.info, SPECIFIED);
	put_u32(&s.info, first);
	uint32_t self = here(&s);
	put_uleb(&s.info, FUNCTION_OF);
	put_u32(&s.info, self);
	put_u64(&s.info, 0x2000);
	put_u32(&s.info, 0x10);
	put_inlined(&s, first, 0x2000, 0x10, 1);
	end_children(&s);
	put_inlined(&s, 0xffffff, 0x2000, 0x8, 1);
	end_children(&s);
	put_inlined(&s, 3, 0x2008, 0x8, 1);
	end_children(&s);
	end_children(&s);
	struct debug_info *info = end(&s);
	check(info, 0x2000, "<");
	check(info, 0x2008, "<");
	finish(&s, info);
}

TEST(nesting_is_as_deep_as_it_likes)
{
	struct sections s;

	begin(&s);
	for (int i = 0; i < 100000; i++)
		put_uleb(&s.info, BLOCK);
	put_function(&s, "deep", 0x2000, 0x10);
	struct debug_info *info = end(&s);
	check(info, 0x2000, "deep");
	finish(&s, info);
}

TEST(a_chain_is_as_long_as_it_likes)
{
	struct sections s;

	begin(&s);
	uint32_t inner = put_abstract(&s, "i", 1);
	put_function(&s, "f", 0x2000, 0x10);
	for (int i = 0; i < 10000; i++)
		put_inlined(&s, inner, 0x2000, 0x10, 1);
	struct debug_info *info = end(&s);
	assert_int_equal(find(info, 0x2000).count, 10001);
	finish(&s, info);
}

/* Of the CPU: a busy machine is no reason to fail. */
static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Every entry refers to the same long list: read as often as it is named, it would take hours. */
TEST(work_is_bounded)
{
	struct sections s;
	double start = seconds();

	begin(&s);
	for (int i = 0; i < 200000; i++) {
		put_u64(&s.ranges, 0x1000);
		put_u64(&s.ranges, 0x1010);
	}
	for (int i = 0; i < 200000; i++) {
		put_uleb(&s.info, RANGED);
		put_string(&s.info, "r");
		put_u32(&s.info, 0);
		end_children(&s);
	}
	struct debug_info *info = end(&s);
	find(info, 0x9000);
	assert_non_null(debug_info_problem(info));
	assert_true(seconds() - start < 5);
	finish(&s, info);
}

/* Whatever is cut off or changed, the reader ends, and reads nothing outside. */
TEST(damage_does_no_harm)
{
	struct sections s;

	begin(&s);
	size_t length = begin_lines(&s, 4);
	put_address(&s, 0x2000);
	put_row(&s, 9, 0);
	put_row(&s, 1, 16);
	put_end_sequence(&s);
	put_length_end(&s.line, length);
	uint32_t inner = put_abstract(&s, "inner", 40);
	put_function(&s, "outer", 0x2000, 0x100);
	put_inlined(&s, inner, 0x2000, 0x10, 11);
	end_children(&s);
	end_children(&s);
	debug_info_close(end(&s));
	struct strbuf *const parts[] = {&s.info, &s.abbrev, &s.line};
	for (size_t p = 0; p < ARRAY_SIZE(parts); p++) {
		size_t size = parts[p]->size;
		for (size_t cut = 0; cut < size; cut++) {
			parts[p]->size = cut;
			struct debug_info *info = open_sections(&s);
			find(info, 0x2004);
			debug_info_close(info);
		}
		parts[p]->size = size;
		for (size_t i = 0; i < size * 4; i++) {
			char was = parts[p]->data[i / 4];
			parts[p]->data[i / 4] = (char[]){0, -1, 0x7f, (char)(was + 1)}[i % 4];
			struct debug_info *info = open_sections(&s);
			find(info, 0x2004);
			debug_info_close(info);
			parts[p]->data[i / 4] = was;
		}
	}
	finish(&s, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_and_inlined_calls),
		cmocka_unit_test(lines_and_files),
		cmocka_unit_test(code_that_the_linker_dropped_counts_for_nothing),
		cmocka_unit_test(the_linkage_name_is_for_mangled_names),
		cmocka_unit_test(
			functions_without_linkage_names_are_told_apart_by_where_they_stand),
		cmocka_unit_test(a_name_is_not_longer_than_is_of_use),
		cmocka_unit_test(ranges_in_a_list),
		cmocka_unit_test(offsets_from_a_dropped_base_are_none),
		cmocka_unit_test(functions_within_what_is_skipped_are_found),
		cmocka_unit_test(an_inlined_call_outside_its_function_is_none),
		cmocka_unit_test(references_in_a_circle_end),
		cmocka_unit_test(nesting_is_as_deep_as_it_likes),
		cmocka_unit_test(a_chain_is_as_long_as_it_likes),
		cmocka_unit_test(work_is_bounded),
		cmocka_unit_test(damage_does_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
