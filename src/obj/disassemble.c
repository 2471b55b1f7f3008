/*
 * Disassembly with capstone.  It prints direct calls, jumps and pc-relative addresses as numbers;
 * their symbols are added from the symbol table.
 *
 * The bytes may be anything: capstone stops at an invalid instruction, which is then shown as one
 * bad byte (aarch64: word) and skipped.
 */
#include "obj/disassemble.h"

#include <elf.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/vec.h"
#include "obj/cfi.h"
#include "obj/demangle.h"
#include "obj/objfile.h"
#include "obj/symtab.h"

const char *const disassemble_syntax_names[SYNTAX_COUNT + 1] = {"att", "intel", NULL};

#ifdef HAVE_CAPSTONE

#include <capstone/capstone.h>

struct disassembler {
	csh handle;
	cs_insn *insn;
	const struct symtab *names;
	struct demangler *demangler;
	struct code_range range;
	struct arena *arena;
	struct strbuf text;
	bool is_x86;
	VEC(struct instruction) found;
};

static struct error *open_handle(
	struct disassembler *d, unsigned int machine, enum disassemble_syntax syntax)
{
	cs_err status;

	d->is_x86 = machine == EM_X86_64;
	if (machine == EM_X86_64)
		status = cs_open(CS_ARCH_X86, CS_MODE_64, &d->handle);
	else if (machine == EM_AARCH64)
		status = cs_open(CS_ARCH_ARM64, CS_MODE_LITTLE_ENDIAN, &d->handle);
	else
		return error_new(ERROR_UNSUPPORTED,
			"instructions of this machine (ELF number %u) cannot be shown", machine);
	if (status != CS_ERR_OK)
		return error_new(
			ERROR_UNSUPPORTED, "instructions cannot be shown: %s", cs_strerror(status));
	cs_option(d->handle, CS_OPT_DETAIL, CS_OPT_ON);
	if (d->is_x86)
		cs_option(d->handle, CS_OPT_SYNTAX,
			syntax == SYNTAX_ATT ? CS_OPT_SYNTAX_ATT : CS_OPT_SYNTAX_INTEL);
	d->insn = cs_malloc(d->handle);
	return NULL;
}

/* The target of a direct call or jump. */
static bool insn_target(const struct disassembler *d, uint64_t *target)
{
	const cs_insn *insn = d->insn;
	const cs_arm64 *arm = &insn->detail->arm64;
	const cs_x86 *x86 = &insn->detail->x86;

	if (!cs_insn_group(d->handle, insn, CS_GRP_JUMP) &&
		!cs_insn_group(d->handle, insn, CS_GRP_CALL))
		return false;
	if (d->is_x86) {
		if (x86->op_count != 1 || x86->operands[0].type != X86_OP_IMM)
			return false;
		*target = (uint64_t)x86->operands[0].imm;
		return true;
	}
	if (arm->op_count == 0 || arm->operands[arm->op_count - 1].type != ARM64_OP_IMM)
		return false;
	*target = (uint64_t)arm->operands[arm->op_count - 1].imm;
	return true;
}

/* An address that an x86 operand names relative to the instruction. */
static bool insn_near_address(const struct disassembler *d, uint64_t *address)
{
	const cs_x86 *x86 = &d->insn->detail->x86;

	for (uint8_t i = 0; d->is_x86 && i < x86->op_count; i++) {
		const cs_x86_op *op = &x86->operands[i];

		if (op->type != X86_OP_MEM || op->mem.base != X86_REG_RIP)
			continue;
		*address = d->insn->address + d->insn->size + (uint64_t)op->mem.disp;
		return true;
	}
	return false;
}

/* "sweep", "sweep+0x10"; false if no symbol covers the address. */
static bool add_name(struct disassembler *d, uint64_t address)
{
	struct symbol symbol;

	if (!symtab_find(d->names, address, &symbol))
		return false;
	strbuf_add(&d->text, demangle(d->demangler, symbol.name));
	if (symbol.is_plt)
		strbuf_add(&d->text, STR("@plt"));
	if (address != symbol.low)
		strbuf_printf(&d->text, "+0x%" PRIx64, address - symbol.low);
	return true;
}

/* Operands before the target, as in aarch64's `cbz x0, 0x1234`. */
static struct str operands_before_target(const struct disassembler *d)
{
	const char *operands = d->insn->op_str;
	const char *comma = strrchr(operands, ',');

	return (struct str){
		operands, d->is_x86 || comma == NULL ? 0 : (size_t)(comma + 2 - operands)};
}

static void add_operands(struct disassembler *d)
{
	uint64_t address;

	if (insn_target(d, &address)) {
		strbuf_add(&d->text, operands_before_target(d));
		/* A jump within the range goes to an address on the page. */
		bool is_near = address >= d->range.low && address < d->range.high;

		if (is_near && address != d->range.low)
			strbuf_printf(&d->text, "%" PRIx64, address);
		else if (!add_name(d, address))
			strbuf_printf(&d->text, "0x%" PRIx64, address);
		return;
	}
	strbuf_add(&d->text, str_from(d->insn->op_str));
	if (insn_near_address(d, &address)) {
		strbuf_printf(&d->text, "  # 0x%" PRIx64 " ", address);
		if (!add_name(d, address))
			d->text.size--;
	}
}

static void add_insn(struct disassembler *d)
{
	strbuf_clear(&d->text);
	strbuf_add(&d->text, str_from(d->insn->mnemonic));
	if (d->insn->op_str[0]) {
		do
			strbuf_add_char(&d->text, ' ');
		while (d->text.size < 7);
		add_operands(d);
	}
	vec_push(&d->found, (struct instruction){d->insn->address, d->insn->size,
				    arena_str(d->arena, strbuf_str(&d->text))});
}

static void disassemble_bytes(struct disassembler *d, const uint8_t *bytes, size_t size)
{
	uint64_t address = d->range.low;

	while (size > 0) {
		const uint8_t *before = bytes;
		size_t left = size;
		uint64_t at = address;

		if (cs_disasm_iter(d->handle, &bytes, &size, &address, d->insn)) {
			add_insn(d);
			continue;
		}
		size_t bad = d->is_x86 || left < 4 ? 1 : 4;

		vec_push(&d->found, (struct instruction){at, (uint32_t)bad, STR("(bad)")});
		bytes = before + bad;
		size = left - bad;
		address = at + bad;
	}
}

/* Reads the range from the file; if it is not all there, a half of it, a quarter, and so on. */
static size_t read_bytes(struct objfile *file, struct code_range range, uint8_t *bytes)
{
	struct cfi_code code;
	size_t size = (size_t)(range.high - range.low);

	objfile_code(file, &code);
	while (size > 0 && !code.read(code.context, range.low, bytes, size))
		size /= 2;
	return size;
}

static void run(struct disassembler *d, struct objfile *file)
{
	uint8_t *bytes = xalloc((size_t)(d->range.high - d->range.low));

	d->demangler = demangler_create();
	disassemble_bytes(d, bytes, read_bytes(file, d->range, bytes));
	demangler_destroy(d->demangler);
	free(bytes);
}

struct error *disassemble(struct objfile *file, const struct symtab *names, struct code_range range,
	enum disassemble_syntax syntax, struct arena *arena,
	const struct instruction **instructions, size_t *count)
{
	struct disassembler d = {.names = names, .range = range, .arena = arena};
	struct instruction *result;
	struct error *err;

	if (range.high - range.low > DISASSEMBLE_BYTES_MAX)
		return error_new(ERROR_UNSUPPORTED, "a function of %" PRIu64 " bytes is not shown",
			range.high - range.low);
	err = open_handle(&d, objfile_machine(file), syntax);
	if (err)
		return err;
	run(&d, file);
	result = ARENA_ARRAY(arena, struct instruction, d.found.count);
	for (size_t i = 0; i < d.found.count; i++)
		result[i] = d.found.data[i];
	*instructions = result;
	*count = d.found.count;
	cs_free(d.insn, 1);
	cs_close(&d.handle);
	strbuf_deinit(&d.text);
	vec_deinit(&d.found);
	return NULL;
}

#else

struct error *disassemble(struct objfile *file, const struct symtab *names, struct code_range range,
	enum disassemble_syntax syntax, struct arena *arena,
	const struct instruction **instructions, size_t *count)
{
	(void)file, (void)names, (void)range, (void)syntax, (void)arena, (void)instructions,
		(void)count;
	return error_new(ERROR_UNSUPPORTED,
		"instructions cannot be shown: this sonde was built without capstone");
}

#endif
