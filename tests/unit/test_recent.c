/* The queue of what waits while only the last stretch of a recording is wanted. */

#include <string.h>

#include "../random_profile.h"
#include "../unit.h"
#include "record/recent.h"

enum { ENTRIES = 200000, BYTES_MAX = 200 };

/* What the i-th entry holds follows from i. */
static size_t contents(uint32_t i, uint8_t *bytes)
{
	size_t size = 1 + (size_t)(i * 2654435761u >> 8) % BYTES_MAX;

	memset(bytes, (int)(i % 251), size);
	return size;
}

static void check_first(const struct recent *r, uint32_t i)
{
	uint8_t bytes[BYTES_MAX];
	struct recent_entry entry;
	size_t size = contents(i, bytes);

	assert_true(recent_first(r, &entry));
	assert_int_equal(entry.end_ns, i);
	assert_int_equal(entry.kind, i % 3);
	assert_int_equal(entry.size, size);
	assert_int_equal((uintptr_t)entry.data % 8, 0);
	assert_memory_equal(entry.data, bytes, size);
}

/* Memory is a small multiple of what waits at most, however much went through. */
TEST(what_goes_in_comes_out_in_order)
{
	struct recent r = {0};
	struct random random = random_from(7);
	uint32_t first = 0, last = 0;
	size_t most = 0;

	while (first < ENTRIES) {
		uint8_t bytes[BYTES_MAX];

		if (last < ENTRIES && (last - first < 100 || random_below(&random, 2))) {
			size_t size = contents(last, bytes);

			recent_add(&r, &(struct recent_entry){
					       last, (enum recent_kind)(last % 3), bytes, size});
			last++;
		} else {
			check_first(&r, first++);
			recent_drop_first(&r);
		}
		most = recent_size(&r) > most ? recent_size(&r) : most;
	}
	assert_int_equal(recent_size(&r), 0);
	assert_true(r.capacity <= 65536 || r.capacity <= 4 * most);
	recent_deinit(&r);
}

TEST(names_stay)
{
	struct recent r = {0};
	char name[] = "frame";
	struct str kept = recent_name(&r, str_from(name));

	name[0] = 'g';
	assert_true(str_equal(kept, STR("frame")));
	assert_true(recent_name(&r, STR("frame")).data == kept.data);
	recent_deinit(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_goes_in_comes_out_in_order),
		cmocka_unit_test(names_stay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
