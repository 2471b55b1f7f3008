/*
 * jit_frames KIND DEPTH MILLISECONDS: makes functions whose frames cannot be read off their code,
 * as they return through an epilogue that they share and jump to by a register.  jit_even and
 * jit_odd, with frames of different sizes, call each other so deep, and jit_work, in the innermost,
 * works for so much CPU time.  They stand in a jitdump in the current folder, and
 *
 *	told	so do their frames
 *	silent	their frames do not
 *	changed	so do their frames; for the last two thirds of the time other code is in the same
 *		place, with other frames, and for the last third that is moved
 *	broken	so do their frames, with malformed records between them
 *	entered	their frames do not, but they keep frame pointers, and like an interpreter they push
 *		where they continue and jump to each other, so that no call precedes that place
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "cpu_time.h"
#include "spin.h"

typedef uint64_t made(uint64_t depth, uint64_t rounds);
struct buffer {
	uint8_t bytes[1 << 12];
	size_t size;
};

enum { FUNCTIONS = 3, PLACE = 128, MOVED_BY = 1 << 12, UNIT = 2000000 };
enum { ADJUST_BYTES = 7, RECORD_BYTES = 16 };

static const char *kind;
static int dump_fd;
static volatile uint64_t result;

/* ---- bytes ---- */

static void put(struct buffer *b, uint64_t number, size_t size)
{
	memcpy(b->bytes + b->size, &number, size);
	b->size += size;
}

static void put_bytes(struct buffer *b, const void *bytes, size_t size)
{
	memcpy(b->bytes + b->size, bytes, size);
	b->size += size;
}

static void pad(struct buffer *b, size_t multiple)
{
	while (b->size % multiple)
		put(b, 0, 1);
}

/* ---- code ---- */

/* add or sub $size,%rsp */
static void put_adjust(struct buffer *b, bool is_sub, uint32_t size)
{
	put_bytes(b, is_sub ? "\x48\x81\xec" : "\x48\x81\xc4", 3);
	put(b, size, 4);
}

/* movabs $target,%rax; then call or jmp *%rax */
static void put_go(struct buffer *b, bool is_call, const uint8_t *target)
{
	put_bytes(b, "\x48\xb8", 2);
	put(b, (uint64_t)(uintptr_t)target, 8);
	put_bytes(b, is_call ? "\xff\xd0" : "\xff\xe0", 2);
}

/* Calls deeper while there is depth left, else leaf. */
static void make_caller(struct buffer *b, uint32_t size, const uint8_t *deeper, const uint8_t *leaf)
{
	put_adjust(b, true, size);
	put_bytes(b, "\x48\xff\xcf\x74\x0e", 5); /* dec %rdi; jz to the second call */
	put_go(b, true, deeper);
	put_bytes(b, "\xeb\x0c", 2); /* jmp behind it */
	put_go(b, true, leaf);
}

static void make_worker(struct buffer *b, uint32_t size)
{
	put_adjust(b, true, size);
	put_bytes(b, "\x48\xff\xce\x75\xfb", 5); /* dec %rsi; jnz */
}

/* push %rbp; mov %rsp,%rbp */
static void put_frame(struct buffer *b)
{
	put_bytes(b, "\x55\x48\x89\xe5", 4);
}

/* lea behind this,%rax; push %rax; and a jump */
static void put_enter(struct buffer *b, const uint8_t *target)
{
	put_bytes(b, "\x48\x8d\x05\x0d\0\0\0\x50", 8);
	put_go(b, false, target);
}

/* As make_caller. */
static void make_enterer(
	struct buffer *b, uint32_t size, const uint8_t *deeper, const uint8_t *leaf)
{
	put_frame(b);
	put_adjust(b, true, size);
	put_bytes(b, "\x48\xff\xcf\x74\x16", 5); /* dec %rdi; jz to the second one */
	put_enter(b, deeper);
	put_bytes(b, "\xeb\x14", 2); /* jmp behind it */
	put_enter(b, leaf);
}

/* ---- the jitdump ---- */

static void write_out(const struct buffer *b)
{
	if (write(dump_fd, b->bytes, b->size) != (ssize_t)b->size)
		exit(1);
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void open_dump(void)
{
	struct buffer b = {.size = 0};
	char path[64];

	snprintf(path, sizeof(path), "jit-%d.dump", (int)getpid());
	dump_fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
	put(&b, 0x4a695444, 4);
	put(&b, 1, 4);
	put(&b, 40, 4);
	put(&b, 62, 4);
	put(&b, 0, 4);
	put(&b, (uint64_t)getpid(), 4);
	put(&b, now_ns(), 8);
	put(&b, 0, 8);
	write_out(&b);
	if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, dump_fd, 0) == MAP_FAILED)
		exit(1);
}

static void put_record(struct buffer *b, uint32_t type, size_t body_size)
{
	put(b, type, 4);
	put(b, RECORD_BYTES + body_size, 4);
	put(b, now_ns(), 8);
}

static void put_cfa_offset(struct buffer *b, uint32_t offset)
{
	put(b, 0x0e, 1);
	put(b, (offset & 127) | 128, 1);
	put(b, offset >> 7, 1);
}

/* The CFA is sp + 8, behind so many bytes of code sp + inside, and from the epilogue on sp + 8. */
static void make_eh_frame(struct buffer *b, size_t code_size, uint32_t before, uint32_t inside)
{
	static const uint8_t cie[] = {20, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b,
		0x0c, 7, 8, 0x90, 1, 0, 0};

	put_bytes(b, cie, sizeof(cie));
	put(b, 20, 4); /* of the entry */
	put(b, sizeof(cie) + 4, 4);
	put(b, (uint64_t)0 - (((code_size + 7) & ~(size_t)7) + b->size), 4);
	put(b, code_size, 4);
	put(b, 0, 1);
	put_cfa_offset(b, before);
	put(b, 0x40 | ADJUST_BYTES, 1);
	put_cfa_offset(b, inside);
	pad(b, 8);
	put(b, 0, 4);
}

static void tell_frame(size_t code_size, uint32_t before, uint32_t inside)
{
	enum { HEADER_BYTES = 20 };
	struct buffer b = {.size = 0}, eh_frame = {.size = 0};

	make_eh_frame(&eh_frame, code_size, before, inside);
	uint64_t size = eh_frame.size + HEADER_BYTES;
	put_record(&b, 4, 24 + size);
	put(&b, size, 8);
	put(&b, HEADER_BYTES, 8);
	put(&b, size, 8);
	put_bytes(&b, eh_frame.bytes, eh_frame.size);
	for (int i = 0; i < HEADER_BYTES; i++)
		put(&b, 0xff, 1); /* nobody needs it */
	write_out(&b);
}

/* Sizes that are larger than the record, and bytes that are no entries. */
static void tell_nonsense(void)
{
	struct buffer b = {.size = 0};

	put_record(&b, 4, 24 + 8);
	put(&b, UINT64_MAX, 8);
	put(&b, 20, 8);
	put(&b, 0, 8);
	put(&b, UINT64_MAX, 8);
	put_record(&b, 4, 8);
	put(&b, 0, 8);
	write_out(&b);
}

static void load(const char *name, const uint8_t *at, const struct buffer *code)
{
	struct buffer b = {.size = 0};

	put_record(&b, 0, 40 + strlen(name) + 1 + code->size);
	put(&b, (uint64_t)getpid(), 4);
	put(&b, (uint64_t)getpid(), 4);
	put(&b, (uint64_t)(uintptr_t)at, 8);
	put(&b, (uint64_t)(uintptr_t)at, 8);
	put(&b, code->size, 8);
	put(&b, 1, 8);
	put_bytes(&b, name, strlen(name) + 1);
	put_bytes(&b, code->bytes, code->size);
	write_out(&b);
}

static void move(const uint8_t *from, const uint8_t *to, size_t size)
{
	struct buffer b = {.size = 0};

	put_record(&b, 1, 48);
	put(&b, (uint64_t)getpid(), 4);
	put(&b, (uint64_t)getpid(), 4);
	put(&b, (uint64_t)(uintptr_t)to, 8);
	put(&b, (uint64_t)(uintptr_t)from, 8);
	put(&b, (uint64_t)(uintptr_t)to, 8);
	put(&b, size, 8);
	put(&b, 1, 8);
	write_out(&b);
}

/* ---- functions ---- */

/* Code comes to its place; is_moved: according to the jitdump, it was elsewhere before. */
static void place(const char *name, uint8_t *at, const struct buffer *code, uint32_t before,
	uint32_t inside, bool is_moved)
{
	memcpy(at, code->bytes, code->size);
	if (is_moved) {
		move(at - MOVED_BY, at, code->size);
		return;
	}
	if (strcmp(kind, "broken") == 0)
		tell_nonsense();
	if (strcmp(kind, "silent") != 0 && strcmp(kind, "entered") != 0)
		tell_frame(code->size, before, inside);
	load(name, at, code);
}

/* The epilogue of functions with frames of that size. */
static void make_end(uint8_t *at, uint32_t size, bool is_moved)
{
	struct buffer b = {.size = 0};

	if (strcmp(kind, "entered") == 0)
		put(&b, 0xc9, 1); /* leave */
	else
		put_adjust(&b, false, size);
	put(&b, 0xc3, 1);
	place("jit_end", at, &b, size + 8, 8, is_moved);
}

/* Frames of more_bytes than usual; sizes keep the stack aligned. */
static void make_all(uint8_t *code, uint32_t more_bytes, bool is_moved)
{
	static const char *const names[FUNCTIONS] = {"jit_even", "jit_odd", "jit_work"};
	static const uint32_t sizes[FUNCTIONS] = {0x58, 0x78, 0x138};

	for (size_t i = 0; i < FUNCTIONS; i++) {
		struct buffer b = {.size = 0};
		uint8_t *at = code + i * PLACE, *end = at + (size_t)FUNCTIONS * PLACE;
		uint32_t size = sizes[i] + more_bytes;

		if (i == 2 && strcmp(kind, "entered") == 0)
			put_frame(&b);
		if (i == 2)
			make_worker(&b, size);
		else if (strcmp(kind, "entered") == 0)
			make_enterer(&b, size, code + (1 - i) * PLACE, code + (size_t)2 * PLACE);
		else
			make_caller(&b, size, code + (1 - i) * PLACE, code + (size_t)2 * PLACE);
		put_go(&b, false, end);
		place(names[i], at, &b, 8, size + 8, is_moved);
		make_end(end, size, is_moved);
	}
}

KEEP void work(const uint8_t *at, uint64_t depth, double milliseconds)
{
	struct cpu_time time = cpu_time_of_process(milliseconds);
	made *function;

	memcpy(&function, &at, sizeof(function));
	do
		result = function(depth, UNIT) + 1;
	while (cpu_time_is_left(&time));
}

int main(int argc, char **argv)
{
	uint8_t *code = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE | PROT_EXEC,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (argc != 4 || code == MAP_FAILED)
		return 2;
	kind = argv[1];
	uint64_t depth = strtoull(argv[2], NULL, 10);
	double milliseconds = atof(argv[3]);
	open_dump();
	make_all(code, 0, false);
	if (strcmp(kind, "changed") != 0) {
		work(code, depth, milliseconds);
		return 0;
	}
	work(code, depth, milliseconds / 3);
	make_all(code, 0x40, false);
	work(code, depth, milliseconds / 3);
	make_all(code + MOVED_BY, 0x40, true);
	work(code + MOVED_BY, depth, milliseconds / 3);
	return 0;
}
