/*
 * The foundation: memory, strings, tables, cursor, hashes, files.
 */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/child_table.h"
#include "base/cursor.h"
#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/jobs.h"
#include "base/map.h"
#include "base/row_table.h"
#include "base/search.h"
#include "base/sort.h"
#include "base/str.h"
#include "base/utf16.h"
#include "base/vec.h"
#include "../unit.h"

/* From the heap to a mapping, and from one mapping to the next; two at once, so that none grows on.
 */
TEST(tables_keep_what_is_in_them)
{
	uint32_t *table[2] = {NULL, NULL};
	size_t done = 0;

	for (size_t count = 1000; count < 6000000; count += count) {
		for (uint32_t t = 0; t < 2; t++) {
			table[t] = xrealloc_array(table[t], count, sizeof(**table));
			for (size_t i = done; i < count; i++)
				table[t][i] = (uint32_t)i * 2 + t;
		}
		done = count;
	}
	for (uint32_t t = 0; t < 2; t++) {
		table[t] = xrealloc_array(table[t], done / 3, sizeof(**table));
		for (size_t i = 0; i < done / 3; i++)
			if (table[t][i] != i * 2 + t)
				fail_msg("row %zu of table %u is %u", i, t, table[t][i]);
		free(table[t]);
	}
}

TEST(arena_aligns_and_zeroes)
{
	struct arena *arena = arena_create();

	for (size_t i = 1; i < 3000; i += 7) {
		unsigned char *p = arena_alloc(arena, i);
		assert_int_equal(arena_str(arena, STR("odd")).size, 3);
		assert_int_equal((uintptr_t)p % 16, 0);
		for (size_t k = 0; k < i; k++) {
			assert_int_equal(p[k], 0);
			p[k] = 0xff;
		}
	}
	arena_destroy(arena);
}

TEST(arena_keeps_strings_and_large_blocks)
{
	struct arena *arena = arena_create();
	struct str kept[500];
	char text[40];

	for (int i = 0; i < 500; i++) {
		int size = snprintf(text, sizeof(text), "string %d", i);
		kept[i] = arena_str(arena, (struct str){text, (size_t)size});
		if (i % 50 == 0)
			memset(arena_alloc(arena, 100000), i, 100000);
	}
	for (int i = 0; i < 500; i++) {
		snprintf(text, sizeof(text), "string %d", i);
		assert_string_equal(kept[i].data, text);
	}
	size_t before = arena_size_bytes(arena);
	arena_adopt(arena, xalloc(1000), 1000);
	arena_adopt(arena, NULL, 0);
	assert_true(arena_size_bytes(arena) >= before + 1000);
	arena_destroy(arena);
	arena_destroy(NULL);
}

TEST(str_functions)
{
	struct str text = STR("one\n\ntwo");

	assert_true(str_equal(str_take_line(&text), STR("one")));
	assert_true(str_equal(str_take_line(&text), STR("")));
	assert_int_equal(text.size, 3);
	assert_true(str_equal(str_take_line(&text), STR("two")));
	assert_int_equal(text.size, 0);
	assert_true(str_equal(str_take_line(&text), STR("")));
	assert_true(str_equal(str_base_name(STR("/usr/lib/a.so")), STR("a.so")));
	assert_true(str_equal(str_base_name(STR("a.so")), STR("a.so")));
	assert_true(str_equal(str_base_name(STR("dir/")), STR("")));
	assert_true(str_equal(str_base_name((struct str){NULL, 0}), STR("")));
	assert_true(str_compare(STR("a"), STR("ab")) < 0);
	assert_true(str_compare(STR("b"), STR("ab")) > 0);
	assert_true(str_compare(STR("\xff"), STR("a")) > 0);
	assert_int_equal(str_compare(STR("x"), STR("x")), 0);
	assert_true(str_starts_with(STR("abc"), STR("ab")));
	assert_false(str_starts_with(STR("a"), STR("ab")));
	assert_true(str_ends_with(STR("abc"), STR("bc")));
	assert_false(str_ends_with(STR("c"), STR("bc")));
}

TEST(strbuf_grows)
{
	struct strbuf b = {0};

	assert_int_equal(strbuf_str(&b).size, 0);
	for (int i = 0; i < 1000; i++)
		strbuf_printf(&b, "%d,", i);
	strbuf_add(&b, (struct str){NULL, 0});
	strbuf_add_char(&b, '\0');
	assert_int_equal(b.size, 10 * 2 + 90 * 3 + 900 * 4 + 1);
	strbuf_clear(&b);
	assert_string_equal(b.data, "");
	strbuf_deinit(&b);
}

TEST(str_table_interns)
{
	struct arena *arena = arena_create();
	struct str_table t;
	char text[20];
	uint32_t index;

	str_table_init(&t, arena);
	assert_false(str_table_find(&t, STR("x"), &index));
	for (uint32_t round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < 5000; i++) {
			int size = snprintf(text, sizeof(text), "%u", i);
			assert_int_equal(str_table_intern(&t, (struct str){text, (size_t)size}), i);
		}
	}
	assert_int_equal(t.count, 5000);
	assert_true(str_table_find(&t, STR("4711"), &index));
	assert_int_equal(index, 4711);
	assert_int_equal(str_table_intern(&t, (struct str){"a\0b", 3}), 5000);
	assert_int_equal(str_table_intern(&t, (struct str){"a\0c", 3}), 5001);
	assert_int_equal(str_table_intern(&t, STR("")), 5002);
	str_table_deinit(&t);
	arena_destroy(arena);
}

TEST(map_holds_pairs)
{
	struct map m = {0};
	uint32_t value;
	bool added;

	assert_false(map_get(&m, 1, 2, &value));
	for (uint32_t i = 0; i < 10000; i++)
		map_put(&m, i % 100, i / 100, i);
	assert_int_equal(m.count, 10000);
	for (uint32_t i = 0; i < 10000; i++) {
		assert_true(map_get(&m, i % 100, i / 100, &value));
		assert_int_equal(value, i);
	}
	assert_int_equal(*map_at(&m, 0, 0, 77, &added), 0);
	assert_false(added);
	assert_int_equal(*map_at(&m, UINT64_MAX, 0, 77, &added), 77);
	assert_true(added);
	map_deinit(&m);
}

TEST(map_forgets_pairs)
{
	struct map m = {0};
	uint32_t value;
	size_t capacity;

	map_remove(&m, 1, 2);
	for (uint32_t i = 0; i < 10000; i++)
		map_put(&m, i, 0, i);
	capacity = m.capacity;
	for (uint32_t i = 0; i < 10000; i++)
		if (i % 3 != 0)
			map_remove(&m, i, 0);
	map_remove(&m, 1, 0);
	assert_int_equal(m.count, 3334);
	for (uint32_t i = 0; i < 10000; i++) {
		assert_int_equal(map_get(&m, i, 0, &value), i % 3 == 0);
		assert_true(i % 3 != 0 || value == i);
	}
	/* Who come and go need no more place than those that are there at a time. */
	for (uint32_t i = 10000; i < 1000000; i++) {
		map_put(&m, i, 0, i);
		map_remove(&m, i, 0);
	}
	assert_int_equal(m.capacity, capacity);
	assert_int_equal(m.count, 3334);
	map_deinit(&m);
}

static uint64_t pair_hash(const void *row)
{
	return ((const uint32_t *)row)[0] % 7; /* many collisions */
}

static bool pair_same(const void *a, const void *b)
{
	return memcmp(a, b, 8) == 0;
}

/* Every pair gets one number, the next free one at first sight, across growths. */
TEST(child_table_numbers_pairs)
{
	struct child_table t;
	struct map numbers = {0};
	uint64_t seed = 1;

	child_table_init(&t, 10);
	assert_int_equal(t.nodes.count, 1);
	for (uint32_t i = 0; i < 20000; i++) {
		seed = hash_u64(seed + i);
		uint32_t parent = (uint32_t)(seed % t.nodes.count % 3000);
		uint32_t key = (uint32_t)(seed >> 40) % 7;
		uint32_t next = (uint32_t)t.nodes.count, held = next;
		bool known = map_get(&numbers, parent, key, &held), added;
		assert_int_equal(child_table_at(&t, parent, key, &added), held);
		assert_int_equal(added, !known);
		map_put(&numbers, parent, key, held);
		assert_int_equal(t.nodes.count, next + added);
		assert_int_equal(t.nodes.data[held].parent, parent);
		assert_int_equal(t.nodes.data[held].key, key);
	}
	map_deinit(&numbers);
	child_table_deinit(&t);
}

/* A path is what so many steps are; no more is made than may be. */
TEST(child_table_makes_paths)
{
	struct child_table t, slow;
	uint64_t seed = 1;

	child_table_init(&t, 0);
	child_table_init(&slow, 0);
	for (uint32_t round = 0; round < 3000; round++) {
		uint32_t keys[12], nodes[12];
		seed = hash_u64(seed + round);
		size_t count = seed % 13, made_max = seed >> 8 & 7;
		uint32_t parent = (uint32_t)((seed >> 16) % t.nodes.count % 50), at = parent;
		for (size_t i = 0; i < count; i++)
			keys[i] = (uint32_t)(hash_u64(seed + i) % 5);
		size_t before = t.nodes.count, expected = 0;
		size_t done = child_table_path(&t, parent, keys, count, made_max, nodes);
		for (; expected < count && slow.nodes.count < before + made_max; expected++) {
			bool added;
			at = child_table_at(&slow, at, keys[expected], &added);
			assert_true(expected >= done || nodes[expected] == at);
		}
		/* What is left of the path may be there. */
		assert_true(done >= expected && done <= count);
		assert_int_equal(t.nodes.count, slow.nodes.count);
		assert_memory_equal(
			t.nodes.data, slow.nodes.data, t.nodes.count * sizeof(*t.nodes.data));
		for (size_t i = expected; i < done; i++) {
			assert_int_equal(t.nodes.data[nodes[i]].key, keys[i]);
			assert_int_equal(t.nodes.data[nodes[i]].parent, i ? nodes[i - 1] : parent);
		}
	}
	child_table_deinit(&t);
	child_table_deinit(&slow);
}

TEST(row_table_interns)
{
	static const struct row_kind kind = {8, pair_hash, pair_same};
	struct row_table t = {0};
	uint32_t number;

	uint32_t absent[2] = {5, 5};
	assert_false(row_table_find(&t, &kind, absent, &number));
	for (uint32_t i = 0; i < 600; i++) {
		uint32_t row[2] = {i % 30, i % 20};
		assert_int_equal(row_table_intern(&t, &kind, row), i % 60);
	}
	assert_int_equal(t.count, 60);
	uint32_t wanted[2] = {29, 9};
	assert_true(row_table_find(&t, &kind, wanted, &number));
	assert_int_equal(number, 29);
	uint32_t *rows = row_table_take(&t, &kind);
	assert_int_equal(rows[2 * 29], 29);
	assert_int_equal(t.count, 0);
	free(rows);
	assert_null(row_table_take(&t, &kind));
	row_table_deinit(&t);
}

TEST(hashes)
{
	unsigned char bytes[64] = {0};

	/* RFC 3720, B.4, and the check value of the CRC catalogues. */
	assert_int_equal(crc32c(0, "123456789", 9), 0xe3069283);
	assert_int_equal(crc32c(0, bytes, 32), 0x8a9136aa);
	assert_int_equal(crc32c(crc32c(0, "1234", 4), "56789", 5), 0xe3069283);
	assert_int_equal(crc32c(0, NULL, 0), 0);
	/* Zeros of every length hash differently. */
	for (size_t i = 0; i < sizeof(bytes); i++)
		for (size_t k = 0; k < i; k++)
			assert_true(hash_bytes(bytes, i) != hash_bytes(bytes, k));
}

TEST(cursor_reads_numbers)
{
	static const uint8_t data[] = {1, 2, 0, 3, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0x80, 0xe5, 0x8e,
		0x26, 0x9b, 0xf1, 0x59, 'h', 'i', 0};
	struct cursor c;

	cursor_init(&c, data, sizeof(data), "test", 100);
	assert_int_equal(cursor_u8(&c), 1);
	assert_int_equal(cursor_u16(&c), 2);
	assert_int_equal(cursor_u32(&c), 3);
	assert_true(cursor_u64(&c) == 0x8000000000000004u);
	assert_int_equal(cursor_uleb(&c), 624485);
	assert_int_equal(cursor_sleb(&c), -624485);
	assert_true(str_equal(cursor_string(&c), STR("hi")));
	assert_true(cursor_at_end(&c) && cursor_ok(&c));
	assert_int_equal(cursor_offset(&c), 100 + sizeof(data));
	assert_null(cursor_error(&c));
}

TEST(cursor_remembers_the_first_failure)
{
	static const uint8_t data[] = {1, 2, 3};
	struct cursor c;

	cursor_init(&c, data, sizeof(data), "test", 0x10);
	(void)cursor_u8(&c);
	assert_int_equal(cursor_u32(&c), 0);
	assert_int_equal(cursor_u8(&c), 0);
	cursor_fail(&c, "later");
	struct error *err = cursor_error(&c);
	assert_non_null(err);
	assert_int_equal(err->kind, ERROR_INPUT);
	assert_string_equal(err->message, "test: at offset 0x11: the data is truncated here");
	error_destroy(err);
	cursor_seek(&c, 0);
	assert_int_equal(cursor_u8(&c), 0);
}

TEST(cursor_refuses_bad_numbers)
{
	static const uint8_t most[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01};
	static const uint8_t over[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02};
	uint8_t endless[100];
	struct cursor c;

	cursor_init(&c, most, sizeof(most), "", 0);
	assert_true(cursor_uleb(&c) == UINT64_MAX && cursor_ok(&c));
	cursor_init(&c, over, sizeof(over), "", 0);
	assert_true(cursor_uleb(&c) == 0 && !cursor_ok(&c));
	memset(endless, 0x80, sizeof(endless));
	cursor_init(&c, endless, sizeof(endless), "", 0);
	assert_true(cursor_uleb(&c) == 0 && !cursor_ok(&c));
	cursor_init(&c, endless, sizeof(endless), "", 0);
	assert_true(cursor_sleb(&c) == 0 && !cursor_ok(&c));
	cursor_init(&c, most, sizeof(most), "", 0);
	assert_true(cursor_uleb_to(&c, 100) == 0 && c.bad == c.start);
	cursor_init(&c, "abc", 3, "", 0);
	assert_int_equal(cursor_string(&c).size, 0);
	assert_false(cursor_ok(&c));
}

TEST(cursor_sub_stays_inside)
{
	struct cursor c, sub;

	cursor_init(&c, "abcdef", 6, "test", 50);
	cursor_skip(&c, 1);
	sub = cursor_sub(&c, 3);
	assert_int_equal(cursor_left(&sub), 3);
	assert_int_equal(cursor_offset(&sub), 51);
	assert_int_equal(cursor_u8(&c), 'e');
	sub = cursor_sub(&c, UINT64_MAX);
	assert_false(cursor_ok(&sub) || cursor_ok(&c));
	cursor_init(&c, NULL, 0, "", 0);
	assert_int_equal(cursor_u8(&c), 0);
}

TEST(errors_carry_context)
{
	struct error *err = error_system(2, "cannot open %s", "x");

	err = error_prefix(err, "step %d", 1);
	assert_string_equal(err->message, "step 1: cannot open x: No such file or directory");
	assert_int_equal(err->code, 2);
	error_destroy(err);
	error_destroy(NULL);
}

TEST(vec_grows)
{
	VEC(int) v = {0};

	for (int i = 0; i < 1000; i++)
		vec_push(&v, i);
	assert_int_equal(v.count, 1000);
	assert_int_equal(v.data[999], 999);
	vec_deinit(&v);
	assert_null(v.data);
}

struct numbers {
	VEC(int) list;
};

/* Pushes the numbers below n, and returns n. */
static int push_below(struct numbers *numbers, int n)
{
	for (int i = 0; i < n; i++)
		vec_push(&numbers->list, i);
	return n;
}

/* What makes an item may push to the same list. */
TEST(vec_push_nested)
{
	struct numbers numbers = {0};

	vec_push(&numbers.list, push_below(&numbers, 100));
	assert_int_equal(numbers.list.count, 101);
	assert_int_equal(numbers.list.data[100], 100);
	vec_deinit(&numbers.list);
}

static void expect_read_error(const char *path, uint64_t limit, const char *part)
{
	struct file_bytes bytes;
	struct error *err = file_read(path, limit, &bytes);

	assert_non_null(err);
	assert_non_null(strstr(err->message, path));
	assert_non_null(strstr(err->message, part));
	error_destroy(err);
}

TEST(file_refuses_what_is_none)
{
	expect_read_error("/", 0, "is a directory");
	expect_read_error("/dev/zero", 0, "is a device");
	expect_read_error("/nonexistent/x", 0, "No such file");
	expect_read_error("/proc/self/status", 5, "larger than 5 bytes");
}

TEST(file_reads_all)
{
	char path[] = "/tmp/sonde-test-XXXXXX";
	char *text = xalloc(5000000);
	int fd = mkstemp(path);
	struct file_bytes bytes;

	assert_true(fd >= 0);
	memset(text, 'x', 5000000);
	assert_null(file_write_all(fd, text, 5000000, path));
	close(fd);
	assert_null(file_read(path, 0, &bytes));
	assert_int_equal(bytes.size, 5000000);
	assert_memory_equal(bytes.data, text, 5000000);
	file_bytes_deinit(&bytes);
	/* A file that says it is empty, and is not. */
	assert_null(file_read("/proc/self/maps", 0, &bytes));
	assert_true(bytes.size > 100);
	file_bytes_deinit(&bytes);
	unlink(path);
	free(text);
}

#define LARGE_SIZE ((size_t)(21 << 20) + 12345)

static struct error *accept_all(const void *context, const uint8_t *data, size_t size)
{
	(void)context, (void)data, (void)size;
	return NULL;
}

TEST(file_is_read_by_threads)
{
	char path[64];
	uint32_t *numbers = xcalloc(LARGE_SIZE / 4 + 1, 4);
	int fd = memfd_create("numbers", MFD_CLOEXEC);

	assert_true(fd >= 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	for (uint32_t i = 0; i <= LARGE_SIZE / 4; i++)
		numbers[i] = i * 2654435761u;
	assert_null(file_write_all(fd, numbers, LARGE_SIZE, path));
	for (size_t threads = 0; threads < 6; threads++)
		for (size_t k = 0; k < 2; k++) {
			struct file_bytes bytes;

			assert_null(file_read_looking(
				path, k ? accept_all : NULL, NULL, threads, &bytes));
			assert_int_equal(bytes.size, LARGE_SIZE);
			assert_memory_equal(bytes.data, numbers, LARGE_SIZE);
			file_bytes_deinit(&bytes);
		}
	close(fd);
	free(numbers);
}

struct marks {
	size_t count;
	unsigned int *done; /* [part] how often */
};

static void mark(void *context, size_t part)
{
	struct marks *m = context;

	assert_true(part < m->count);
	m->done[part]++;
}

TEST(jobs_do_each_part_once)
{
	assert_true(jobs_processors() >= 1);
	for (size_t threads = 0; threads < 200; threads = threads * 3 + 1)
		for (size_t count = 0; count < 2000; count = count * 5 + 1) {
			struct marks m = {count, xcalloc(count + 1, sizeof(*m.done))};

			jobs_run(threads, count, mark, &m);
			for (size_t i = 0; i < count; i++)
				assert_int_equal(m.done[i], 1);
			free(m.done);
		}
}

struct sequence {
	size_t count, next, used;
};

struct sequence_item {
	size_t number, prepared;
};

static bool sequence_next(void *sequence, void *item)
{
	struct sequence *s = sequence;
	struct sequence_item *next = item;

	if (s->next == s->count)
		return false;
	next->number = s->next++;
	return true;
}

static void sequence_prepare(void *sequence, void *item)
{
	struct sequence_item *i = item;

	(void)sequence;
	i->prepared = i->number + 1;
}

static void sequence_use(void *sequence, void *item)
{
	struct sequence *s = sequence;
	struct sequence_item *i = item;

	assert_int_equal(i->number, s->used++);
	assert_int_equal(i->prepared, s->used);
}

TEST(jobs_use_items_in_order)
{
	const struct jobs_ahead work = {.item_bytes = sizeof(struct sequence_item),
		.next = sequence_next,
		.prepare = sequence_prepare,
		.use = sequence_use};

	for (size_t threads = 0; threads < 20; threads = threads * 3 + 1)
		for (size_t window = 1; window < 10; window += 4)
			for (size_t count = 0; count < 500; count = count * 3 + 1) {
				struct sequence s = {.count = count};

				jobs_run_ahead(threads, window, &work, &s);
				assert_int_equal(s.used, count);
			}
}

static void expect_utf16(struct str bytes, const char *text)
{
	struct strbuf out = {0};

	assert_int_not_equal(utf16_order(bytes), UTF16_NONE);
	utf16_decode(&out, bytes, utf16_order(bytes));
	assert_true(str_equal(strbuf_str(&out), str_from(text)));
	strbuf_deinit(&out);
}

TEST(utf16_decodes)
{
	expect_utf16(STR("\xff\xfe"
			 "a\0\xe9\0\xac\x20\x3d\xd8\x00\xde"),
		"aé€😀");
	expect_utf16(STR("\xfe\xff"
			 "\0a\0\xe9\x20\xac\xd8\x3d\xde\x00"),
		"aé€😀");
	/* Halves of pairs, and half of a unit. */
	expect_utf16(STR("\xff\xfe"
			 "\x3d\xd8"
			 "a\0"
			 "\x00\xde"
			 "b"),
		"\xef\xbf\xbd"
		"a\xef\xbf\xbd\xef\xbf\xbd");
	expect_utf16(STR("\xff\xfe"), "");
	/* Without a mark, by the zeros of ASCII. */
	expect_utf16(STR("a\0;\0\xac\x20\x31\0"), "a;€1");
	expect_utf16(STR("\0a\0;\x20\xac\0\x31"), "a;€1");
	assert_int_equal(utf16_order(STR("a")), UTF16_NONE);
	assert_int_equal(utf16_order(STR("a;b 1\n")), UTF16_NONE);
	assert_int_equal(utf16_order(STR("a\0b\0\0c")), UTF16_NONE);
	assert_int_equal(utf16_order(STR("\0\0\0\0\0\0")), UTF16_NONE);
}

/* Keys that differ in the bits of mask only. */
static void expect_sorted(size_t count, uint64_t mask)
{
	struct sort_item *items = xcalloc(count + 1, sizeof(*items));
	uint64_t sum = 0;

	for (size_t i = 0; i < count; i++) {
		uint64_t key = hash_u64(i % (count / 2 + 1)) & mask;

		items[i] = (struct sort_item){key | (~mask & 0xff00000000000ff0u), (uint32_t)i};
		sum += key ^ i;
	}
	sort_items(items, count);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(
			items[i].key & mask, hash_u64(items[i].index % (count / 2 + 1)) & mask);
		sum -= (items[i].key & mask) ^ items[i].index;
		if (i == 0)
			continue;
		assert_true(items[i - 1].key <= items[i].key);
		if (items[i - 1].key == items[i].key)
			assert_true(items[i - 1].index < items[i].index);
	}
	assert_int_equal(sum, 0);
	free(items);
}

/* Runs of so many items each; each begins before the end of the last `reach` ones. */
static void expect_runs_sorted(size_t run, size_t runs, size_t reach)
{
	size_t count = run * runs;
	struct sort_item *items = xcalloc(count, sizeof(*items));

	for (size_t i = 0; i < count; i++)
		items[i] = (struct sort_item){
			(i / run / reach * run + i % run) * 2 + i / run % reach / 2, (uint32_t)i};
	sort_items(items, count);
	for (size_t i = 1; i < count; i++) {
		assert_true(items[i - 1].key <= items[i].key);
		if (items[i - 1].key == items[i].key)
			assert_true(items[i - 1].index < items[i].index);
	}
	free(items);
}

/* Each border of each length, within arrays whose rest would lead astray. */
TEST(searches_find_the_border)
{
	for (size_t count = 0; count < 40; count++)
		for (size_t border = 0; border <= count; border++) {
			size_t looks = 0;

			assert_int_equal(
				partition_point(i, 0, count, (looks++, i < border)), border);
			assert_true(looks <= 6);
			assert_int_equal(partition_point(i, border, count, i < border + 1),
				border + (border < count));
		}
	assert_int_equal(partition_point(i, 7u, 3u, i < 5), 7);
	assert_true(partition_point(i, UINT64_MAX - 9, UINT64_MAX, i < UINT64_MAX - 2) ==
		    UINT64_MAX - 2);
}

TEST(runs_are_merged)
{
	for (size_t reach = 1; reach <= 16; reach *= 2) {
		expect_runs_sorted(1, 64, reach);
		expect_runs_sorted(100, 64, reach);
	}
	expect_runs_sorted(7, 640, 640);
}

TEST(items_are_sorted)
{
	for (size_t count = 0; count < 40; count++)
		for (unsigned int bits = 0; bits < 64; bits += 3)
			expect_sorted(count, UINT64_C(7) << bits);
	expect_sorted(5000, UINT64_MAX);
	expect_sorted(5000, 0x0000000fffffff0u);
	expect_sorted(5000, 0x8000000000000001u);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables_keep_what_is_in_them),
		cmocka_unit_test(arena_aligns_and_zeroes),
		cmocka_unit_test(arena_keeps_strings_and_large_blocks),
		cmocka_unit_test(str_functions),
		cmocka_unit_test(strbuf_grows),
		cmocka_unit_test(str_table_interns),
		cmocka_unit_test(map_holds_pairs),
		cmocka_unit_test(map_forgets_pairs),
		cmocka_unit_test(child_table_numbers_pairs),
		cmocka_unit_test(child_table_makes_paths),
		cmocka_unit_test(row_table_interns),
		cmocka_unit_test(hashes),
		cmocka_unit_test(cursor_reads_numbers),
		cmocka_unit_test(cursor_remembers_the_first_failure),
		cmocka_unit_test(cursor_refuses_bad_numbers),
		cmocka_unit_test(cursor_sub_stays_inside),
		cmocka_unit_test(errors_carry_context),
		cmocka_unit_test(vec_grows),
		cmocka_unit_test(vec_push_nested),
		cmocka_unit_test(file_refuses_what_is_none),
		cmocka_unit_test(file_reads_all),
		cmocka_unit_test(file_is_read_by_threads),
		cmocka_unit_test(jobs_do_each_part_once),
		cmocka_unit_test(jobs_use_items_in_order),
		cmocka_unit_test(utf16_decodes),
		cmocka_unit_test(items_are_sorted),
		cmocka_unit_test(searches_find_the_border),
		cmocka_unit_test(runs_are_merged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
