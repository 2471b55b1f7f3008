/*
 * Which perf maps are believed, by the times of files, processes and the recording.
 */
#include "base/compiler.h"
#include "formats/perf/data_maps.h"
#include "../unit.h"

#define S INT64_C(1000000000)

/* A recording of 100 s that began at 1000 s since 1970, 50 s after the machine. */
static const struct perf_data_times exact = {
	.is_exact = true, .end_ns = 150 * S, .least_apart_ns = 950 * S, .apart_ns = 950 * S};
/* The same, copied an hour later: its end is known to be earlier than that, and no more. */
static const struct perf_data_times copied = {
	.end_ns = 150 * S, .least_apart_ns = 950 * S, .apart_ns = (950 + 3600) * S};
static const struct perf_data_times foreign = {
	.is_foreign = true, .end_ns = 150 * S, .least_apart_ns = 950 * S, .apart_ns = 950 * S};

TEST(ages)
{
	static const struct perf_data_life begun = {60 * S, 0}, ended = {60 * S, 100 * S},
					   attached = {0, 0};
	static const struct {
		const struct perf_data_times *times;
		const struct perf_data_life *life;
		int map_s;
		enum perf_data_map_belief in_tmp, beside;
	} rows[] = {
		{&exact, &ended, 1040, PERF_DATA_MAP_GOOD, PERF_DATA_MAP_GOOD},
		{&exact, &ended, 1008, PERF_DATA_MAP_OLD, PERF_DATA_MAP_OLD},
		{&exact, &ended, 1009, PERF_DATA_MAP_GOOD, PERF_DATA_MAP_GOOD},
		{&exact, &ended, 1051, PERF_DATA_MAP_GOOD, PERF_DATA_MAP_GOOD},
		{&exact, &ended, 1052, PERF_DATA_MAP_NEWER, PERF_DATA_MAP_GOOD},
		{&exact, &begun, 1101, PERF_DATA_MAP_GOOD, PERF_DATA_MAP_GOOD},
		{&exact, &begun, 1102, PERF_DATA_MAP_LATE, PERF_DATA_MAP_GOOD},
		{&exact, &attached, 1, PERF_DATA_MAP_GOOD, PERF_DATA_MAP_GOOD},
		{&exact, &attached, 9999, PERF_DATA_MAP_LATE, PERF_DATA_MAP_GOOD},
		{&copied, &ended, 1008, PERF_DATA_MAP_OLD, PERF_DATA_MAP_GOOD},
		{&copied, &ended, 1052, PERF_DATA_MAP_GOOD, PERF_DATA_MAP_GOOD},
		{&copied, &ended, 9999, PERF_DATA_MAP_NEWER, PERF_DATA_MAP_GOOD},
		{&foreign, &begun, 1040, PERF_DATA_MAP_FOREIGN, PERF_DATA_MAP_GOOD},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_int_equal(perf_data_map_judge(rows[i].times, rows[i].life,
					 PERF_DATA_MAP_IN_TMP, rows[i].map_s * S),
			rows[i].in_tmp);
		assert_int_equal(perf_data_map_judge(rows[i].times, rows[i].life,
					 PERF_DATA_MAP_BESIDE, rows[i].map_s * S),
			rows[i].beside);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ages),
	};

	return cmocka_run_group_tests_name("perf_data_maps", tests, NULL, NULL);
}
