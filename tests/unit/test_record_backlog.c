/*
 * The backlog between two writers and a reader: order, the bound on its memory, ranks.
 */
#include "record/engines/perf/ring.h"
#include "../unit.h"

#include <string.h>

#define BLOCKS	  4
#define WORDS_MAX 64

/* A number, repeated so often; the first word is the size in bytes. */
static bool put(struct backlog *b, struct backlog_queue *q, uint64_t number, enum backlog_rank rank)
{
	size_t size = 8 * (2 + number % WORDS_MAX);
	uint64_t *words;

	backlog_lock(b);
	words = backlog_room(b, q, size, rank);
	if (words) {
		words[0] = size;
		for (size_t i = 1; i < size / 8; i++)
			words[i] = number;
		backlog_put(q, size);
	}
	backlog_unlock(b);
	return words;
}

static bool take(struct backlog *b, struct backlog_queue *q, uint64_t number)
{
	const uint64_t *words = backlog_next(b, q);

	if (!words)
		return false;
	assert_int_equal(words[0], 8 * (2 + number % WORDS_MAX));
	for (size_t i = 1; i < words[0] / 8; i++)
		assert_int_equal(words[i], number);
	backlog_take(q, words[0]);
	return true;
}

TEST(test_bound)
{
	struct backlog b;
	struct backlog_queue q = {0}, other = {0};
	uint64_t written = 0, read = 0, level = 0;

	backlog_init(&b, BLOCKS * BACKLOG_BLOCK_BYTES + 1);
	while (put(&b, &q, written, BACKLOG_VITAL)) {
		written++;
		level += 8 * (2 + written % WORDS_MAX);
	}
	assert_true(backlog_level(&b) == 1);
	/* Nearly all of it was used, and a queue that has nothing yet is let in. */
	assert_true(level > BLOCKS * (BACKLOG_BLOCK_BYTES - 8 * (2 + WORDS_MAX)));
	while (put(&b, &other, 0, BACKLOG_VITAL))
		;
	assert_true(backlog_level(&b) == 1);
	while (take(&b, &q, read))
		read++;
	assert_int_equal(read, written);
	while (take(&b, &other, 0))
		;
	assert_true(backlog_level(&b) == 0);
	backlog_deinit(&b);
}

TEST(test_ranks)
{
	struct backlog b;
	struct backlog_queue stacks = {0}, samples = {0}, tracks = {0};

	backlog_init(&b, 16 * BACKLOG_BLOCK_BYTES);
	while (put(&b, &stacks, 0, BACKLOG_SPARE))
		;
	assert_true(backlog_level(&b) == 8. / 16);
	while (put(&b, &samples, 0, BACKLOG_USUAL))
		;
	assert_true(backlog_level(&b) == 14. / 16);
	while (put(&b, &tracks, 0, BACKLOG_VITAL))
		;
	assert_true(backlog_level(&b) == 1);
	backlog_clear(&b, &stacks);
	backlog_clear(&b, &samples);
	backlog_clear(&b, &tracks);
	assert_true(backlog_level(&b) == 0);
	backlog_deinit(&b);
}

/* ---- two writers and a reader at once ---- */

#define NUMBERS UINT64_C(300000)

struct race {
	struct backlog backlog;
	struct backlog_queue queue;
	uint64_t number; /* the next one, under the lock of its own */
	pthread_mutex_t lock;
};

static void *write_numbers(void *argument)
{
	struct race *r = argument;
	bool is_over = false;

	while (!is_over) {
		pthread_mutex_lock(&r->lock);
		is_over = r->number == NUMBERS;
		if (!is_over && put(&r->backlog, &r->queue, r->number, BACKLOG_VITAL))
			r->number++;
		pthread_mutex_unlock(&r->lock);
	}
	return NULL;
}

TEST(test_race)
{
	struct race r = {.lock = PTHREAD_MUTEX_INITIALIZER};
	pthread_t writers[2];
	uint64_t read = 0;

	backlog_init(&r.backlog, BLOCKS * BACKLOG_BLOCK_BYTES);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&writers[i], NULL, write_numbers, &r), 0);
	while (read < NUMBERS) {
		if (take(&r.backlog, &r.queue, read))
			read++;
		assert_true(backlog_level(&r.backlog) <= 1);
	}
	for (size_t i = 0; i < 2; i++)
		pthread_join(writers[i], NULL);
	assert_null(backlog_next(&r.backlog, &r.queue));
	backlog_deinit(&r.backlog);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bound),
		cmocka_unit_test(test_ranks),
		cmocka_unit_test(test_race),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
