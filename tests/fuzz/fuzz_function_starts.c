/*
 * Function boundaries from unwind entries: the input is an ELF file, whole.  What is said of an
 * address must hold for its function's other addresses.
 */
#include <assert.h>
#include <dwarf.h>
#include <elf.h>
#include <string.h>

#include "../cfi_bytes.h"
#include "../elf_image.h"
#include "obj/function_starts.h"
#include "obj/objfile.h"
#include "obj/plt.h"

#define FRAME_ADDR  0x100000
#define HEADER_ADDR 0x90000
/* Where a file has more functions, these are asked for. */
#define FUNCTIONS_MAX 512

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t fuzz_seed(size_t n, uint8_t *data, size_t capacity);

static void check_address(struct function_starts *starts, uint64_t addr)
{
	struct function_extent extent, again;

	if (!function_starts_find(starts, addr, &extent))
		return;
	assert(extent.low && extent.low <= addr && addr < extent.high);
	assert(function_starts_find(starts, extent.low, &again));
	assert(again.low == extent.low && again.high == extent.high);
	/* Either it is known, or it was found in code between those that are. */
	assert(function_starts_after(starts, extent.low - 1) == extent.low ||
		function_starts_after(starts, extent.low) >= extent.high);
}

static void check_functions(struct objfile *object)
{
	struct function_starts *starts = function_starts_create(object);
	uint64_t addr = 0, next;

	for (size_t i = 0; i < FUNCTIONS_MAX; i++, addr = next) {
		next = function_starts_after(starts, addr);
		assert(next > addr);
		check_address(starts, addr);
		check_address(starts, addr + 1);
		check_address(starts, next - 1);
		if (next == UINT64_MAX)
			break;
	}
	check_address(starts, UINT64_MAX);
	function_starts_destroy(starts);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct plt_section plt[PLT_SECTION_MAX];
	struct objfile *object;
	struct error *err = objfile_open_memory(data, size, "input", &object);

	if (err) {
		error_destroy(err);
		return 0;
	}
	assert(plt_sections(object, plt) <= PLT_SECTION_MAX);
	check_functions(object);
	objfile_close(object);
	return 0;
}

/* Three functions in the wrong order, and for seed 0 a header with a table of them. */
static void add_rules(size_t n, struct cfi_bytes *frame, struct cfi_bytes *header)
{
	static const uint64_t lows[] = {0x1040, 0x1000, 0x1020};
	static const size_t sorted[] = {1, 2, 0};
	uint64_t entries[ARRAY_SIZE(lows)];

	cfi_bytes_cie(frame, false);
	for (size_t i = 0; i < ARRAY_SIZE(lows); i++) {
		entries[i] = FRAME_ADDR + frame->out.count;
		cfi_bytes_begin_fde(frame, lows[i], 0x20 - i * 8);
		cfi_bytes_end(frame);
	}
	if (n > 0)
		return;
	cfi_bytes_put(header, 1, 1);
	cfi_bytes_put(header, DW_EH_PE_pcrel | DW_EH_PE_sdata4, 1);
	cfi_bytes_put(header, DW_EH_PE_udata4, 1);
	cfi_bytes_put(header, DW_EH_PE_datarel | DW_EH_PE_sdata4, 1);
	cfi_bytes_put(header, FRAME_ADDR - HEADER_ADDR - 4, 4);
	cfi_bytes_put(header, ARRAY_SIZE(lows), 4);
	for (size_t i = 0; i < ARRAY_SIZE(lows); i++) {
		cfi_bytes_put(header, lows[sorted[i]] - HEADER_ADDR, 4);
		cfi_bytes_put(header, entries[sorted[i]] - HEADER_ADDR, 4);
	}
}

size_t fuzz_seed(size_t n, uint8_t *data, size_t capacity)
{
	struct cfi_bytes frame = {.eh = true}, header = {0};
	struct elf_image image = {0};
	struct strbuf file = {0};

	if (n > 1)
		return 0;
	add_rules(n, &frame, &header);
	elf_image_add(&image, (struct elf_image_section){.name = ".eh_frame",
				      .type = SHT_PROGBITS,
				      .flags = SHF_ALLOC,
				      .obj_addr = FRAME_ADDR,
				      .bytes = {(const char *)frame.out.data, frame.out.count}});
	if (header.out.count)
		elf_image_add(&image,
			(struct elf_image_section){.name = ".eh_frame_hdr",
				.type = SHT_PROGBITS,
				.flags = SHF_ALLOC,
				.obj_addr = HEADER_ADDR,
				.bytes = {(const char *)header.out.data, header.out.count}});
	elf_image_write(&image, &file);
	assert(file.size <= capacity);
	memcpy(data, file.data, file.size);
	size_t size = file.size;
	strbuf_deinit(&file);
	elf_image_deinit(&image);
	vec_deinit(&frame.out);
	vec_deinit(&header.out);
	return size;
}
