/*
 * DWARF sections by name, read on first use, because decompressing unused sections would be the
 * largest cost.
 */
#include "obj/dwarf_file.h"

#include <elf.h>

#include "obj/dwarf_abbrev.h"
#include "obj/objfile.h"

static const char *const section_names[DWARF_SECTION_COUNT][2] = {
	[DWARF_INFO] = {".debug_info", ".debug_info.dwo"},
	[DWARF_ABBREV] = {".debug_abbrev", ".debug_abbrev.dwo"},
	[DWARF_LINE] = {".debug_line", ".debug_line.dwo"},
	[DWARF_STR] = {".debug_str", ".debug_str.dwo"},
	[DWARF_LINE_STR] = {".debug_line_str", ".debug_line_str.dwo"},
	[DWARF_STR_OFFSETS] = {".debug_str_offsets", ".debug_str_offsets.dwo"},
	[DWARF_ADDR] = {".debug_addr", ".debug_addr"},
	[DWARF_RANGES] = {".debug_ranges", ".debug_ranges"},
	[DWARF_RNGLISTS] = {".debug_rnglists", ".debug_rnglists.dwo"},
	[DWARF_ARANGES] = {".debug_aranges", ".debug_aranges"},
	[DWARF_CU_INDEX] = {".debug_cu_index", ".debug_cu_index"},
};

void dwarf_context_init(struct dwarf_context *context, struct arena *arena, uint64_t steps)
{
	*context = (struct dwarf_context){.arena = arena, .steps_left = steps};
}

void dwarf_context_deinit(struct dwarf_context *context)
{
	range_table_deinit(&context->text);
}

static void add_text(struct dwarf_context *context, uint64_t low, uint64_t size)
{
	uint64_t high;

	if (!__builtin_add_overflow(low, size, &high))
		range_table_add(&context->text, (struct range){.low = low, .high = high});
}

/* Debug files have the headers of code sections, without contents. */
static void add_sections(struct dwarf_context *context, struct objfile *file)
{
	const uint64_t wanted = SHF_ALLOC | SHF_EXECINSTR;
	struct objfile_section section;

	for (uint32_t i = 1; objfile_section_header(file, i, &section); i++)
		if ((section.flags & wanted) == wanted)
			add_text(context, section.obj_addr, section.size);
}

/* For a file without section headers. */
static void add_segments(struct dwarf_context *context, struct objfile *object)
{
	uint64_t headers = objfile_headers_size(object);

	for (size_t i = 0; i < objfile_segment_count(object); i++) {
		struct objfile_segment segment = objfile_segment(object, i);
		uint64_t skipped = segment.file_off < headers ? headers - segment.file_off : 0;

		if (segment.executable && skipped < segment.memory_size)
			add_text(
				context, segment.obj_addr + skipped, segment.memory_size - skipped);
	}
}

void dwarf_context_read_text(
	struct dwarf_context *context, struct objfile *object, struct objfile *debug)
{
	add_sections(context, object);
	if (context->text.count == 0 && debug)
		add_sections(context, debug);
	if (context->text.count == 0)
		add_segments(context, object);
	range_table_flatten(&context->text);
}

bool dwarf_is_text(const struct dwarf_context *context, uint64_t obj_addr)
{
	return range_table_find(&context->text, obj_addr) != NULL;
}

void dwarf_file_init(struct dwarf_file *f, struct objfile *object, const char *name, bool is_dwo,
	struct dwarf_context *context)
{
	*f = (struct dwarf_file){
		.object = object, .name = name, .is_dwo = is_dwo, .context = context};
}

void dwarf_file_deinit(struct dwarf_file *f)
{
	vec_deinit(&f->units);
	for (size_t i = 0; i < f->abbrev_tables.count; i++) {
		abbrev_table_deinit(f->abbrev_tables.data[i]);
		free(f->abbrev_tables.data[i]);
	}
	vec_deinit(&f->abbrev_tables);
	map_deinit(&f->abbrevs);
}

struct dwarf_section dwarf_file_section(struct dwarf_file *f, enum dwarf_section_id id)
{
	struct dwarf_section *s = &f->sections[id];
	struct objfile_section found;

	if (!s->is_loaded) {
		s->is_loaded = true;
		if (f->object && objfile_section(f->object, section_names[id][f->is_dwo], &found) &&
			found.bytes) {
			s->bytes = found.bytes;
			s->size = found.size;
		}
	}
	return *s;
}

struct cursor dwarf_file_cursor(struct dwarf_file *f, enum dwarf_section_id id, uint64_t offset)
{
	struct dwarf_section s = dwarf_file_section(f, id);
	struct cursor c;

	cursor_init(&c, s.bytes, s.size, f->name, 0);
	cursor_seek(&c, offset);
	return c;
}

struct str dwarf_file_string(struct dwarf_file *f, enum dwarf_section_id id, uint64_t offset)
{
	struct cursor c = dwarf_file_cursor(f, id, offset);
	struct str s = cursor_string(&c);

	/* The string is scanned again for each name shown, so its length counts. */
	return dwarf_spend(f, s.size / 16 + 1) ? s : STR("");
}
