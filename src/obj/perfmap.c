/*
 * Perf maps.  The file is in a world-writable folder and written by the profiled program, so
 * neither its place nor its contents are trusted.  A function that is compiled again, or replaces
 * discarded code, appears again later: later lines win.
 *
 * Lines are found in a few tables of disjoint ranges, each of later lines than the one before and
 * at most half as large: new lines are a table, which is merged with those before it as long as it
 * is not much smaller.  So a map of n lines costs O(n log² n) in all, in whatever pieces it comes.
 *
 * Source: the kernel's tools/perf/Documentation/jit-interface.txt.
 */
#include "obj/perfmap.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/search.h"
#include "base/sort.h"
#include "base/vec.h"
#include "obj/range_table.h"

#define FILE_SIZE_MAX  ((uint64_t)1 << 30)
#define LINE_COUNT_MAX ((size_t)1 << 26)
#define NAME_SIZE_MAX  ((size_t)64 * 1024)
/* Of a line, at most this much is kept: two numbers and a name. */
#define LINE_SIZE_MAX (NAME_SIZE_MAX + 256)
#define BLOCK_SIZE    ((size_t)64 * 1024)
/* How far a line of size 0 may reach. */
#define OPEN_SIZE_MAX ((uint64_t)1 << 20)

struct line {
	const char *name; /* in the arena */
	uint32_t name_size;
	bool is_open; /* of size 0 */
};

/* Lines that were read but are not found yet, up to `end` of waiting. */
struct piece {
	uint64_t from_ns, until_ns;
	size_t end;
};

/* A line that covers code of another one of its piece. */
struct unsure {
	uint32_t line;
	uint64_t until_ns;
};

struct perfmap {
	struct arena *arena;
	VEC(struct line) lines;
	/* Value and rank: the line's number, so later ones win. */
	VEC(struct range_table) tables;
	VEC(struct range) waiting;
	VEC(struct piece) pieces;
	size_t first_waiting, first_piece; /* what precedes them is found already */
	VEC(struct unsure) unsure;	   /* ascending */
	VEC(char) partial;		   /* the begun line */
	bool is_again;			   /* all lines since the file's start were known */
	size_t bad_lines;
};

struct perfmap *perfmap_create(void)
{
	struct perfmap *map = xalloc(sizeof(*map));

	map->arena = arena_create();
	return map;
}

void perfmap_close(struct perfmap *map)
{
	if (map == NULL)
		return;
	for (size_t i = 0; i < map->tables.count; i++)
		range_table_deinit(&map->tables.data[i]);
	vec_deinit(&map->tables);
	vec_deinit(&map->lines);
	vec_deinit(&map->waiting);
	vec_deinit(&map->pieces);
	vec_deinit(&map->unsure);
	vec_deinit(&map->partial);
	arena_destroy(map->arena);
	free(map);
}

/* ---- lines ---- */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Takes a hexadecimal number, with or without 0x, and the blanks after it off the line. */
static bool take_number(struct str *line, uint64_t *number)
{
	bool has_prefix = str_starts_with(*line, STR("0x")) || str_starts_with(*line, STR("0X"));
	size_t i = has_prefix ? 2 : 0, first = i;

	*number = 0;
	for (; i < line->size && isxdigit((unsigned char)line->data[i]); i++) {
		char c = (char)tolower((unsigned char)line->data[i]);
		if (*number >> 60)
			return false;
		*number = *number << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
	}
	if (i == first || i == line->size || !is_blank(line->data[i]))
		return false;
	while (i < line->size && is_blank(line->data[i]))
		i++;
	line->data += i;
	line->size -= i;
	return true;
}

/* Whether a line of that place and name was read, and is found there. */
static bool is_known(const struct perfmap *map, const struct range *range, struct str name)
{
	uint32_t line = perfmap_find_line(map, range->low);

	return line != PERFMAP_NONE && str_equal(perfmap_name(map, line), name) &&
	       perfmap_find_line(map, range->high - 1) == line;
}

static bool add_line(struct perfmap *map, struct str line)
{
	uint64_t low, size;
	struct range range = {0};

	if (line.size && line.data[line.size - 1] == '\r')
		line.size--;
	if (!take_number(&line, &low) || !take_number(&line, &size) || line.size == 0 ||
		map->lines.count == LINE_COUNT_MAX)
		return false;
	range.low = low;
	if (__builtin_add_overflow(low, size ? size : 1, &range.high))
		range.high = UINT64_MAX;
	if (line.size > NAME_SIZE_MAX)
		line.size = NAME_SIZE_MAX;
	map->is_again = map->is_again && is_known(map, &range, line);
	if (range.low >= range.high || map->is_again)
		return true;
	range.value = range.rank = (uint32_t)map->lines.count;
	vec_push(&map->lines,
		(struct line){arena_str(map->arena, line).data, (uint32_t)line.size, size == 0});
	vec_push(&map->waiting, range);
	return true;
}

static void take_line(struct perfmap *map, struct str line)
{
	if (line.size && !add_line(map, line))
		map->bad_lines++;
}

/* Keeps the beginning of a line; what exceeds the maximum is dropped. */
static void keep_partial(struct perfmap *map, struct str bytes)
{
	size_t have = map->partial.count, room = LINE_SIZE_MAX - have;
	size_t size = bytes.size < room ? bytes.size : room;

	vec_extend(&map->partial, have + size);
	if (size)
		memcpy(map->partial.data + have, bytes.data, size);
}

static void take_partial(struct perfmap *map)
{
	take_line(map, (struct str){map->partial.data, map->partial.count});
	map->partial.count = 0;
}

static void end_piece(struct perfmap *map, uint64_t from_ns, uint64_t until_ns)
{
	bool has_pieces = map->pieces.count > map->first_piece;
	struct piece *last = has_pieces ? &map->pieces.data[map->pieces.count - 1] : NULL;

	if (map->waiting.count == (last ? last->end : map->first_waiting))
		return;
	if (last && last->from_ns == from_ns && last->until_ns == until_ns)
		last->end = map->waiting.count;
	else
		vec_push(&map->pieces, (struct piece){from_ns, until_ns, map->waiting.count});
}

void perfmap_add(struct perfmap *map, struct str bytes, uint64_t from_ns, uint64_t until_ns)
{
	const char *end;

	while (bytes.size && (end = memchr(bytes.data, '\n', bytes.size)) != NULL) {
		struct str line = {bytes.data, (size_t)(end - bytes.data)};

		if (map->partial.count) {
			keep_partial(map, line);
			take_partial(map);
		} else {
			take_line(map, line);
		}
		bytes.data += line.size + 1;
		bytes.size -= line.size + 1;
	}
	keep_partial(map, bytes);
	end_piece(map, from_ns, until_ns);
}

void perfmap_end(struct perfmap *map, uint64_t time_ns)
{
	take_partial(map);
	end_piece(map, time_ns, time_ns);
}

void perfmap_rewind(struct perfmap *map)
{
	map->partial.count = 0;
	map->is_again = true;
}

/* ---- the tables ---- */

/* Merges the last table with those before it that are not much larger. */
static void merge_tables(struct perfmap *map)
{
	while (map->tables.count > 1) {
		struct range_table *last = &map->tables.data[map->tables.count - 1];
		struct range_table *before = last - 1;

		if (before->count / 2 > last->count)
			return;
		vec_reserve(before, before->count + last->count);
		memcpy(before->data + before->count, last->data, last->count * sizeof(*last->data));
		before->count += last->count;
		range_table_flatten(before);
		range_table_deinit(last);
		map->tables.count--;
	}
}

static int by_low(const void *pa, const void *pb)
{
	const struct range *a = pa, *b = pb;

	return COMPARE(a->low, b->low) ?: COMPARE(a->rank, b->rank);
}

static int by_line(const void *pa, const void *pb)
{
	return COMPARE(((const struct unsure *)pa)->line, ((const struct unsure *)pb)->line);
}

/* Notes which lines of a piece cover code of others, of another name. */
static void note_unsure(struct perfmap *map, struct range_table *t, uint64_t until_ns)
{
	size_t first = map->unsure.count;
	const struct range *before = NULL; /* the one that reaches furthest */

	qsort(t->data, t->count, sizeof(*t->data), by_low);
	for (size_t i = 0; i < t->count; i++) {
		const struct range *r = &t->data[i];

		if (before && r->low < before->high &&
			!str_equal(perfmap_name(map, r->value), perfmap_name(map, before->value)))
			vec_push(&map->unsure,
				(struct unsure){r->value > before->value ? r->value : before->value,
					until_ns});
		if (before == NULL || r->high >= before->high)
			before = r;
	}
	if (map->unsure.count > first)
		qsort(map->unsure.data + first, map->unsure.count - first,
			sizeof(*map->unsure.data), by_line);
}

bool perfmap_is_unsure(const struct perfmap *map, uint32_t line, uint64_t time_ns)
{
	const struct unsure *unsure = map->unsure.data;
	size_t i = partition_point(k, 0, map->unsure.count, unsure[k].line < line);

	return i < map->unsure.count && unsure[i].line == line && time_ns < unsure[i].until_ns;
}

static void index_piece(struct perfmap *map, size_t begin, const struct piece *piece)
{
	struct range_table table = {0};
	size_t count = piece->end - begin;

	vec_reserve(&table, count);
	memcpy(table.data, map->waiting.data + begin, count * sizeof(*table.data));
	table.count = count;
	if (piece->until_ns > piece->from_ns)
		note_unsure(map, &table, piece->until_ns);
	range_table_flatten(&table);
	vec_push(&map->tables, table);
	merge_tables(map);
}

void perfmap_advance(struct perfmap *map, uint64_t time_ns)
{
	while (map->first_piece < map->pieces.count &&
		map->pieces.data[map->first_piece].from_ns <= time_ns) {
		const struct piece *piece = &map->pieces.data[map->first_piece++];

		index_piece(map, map->first_waiting, piece);
		map->first_waiting = piece->end;
	}
	if (map->first_piece < map->pieces.count || map->pieces.count == 0)
		return;
	vec_deinit(&map->waiting);
	vec_deinit(&map->pieces);
	map->first_waiting = map->first_piece = 0;
}

uint32_t perfmap_find_line(const struct perfmap *map, uint64_t va)
{
	const struct range *nearest = NULL; /* that ends at or below va */

	for (size_t i = map->tables.count; i-- > 0;) {
		const struct range_table *t = &map->tables.data[i];
		size_t next = partition_point(k, 0, t->count, t->data[k].low <= va);

		if (next == 0)
			continue;
		const struct range *range = &t->data[next - 1];
		if (va < range->high)
			return range->value;
		if (nearest == NULL || range->high > nearest->high)
			nearest = range;
	}
	if (nearest && map->lines.data[nearest->value].is_open && va - nearest->low < OPEN_SIZE_MAX)
		return nearest->value;
	return PERFMAP_NONE;
}

struct str perfmap_name(const struct perfmap *map, uint32_t line)
{
	return (struct str){map->lines.data[line].name, map->lines.data[line].name_size};
}

bool perfmap_find(const struct perfmap *map, uint64_t va, struct str *name)
{
	uint32_t line = perfmap_find_line(map, va);

	if (line != PERFMAP_NONE)
		*name = perfmap_name(map, line);
	return line != PERFMAP_NONE;
}

size_t perfmap_bad_lines(const struct perfmap *map)
{
	return map->bad_lines;
}

size_t perfmap_count(const struct perfmap *map)
{
	return map->lines.count;
}

uint64_t perfmap_memory(const struct perfmap *map)
{
	uint64_t ranges = map->waiting.capacity;

	for (size_t i = 0; i < map->tables.count; i++)
		ranges += map->tables.data[i].capacity;
	return arena_size_bytes(map->arena) + ranges * sizeof(struct range) +
	       map->lines.capacity * sizeof(struct line) + map->partial.capacity +
	       map->pieces.capacity * sizeof(struct piece) +
	       map->unsure.capacity * sizeof(struct unsure);
}

/* ---- whole maps ---- */

struct perfmap *perfmap_parse(struct str bytes)
{
	struct perfmap *map = perfmap_create();

	perfmap_add(map, bytes, 0, 0);
	perfmap_end(map, 0);
	perfmap_advance(map, 0);
	return map;
}

/* Reads an open file as far as it goes now; it may still be growing. */
static struct error *read_all(int fd, const char *path, uint64_t size, struct perfmap *map)
{
	char *block = xalloc(BLOCK_SIZE);
	struct error *err = NULL;
	ssize_t got = 1;

	while (size && got && err == NULL) {
		got = read(fd, block, size < BLOCK_SIZE ? size : BLOCK_SIZE);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			err = error_system(errno, "cannot read %s", path);
		else
			perfmap_add(map, (struct str){block, (size_t)got}, 0, 0);
		size -= err ? 0 : (uint64_t)got;
	}
	free(block);
	perfmap_end(map, 0);
	perfmap_advance(map, 0);
	return err;
}

static struct error *check_file(const char *path, const struct stat *st, uint32_t uid)
{
	if (!S_ISREG(st->st_mode))
		return error_new(ERROR_INPUT, "%s: not a regular file", path);
	if (st->st_uid != 0 && st->st_uid != geteuid() && st->st_uid != uid)
		return error_new(
			ERROR_INPUT, "%s: belongs to another user, so it is not believed", path);
	if ((uint64_t)st->st_size > FILE_SIZE_MAX)
		return error_new(ERROR_INPUT, "%s: larger than 1 GiB", path);
	return NULL;
}

struct error *perfmap_open_fd(int folder, const char *name, uint32_t uid, int *fd, struct stat *st)
{
	int file = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);

	if (file < 0)
		return error_system(errno, "cannot open %s", name);
	struct error *err = fstat(file, st) < 0 ? error_system(errno, "cannot read %s", name)
						: check_file(name, st, uid);
	if (err)
		close(file);
	else
		*fd = file;
	return err;
}

struct error *perfmap_open_file(const char *path, uint32_t uid, struct perfmap **map)
{
	struct stat st;
	int fd;
	struct error *err = perfmap_open_fd(AT_FDCWD, path, uid, &fd, &st);

	if (err)
		return err;
	*map = perfmap_create();
	err = read_all(fd, path, (uint64_t)st.st_size, *map);
	close(fd);
	if (err) {
		perfmap_close(*map);
		*map = NULL;
	}
	return err;
}
