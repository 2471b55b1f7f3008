/*
 * The program: .text, .data, .symtab, .strtab.
 */
#include "gmon_program.h"

#include <elf.h>
#include <stddef.h>

#include "elf_image.h"

struct name {
	const char *name;
	uint64_t addr;
	unsigned char bind, type;
	uint16_t section;
};

enum { SECTION_TEXT = 1, SECTION_DATA = 2, SECTION_NAMES = 3 };

static const struct name names[] = {
	{"local", GMON_F, STB_LOCAL, STT_FUNC, SECTION_TEXT},
	{"g.part.0", GMON_G_PART, STB_LOCAL, STT_FUNC, SECTION_TEXT},
	{"label", GMON_LABEL, STB_LOCAL, STT_NOTYPE, SECTION_TEXT},
	{".Llabel", GMON_LABEL + 4, STB_LOCAL, STT_NOTYPE, SECTION_TEXT},
	{"object", GMON_LABEL + 8, STB_GLOBAL, STT_OBJECT, SECTION_TEXT},
	{"data", 0x2000, STB_GLOBAL, STT_NOTYPE, SECTION_DATA},
	{"elsewhere", 0, STB_GLOBAL, STT_FUNC, SHN_UNDEF},
	{"weak", GMON_F, STB_WEAK, STT_FUNC, SECTION_TEXT},
	{"__f", GMON_F, STB_GLOBAL, STT_FUNC, SECTION_TEXT},
	{"f", GMON_F, STB_GLOBAL, STT_FUNC, SECTION_TEXT},
	{"_f", GMON_F, STB_GLOBAL, STT_FUNC, SECTION_TEXT},
	{"last", GMON_LAST, STB_GLOBAL, STT_FUNC, SECTION_TEXT},
	{"main", GMON_MAIN, STB_GLOBAL, STT_FUNC, SECTION_TEXT},
	{"_Z1hi", GMON_MANGLED, STB_GLOBAL, STT_FUNC, SECTION_TEXT},
	{"g", GMON_G, STB_GLOBAL, STT_FUNC, SECTION_TEXT},
	{"beyond", GMON_TEXT + GMON_TEXT_SIZE, STB_GLOBAL, STT_FUNC, SECTION_TEXT},
};

void gmon_program_write(struct strbuf *out)
{
	static const char code[GMON_TEXT_SIZE];
	struct elf_image image = {0};
	struct strbuf strings = {0};
	Elf64_Sym symbols[ARRAY_SIZE(names) + 1] = {0};

	strbuf_add_char(&strings, '\0');
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		symbols[i + 1] = (Elf64_Sym){.st_name = (uint32_t)strings.size,
			.st_info = (unsigned char)ELF64_ST_INFO(names[i].bind, names[i].type),
			.st_shndx = names[i].section,
			.st_value = names[i].addr};
		strbuf_add(&strings, str_from(names[i].name));
		strbuf_add_char(&strings, '\0');
	}
	elf_image_add(&image, (struct elf_image_section){.name = ".text",
				      .type = SHT_PROGBITS,
				      .flags = SHF_ALLOC | SHF_EXECINSTR,
				      .obj_addr = GMON_TEXT,
				      .bytes = {code, sizeof(code)}});
	elf_image_add(&image, (struct elf_image_section){.name = ".data",
				      .type = SHT_PROGBITS,
				      .flags = SHF_ALLOC | SHF_WRITE,
				      .obj_addr = 0x2000,
				      .bytes = {code, 16}});
	elf_image_add(&image,
		(struct elf_image_section){
			.name = ".strtab", .type = SHT_STRTAB, .bytes = strbuf_str(&strings)});
	elf_image_add(&image, (struct elf_image_section){.name = ".symtab",
				      .type = SHT_SYMTAB,
				      .link = SECTION_NAMES,
				      .bytes = {(const char *)symbols, sizeof(symbols)}});
	elf_image_write(&image, out);
	strbuf_deinit(&strings);
	elf_image_deinit(&image);
}
