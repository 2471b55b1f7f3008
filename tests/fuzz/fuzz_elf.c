/*
 * ELF files: the input is one, whole.  Everything that objfile.h offers is asked for.
 */
#include <assert.h>
#include <elf.h>
#include <string.h>

#include "../cfi_bytes.h"
#include "../elf_image.h"
#include "../fake_stack.h"
#include "obj/build_id.h"
#include "obj/module_image.h"
#include "obj/objfile.h"
#include "obj/symtab.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t fuzz_seed(size_t n, uint8_t *data, size_t capacity);

/* Reads all of the bytes, so that a sanitizer sees any that are not there. */
static void touch(const struct objfile_section *section)
{
	static volatile uint8_t sum;

	for (size_t i = 0; section->bytes && i < section->size; i++)
		sum = (uint8_t)(sum + section->bytes[i]);
}

static void ask_for_sections(struct objfile *file)
{
	static const char *const names[] = {".text", ".eh_frame", ".debug_info", ".debug_str", ""};
	static const uint32_t types[] = {SHT_SYMTAB, SHT_DYNSYM, SHT_NOTE, SHT_NOBITS};
	struct objfile_section section;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (objfile_section(file, names[i], &section))
			touch(&section);
	}
	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		if (objfile_section_of_type(file, types[i], &section))
			touch(&section);
	}
	for (uint32_t i = 0; i < 64; i++) {
		if (objfile_section_at(file, i, &section))
			touch(&section);
	}
}

static void ask_for_segments(const struct objfile *file)
{
	uint64_t slide;

	for (size_t i = 0; i < objfile_segment_count(file); i++) {
		struct objfile_segment s = objfile_segment(file, i);
		(void)objfile_slide(file, 0x7f0000000000, s.file_off, &slide);
	}
	assert(objfile_build_id(file).size % 2 == 0);
}

static void ask_for_rules(struct objfile *file)
{
	struct cfi_table *table = objfile_open_cfi(file);

	for (uint64_t i = 0; table && i < 4096; i++)
		assert(cfi_table_find(table, i * 16)->kind <= CFI_SLOW);
	cfi_table_destroy(table);
}

/* Reads the file as a module of the kernel, at an address or with that of one section. */
static void ask_as_module(struct objfile *file, struct str bytes)
{
	const struct kernel_mark marks[] = {
		{STR(".text"), 0xffffffffc0100000}, {STR(""), 0xffffffffc0200000}};

	for (size_t i = 0; i < ARRAY_SIZE(marks); i++) {
		struct strbuf image = {0};
		struct objfile *loaded = NULL;
		struct error *err = module_image_make(file, bytes, &marks[i], 1, &image);

		if (err == NULL)
			err = objfile_open_memory(image.data, image.size, "image", &loaded);
		if (err == NULL) {
			ask_for_sections(loaded);
			symtab_destroy(symtab_create(loaded, NULL));
		}
		objfile_close(loaded);
		error_destroy(err);
		strbuf_deinit(&image);
	}
}

static bool read_bytes(void *context, uint64_t offset, void *bytes, size_t size)
{
	const struct str *all = context;

	if (offset > all->size || all->size - offset < size)
		return false;
	memcpy(bytes, all->data + offset, size);
	return true;
}

static void ask_for_build_id(struct str bytes)
{
	build_id_text text;
	bool is_elf;

	for (int is_image = 0; is_image < 2; is_image++) {
		build_id_read(
			&(struct build_id_source){read_bytes, &bytes, is_image}, text, &is_elf);
		assert(strlen(text) <= 2 * BUILD_ID_SIZE_MAX && (is_elf || !text[0]));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	ask_for_build_id((struct str){(const char *)data, size});

	struct objfile *file;
	struct error *err = objfile_open_memory(data, size, "fuzz", &file);

	if (err) {
		error_destroy(err);
		return 0;
	}
	ask_for_segments(file);
	ask_for_sections(file);
	ask_for_rules(file);
	ask_as_module(file, (struct str){(const char *)data, size});
	objfile_close(file);
	return 0;
}

/* Has rules, a build-id, _init, and a compressed section (a deflated run of zeros). */
size_t fuzz_seed(size_t n, uint8_t *data, size_t capacity)
{
	static const unsigned char note[] = {4, 0, 0, 0, 4, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0,
		1, 2, 3, 4},
				   init[] = {0xf3, 0x0f, 0x1e, 0xfa, 0x48, 0x83, 0xec, 8, 0x48,
					   0x83, 0xc4, 8, 0xc3},
				   packed[] = {1, 0, 0, 0, 0, 0, 0, 0, 64, 0, 0, 0, 0, 0, 0, 0, 1,
					   0, 0, 0, 0, 0, 0, 0, 0x78, 0x9c, 0x63, 0x60, 0xa0, 0x3d,
					   0, 0, 0, 0x40, 0, 0x01};
	struct cfi_bytes rules = {.eh = true};
	struct elf_image image = {0};
	struct strbuf out = {0};

	if (n > 0)
		return 0;
	fake_stack_rules(&rules);
	const struct elf_image_section sections[] = {
		{.name = ".note.gnu.build-id",
			.type = SHT_NOTE,
			.flags = SHF_ALLOC,
			.obj_addr = 0x200,
			.bytes = {(const char *)note, sizeof(note)}},
		{.name = ".init",
			.type = SHT_PROGBITS,
			.flags = SHF_ALLOC | SHF_EXECINSTR,
			.obj_addr = 0x1000,
			.bytes = {(const char *)init, sizeof(init)}},
		{.name = ".eh_frame",
			.type = SHT_PROGBITS,
			.flags = SHF_ALLOC,
			.obj_addr = 0x100000,
			.bytes = {(const char *)rules.out.data, rules.out.count}},
		{.name = ".debug_info",
			.type = SHT_PROGBITS,
			.flags = SHF_COMPRESSED,
			.bytes = {(const char *)packed, sizeof(packed)}},
	};
	for (size_t i = 0; i < ARRAY_SIZE(sections); i++)
		elf_image_add(&image, sections[i]);
	elf_image_write(&image, &out);
	assert(out.size <= capacity);
	memcpy(data, out.data, out.size);
	size_t size = out.size;
	strbuf_deinit(&out);
	elf_image_deinit(&image);
	vec_deinit(&rules.out);
	return size;
}
