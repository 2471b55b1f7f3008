/*
 * Rings filled by hand as the kernel fills them: order, wrap-around, merge by time.
 */
#include "record/engines/perf/ring.h"

#include <string.h>

#include "record/events/perf_record.h"
#include "../unit.h"

#define RING_BYTES 512u

static struct backlog backlog;

/* A ring in plain memory; the page stands apart from the data, as ring_attach allows. */
struct fake {
	struct perf_event_mmap_page page;
	_Alignas(8) uint8_t data[RING_BYTES];
	struct ring ring;
};

static void fake_init(struct fake *f, uint64_t position)
{
	*f = (struct fake){0};
	f->page.data_head = f->page.data_tail = position;
	ring_attach(&f->ring, &backlog, &f->page, f->data, RING_BYTES);
}

static void put_word(struct fake *f, uint64_t word)
{
	memcpy(f->data + f->page.data_head % RING_BYTES, &word, sizeof(word));
	f->page.data_head += sizeof(word);
}

/* A side-band record: a header, words - 2 times the tag, and of its trailer the time and the id. */
static void put_record(struct fake *f, uint64_t tag, uint64_t time_ns, size_t words)
{
	struct perf_event_header header = {
		.type = PERF_RECORD_COMM, .size = (uint16_t)((words + 1) * 8)};
	uint64_t word;

	memcpy(&word, &header, sizeof(word));
	put_word(f, word);
	for (size_t i = 0; i + 2 < words; i++)
		put_word(f, tag);
	put_word(f, time_ns);
	put_word(f, 77);
}

static uint64_t tag_of(const struct perf_event_header *header)
{
	uint64_t tag;

	memcpy(&tag, header + 1, sizeof(tag));
	return tag;
}

TEST(test_order)
{
	struct fake f;

	fake_init(&f, 0);
	ring_look(&f.ring);
	assert_null(ring_record(&f.ring));
	put_record(&f, 1, 10, 3);
	assert_null(ring_record(&f.ring)); /* not looked yet */
	put_record(&f, 2, 20, 3);
	ring_look(&f.ring);
	assert_int_equal(tag_of(ring_record(&f.ring)), 1);
	assert_int_equal(perf_record_time_ns(ring_record(&f.ring)), 10);
	/* The kernel has its room back before anything is processed. */
	assert_int_equal(f.page.data_tail, f.page.data_head);
	ring_release(&f.ring);
	assert_int_equal(tag_of(ring_record(&f.ring)), 2);
	ring_release(&f.ring);
	assert_null(ring_record(&f.ring));
	ring_unmap(&f.ring);
}

TEST(test_wrap)
{
	struct fake f;

	for (uint64_t start = 0; start < RING_BYTES; start += 8) {
		const struct perf_event_header *header;

		fake_init(&f, UINT64_C(1000) * RING_BYTES + start);
		put_record(&f, 7, 99, 20);
		ring_look(&f.ring);
		header = ring_record(&f.ring);
		assert_non_null(header);
		assert_int_equal(tag_of(header), 7);
		assert_int_equal(perf_record_time_ns(header), 99);
		ring_release(&f.ring);
		assert_int_equal(f.page.data_tail, f.page.data_head);
		ring_unmap(&f.ring);
	}
}

/* However much comes while nothing is processed, the ring has room, and the order stays. */
TEST(test_backlog)
{
	struct fake f;

	fake_init(&f, 0);
	for (uint64_t i = 0; i < 50000; i++) {
		put_record(&f, i, i, 3 + i % 5);
		assert_true(ring_move(&f.ring));
		assert_int_equal(f.page.data_tail, f.page.data_head);
	}
	ring_look(&f.ring);
	for (uint64_t i = 0; i < 50000; i++) {
		assert_int_equal(tag_of(ring_record(&f.ring)), i);
		ring_release(&f.ring);
	}
	assert_null(ring_record(&f.ring));
	assert_true(backlog_level(&backlog) == 0);
	ring_unmap(&f.ring);
}

/* What finds no room waits in the ring, and is not passed by what is younger. */
TEST(test_exhausted)
{
	struct ring_merge merge = {0};
	struct backlog few;
	struct fake old, young;
	uint64_t count = 0, moved = 0;

	backlog_init(&few, BACKLOG_BLOCK_BYTES);
	fake_init(&old, 0);
	fake_init(&young, 0);
	old.ring.backlog = young.ring.backlog = &few;
	do
		moved++, put_record(&old, moved, moved, 3);
	while (ring_move(&old.ring));
	put_record(&young, moved, moved + 2, 3);
	put_record(&old, moved, moved + 1, 3);
	ring_merge_add(&merge, &old.ring);
	ring_merge_add(&merge, &young.ring);
	ring_merge_look(&merge);
	assert_true(old.page.data_tail != old.page.data_head);
	for (const struct perf_event_header *h; (h = ring_merge_next(&merge, UINT64_MAX - 1));)
		assert_int_equal(perf_record_time_ns(h), ++count);
	assert_int_equal(count, moved + 2);
	assert_int_equal(old.page.data_tail, old.page.data_head);
	ring_merge_deinit(&merge);
	ring_unmap(&old.ring);
	ring_unmap(&young.ring);
	backlog_deinit(&few);
}

#define SPARE_BYTES 64

/* A sample with a stack copy; only `filled` of its bytes were written. */
static void put_sample(struct fake *f, uint64_t filled)
{
	/* Id, ip, pid and tid, time, CPU, period, a chain of one, registers, size of the copy. */
	size_t words = 6 + 2 + 1 + 17 + 1;
	struct perf_event_header header = {.type = PERF_RECORD_SAMPLE,
		.size = (uint16_t)(sizeof(header) + 8 * (words + 1) + SPARE_BYTES)};
	uint64_t word;

	memcpy(&word, &header, sizeof(word));
	put_word(f, word);
	for (size_t i = 0; i < 6; i++)
		put_word(f, 100 + i);
	put_word(f, 1);
	put_word(f, 0xffffffff81000000);
	put_word(f, PERF_SAMPLE_REGS_ABI_64);
	for (size_t i = 0; i < 17; i++)
		put_word(f, 200 + i);
	put_word(f, SPARE_BYTES);
	for (size_t i = 0; i < SPARE_BYTES / 8; i++)
		put_word(f, 300 + i);
	put_word(f, filled);
}

/* The part of the stack's copy that the kernel did not write takes no room in the backlog. */
TEST(test_spare)
{
	for (uint64_t filled = 0; filled <= SPARE_BYTES; filled += 4) {
		struct perf_sample sample;
		uint64_t kept = (filled + 7) / 8 * 8, word;
		struct fake f;

		fake_init(&f, 8 * filled);
		f.ring.has_stacks = f.ring.has_chain = true;
		put_sample(&f, filled);
		ring_look(&f.ring);
		const struct perf_event_header *header = ring_record(&f.ring);

		assert_int_equal(header->size, f.page.data_head - 8 * filled - SPARE_BYTES + kept);
		assert_true(perf_record_sample(header, true, &sample));
		assert_int_equal(sample.period, 105);
		assert_int_equal(sample.kernel_count, 1);
		assert_int_equal(sample.stack_size, filled);
		for (size_t i = 0; i < filled / 8; i++) {
			memcpy(&word, sample.stack + 8 * i, sizeof(word));
			assert_int_equal(word, 300 + i);
		}
		ring_release(&f.ring);
		assert_null(ring_record(&f.ring));
		ring_unmap(&f.ring);
	}
}

/* What no kernel writes must not lead out of the ring. */
TEST(test_bad_size)
{
	struct fake f;

	fake_init(&f, 0);
	put_word(&f, 0); /* a header of size 0 */
	ring_look(&f.ring);
	assert_null(ring_record(&f.ring));
	ring_unmap(&f.ring);
	fake_init(&f, 0);
	put_record(&f, 1, 1, 3);
	f.page.data_head -= 8; /* not all there */
	ring_look(&f.ring);
	assert_null(ring_record(&f.ring));
	ring_unmap(&f.ring);
}

TEST(test_merge)
{
	static const uint64_t times[3][3] = {{10, 40, 70}, {20, 50, 60}, {30, 31, 80}};
	struct ring_merge merge = {0};
	struct fake fakes[3];
	uint64_t last = 0;
	size_t count = 0;
	const struct perf_event_header *header;

	for (size_t i = 0; i < 3; i++) {
		fake_init(&fakes[i], 0);
		ring_merge_add(&merge, &fakes[i].ring);
		for (size_t j = 0; j < 3; j++)
			put_record(&fakes[i], i, times[i][j], 3);
	}
	ring_merge_look(&merge);
	while ((header = ring_merge_next(&merge, 60))) {
		assert_true(perf_record_time_ns(header) > last);
		last = perf_record_time_ns(header);
		count++;
	}
	assert_int_equal(count, 7);
	assert_int_equal(last, 60);
	/* What is younger than the horizon stays for the next round. */
	ring_merge_look(&merge);
	assert_int_equal(perf_record_time_ns(ring_merge_next(&merge, 100)), 70);
	assert_int_equal(perf_record_time_ns(ring_merge_next(&merge, 100)), 80);
	assert_null(ring_merge_next(&merge, 100));
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(fakes[i].page.data_tail, fakes[i].page.data_head);
		ring_unmap(&fakes[i].ring);
	}
	ring_merge_deinit(&merge);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_wrap),
		cmocka_unit_test(test_backlog),
		cmocka_unit_test(test_exhausted),
		cmocka_unit_test(test_spare),
		cmocka_unit_test(test_bad_size),
		cmocka_unit_test(test_merge),
	};

	backlog_init(&backlog, BACKLOG_BYTES);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
