/*
 * The unwinder alone: what a frame costs, what a sample of a deep stack costs when most of it is
 * reused, what compiling an object's unwind rules costs.
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
#include "record/maps.h"
#include "unwind/walk.h"

struct own_space {
	struct unwind_space space;
	VEC(struct cfi_table *) tables;
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
	struct cfi_table *table = NULL;
	struct objfile *file;
	size_t bad;

	if (str_equal(line->path, STR("[stack]")))
		own->stack_high_va = line->high_va;
	if (!line->executable || line->path.size == 0 || line->path.data[0] != '/')
		return;
	char *path = xstrndup(line->path.data, line->path.size);
	struct error *err = objfile_open(path, &file);
	if (err == NULL)
		err = objfile_compile_cfi(file, &table, &bad);
	if (err)
		fail(err);
	objfile_slide(file, line->low_va, line->file_off, &mapping.slide);
	mapping.table = table;
	vec_push(&own->tables, table);
	unwind_space_add(&own->space, mapping);
	objfile_close(file);
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

/* ---- compiling ---- */

static void bench_compile(const char *path)
{
	enum { RUNS = 5 };
	uint64_t best_ns = UINT64_MAX;
	struct objfile *file;
	struct cfi_table *table = NULL;
	size_t bad;
	struct error *err = objfile_open(path, &file);

	if (err)
		fail(err);
	for (int i = 0; i < RUNS; i++) {
		cfi_table_destroy(table);
		uint64_t begin = cpu_ns();
		err = objfile_compile_cfi(file, &table, &bad);
		uint64_t ns = cpu_ns() - begin;
		if (err)
			fail(err);
		best_ns = ns < best_ns ? ns : best_ns;
	}
	if (table)
		printf("%-24s %9.2f ms  %zu rows, %zu rules, %.2f bytes a row, %zu bad\n", path,
			(double)best_ns / 1e6, cfi_table_row_count(table),
			cfi_table_rule_count(table),
			(double)cfi_table_size_bytes(table) / (double)cfi_table_row_count(table),
			bad);
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
		bench_compile(argv[i]);
	unwind_space_deinit(&own.space);
	for (size_t i = 0; i < own.tables.count; i++)
		cfi_table_destroy(own.tables.data[i]);
	vec_deinit(&own.tables);
	return 0;
}
