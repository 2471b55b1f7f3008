#ifndef SONDE_TESTS_ORACLE_TARGET_H
#define SONDE_TESTS_ORACLE_TARGET_H

/*
 * A program run one instruction at a time under ptrace, and what the unwinder needs to know of it:
 * registers, memory, mappings.
 */

#include <sys/types.h>
#include <sys/user.h>

#include "base/vec.h"
#include "obj/symtab.h"
#include "unwind/walk.h"

struct target_object {
	char *path;
	struct objfile *file;
	struct cfi_table *table;
	struct symtab *symbols;
};

struct target {
	pid_t pid;
	struct user_regs_struct regs;
	struct unwind_space space;
	struct unwind_memory memory; /* begins at sp */
	VEC(struct target_object) objects;
	uint8_t window[16384];
	struct {
		uint64_t va;
		uint8_t bytes[4096 + 16];
	} code[64]; /* cached pages and a little more, so that instructions do not end within */
	int exit_status; /* as of waitpid, after TARGET_ENDED */
};

enum target_event {
	TARGET_STEPPED,	 /* one instruction was executed, or a handler was entered */
	TARGET_SIGNALED, /* a signal is about to be delivered: give it to the next step */
	TARGET_ENDED,
};

/* Starts a program, stopped before its first instruction.  False: ptrace is not permitted here. */
bool target_launch(struct target *t, const char *path);
/* Lets it run to its own entry point, past the dynamic loader. */
void target_run_to_entry(struct target *t);
void target_destroy(struct target *t);

/* Executes one instruction, or enters the handler of a signal (0: none); updates regs. */
enum target_event target_step(struct target *t, int signal, int *next_signal);
/* 16 bytes of code at va, zeros if they can't be read; until the next call. */
const uint8_t *target_code(struct target *t, uint64_t va);
/* The word at sp. */
uint64_t target_top(const struct target *t);
/* Reads size bytes; false if they are not all there. */
bool target_read(const struct target *t, uint64_t va, void *bytes, size_t size);
/* Reads the mappings again. */
void target_reload(struct target *t);
/* The registers as the unwinder takes them. */
struct unwind_regs target_regs(const struct target *t);
/* The function at a frame, and its object; "?" where not known. */
struct str target_function(const struct target *t, const struct unwind_frame *frame);
/* Whether the frame's object brings unwind rules for it. */
bool target_has_sections(const struct target *t, const struct unwind_frame *frame);
const char *target_object_path(const struct target *t, const struct unwind_frame *frame);

#endif
