/*
 * Call frame information and the walks that it leads.  An input is one byte, the kind of section;
 * two bytes, the size of the stack memory; that memory; the section.  If the kind has bit 7, two
 * bytes, the size of an index, and the index come before the section; with bit 6 all of that is
 * read lazily, from a file that is one byte too short.  Walks begin at many addresses, with and
 * without a history, which must agree.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "../cfi_bytes.h"
#include "../fake_stack.h"
#include "obj/cfi_parse.h"
#include "obj/lazy_bytes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t fuzz_seed(size_t n, uint8_t *data, size_t capacity);

enum { HEADER_SIZE = 3, STARTS = 24, FINDS = 4096 };
enum { HAS_INDEX = 0x80, IS_LAZY = 0x40, KIND_MASK = 0x3f, INDEX_ADDR = 0xf0000 };

struct input {
	struct cfi_section section;
	struct cfi_header index;
	const uint8_t *stack;
	size_t stack_size;
};

static bool split(const uint8_t *data, size_t size, struct input *in)
{
	if (size < HEADER_SIZE)
		return false;
	size_t wanted = (size_t)data[1] | (size_t)data[2] << 8, left = size - HEADER_SIZE;
	in->stack = data + HEADER_SIZE;
	in->stack_size = wanted < left ? wanted : left;
	const uint8_t *rest = in->stack + in->stack_size;
	size_t index_size = 0;

	left -= in->stack_size;
	in->index = (struct cfi_header){.size = 0};
	if ((data[0] & HAS_INDEX) && left >= 2) {
		index_size = (size_t)rest[0] | (size_t)rest[1] << 8;
		rest += 2;
		left -= 2;
		index_size = index_size < left ? index_size : left;
		in->index = (struct cfi_header){
			.bytes = rest, .size = index_size, .obj_addr = INDEX_ADDR};
	}
	in->section = (struct cfi_section){
		.bytes = rest + index_size,
		.size = left - index_size,
		.obj_addr = 0x100000,
		.kind = (enum cfi_section_kind)((data[0] & KIND_MASK) % 3),
	};
	return true;
}

struct file {
	const uint8_t *bytes;
	size_t size;
};

static bool read_file(void *context, uint64_t file_off, uint8_t *bytes, size_t size)
{
	const struct file *file = context;

	if (file_off + size > file->size)
		return false;
	memcpy(bytes, file->bytes + file_off, size);
	return true;
}

/* The same bytes, as they are read. */
static void make_lazy(struct input *in, struct file *file)
{
	size_t size = in->index.size + in->section.size;

	*file = (struct file){in->section.bytes - in->index.size, size ? size - 1 : 0};
	in->section.lazy = lazy_bytes_create(read_file, file, in->index.size, in->section.size);
	in->section.bytes = lazy_bytes_data(in->section.lazy);
	in->index.lazy = lazy_bytes_create(read_file, file, 0, in->index.size);
	in->index.bytes = lazy_bytes_data(in->index.lazy);
}

static void check_rule(struct cfi_table *table, uint64_t obj_addr)
{
	const struct cfi_rule *rule = cfi_table_find(table, obj_addr);

	assert(rule->kind <= CFI_SLOW);
	if (rule->kind != CFI_SLOW)
		return;
	const struct cfi_slow_rule *slow = cfi_table_slow(table, rule->slow);
	assert(slow->cfa_register < CFI_REGISTER_COUNT);
	if (slow->cfa_is_expression)
		(void)cfi_table_expression(table, slow->cfa_value);
	for (int i = 0; i < CFI_REGISTER_COUNT; i++) {
		if (slow->how[i] == CFI_EXPRESSION || slow->how[i] == CFI_AT_EXPRESSION)
			(void)cfi_table_expression(table, slow->value[i]);
	}
}

static void check_stack(const struct unwind_stack *stack)
{
	assert(stack->count >= 1 && stack->end <= UNWIND_TOO_DEEP);
	assert(stack->reused == 0 || stack->end == UNWIND_REUSED);
}

static void walk_from(struct unwind_walker *walker, const struct unwind_space *space,
	const struct input *in, uint64_t pc)
{
	struct unwind_history *history = unwind_history_create();
	struct unwind_memory memory = {
		.bytes = in->stack, .low_va = STACK_VA, .high_va = STACK_VA + in->stack_size};
	struct unwind_regs regs = {.known = (1u << UNWIND_REG_COUNT) - 1};
	struct unwind_stack stack;

	for (unsigned int i = 0; i < UNWIND_REG_COUNT; i++)
		regs.value[i] = STACK_VA + 64;
	regs.value[UNWIND_REG_PC] = pc;
	regs.value[UNWIND_REG_SP] = STACK_VA;
	unwind_walk(walker, space, history, &regs, &memory, &stack);
	check_stack(&stack);
	size_t whole = stack.count;
	unwind_history_keep(history, &stack);
	unwind_walk(walker, space, history, &regs, &memory, &stack);
	assert(stack.count + stack.reused == whole);
	unwind_history_destroy(history);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct unwind_walker *walker;
	struct unwind_space space;
	struct input in;
	struct file file;

	if (walker == NULL)
		walker = unwind_walker_create();
	if (!split(data, size, &in))
		return 0;
	if (data[0] & IS_LAZY)
		make_lazy(&in, &file);
	struct cfi_source source = {.sections = {in.section},
		.section_count = 1,
		.header = in.index,
		.object = {.name = "fuzz", .text_addr = 0x1000, .data_addr = 0x2000}};
	struct cfi_table *table = cfi_table_open(&source);
	for (uint64_t i = 0; i < FINDS; i++)
		check_rule(table, i * 16);
	unwind_space_init(&space);
	unwind_space_add(&space, (struct unwind_mapping){.low_va = OBJECT_VA,
					 .high_va = OBJECT_VA + ((uint64_t)1 << 36),
					 .slide = OBJECT_VA,
					 .table = table});
	for (uint64_t i = 0; i < STARTS; i++)
		walk_from(walker, &space, &in, code_va(0x1000 * i + 1));
	unwind_space_deinit(&space);
	cfi_table_destroy(table);
	return 0;
}

/* ---- seeds ---- */

/* A stack on which the functions of fake_stack.h call each other. */
static void fill_stack(uint64_t *words, size_t count)
{
	static const uint64_t functions[] = {FN_SP16, FN_BP, FN_SAVES_RBX, FN_RBX, FN_REALIGNED,
		FN_SIGNAL, FN_PLT, FN_R10, FN_END};

	for (size_t i = 0; i < count; i++) {
		if (i % 2)
			words[i] = code_va(functions[i / 2 % ARRAY_SIZE(functions)] + 1);
		else
			words[i] = word_va(i + 10);
	}
}

static size_t make_seed(uint8_t *data, size_t capacity, uint8_t kind, const struct cfi_bytes *bytes)
{
	uint64_t words[64];
	size_t size = HEADER_SIZE + sizeof(words) + bytes->out.count;

	assert(size <= capacity);
	fill_stack(words, ARRAY_SIZE(words));
	data[0] = kind;
	data[1] = (uint8_t)(sizeof(words) & 0xff);
	data[2] = (uint8_t)(sizeof(words) >> 8);
	memcpy(data + HEADER_SIZE, words, sizeof(words));
	memcpy(data + HEADER_SIZE + sizeof(words), bytes->out.data, bytes->out.count);
	return size;
}

/* An index of the section, before it, with its size. */
static void add_index(struct cfi_bytes *out, const struct cfi_bytes *section)
{
	const struct cfi_section s = cfi_bytes_section(section);
	struct cfi_object object = {.name = "seed"};
	struct cfi_entries entries = {.object = &object};

	cfi_entries_add(&entries, &s);
	cfi_entries_sort(&entries);
	cfi_bytes_put(out, 12 + 8 * entries.fdes.count, 2);
	cfi_bytes_program(out, (const uint8_t[]){1, 0x1b, 0x03, 0x3b}, 4);
	cfi_bytes_put(out, s.obj_addr - INDEX_ADDR - 4, 4);
	cfi_bytes_put(out, entries.fdes.count, 4);
	for (size_t i = 0; i < entries.fdes.count; i++) {
		const struct cfi_fde *fde = &entries.fdes.data[i];
		cfi_bytes_put(out, fde->low - INDEX_ADDR, 4);
		cfi_bytes_put(out, s.obj_addr + fde->offset - INDEX_ADDR, 4);
	}
	cfi_entries_deinit(&entries);
}

/* A section of each kind; .eh_frame with an index; the same read lazily. */
size_t fuzz_seed(size_t n, uint8_t *data, size_t capacity)
{
	static const uint8_t kinds[] = {CFI_DEBUG_FRAME, CFI_EH_FRAME, CFI_EH_FRAME_UNSIZED,
		CFI_EH_FRAME | HAS_INDEX, CFI_EH_FRAME | HAS_INDEX | IS_LAZY};
	struct cfi_bytes section = {.eh = n != 0}, out = {.eh = true};

	if (n >= ARRAY_SIZE(kinds))
		return 0;
	fake_stack_rules(&section);
	if (kinds[n] & HAS_INDEX)
		add_index(&out, &section);
	cfi_bytes_program(&out, section.out.data, section.out.count);
	size_t size = make_seed(data, capacity, kinds[n], &out);
	vec_deinit(&section.out);
	vec_deinit(&out.out);
	return size;
}
