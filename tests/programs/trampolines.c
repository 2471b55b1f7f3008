/*
 * trampolines SHAPE DEPTH MILLISECONDS: an interpreter that enters each function through a copy of
 * one trampoline, made at run time and named in a perf map, as CPython does with -X perf. It
 * recurses so deep in py::recurse, and works in py::work for so much CPU time.
 *
 *	sub	the trampoline makes room on the stack, and has no frame pointer
 *	push	it has one
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cpu_time.h"
#include "spin.h"

struct frame;
typedef uint64_t evaluator(void *thread, struct frame *frame, int depth);
typedef uint64_t trampoline(void *thread, struct frame *frame, int depth, evaluator *evaluate);

/* A function of the interpreted program. */
struct frame {
	trampoline *enter;
	struct frame *callee; /* NULL: it works */
};

enum { COPY_BYTES = 64, COPIES = 3, UNIT = 20000 };

/* endbr64; sub $8,%rsp; call *%rcx; add $8,%rsp; ret */
static const uint8_t sub_code[] = {
	0xf3, 0x0f, 0x1e, 0xfa, 0x48, 0x83, 0xec, 0x08, 0xff, 0xd1, 0x48, 0x83, 0xc4, 0x08, 0xc3};
/* endbr64; push %rbp; mov %rsp,%rbp; call *%rcx; pop %rbp; ret */
static const uint8_t push_code[] = {
	0xf3, 0x0f, 0x1e, 0xfa, 0x55, 0x48, 0x89, 0xe5, 0xff, 0xd1, 0x5d, 0xc3};

static struct cpu_time cpu_time;
static int recursion;

static KEEP uint64_t evaluate(void *thread, struct frame *frame, int depth)
{
	uint64_t x = 1;

	if (!frame->callee) {
		do
			x = spin(UNIT, x);
		while (cpu_time_is_left(&cpu_time));
		return x;
	}
	/* Only py::recurse, which comes second, has more to come of itself. */
	struct frame *callee = depth > 1 ? frame : frame->callee;

	x = callee->enter(thread, callee, depth > 0 ? depth - 1 : recursion, evaluate);
	NO_TAIL_CALL(x);
	return x + 1;
}

static trampoline *copy(uint8_t *place, const uint8_t *code, size_t size)
{
	trampoline *made;

	memcpy(place, code, size);
	memcpy(&made, &place, sizeof(made));
	return made;
}

static void write_map(const uint8_t *code)
{
	static const char *const names[COPIES] = {"py::module", "py::recurse", "py::work"};
	char path[64];

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	FILE *f = fopen(path, "wx");
	if (!f)
		exit(1);
	for (size_t i = 0; i < COPIES; i++)
		fprintf(f, "%zx %x %s:trampolines.py\n", (size_t)(uintptr_t)code + i * COPY_BYTES,
			COPY_BYTES, names[i]);
	fclose(f);
}

int main(int argc, char **argv)
{
	bool is_sub = argc > 1 && strcmp(argv[1], "sub") == 0;
	struct frame frames[COPIES] = {{.callee = &frames[1]}, {.callee = &frames[2]}};
	uint8_t *code = mmap(
		NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (argc != 4 || code == MAP_FAILED)
		return 1;
	for (size_t i = 0; i < COPIES; i++)
		frames[i].enter = copy(code + i * COPY_BYTES, is_sub ? sub_code : push_code,
			is_sub ? sizeof(sub_code) : sizeof(push_code));
	write_map(code);
	recursion = atoi(argv[2]);
	cpu_time = cpu_time_of_process(atof(argv[3]));
	/* py::module enters py::recurse once. */
	return frames[0].enter(NULL, &frames[0], 0, evaluate) == 42;
}
