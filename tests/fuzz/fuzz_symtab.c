/*
 * Symbol tables of an ELF file: the input is the file, whole. What is found by address must agree
 * with the list, and what .gnu_debuglink and the like say must do no harm.
 */
#include <assert.h>
#include <elf.h>

#include "../elf_image.h"
#include "obj/debugfile.h"
#include "obj/objfile.h"
#include "obj/symtab.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t fuzz_seed(size_t n, uint8_t *data, size_t capacity);

static void check_table(const struct symtab *table)
{
	struct symbol found;
	uint64_t before = 0;

	for (size_t i = 0; i < symtab_count(table); i++) {
		struct symbol symbol = symtab_at(table, i);
		assert(symbol.low < symbol.high && symbol.low >= before);
		before = symbol.high;
		assert(symtab_find(table, symbol.low, &found) && found.high == symbol.high);
		assert(symtab_find(table, symbol.high - 1, &found) && found.low == symbol.low);
		assert(memchr(symbol.name.data, 0, symbol.name.size) == NULL);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct debugfile_places places = {
		.object_path = STR("/nonexistent/file"), .debug_directory = "/nonexistent"};
	struct objfile *object;
	char *problem = NULL;

	struct error *err = objfile_open_memory(data, size, "input", &object);
	if (err) {
		error_destroy(err);
		return 0;
	}
	struct symtab *table = symtab_create(object, object);
	check_table(table);
	symtab_destroy(table);
	assert(debugfile_open(object, &places, &problem) == NULL);
	assert(debugfile_open_alternate(object, &places, &problem) == NULL);
	free(problem);
	objfile_close(object);
	return 0;
}

/* Seed 0 has a .symtab, seed 1 a .dynsym with a PLT and links to debug files. */
size_t fuzz_seed(size_t n, uint8_t *data, size_t capacity)
{
	static const unsigned char code[64] = {
		0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x25, 0xf6, 0x0f, 0, 0};
	static const char names[] = "\0outer\0inner@@V1\0puts";
	static const char link[] = "file.debug\0\0abcd", alternate[] = "common.debug\0abcdefgh";
	const Elf64_Sym symbols[] = {{0},
		{.st_name = 1,
			.st_info = STT_FUNC,
			.st_shndx = 1,
			.st_value = 0x1010,
			.st_size = 32},
		{.st_name = 7, .st_info = STT_NOTYPE, .st_shndx = 1, .st_value = 0x1018},
		{.st_name = 17, .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC)}};
	const Elf64_Rela rela = {.r_offset = 0x2000, .r_info = ELF64_R_INFO(3, R_X86_64_JUMP_SLOT)};
	struct elf_image image = {0};
	struct strbuf file = {0};

	if (n > 1)
		return 0;
	elf_image_add(&image, (struct elf_image_section){.name = ".plt",
				      .type = SHT_PROGBITS,
				      .flags = SHF_ALLOC | SHF_EXECINSTR,
				      .obj_addr = 0x1000,
				      .bytes = {(const char *)code, sizeof(code)}});
	elf_image_add(&image,
		(struct elf_image_section){
			.name = ".strtab", .type = SHT_STRTAB, .bytes = {names, sizeof(names)}});
	elf_image_add(&image, (struct elf_image_section){.name = ".symtab",
				      .type = n ? SHT_DYNSYM : SHT_SYMTAB,
				      .link = 2,
				      .bytes = {(const char *)symbols, sizeof(symbols)}});
	elf_image_add(&image, (struct elf_image_section){.name = ".rela.plt",
				      .type = SHT_RELA,
				      .flags = SHF_ALLOC,
				      .obj_addr = 0x8000,
				      .bytes = {(const char *)&rela, sizeof(rela)}});
	elf_image_add(&image, (struct elf_image_section){.name = ".gnu_debuglink",
				      .type = SHT_PROGBITS,
				      .bytes = {link, sizeof(link) - 1}});
	elf_image_add(&image, (struct elf_image_section){.name = ".gnu_debugaltlink",
				      .type = SHT_PROGBITS,
				      .bytes = {alternate, sizeof(alternate) - 1}});
	elf_image_write(&image, &file);
	if (file.size > capacity)
		abort();
	memcpy(data, file.data, file.size);
	size_t size = file.size;
	strbuf_deinit(&file);
	elf_image_deinit(&image);
	return size;
}
