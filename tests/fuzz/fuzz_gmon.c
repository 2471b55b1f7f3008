/*
 * The gmon.out reader on any bytes, with a program that is sound; and, where the bytes begin as
 * an ELF file does, on any program.  What it accepts is a whole profile.
 */
#include <assert.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../gmon_program.h"
#include "obj/function_symbols.h"
#include "obj/objfile.h"
#include "formats/readers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t fuzz_seed(size_t n, uint8_t *data, size_t capacity);

/* What mkstemp makes a file of. */
static char program[] = "/tmp/fuzz_gmon_XXXXXX";

static void remove_program(void)
{
	unlink(program);
}

/* Once in a process. */
static void make_program(void)
{
	static bool is_made;
	struct strbuf elf = {0};

	if (is_made)
		return;
	is_made = true;
	int fd = mkstemp(program);
	if (fd < 0)
		abort();
	atexit(remove_program);
	gmon_program_write(&elf);
	if (write(fd, elf.data, elf.size) != (ssize_t)elf.size)
		abort();
	close(fd);
	strbuf_deinit(&elf);
	/* No cache of symbols: the harness's runs must be alike. */
	setenv("XDG_CACHE_HOME", "/nonexistent", 1);
}

static void try_symbols(const uint8_t *data, size_t size)
{
	struct objfile *file;
	struct function_symbols *symbols;
	uint64_t before = 0;

	struct error *err = objfile_open_any_memory(data, size, "input", &file);
	if (err) {
		error_destroy(err);
		return;
	}
	err = function_symbols_create(file, NULL, &symbols);
	for (size_t i = 0; err == NULL && i < function_symbols_count(symbols); i++) {
		struct function_symbol s = function_symbols_at(symbols, i);
		size_t found;
		assert(s.low < s.high && s.low >= before && s.name.size > 0);
		assert(function_symbols_find(symbols, s.high - 1, &found) && found == i);
		before = s.high;
	}
	if (err == NULL)
		function_symbols_destroy(symbols);
	error_destroy(err);
	objfile_close(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct reader_input input = {.name = "input", .data = data, .size = size, .exe = program};
	struct profile *p = NULL;

	make_program();
	if (size > 4 && memcmp(data, "\177ELF", 4) == 0) {
		try_symbols(data, size);
		return 0;
	}
	(void)reader_gmon.bid(data, size);
	struct error *err = profile_read_bytes(&input, "gmon", &p);
	if (err == NULL)
		assert(!p->has_stacks && p->metric_count == 1);
	error_destroy(err);
	profile_destroy(p);
	return 0;
}

static void add(struct strbuf *out, uint64_t number, size_t size)
{
	for (size_t i = 0; i < size; i++)
		strbuf_add_char(out, (char)(i < 8 ? number >> 8 * i : 0));
}

static void add_header(struct strbuf *out)
{
	strbuf_add(out, STR("gmon"));
	add(out, 1, 8);
	add(out, 0, 8);
}

static void add_histogram(struct strbuf *out, uint64_t low, uint64_t size, uint64_t bins,
	uint64_t rate, const char *dimension)
{
	add(out, 0, 1);
	add(out, low, 8);
	add(out, low + size, 8);
	add(out, bins, 4);
	add(out, rate, 4);
	strbuf_add(out, (struct str){dimension, 16});
	for (unsigned int i = 0; i < bins; i++)
		add(out, i % 5 * i + (bins < 5), 2);
}

/* In the file: 15 bytes of the dimension, and its abbreviation. */
#define SECONDS "seconds\0\0\0\0\0\0\0\0s"

/* Two histograms, arcs and blocks. */
static void write_file(struct strbuf *out)
{
	add_header(out);
	for (uint64_t low = GMON_MAIN; low < GMON_MANGLED; low += 0x30)
		add_histogram(out, low, 0x30, 12, 100, SECONDS);
	for (uint64_t to = GMON_F; to < GMON_LABEL; to += 0x10) {
		add(out, 1, 1);
		add(out, to - 0xc, 8);
		add(out, to, 8);
		add(out, to, 4);
	}
	add(out, 2, 1);
	add(out, 1, 4);
	add(out, 0, 16);
}

/* What else a file may have, and what is wrong with some. */
static void write_odd_file(struct strbuf *out, size_t kind)
{
	add_header(out);
	/* Bins of three bytes, which functions share; ticks outside of functions and program. */
	add_histogram(out, GMON_MAIN, 0x30, 16, 100, SECONDS);
	add_histogram(out, GMON_LABEL, 0x1000, 3, 100, SECONDS);
	add(out, 1, 1);
	add(out, 0x10, 8);
	add(out, GMON_F, 8);
	add(out, 3, 4);
	add(out, 1, 1);
	add(out, GMON_MAIN, 8);
	add(out, 0x7fff00001000, 8);
	add(out, 3, 4);
	if (kind == 0)
		add_histogram(out, GMON_MAIN, 0x30, 12, 1000, "misses\0\0\0\0\0\0\0\0\0m");
	else if (kind == 1)
		add_histogram(out, GMON_MAIN, 0x30, 12, 0, SECONDS);
	else if (kind == 2)
		add_histogram(out, GMON_MAIN, 0, 0, 100, SECONDS);
	else
		add(out, 9, 1);
}

/* Seed 0 is a gmon.out, seed 1 a program, the others are odd files. */
size_t fuzz_seed(size_t n, uint8_t *data, size_t capacity)
{
	struct strbuf file = {0};

	if (n > 5)
		return 0;
	if (n > 1)
		write_odd_file(&file, n - 2);
	else if (n == 0)
		write_file(&file);
	else
		gmon_program_write(&file);
	if (file.size > capacity)
		abort();
	memcpy(data, file.data, file.size);
	size_t size = file.size;
	strbuf_deinit(&file);
	return size;
}
