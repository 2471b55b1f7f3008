/*
 * Go's runtime moves between a goroutine's stack, the thread's own (g0's) and the one for signals.
 * Go's linker describes the functions that do so as if they stayed on their stack.  Here their code
 * is decoded: from the first write to sp that is neither a push nor arithmetic, to the next one,
 * they run on the other stack.
 *
 * A function is known by its name in the table that the runtime itself uses for tracebacks, so
 * stripped programs are the same.  What a frame on the other stack means for a walk is in
 * unwind/go_stack.h.
 *
 * Sources: the Go project's src/runtime/asm_amd64.s, sys_linux_amd64.s and time_linux_amd64.s of Go
 * 1.19, and what each says about the stack it is on; src/runtime/traceback.go.
 */
#include "obj/go_switches.h"

#include <string.h>

#include "arch/arch.h"
#include "obj/objfile.h"

/* Longer functions are cut: none of these has more than 400 bytes. */
enum { CODE_MAX = 1024 };

/* How the code that has switched ends. */
enum extent {
	TO_NEXT_WRITE, /* at the next write to sp, and so on */
	TO_LAST_WRITE, /* at the last write to sp */
	TO_END,	       /* it does not return */
};

static const struct {
	const char *name;
	enum cfi_go_kind kind;
	enum extent extent;
	bool is_callback; /* from C */
} functions[] = {
	{"runtime.systemstack", CFI_GO_SYSTEMSTACK, TO_NEXT_WRITE, false},
	{"runtime.mcall", CFI_GO_MCALL, TO_END, false},
	{"runtime.morestack", CFI_GO_MORESTACK, TO_END, false},
	{"runtime.asmcgocall", CFI_GO_ASMCGOCALL, TO_NEXT_WRITE, false},
	{"runtime.cgocallback", CFI_GO_FRAME_POINTER, TO_NEXT_WRITE, true},
	{"runtime.cgocallback_gofunc", CFI_GO_FRAME_POINTER, TO_NEXT_WRITE, true},
	{"runtime.nanotime1", CFI_GO_FRAME_POINTER, TO_LAST_WRITE, false},
	{"runtime.walltime", CFI_GO_FRAME_POINTER, TO_LAST_WRITE, false},
	{"runtime.walltime1", CFI_GO_FRAME_POINTER, TO_LAST_WRITE, false},
	{"time.now", CFI_GO_FRAME_POINTER, TO_LAST_WRITE, false},
};

struct code {
	const struct arch *arch;
	uint8_t bytes[CODE_MAX];
	size_t size;
	uint64_t low;
};

static bool read_code(struct objfile *file, uint64_t low, uint64_t high, struct code *code)
{
	uint64_t file_off, left;

	code->arch = arch_of_machine(objfile_machine(file));
	code->low = low;
	code->size = high - low < CODE_MAX ? high - low : CODE_MAX;
	return code->arch && code->arch->decode && !arch_has_link_register(code->arch) &&
	       objfile_place(file, low, &file_off, &left) && code->size <= left &&
	       objfile_read(file, file_off, code->bytes, code->size);
}

static bool is_switch(const struct arch_instruction *i)
{
	return i->kind == INSTRUCTION_SWITCH_SP || i->kind == INSTRUCTION_ALIGN_SP;
}

static void add_code(struct go_switches *s, uint64_t low, uint64_t high, enum cfi_go_kind kind)
{
	size_t at = s->count;

	if (s->count == GO_SWITCHES_MAX || low >= high)
		return;
	/* In hostile files, functions overlap. */
	for (size_t i = 0; i < s->count; i++)
		if (s->code[i].low_addr < high && low < s->code[i].high_addr)
			return;
	while (at && s->code[at - 1].low_addr > low) {
		s->code[at] = s->code[at - 1];
		at--;
	}
	s->code[at] = (struct cfi_bare){.low_addr = low,
		.high_addr = high,
		.is_outermost = kind == CFI_GO_NONE,
		.go = kind};
	s->count++;
}

/* asmcgocall aligns sp after each switch, and once without one. */
static void add_switched(
	struct go_switches *s, const struct code *code, enum cfi_go_kind kind, enum extent extent)
{
	struct arch_instruction i;
	uint64_t low = 0, last = 0;

	for (size_t at = 0; at < code->size; at += i.size) {
		i = code->arch->decode(code->bytes + at, code->size - at, code->low + at);
		uint64_t next = code->low + at + i.size;
		if (!is_switch(&i))
			continue;
		if (low == 0) {
			low = next;
		} else if (i.kind == INSTRUCTION_SWITCH_SP) {
			last = next;
			if (extent != TO_NEXT_WRITE)
				continue;
			add_code(s, low, next, kind);
			low = 0;
		}
	}
	if (low && extent == TO_LAST_WRITE)
		add_code(s, low, last, kind);
	if (low && extent == TO_END)
		add_code(s, low, code->low + code->size, kind);
}

/* Where the code of a function first has switched; 0: nowhere. */
static uint64_t first_code_in(const struct go_switches *s, uint64_t low, uint64_t high)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->code[i].low_addr > low && s->code[i].low_addr < high)
			return s->code[i].low_addr;
	return 0;
}

/* systemstack compares its g with m.curg: a field that moved with Go's versions. */
static int32_t find_curg(const struct code *code)
{
	enum { OPCODE_BYTES = 3, WHOLE_BYTES = OPCODE_BYTES + 4 };

	for (size_t at = 0; at + WHOLE_BYTES <= code->size; at++) {
		const uint8_t *b = code->bytes + at;
		int32_t offset;
		/* cmp or mov between rax and offset(%rbx) */
		if (b[0] != 0x48 || (b[1] != 0x39 && b[1] != 0x3b && b[1] != 0x8b) || b[2] != 0x83)
			continue;
		memcpy(&offset, b + OPCODE_BYTES, sizeof(offset));
		return offset;
	}
	return 0;
}

/*
 * systemstack loads its g: at a constant offset from fs, or through a register that holds the
 * offset, which the instruction before has set to a constant or loaded from memory.
 */
static void find_g(const struct code *code, struct cfi_go *facts)
{
	enum { SET_BYTES = 7, LOAD_BYTES = 4, MODE = 0xc0, REGISTER = 7, HAS_SIB = 4, AT_PC = 5 };
	static const uint8_t load[] = {0x64, 0x48, 0x8b};
	int32_t number;

	for (size_t at = 0; at + LOAD_BYTES + 1 + sizeof(number) <= code->size; at++) {
		const uint8_t *b = code->bytes + at;
		const uint8_t *set = at < SET_BYTES ? code->bytes : b - SET_BYTES;
		uint8_t modrm = b[LOAD_BYTES - 1], reg = modrm & REGISTER;
		bool is_constant = reg == HAS_SIB;

		if (memcmp(b, load, sizeof(load)) != 0 || (modrm & MODE) != 0)
			continue;
		if (!is_constant && (at < SET_BYTES || set[0] != 0x48))
			return;
		memcpy(&number, is_constant ? b + LOAD_BYTES + 1 : b - sizeof(number),
			sizeof(number));
		if (is_constant || (set[1] == 0xc7 && set[2] == (MODE | reg)))
			facts->g_offset = number;
		else if (set[1] == 0x8b && set[2] == (reg << 3 | AT_PC))
			facts->g_slot = code->low + at + (uint64_t)(int64_t)number;
		return;
	}
}

/* Where the first direct call to a function returns; 0: there is none. */
static uint64_t return_of_call(const struct code *code, uint64_t target)
{
	struct arch_instruction i;

	for (size_t at = 0; at < code->size; at += i.size) {
		i = code->arch->decode(code->bytes + at, code->size - at, code->low + at);
		if (i.kind == INSTRUCTION_CALL && i.has_target && i.target == target)
			return code->low + at + i.size;
	}
	return 0;
}

/* clone calls the function of a new thread on that one's stack, which begins there. */
static void add_calls_of_clone(struct go_switches *s, const struct code *code)
{
	struct arch_instruction i;

	for (size_t at = 0; at < code->size; at += i.size) {
		uint64_t addr = code->low + at;
		i = code->arch->decode(code->bytes + at, code->size - at, addr);
		if (i.kind == INSTRUCTION_CALL)
			add_code(s, addr, addr + i.size, CFI_GO_NONE);
	}
}

static void add_function(struct go_switches *s, uint64_t low)
{
	if (s->facts.function_count < CFI_GO_FUNCTIONS_MAX)
		s->facts.functions[s->facts.function_count++] = low;
}

/* The scheduler's loop starts from mstart1, which mstart0 calls, or mstart before Go 1.17. */
static void add_start(struct go_switches *s, struct objfile *file, uint64_t low, const char *name)
{
	struct code code;

	if (strcmp(name, "runtime.mstart0") == 0 || strcmp(name, "runtime.mstart") == 0)
		s->facts.starts[strcmp(name, "runtime.mstart0") == 0] = low;
	if (strcmp(name, "runtime.mstart1") != 0)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(s->facts.starts); i++) {
		uint64_t start = s->facts.starts[i];
		if (start && read_code(file, start, start + CODE_MAX / 2, &code) &&
			!s->facts.scheduler_return)
			s->facts.scheduler_return = return_of_call(&code, low);
	}
}

void go_switches_add(struct go_switches *switches, struct objfile *file, uint64_t low,
	uint64_t high, const char *name)
{
	struct code code;

	add_start(switches, file, low, name);
	if (strcmp(name, "runtime.schedule") == 0) {
		switches->facts.schedule_low = low;
		switches->facts.schedule_high = high;
	} else if (strcmp(name, "runtime.goexit") == 0 || strcmp(name, "crosscall2") == 0 ||
		   strcmp(name, "gogo") == 0) {
		add_function(switches, low);
	} else if (strcmp(name, "runtime.clone") == 0) {
		add_function(switches, low);
		if (read_code(file, low, high, &code))
			add_calls_of_clone(switches, &code);
	} else if (strncmp(name, "runtime.sigreturn", strlen("runtime.sigreturn")) == 0) {
		add_function(switches, low);
		add_code(switches, low, high, CFI_GO_SIGNAL_RETURN);
	}
	for (size_t i = 0; i < ARRAY_SIZE(functions); i++) {
		if (strcmp(name, functions[i].name) != 0)
			continue;
		add_function(switches, low);
		if (!read_code(file, low, high, &code))
			continue;
		size_t before = switches->count;
		add_switched(switches, &code, functions[i].kind, functions[i].extent);
		if (functions[i].kind == CFI_GO_SYSTEMSTACK && switches->count > before) {
			switches->facts.systemstack = low;
			switches->facts.curg_offset = find_curg(&code);
			find_g(&code, &switches->facts);
		}
		if (functions[i].is_callback)
			switches->facts.callback_switch = first_code_in(switches, low, high);
	}
}
