/*
 * A file is read once for the addresses and times of functions; names and lines are read only for
 * requested functions.  Functions are sorted by address.  As they overlap over time, each stores
 * how far the earlier ones extend, which bounds the backward search.
 *
 * The profiled program writes the file: sizes are checked against the file, and reading stops where
 * data is missing.
 */
#include "obj/jitdump.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/search.h"
#include "base/vec.h"

/* Bounds on what a file may make us allocate. */
#define CODE_COUNT_MAX ((size_t)1 << 22)
#define NAME_SIZE_MAX  ((size_t)4096)
#define LINE_COUNT_MAX ((uint64_t)1 << 20)

enum {
	HEADER_SIZE = 40,
	RECORD_SIZE = 16,
	LOAD_SIZE = 40,
	MOVE_SIZE = 48,
	LINES_SIZE = 16,
	UNWINDING_SIZE = 24
};
enum { LINE_SIZE = 16 }; /* of a line entry, without its file name */

bool jitdump_is_path(struct str path)
{
	return str_starts_with(str_base_name(path), STR("jit-")) &&
	       str_ends_with(path, STR(".dump"));
}

/* ---- records ---- */

static uint64_t number_at(const struct jitdump_reader *r, const uint8_t *bytes, size_t size)
{
	uint64_t number = 0;

	for (size_t i = 0; i < size; i++)
		number |= (uint64_t)bytes[i] << 8 * (r->is_swapped ? size - 1 - i : i);
	return number;
}

static bool read_header(struct jitdump_reader *r)
{
	enum { MAGIC = 0x4a695444, OFF_SIZE = 8, OFF_FLAGS = 32, FLAG_ARCH_TIME = 1 };
	uint8_t h[HEADER_SIZE];

	if (!r->read(r->context, 0, h, sizeof(h)))
		return false;
	r->is_swapped = number_at(r, h, 4) != MAGIC;
	uint64_t size = number_at(r, h + OFF_SIZE, 4);
	if (number_at(r, h, 4) != MAGIC || size < HEADER_SIZE) {
		r->is_bad = true;
		return false;
	}
	r->has_times = !(number_at(r, h + OFF_FLAGS, 8) & FLAG_ARCH_TIME);
	r->offset = size;
	return true;
}

/* The address of the code; false: the record has none. */
static bool read_place(
	const struct jitdump_reader *r, const uint8_t *n, struct jitdump_record *record)
{
	bool is_move = record->kind == JITDUMP_MOVE;

	record->old_low = is_move ? number_at(r, n + 16, 8) : 0;
	record->low = number_at(r, n + (is_move ? 24 : 16), 8);
	record->size = number_at(r, n + (is_move ? 32 : 24), 8);
	return record->size <= UINT64_MAX - record->low;
}

/* Cuts the body at the end of .eh_frame; false: the body is shorter than its header states. */
static bool cut_unwinding(
	const struct jitdump_reader *r, const uint8_t *n, struct jitdump_record *record)
{
	uint64_t size = number_at(r, n, 8), header_size = number_at(r, n + 8, 8);

	if (size > record->body_size || header_size > size)
		return false;
	record->body_size = size - header_size;
	return true;
}

/* Reads the numbers before the body; false: they are missing or invalid. */
static bool read_numbers(
	const struct jitdump_reader *r, uint64_t size, struct jitdump_record *record)
{
	static const uint8_t fixed[] = {
		[JITDUMP_LOAD] = LOAD_SIZE,
		[JITDUMP_MOVE] = MOVE_SIZE,
		[JITDUMP_LINES] = LINES_SIZE,
		[JITDUMP_CLOSE] = 0,
		[JITDUMP_UNWINDING] = UNWINDING_SIZE,
	};
	uint8_t n[MOVE_SIZE];
	size_t fixed_size = fixed[record->kind];

	if (size < RECORD_SIZE + fixed_size ||
		!r->read(r->context, r->offset + RECORD_SIZE, n, fixed_size))
		return false;
	record->body_off = r->offset + RECORD_SIZE + fixed_size;
	record->body_size = size - RECORD_SIZE - fixed_size;
	switch (record->kind) {
	case JITDUMP_LOAD:
	case JITDUMP_MOVE:
		return read_place(r, n, record);
	case JITDUMP_LINES:
		record->low = number_at(r, n, 8);
		record->size = number_at(r, n + 8, 8);
		break;
	case JITDUMP_UNWINDING:
		return cut_unwinding(r, n, record);
	case JITDUMP_CLOSE:
	case JITDUMP_OTHER:
		break;
	}
	return true;
}

bool jitdump_next(struct jitdump_reader *r, struct jitdump_record *record)
{
	uint8_t h[RECORD_SIZE], last;

	if (r->is_bad || (r->offset == 0 && !read_header(r)) ||
		!r->read(r->context, r->offset, h, sizeof(h)))
		return false;
	uint64_t kind = number_at(r, h, 4), size = number_at(r, h + 4, 4);

	if (size < RECORD_SIZE) {
		r->is_bad = true;
		return false;
	}
	if (!r->read(r->context, r->offset + size - 1, &last, 1))
		return false;
	*record = (struct jitdump_record){
		.kind = kind < JITDUMP_OTHER ? (enum jitdump_kind)kind : JITDUMP_OTHER,
		.time_ns = r->has_times ? number_at(r, h + 8, 8) : 0,
		.record_off = r->offset};
	if (record->kind != JITDUMP_OTHER && !read_numbers(r, size, record)) {
		record->kind = JITDUMP_OTHER;
		r->bad_records++;
	}
	r->offset += size;
	return true;
}

/* ---- the whole file ---- */

struct code {
	uint64_t low, high, reach; /* reach: the greatest `high` up to this one */
	uint64_t time_ns;
	uint64_t moved_by; /* its lines' addresses are lower by this, modulo 2^64 */
	uint64_t name_off, name_size_max;
	uint64_t lines_off, lines_size, line_count;
};

struct jitdump {
	int fd; /* -1: in memory */
	struct str bytes;
	struct jitdump_reader reader;
	VEC(struct code) codes;
	struct map latest;	     /* by low: index in codes, while reading the file */
	struct jitdump_record lines; /* the last one read, for the next function */
	bool is_cut;
};

static bool read_bytes(void *context, uint64_t offset, void *bytes, size_t size)
{
	const struct jitdump *d = context;

	if (d->fd >= 0)
		return offset <= INT64_MAX &&
		       pread(d->fd, bytes, size, (off_t)offset) == (ssize_t)size;
	if (offset > d->bytes.size || d->bytes.size - offset < size)
		return false;
	memcpy(bytes, d->bytes.data + offset, size);
	return true;
}

static void add_code(struct jitdump *d, struct code code)
{
	map_put(&d->latest, code.low, 0, (uint32_t)d->codes.count);
	vec_push(&d->codes, code);
}

static void add_loaded(struct jitdump *d, const struct jitdump_record *r)
{
	struct code code = {.low = r->low,
		.high = r->low + r->size,
		.time_ns = r->time_ns,
		.name_off = r->body_off,
		.name_size_max = r->body_size};

	if (d->lines.kind == JITDUMP_LINES && d->lines.low == r->low) {
		code.lines_off = d->lines.body_off;
		code.lines_size = d->lines.body_size;
		code.line_count = d->lines.size;
	}
	add_code(d, code);
}

static void add_moved(struct jitdump *d, const struct jitdump_record *r)
{
	uint32_t old;

	if (!map_get(&d->latest, r->old_low, 0, &old))
		return;
	struct code code = d->codes.data[old];
	code.moved_by += r->low - r->old_low;
	code.low = r->low;
	code.high = r->low + r->size;
	code.time_ns = r->time_ns;
	add_code(d, code);
}

static int compare_codes(const void *pa, const void *pb)
{
	const struct code *a = pa, *b = pb;

	return a->low != b->low ? (a->low > b->low) - (a->low < b->low)
				: (a->time_ns > b->time_ns) - (a->time_ns < b->time_ns);
}

static void sort_codes(struct jitdump *d)
{
	uint64_t reach = 0;

	/* glibc's qsort is stable: equal times keep the order of the file. */
	if (d->codes.count)
		qsort(d->codes.data, d->codes.count, sizeof(*d->codes.data), compare_codes);
	for (size_t i = 0; i < d->codes.count; i++) {
		reach = d->codes.data[i].high > reach ? d->codes.data[i].high : reach;
		d->codes.data[i].reach = reach;
	}
}

static void read_all(struct jitdump *d)
{
	struct jitdump_record record;
	uint8_t more;

	d->reader = (struct jitdump_reader){.read = read_bytes, .context = d};
	d->lines.kind = JITDUMP_OTHER;
	while (d->codes.count < CODE_COUNT_MAX && jitdump_next(&d->reader, &record)) {
		if (record.kind == JITDUMP_LOAD)
			add_loaded(d, &record);
		else if (record.kind == JITDUMP_MOVE)
			add_moved(d, &record);
		/* Unwind information may come between lines and their function. */
		if (record.kind <= JITDUMP_LINES)
			d->lines = record;
	}
	d->is_cut = d->reader.is_bad || d->reader.offset == 0 ||
		    read_bytes(d, d->reader.offset, &more, 1);
	map_deinit(&d->latest);
	sort_codes(d);
}

struct jitdump *jitdump_parse(struct str bytes)
{
	struct jitdump *d = xalloc(sizeof(*d));

	d->fd = -1;
	d->bytes = bytes;
	read_all(d);
	return d;
}

struct error *jitdump_open(const char *path, struct jitdump **dump)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0)
		return error_system(errno, "cannot open %s", path);
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
		close(fd);
		return error_new(ERROR_INPUT, "%s: not a regular file", path);
	}
	struct jitdump *d = xalloc(sizeof(*d));
	d->fd = fd;
	read_all(d);
	*dump = d;
	return NULL;
}

void jitdump_close(struct jitdump *d)
{
	if (d == NULL)
		return;
	vec_deinit(&d->codes);
	if (d->fd >= 0)
		close(d->fd);
	free(d);
}

size_t jitdump_count(const struct jitdump *d)
{
	return d->codes.count;
}

bool jitdump_is_cut(const struct jitdump *d)
{
	return d->is_cut;
}

/* ---- look-ups ---- */

/* Of two functions at an address, whether a fits a time better than b: see jitdump_find. */
static bool fits_better(const struct code *a, const struct code *b, uint64_t time_ns)
{
	bool a_was = a->time_ns <= time_ns, b_was = b->time_ns <= time_ns;

	if (a_was != b_was)
		return a_was;
	return a_was ? a->time_ns > b->time_ns : a->time_ns <= b->time_ns;
}

static const struct code *find_code(const struct jitdump *d, uint64_t va, uint64_t time_ns)
{
	const struct code *best = NULL;
	size_t next = partition_point(i, 0, d->codes.count, d->codes.data[i].low <= va);

	for (size_t i = next; i-- > 0 && d->codes.data[i].reach > va;) {
		const struct code *code = &d->codes.data[i];
		if (va < code->high && (best == NULL || fits_better(code, best, time_ns)))
			best = code;
	}
	return best;
}

/* The NUL-terminated text at off, within at most size bytes. */
static struct str read_text(
	const struct jitdump *d, uint64_t off, uint64_t size, char text[NAME_SIZE_MAX])
{
	size_t have = size < NAME_SIZE_MAX ? size : NAME_SIZE_MAX;

	if (!read_bytes((void *)(uintptr_t)d, off, text, have))
		return STR("");
	return (struct str){text, strnlen(text, have)};
}

/* The file and line of the last entry at va or before. */
static void find_line(struct jitdump *d, const struct code *code, uint64_t va, struct arena *arena,
	struct jitdump_place *place)
{
	uint64_t off = code->lines_off, left = code->lines_size;
	struct str file = STR("");
	char text[NAME_SIZE_MAX];
	uint8_t entry[LINE_SIZE];

	for (uint64_t i = 0; i < code->line_count && i < LINE_COUNT_MAX; i++) {
		if (left < LINE_SIZE || !read_bytes(d, off, entry, sizeof(entry)) ||
			number_at(&d->reader, entry, 8) + code->moved_by > va)
			return;
		struct str name = read_text(d, off + LINE_SIZE, left - LINE_SIZE, text);
		/* "\xff": the same file as before. */
		if (!str_equal(name, STR("\xff")) && !str_equal(name, file))
			file = arena_str(arena, name);
		place->file = file;
		place->line = (uint32_t)number_at(&d->reader, entry + 8, 4);
		uint64_t size = LINE_SIZE + name.size + 1;
		off += size;
		left = left > size ? left - size : 0;
	}
}

bool jitdump_find(struct jitdump *d, uint64_t va, uint64_t time_ns, struct arena *arena,
	struct jitdump_place *place)
{
	char name[NAME_SIZE_MAX];
	const struct code *code = find_code(d, va, time_ns);

	if (code == NULL)
		return false;
	*place = (struct jitdump_place){
		.function =
			arena_str(arena, read_text(d, code->name_off, code->name_size_max, name))};
	find_line(d, code, va, arena, place);
	return place->function.size != 0;
}

/* Copies the part of a function's code that is in [va, va + size). */
static bool copy_code(
	struct jitdump *d, const struct code *code, uint64_t va, uint8_t *bytes, size_t size)
{
	uint64_t from = code->low > va ? code->low : va;
	uint64_t to = code->high - va < size ? code->high : va + size;
	char name[NAME_SIZE_MAX];
	uint64_t name_size = read_text(d, code->name_off, code->name_size_max, name).size + 1;
	uint64_t off = name_size + (from - code->low);

	return off <= code->name_size_max && code->name_size_max - off >= to - from &&
	       read_bytes(d, code->name_off + off, bytes + (from - va), to - from);
}

bool jitdump_code(struct jitdump *d, uint64_t va, uint64_t time_ns, uint8_t *bytes, size_t size)
{
	enum { INT3 = 0xcc };
	bool is_there = false;

	memset(bytes, INT3, size);
	for (uint64_t at = va; at - va < size;) {
		const struct code *code = find_code(d, at, time_ns);

		if (code && !copy_code(d, code, va, bytes, size))
			return false;
		is_there |= code != NULL;
		at = code ? code->high : at + 1;
	}
	return is_there;
}
