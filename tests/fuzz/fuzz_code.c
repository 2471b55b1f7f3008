/*
 * Machine code that rules are read off, and Go's table of functions: the first byte says which, the
 * rest is its bytes.
 */
#include <assert.h>
#include <elf.h>
#include <string.h>

#include "../elf_image.h"
#include "obj/cfi.h"
#include "obj/code_frames.h"
#include "obj/go_functions.h"
#include "obj/objfile.h"
#include "arch/arch.h"

enum { TEXT_ADDR = 0x401000, TABLE_ADDR = 0x500000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool read_code(void *context, uint64_t obj_addr, uint8_t *bytes, size_t size)
{
	const struct code_piece *code = context;

	assert(obj_addr - code->obj_addr + size <= code->size);
	memcpy(bytes, code->bytes + (obj_addr - code->obj_addr), size);
	return true;
}

static void add_starts(void *context, struct code_starts *starts)
{
	const struct code_piece *code = context;

	vec_push(&starts->addrs, code->obj_addr + code->size / 2);
}

static void compile(const uint8_t *data, size_t size)
{
	struct code_piece piece = {TEXT_ADDR, data, size, &arch_x86_64};
	struct cfi_code code = {.ranges = {{TEXT_ADDR, TEXT_ADDR + size}},
		.count = 1,
		.read = read_code,
		.add_starts = add_starts,
		.context = &piece,
		.arch = &arch_x86_64};
	struct cfi_source source = {.object = {.name = "fuzz", .code = &code}};
	struct cfi_table *table = cfi_table_open(&source);

	for (size_t at = 0; at < size; at++) {
		struct arch_instruction i =
			arch_x86_64.decode(data + at, size - at, TEXT_ADDR + at);
		const struct cfi_rule *rule = cfi_table_find(table, TEXT_ADDR + at);

		assert(i.size >= 1 && i.size <= size - at);
		assert(rule->kind != CFI_CODE_SP || rule->cfa_offset >= 8);
	}
	cfi_table_destroy(table);
}

static void take_function(void *context, uint64_t low, uint64_t high, const char *name)
{
	size_t *count = context;

	assert(low < high && name[0]);
	*count += strlen(name);
}

static void read_go_table(const uint8_t *data, size_t size)
{
	struct elf_image image = {0};
	struct strbuf elf = {0};
	struct objfile *file;
	size_t count = 0;

	elf_image_add(&image, (struct elf_image_section){.name = ".gopclntab",
				      .type = SHT_PROGBITS,
				      .flags = SHF_ALLOC,
				      .obj_addr = TABLE_ADDR,
				      .bytes = {(const char *)data, size}});
	elf_image_write(&image, &elf);
	struct error *err = objfile_open_memory(elf.data, elf.size, "fuzz", &file);
	if (err == NULL) {
		go_functions_each(file, take_function, &count);
		objfile_close(file);
	}
	error_destroy(err);
	strbuf_deinit(&elf);
	elf_image_deinit(&image);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	if (data[0] & 1)
		read_go_table(data + 1, size - 1);
	else
		compile(data + 1, size - 1);
	return 0;
}
