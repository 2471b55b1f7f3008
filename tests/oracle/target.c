/*
 * Single steps and memory by ptrace and process_vm_readv; mappings from /proc.
 */
#include "target.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "obj/cfi.h"
#include "obj/objfile.h"
#include "obj/vdso.h"
#include "record/processes/proc.h"

static void die(const char *what)
{
	printf("Bail out! %s: %s\n", what, strerror(errno));
	exit(1);
}

/* ---- memory ---- */

static size_t read_some(const struct target *t, uint64_t va, void *bytes, size_t size)
{
	struct iovec local = {bytes, size}, remote = {(void *)(uintptr_t)va, size};
	ssize_t got = process_vm_readv(t->pid, &local, 1, &remote, 1, 0);

	return got < 0 ? 0 : (size_t)got;
}

bool target_read(const struct target *t, uint64_t va, void *bytes, size_t size)
{
	return read_some(t, va, bytes, size) == size;
}

static bool read_word(struct unwind_memory *memory, uint64_t va, uint64_t *value)
{
	uint64_t word;

	if (!target_read(memory->context, va, &word, sizeof(word)))
		return false;
	*value = word;
	return true;
}

static bool read_code(struct unwind_memory *memory, uint64_t va, uint8_t *bytes, size_t size)
{
	return target_read(memory->context, va, bytes, size);
}

const uint8_t *target_code(struct target *t, uint64_t va)
{
	uint64_t page = va & ~4095ull;
	size_t slot = (va >> 12) % ARRAY_SIZE(t->code);

	if (t->code[slot].va != page) {
		memset(t->code[slot].bytes, 0, sizeof(t->code[slot].bytes));
		t->code[slot].va = page;
		read_some(t, page, t->code[slot].bytes, sizeof(t->code[slot].bytes));
	}
	return t->code[slot].bytes + (va & 4095);
}

uint64_t target_top(const struct target *t)
{
	uint64_t top;

	memcpy(&top, t->window, sizeof(top));
	return top;
}

struct unwind_regs target_regs(const struct target *t)
{
	const struct user_regs_struct *r = &t->regs;

	return (struct unwind_regs){
		.value = {r->rax, r->rdx, r->rcx, r->rbx, r->rsi, r->rdi, r->rbp, r->rsp, r->r8,
			r->r9, r->r10, r->r11, r->r12, r->r13, r->r14, r->r15, r->rip},
		.known = (1u << UNWIND_REG_COUNT) - 1,
	};
}

static void show_stack(struct target *t)
{
	uint64_t sp = t->regs.rsp;

	t->memory = (struct unwind_memory){
		.bytes = t->window,
		.low_va = sp,
		.high_va = sp + read_some(t, sp, t->window, sizeof(t->window)),
		.read = read_word,
		.read_code = read_code,
		.context = t,
	};
}

/* ---- objects ---- */

static struct error *open_object(const char *path, struct objfile **file)
{
	struct str vdso;

	if (strcmp(path, "[vdso]") == 0 && vdso_bytes(&vdso))
		return objfile_open_memory(vdso.data, vdso.size, path, file);
	return objfile_open(path, file);
}

/* The number of the object of that path; -1 if it can't be read. */
static ssize_t find_object(struct target *t, struct str path)
{
	for (size_t i = 0; i < t->objects.count; i++) {
		if (str_equal(str_from(t->objects.data[i].path), path))
			return (ssize_t)i;
	}
	struct target_object o = {.path = xstrndup(path.data, path.size)};
	struct error *err = open_object(o.path, &o.file);
	if (err) {
		printf("# %s\n", err->message);
		error_destroy(err);
		objfile_close(o.file);
		free(o.path);
		return -1;
	}
	o.table = objfile_open_cfi(o.file);
	o.symbols = symtab_create(o.file, NULL);
	vec_push(&t->objects, o);
	return (ssize_t)t->objects.count - 1;
}

static void add_mapping(void *context, const struct maps_line *line)
{
	struct target *t = context;
	struct unwind_mapping m = {.low_va = line->low_va, .high_va = line->high_va};
	bool has_object = line->path.size &&
			  (line->path.data[0] == '/' || str_equal(line->path, STR("[vdso]")));

	if (!line->executable || !has_object)
		return;
	ssize_t object = find_object(t, line->path);
	if (object < 0)
		return;
	m.object = (uint32_t)object;
	m.table = t->objects.data[object].table;
	objfile_slide(t->objects.data[object].file, m.low_va, line->file_off, &m.slide);
	unwind_space_add(&t->space, m);
}

void target_reload(struct target *t)
{
	memset(t->code, 0, sizeof(t->code));
	unwind_space_clear(&t->space);
	maps_read(t->pid, add_mapping, t);
}

struct str target_function(const struct target *t, const struct unwind_frame *frame)
{
	struct symbol symbol;

	if (frame->object < t->objects.count &&
		symtab_find(t->objects.data[frame->object].symbols, frame->obj_addr, &symbol))
		return symbol.name;
	return STR("?");
}

bool target_has_sections(const struct target *t, const struct unwind_frame *frame)
{
	if (frame->object >= t->objects.count)
		return false;
	const struct cfi_rule *rule =
		cfi_table_find(t->objects.data[frame->object].table, frame->obj_addr);
	return rule->kind != CFI_NONE && rule->kind != CFI_CODE_SP && rule->kind != CFI_CODE_BP;
}

const char *target_object_path(const struct target *t, const struct unwind_frame *frame)
{
	return frame->object < t->objects.count ? t->objects.data[frame->object].path : "?";
}

/* ---- running ---- */

static void update_regs(struct target *t)
{
	if (ptrace(PTRACE_GETREGS, t->pid, NULL, &t->regs) != 0)
		die("PTRACE_GETREGS");
	show_stack(t);
}

/* The exit status tells the parent that it was not the program's own. */
enum { EXIT_NO_PTRACE = 93 };

static _Noreturn void run_child(const char *path)
{
	char *const argv[] = {(char *)(uintptr_t)path, NULL}, *const envp[] = {NULL};
	int null = open("/dev/null", O_WRONLY);

	if (null >= 0)
		dup2(null, STDOUT_FILENO);
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
		_exit(EXIT_NO_PTRACE);
	personality(ADDR_NO_RANDOMIZE);
	execve(path, argv, envp);
	_exit(127);
}

bool target_launch(struct target *t, const char *path)
{
	int status = 0;

	memset(t, 0, sizeof(*t));
	unwind_space_init(&t->space);
	fflush(stdout);
	t->pid = fork();
	if (t->pid == 0)
		run_child(path);
	if (t->pid < 0 || waitpid(t->pid, &status, 0) != t->pid)
		die("fork");
	if (!WIFSTOPPED(status)) {
		bool forbidden = WIFEXITED(status) && WEXITSTATUS(status) == EXIT_NO_PTRACE;
		if (!forbidden)
			die(path);
		return false;
	}
	ptrace(PTRACE_SETOPTIONS, t->pid, NULL, PTRACE_O_EXITKILL);
	update_regs(t);
	target_reload(t);
	return true;
}

static uint64_t entry_va(const struct target *t)
{
	char path[64];
	Elf64_auxv_t entry = {0};

	snprintf(path, sizeof(path), "/proc/%d/auxv", (int)t->pid);
	FILE *f = fopen(path, "r");
	while (f && fread(&entry, sizeof(entry), 1, f) == 1 && entry.a_type != AT_ENTRY)
		continue;
	if (f == NULL || entry.a_type != AT_ENTRY)
		die(path);
	fclose(f);
	return entry.a_un.a_val;
}

void target_run_to_entry(struct target *t)
{
	uint64_t va = entry_va(t);
	int status = 0;

	errno = 0;
	long code = ptrace(PTRACE_PEEKTEXT, t->pid, va, NULL);
	if (errno)
		die("PTRACE_PEEKTEXT");
	ptrace(PTRACE_POKETEXT, t->pid, va, (code & ~0xffL) | 0xcc);
	ptrace(PTRACE_CONT, t->pid, NULL, NULL);
	if (waitpid(t->pid, &status, 0) != t->pid || !WIFSTOPPED(status))
		die("running to the entry");
	ptrace(PTRACE_POKETEXT, t->pid, va, code);
	update_regs(t);
	t->regs.rip = va;
	ptrace(PTRACE_SETREGS, t->pid, NULL, &t->regs);
	show_stack(t);
	target_reload(t);
}

enum target_event target_step(struct target *t, int signal, int *next_signal)
{
	int status = 0;

	*next_signal = 0;
	if (ptrace(PTRACE_SINGLESTEP, t->pid, NULL, (void *)(intptr_t)signal) != 0 ||
		waitpid(t->pid, &status, 0) != t->pid)
		die("PTRACE_SINGLESTEP");
	if (!WIFSTOPPED(status)) {
		t->exit_status = status;
		t->pid = 0;
		return TARGET_ENDED;
	}
	update_regs(t);
	if (WSTOPSIG(status) == SIGTRAP)
		return TARGET_STEPPED;
	*next_signal = WSTOPSIG(status);
	return TARGET_SIGNALED;
}

void target_destroy(struct target *t)
{
	if (t->pid > 0) {
		kill(t->pid, SIGKILL);
		waitpid(t->pid, NULL, 0);
	}
	for (size_t i = 0; i < t->objects.count; i++) {
		struct target_object *o = &t->objects.data[i];
		symtab_destroy(o->symbols);
		cfi_table_destroy(o->table);
		objfile_close(o->file);
		free(o->path);
	}
	vec_deinit(&t->objects);
	unwind_space_deinit(&t->space);
}
