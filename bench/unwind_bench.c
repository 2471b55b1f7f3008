/*
 * The unwinder alone: what a frame costs, what a sample of a deep stack costs when most of it is
 * reused, what the rules of large objects cost: to open them, to find one, and to find it again.
 *
 *	unwind_bench [DEPTH] [ELF-FILE...]
 *
 * It unwinds its own stack in place: a recursion DEPTH deep (default 10,000), whose innermost part
 * changes between the walks as it does between samples.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/vec.h"
#include "obj/cfi.h"
#include "obj/objfile.h"
#include "record/processes/proc.h"
#include "unwind/walk.h"

struct own_space {
	struct unwind_space space;
	VEC(struct cfi_table *) tables;
	VEC(struct objfile *) files; /* which they read from */
	uint64_t stack_high_va;
};

static uint64_t cpu_ns(void)
{
	struct timespec t;

	/* Of CPU time, so that other load shows less. */
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void fail(struct error *err)
{
	fprintf(stderr, "unwind_bench: %s\n", err->message);
	exit(1);
}

static void add_mapping(void *context, const struct maps_line *line)
{
	struct own_space *own = context;
	struct unwind_mapping mapping = {.low_va = line->low_va, .high_va = line->high_va};
	struct objfile *file;

	if (str_equal(line->path, STR("[stack]")))
		own->stack_high_va = line->high_va;
	if (!line->executable || line->path.size == 0 || line->path.data[0] != '/')
		return;
	char *path = xstrndup(line->path.data, line->path.size);
	struct error *err = objfile_open(path, &file);
	if (err)
		fail(err);
	struct cfi_table *table = objfile_open_cfi(file);
	objfile_slide(file, line->low_va, line->file_off, &mapping.slide);
	mapping.table = table;
	vec_push(&own->tables, table);
	vec_push(&own->files, file);
	unwind_space_add(&own->space, mapping);
	free(path);
}

/* ---- walking ---- */

struct job {
	struct own_space *own;
	struct unwind_walker *walker;
	struct unwind_history *history; /* NULL: each walk is whole */
	unsigned int walks;
	uint64_t ns, frames;
	enum unwind_end end;
};

/* The caller's registers. */
static inline __attribute__((always_inline)) void own_regs(struct unwind_regs *regs)
{
	regs->known = 1u << UNWIND_REG_BP | 1u << UNWIND_REG_SP | 1u << UNWIND_REG_PC;
	__asm__ volatile("movq %%rbp, %0\n\tmovq %%rsp, %1\n\tleaq 0(%%rip), %2"
			 : "=m"(regs->value[UNWIND_REG_BP]), "=m"(regs->value[UNWIND_REG_SP]),
			 "=r"(regs->value[UNWIND_REG_PC]));
}

static __attribute__((noinline)) void walk_once(struct job *job, volatile uint64_t *changing)
{
	struct unwind_regs regs;
	struct unwind_stack stack;

	(*changing)++;
	own_regs(&regs);
	struct unwind_memory memory = {
		.bytes = (const uint8_t *)(uintptr_t)regs.value[UNWIND_REG_SP],
		.low_va = regs.value[UNWIND_REG_SP],
		.high_va = job->own->stack_high_va,
	};
	unwind_walk(job->walker, &job->own->space, job->history, &regs, &memory, &stack);
	job->frames += stack.count + stack.reused;
	job->end = stack.end;
	if (job->history)
		unwind_history_keep(job->history, &stack);
}

/* Some levels more, so that the innermost frames differ from one walk to the next. */
static __attribute__((noinline)) unsigned int wiggle(struct job *job, unsigned int levels)
{
	volatile uint64_t changing = job->frames;

	if (levels)
		return wiggle(job, levels - 1) + 1;
	walk_once(job, &changing);
	return (unsigned int)changing;
}

static __attribute__((noinline)) unsigned int recurse(struct job *job, unsigned int depth)
{
	volatile unsigned int sum = depth;

	if (depth) {
		sum += recurse(job, depth - 1);
		return sum;
	}
	uint64_t begin = cpu_ns();
	for (unsigned int i = 0; i < job->walks; i++)
		sum += wiggle(job, i % 7);
	job->ns = cpu_ns() - begin;
	return sum;
}

static void report(const char *what, const struct job *job)
{
	struct unwind_counts c = unwind_walker_counts(job->walker);

	printf("%-24s %9.2f us/walk %8.2f ns/frame  %.0f frames, end %d, %lu reuses, %lu checks\n",
		what, (double)job->ns / 1e3 / job->walks,
		(double)job->ns / (double)(job->frames ? job->frames : 1),
		(double)job->frames / job->walks, (int)job->end, (unsigned long)c.reuses,
		(unsigned long)c.reuse_checks);
}

static void bench_walk(
	struct own_space *own, const char *what, unsigned int depth, unsigned int walks, bool reuse)
{
	struct job job = {
		.own = own,
		.walker = unwind_walker_create(),
		.history = reuse ? unwind_history_create() : NULL,
		.walks = walks,
	};

	recurse(&job, depth);
	report(what, &job);
	unwind_history_destroy(job.history);
	unwind_walker_destroy(job.walker);
}

/* ---- rules of large objects ---- */

enum { PCS = 10000, PASSES = 20 };

/* Addresses of the object's code, from all of it. */
static void choose_pcs(const struct objfile *file, uint64_t pcs[PCS])
{
	struct objfile_segment code = {0};
	uint64_t random = 1;

	for (size_t i = 0; i < objfile_segment_count(file); i++) {
		struct objfile_segment segment = objfile_segment(file, i);
		if (segment.executable && segment.file_size > code.file_size)
			code = segment;
	}
	for (size_t i = 0; i < PCS; i++) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		pcs[i] = code.obj_addr + (code.file_size ? (random >> 20) % code.file_size : 0);
	}
}

/* Nanoseconds a look-up. */
static double look_up(struct cfi_table *table, const uint64_t pcs[PCS], size_t *known)
{
	uint64_t begin = cpu_ns();

	*known = 0;
	for (size_t i = 0; i < PCS; i++)
		*known += cfi_table_find(table, pcs[i])->kind != CFI_NONE;
	return (double)(cpu_ns() - begin) / PCS;
}

static void bench_rules(const char *path)
{
	struct objfile *file;
	uint64_t pcs[PCS];
	double warm = 0;
	size_t known;
	uint64_t begin = cpu_ns();
	struct error *err = objfile_open(path, &file);

	if (err)
		fail(err);
	struct cfi_table *table = objfile_open_cfi(file);
	double open_us = (double)(cpu_ns() - begin) / 1e3;
	choose_pcs(file, pcs);
	double cold = table ? look_up(table, pcs, &known) : 0;
	for (int i = 0; table && i < PASSES; i++)
		warm += look_up(table, pcs, &known) / PASSES;
	if (table)
		printf("%-24s open %.0f us, a new pc %.0f ns, an old one %.1f ns; %zu of %d known, "
		       "%zu rules, %zu KB\n",
			path, open_us, cold, warm, known, (int)PCS, cfi_table_rule_count(table),
			cfi_table_size_bytes(table) >> 10);
	cfi_table_destroy(table);
	objfile_close(file);
}

int main(int argc, char **argv)
{
	unsigned int depth = argc > 1 ? (unsigned int)strtoul(argv[1], NULL, 10) : 10000;
	struct own_space own = {0};

	unwind_space_init(&own.space);
	maps_read(getpid(), add_mapping, &own);
	bench_walk(&own, "whole walks", depth, 200, false);
	bench_walk(&own, "with reuse", depth, 20000, true);
	bench_walk(&own, "shallow, whole", 40, 20000, false);
	bench_walk(&own, "shallow, with reuse", 40, 20000, true);
	for (int i = 2; i < argc; i++)
		bench_rules(argv[i]);
	unwind_space_deinit(&own.space);
	for (size_t i = 0; i < own.tables.count; i++) {
		cfi_table_destroy(own.tables.data[i]);
		objfile_close(own.files.data[i]);
	}
	vec_deinit(&own.tables);
	vec_deinit(&own.files);
	return 0;
}
