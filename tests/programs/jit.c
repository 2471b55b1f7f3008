/*
 * jit KIND MILLISECONDS: makes machine code and works in it for so much CPU time, and says what it
 * is in the way of KIND:
 *
 *	map	a perf map in /tmp: jit_first and jit_second work 1:3, called by jit_caller_of_…
 *	odd	the same, among lines that are none, a name with an escape sequence, and a size
 *		that wraps
 *	again	a perf map: jit_early works, then jit_late stands at the same place and works
 *	dump	a jitdump in the current folder: jit_early works, then jit_late stands at the same
 *		place and works, then it is moved and works again
 *	late	the same, but the file is written at the end
 *
 * It prints its truth.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "cpu_time.h"
#include "spin.h"

typedef uint64_t (*made)(uint64_t rounds, uint64_t x);

enum { PLACE = 512, UNIT = 20000 };

/* What spin does. */
static const uint8_t worker[] = {
	0x55, 0x48, 0x89, 0xe5,					    /* push %rbp; mov %rsp, %rbp */
	0x48, 0x89, 0xf0,					    /* mov %rsi, %rax */
	0x48, 0x89, 0xc1, 0x48, 0xc1, 0xe1, 0x0d, 0x48, 0x31, 0xc8, /* x ^= x << 13 */
	0x48, 0x89, 0xc1, 0x48, 0xc1, 0xe9, 0x07, 0x48, 0x31, 0xc8, /* x ^= x >> 7 */
	0x48, 0x89, 0xc1, 0x48, 0xc1, 0xe1, 0x11, 0x48, 0x31, 0xc8, /* x ^= x << 17 */
	0x48, 0xff, 0xcf, 0x75, 0xdd,				    /* dec %rdi; jnz */
	0x5d, 0xc3,						    /* pop %rbp; ret */
};

static uint8_t *code;
static uint64_t result = 1;

/* A function that calls the one at target. */
static void make_caller(uint8_t *at, const uint8_t *target)
{
	static const uint8_t begin[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0xb8};
	static const uint8_t end[] = {0xff, 0xd0, 0x5d, 0xc3};

	memcpy(at, begin, sizeof(begin));
	memcpy(at + sizeof(begin), &target, sizeof(target));
	memcpy(at + sizeof(begin) + sizeof(target), end, sizeof(end));
}

static made function_at(const uint8_t *at)
{
	made function;

	memcpy(&function, &at, sizeof(function));
	return function;
}

KEEP void work(const uint8_t *at, uint64_t rounds)
{
	result = function_at(at)(rounds, result) + 1;
}

/* ---- perf maps ---- */

static void write_map(const char *kind)
{
	char path[64];

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	FILE *f = fopen(path, "wx");
	if (!f)
		exit(1);
	if (strcmp(kind, "odd") == 0)
		fprintf(f, "this is no line\n%zx fffffffffffffff0 wraps\n\x1b[31m\n",
			(size_t)(uintptr_t)code + 3 * PLACE);
	for (size_t i = 0; i < 4; i++)
		fprintf(f, "%zx %x %s\n", (size_t)(uintptr_t)code + i * PLACE, PLACE,
			i == 0	 ? "jit_first"
			: i == 1 ? strcmp(kind, "odd") == 0 ? "jit_\x1b[31msecond" : "jit_second"
			: i == 2 ? "jit_caller_of_first"
				 : "jit_caller_of_second");
	fclose(f);
}

static void run_map(const char *kind, double milliseconds)
{
	memcpy(code, worker, sizeof(worker));
	memcpy(code + PLACE, worker, sizeof(worker));
	make_caller(code + (size_t)2 * PLACE, code);
	make_caller(code + (size_t)3 * PLACE, code + PLACE);
	write_map(kind);
	struct cpu_time time = cpu_time_of_process(milliseconds);

	do {
		for (int round = 0; round < 5; round++) {
			work(code + (size_t)2 * PLACE, UNIT);
			work(code + (size_t)3 * PLACE, (uint64_t)3 * UNIT);
		}
	} while (cpu_time_is_left(&time));
	if (strcmp(kind, "odd") != 0)
		puts("jit_first 0.25 0.25\njit_second 0.75 0.75\njit_caller_of_first 0 0.25\n"
		     "jit_caller_of_second 0 0.75");
	puts("work 0 1");
}

static void work_for(const uint8_t *at, double milliseconds)
{
	struct cpu_time time = cpu_time_of_process(milliseconds);

	do
		for (int round = 0; round < 20; round++)
			work(at, UNIT);
	while (cpu_time_is_left(&time));
}

static void run_again(double milliseconds)
{
	static const char *const names[] = {"jit_early", "jit_late"};
	char path[64];

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	FILE *f = fopen(path, "wx");
	if (!f)
		exit(1);
	memcpy(code, worker, sizeof(worker));
	for (size_t i = 0; i < 2; i++) {
		fprintf(f, "0x%zX\t%zX\t%s\n", (size_t)(uintptr_t)code, sizeof(worker), names[i]);
		fflush(f);
		work_for(code, milliseconds / 2);
	}
	fclose(f);
	puts("jit_early 0.5 0.5\njit_late 0.5 0.5\nwork 0 1");
}

/* ---- jitdump ---- */

static uint8_t dump[1 << 16];
static size_t dump_size, dump_written;
static int dump_fd;
static int is_late;

static void put(uint64_t number, size_t size)
{
	memcpy(dump + dump_size, &number, size);
	dump_size += size;
}

static void put_bytes(const void *bytes, size_t size)
{
	memcpy(dump + dump_size, bytes, size);
	dump_size += size;
}

static void flush_dump(void)
{
	size_t left = dump_size - dump_written;

	if (write(dump_fd, dump + dump_written, left) != (ssize_t)left)
		exit(1);
	dump_written = dump_size;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void open_dump(void)
{
	char path[64];

	snprintf(path, sizeof(path), "jit-%d.dump", (int)getpid());
	dump_fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
	put(0x4a695444, 4);
	put(1, 4);
	put(40, 4);
	put(62, 4);
	put(0, 4);
	put((uint64_t)getpid(), 4);
	put(now_ns(), 8);
	put(0, 8);
	flush_dump();
	if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, dump_fd, 0) == MAP_FAILED)
		exit(1);
}

static void put_record(uint32_t kind, size_t body_size)
{
	put(kind, 4);
	put(16 + body_size, 4);
	put(now_ns(), 8);
}

/* jit.lisp:10 from the first byte on, :20 from the loop on. */
static void put_lines(const uint8_t *at)
{
	static const char file[] = "jit.lisp";
	uint64_t va = (uint64_t)(uintptr_t)at;

	put_record(2, 16 + 16 + sizeof(file) + 16 + 2);
	put(va, 8);
	put(2, 8);
	put(va, 8);
	put(10, 4);
	put(0, 4);
	put_bytes(file, sizeof(file));
	put(va + 7, 8);
	put(20, 4);
	put(0, 4);
	put_bytes("\xff", 2);
}

static void load(const char *name, const uint8_t *at, uint64_t index)
{
	uint64_t va = (uint64_t)(uintptr_t)at;

	put_lines(at);
	put_record(0, 40 + strlen(name) + 1 + sizeof(worker));
	put((uint64_t)getpid(), 4);
	put((uint64_t)getpid(), 4);
	put(va, 8);
	put(va, 8);
	put(sizeof(worker), 8);
	put(index, 8);
	put_bytes(name, strlen(name) + 1);
	put_bytes(worker, sizeof(worker));
	if (!is_late)
		flush_dump();
}

static void move(const uint8_t *from, const uint8_t *to, uint64_t index)
{
	put_record(1, 48);
	put((uint64_t)getpid(), 4);
	put((uint64_t)getpid(), 4);
	put((uint64_t)(uintptr_t)to, 8);
	put((uint64_t)(uintptr_t)from, 8);
	put((uint64_t)(uintptr_t)to, 8);
	put(sizeof(worker), 8);
	put(index, 8);
	if (!is_late)
		flush_dump();
}

static void run_dump(double milliseconds)
{
	open_dump();
	memcpy(code, worker, sizeof(worker));
	memcpy(code + PLACE, worker, sizeof(worker));
	load("jit_early", code, 1);
	work_for(code, milliseconds / 3);
	load("jit_late", code, 2);
	work_for(code, milliseconds / 3);
	move(code, code + PLACE, 2);
	work_for(code + PLACE, milliseconds / 3);
	flush_dump();
	if (is_late)
		puts("work 0 1");
	else
		puts("jit_early 0.3333 0.3333\njit_late 0.6667 0.6667\nwork 0 1");
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	code = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
		-1, 0);
	if (code == MAP_FAILED)
		return 1;
	is_late = strcmp(argv[1], "late") == 0;
	if (is_late || strcmp(argv[1], "dump") == 0)
		run_dump(atof(argv[2]));
	else if (strcmp(argv[1], "again") == 0)
		run_again(atof(argv[2]));
	else
		run_map(argv[1], atof(argv[2]));
	return result == 0;
}
