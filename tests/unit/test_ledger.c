/*
 * What an agent leaves behind when it is killed, at each of the points where it can be: the ledger
 * of losses, the mark how far it has sampled, segments being dropped, and drafts.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/ledger.h"
#include "agent/salvage.h"
#include "agent/spool.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "../scratch.h"
#include "../unit.h"

#define MEMORY_BYTES ((uint64_t)64 << 20)

static char *folder;

static void put_file(const char *path, const void *data, size_t size)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, size, f), size);
	fclose(f);
}

/* A file in .tmp, and its name, to be freed. */
static char *put_draft(struct spool *s, const void *data, size_t size)
{
	char *name = spool_new_name(s, 5 * SECOND_NS), *path = spool_temporary_path(s, name);

	put_file(path, data, size);
	free(path);
	return name;
}

static void put_segment(struct spool *s)
{
	char *name = put_draft(s, "x", 1);

	assert_null(spool_take(s, name));
	free(name);
}

/* As after a kill: the next agent opens what is there. */
static void restart(struct spool *s)
{
	spool_close(s);
	assert_null(spool_open(s, folder));
}

static uint64_t untold(const struct spool *s, enum ledger_loss loss)
{
	return s->ledger.state.untold[loss];
}

/* ---- the ledger ---- */

TEST(test_losses_survive)
{
	uint64_t amounts[LEDGER_LOSSES];
	struct spool s;

	folder = scratch_create();
	assert_null(spool_open(&s, folder));
	ledger_lose(&s.ledger, LEDGER_BROKEN, 2);
	ledger_lose(&s.ledger, LEDGER_EARLY_NS, 7);
	restart(&s);
	assert_int_equal(s.ledger.state.total[LEDGER_BROKEN], 2);
	ledger_give(&s.ledger, 3, amounts);
	assert_int_equal(amounts[LEDGER_BROKEN], 2);
	assert_int_equal(amounts[LEDGER_EARLY_NS], 7);
	/* Another segment begins meanwhile, and tells only what came since. */
	ledger_lose(&s.ledger, LEDGER_BROKEN, 1);
	ledger_give(&s.ledger, 4, amounts);
	assert_int_equal(amounts[LEDGER_BROKEN], 1);
	assert_int_equal(amounts[LEDGER_EARLY_NS], 0);
	ledger_told(&s.ledger, 4);
	ledger_not_told(&s.ledger, 3);
	ledger_not_told(&s.ledger, 3);
	assert_int_equal(untold(&s, LEDGER_BROKEN), 2);
	assert_int_equal(untold(&s, LEDGER_EARLY_NS), 7);
	restart(&s);
	assert_int_equal(untold(&s, LEDGER_BROKEN), 2);
	assert_int_equal(s.ledger.state.total[LEDGER_BROKEN], 3);
	/* More segments than there are places: what has none stays untold. */
	for (uint32_t i = 0; i <= LEDGER_GIVEN_MAX; i++) {
		ledger_lose(&s.ledger, LEDGER_BROKEN, 1);
		ledger_give(&s.ledger, 10 + i, amounts);
	}
	assert_int_equal(amounts[LEDGER_BROKEN], 0);
	assert_int_equal(untold(&s, LEDGER_BROKEN), 1);
	spool_close(&s);
	scratch_destroy(folder);
}

/* A kill in the middle of a write damages one copy; the file is written on a full disk, too. */
TEST(test_ledger_is_whole)
{
	struct rlimit before, none;
	char path[128];
	struct ledger l;

	folder = scratch_create();
	snprintf(path, sizeof(path), "%s/ledger", folder);
	ledger_open(&l, AT_FDCWD, path);
	ledger_lose(&l, LEDGER_BROKEN, 1);
	ledger_lose(&l, LEDGER_BROKEN, 1);
	uint64_t last = l.sequence % 2;

	ledger_close(&l);
	int fd = open(path, O_WRONLY);

	assert_int_equal(pwrite(fd, "damage", 6, (off_t)(last * 4096 + 100)), 6);
	close(fd);
	ledger_open(&l, AT_FDCWD, path);
	assert_int_equal(l.state.total[LEDGER_BROKEN], 1);
	/* It does not grow. */
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	none = (struct rlimit){(rlim_t)st.st_size, before.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
	ledger_lose(&l, LEDGER_BROKEN, 5);
	ledger_lose(&l, LEDGER_BROKEN, 5);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	ledger_close(&l);
	ledger_open(&l, AT_FDCWD, path);
	assert_int_equal(l.state.total[LEDGER_BROKEN], 11);
	ledger_close(&l);
	/* A link is not followed, and what is no ledger is an empty one. */
	assert_int_equal(unlink(path), 0);
	put_file(path, "something else", 14);
	ledger_open(&l, AT_FDCWD, path);
	assert_int_equal(l.state.total[LEDGER_BROKEN], 0);
	ledger_close(&l);
	char *link = xasprintf("%s.link", path);

	assert_int_equal(symlink(path, link), 0);
	ledger_open(&l, AT_FDCWD, link);
	assert_int_equal(l.fd, -1);
	ledger_lose(&l, LEDGER_BROKEN, 1);
	assert_int_equal(l.state.total[LEDGER_BROKEN], 1);
	free(link);
	scratch_destroy(folder);
}

TEST(test_gap)
{
	struct ledger_instant until = {100, 5000};
	char path[128];
	struct ledger l;

	folder = scratch_create();
	snprintf(path, sizeof(path), "%s/ledger", folder);
	ledger_open(&l, AT_FDCWD, path);
	assert_int_equal(ledger_gap_ns(&l, (struct ledger_instant){100, 5000}), 0);
	ledger_set_until(&l, until);
	ledger_close(&l);
	ledger_open(&l, AT_FDCWD, path);
	/* Whatever the system's clock is set to. */
	assert_int_equal(ledger_gap_ns(&l, (struct ledger_instant){130, 1}), 30);
	assert_int_equal(ledger_gap_ns(&l, (struct ledger_instant){90, 9000}), 0);
	/* After a restart of the system, only that clock goes on. */
	strcpy(l.state.boot, "another");
	ledger_save(&l);
	ledger_close(&l);
	ledger_open(&l, AT_FDCWD, path);
	assert_int_equal(ledger_gap_ns(&l, (struct ledger_instant){20, 5300}), 300);
	ledger_close(&l);
	scratch_destroy(folder);
}

/* ---- the spool ---- */

/* A kill before the file is removed, after it, and after it was counted. */
TEST(test_kill_while_dropping)
{
	struct spool s;
	char *path;

	folder = scratch_create();
	assert_null(spool_open(&s, folder));
	for (int i = 0; i < 3; i++)
		put_segment(&s);
	ledger_removing(&s.ledger, s.entries.data[0].number, 1);
	restart(&s);
	assert_int_equal(s.entries.count, 3);
	assert_int_equal(s.ledger.state.total[LEDGER_DROPPED], 0);
	ledger_removing(&s.ledger, s.entries.data[0].number, 1);
	path = spool_path(&s, s.entries.data[0].name);
	assert_int_equal(unlink(path), 0);
	free(path);
	for (int i = 0; i < 2; i++) {
		restart(&s);
		assert_int_equal(s.entries.count, 2);
		assert_int_equal(s.ledger.state.total[LEDGER_DROPPED], 1);
		assert_int_equal(s.ledger.state.total[LEDGER_DROPPED_BYTES], 1);
		assert_int_equal(untold(&s, LEDGER_DROPPED), 1);
	}
	assert_true(spool_drop_oldest(&s));
	assert_false(spool_drop_oldest(&s));
	restart(&s);
	assert_int_equal(s.ledger.state.total[LEDGER_DROPPED], 2);
	/* No number comes again, though all are gone. */
	assert_null(spool_remove(&s, 0));
	restart(&s);
	assert_int_equal(s.next, 3);
	spool_close(&s);
	scratch_destroy(folder);
}

TEST(test_room_on_the_disk)
{
	struct spool s;

	folder = scratch_create();
	assert_null(spool_open(&s, folder));
	for (int i = 0; i < 4; i++)
		put_segment(&s);
	spool_make_room(&s, 0);
	assert_int_equal(s.entries.count, 4);
	/* The newest stays, and what is under way. */
	s.under_way = s.entries.data[0].name;
	spool_make_room(&s, UINT64_MAX);
	assert_int_equal(s.entries.count, 2);
	assert_int_equal(s.entries.data[0].number, 0);
	assert_int_equal(s.entries.data[1].number, 3);
	assert_int_equal(s.ledger.state.total[LEDGER_DROPPED], 2);
	spool_close(&s);
	scratch_destroy(folder);
}

/* ---- drafts ---- */

/* Of a recording that began at 1,700,000,000 s and took 0.401 s. */
#define FIXTURE_START_NS (UINT64_C(1700000000) * SECOND_NS)

static void read_fixture(struct file_bytes *bytes)
{
	const char *root = getenv("SOURCE_ROOT");
	char *path = xasprintf("%s/tests/fixtures/capture-v1.prof", root ? root : ".");

	assert_null(file_read(path, 0, bytes));
	free(path);
}

TEST(test_drafts)
{
	uint64_t amounts[LEDGER_LOSSES];
	struct salvage found;
	struct file_bytes file;
	struct spool s;

	read_fixture(&file);
	folder = scratch_create();
	assert_null(spool_open(&s, folder));
	put_segment(&s);
	ledger_lose(&s.ledger, LEDGER_BROKEN, 1);
	/* 1: cut in the middle; 2: whole, 3: nothing yet, 4: no recording, 5: whole, was moved. */
	ledger_give(&s.ledger, 1, amounts);
	free(put_draft(&s, file.data, file.size * 9 / 10));
	ledger_lose(&s.ledger, LEDGER_EARLY_NS, 3);
	ledger_give(&s.ledger, 2, amounts);
	free(put_draft(&s, file.data, file.size));
	ledger_lose(&s.ledger, LEDGER_EARLY_NS, 4);
	ledger_give(&s.ledger, 3, amounts);
	free(put_draft(&s, "", 0));
	free(put_draft(&s, "this is no recording, however long it is", 40));
	ledger_lose(&s.ledger, LEDGER_PAUSED_NS, 5);
	ledger_give(&s.ledger, 5, amounts);
	char *name = put_draft(&s, file.data, file.size);

	assert_null(spool_take(&s, name));
	free(name);
	ledger_set_until(&s.ledger, (struct ledger_instant){1000, FIXTURE_START_NS + 1});
	restart(&s);
	assert_int_equal(s.drafts.count, 4);
	salvage_drafts(&s, MEMORY_BYTES, &found);
	assert_int_equal(found.kept, 2);
	assert_int_equal(found.empty, 1);
	assert_int_equal(found.unreadable, 1);
	assert_int_equal(s.entries.count, 4);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(s.entries.data[i].number, i);
	assert_int_equal(s.entries.data[3].number, 5);
	/* 2 and 5 are whole and tell the losses that they were given; those of 1 and 3 remain. */
	assert_int_equal(untold(&s, LEDGER_BROKEN), 1);
	assert_int_equal(untold(&s, LEDGER_EARLY_NS), 4);
	assert_int_equal(untold(&s, LEDGER_PAUSED_NS), 0);
	assert_int_equal(s.ledger.state.total[LEDGER_DROPPED], 1);
	/* The gap begins where the last one ends. */
	assert_int_equal(s.ledger.state.until.unix_ns, FIXTURE_START_NS + 401000000);
	assert_int_equal(s.ledger.state.until.monotonic_ns, 1000 + 401000000 - 1);
	restart(&s);
	assert_int_equal(s.drafts.count, 0);
	salvage_drafts(&s, MEMORY_BYTES, &found);
	assert_int_equal(found.kept + found.empty + found.unreadable, 0);
	assert_int_equal(s.ledger.state.total[LEDGER_DROPPED], 1);
	assert_int_equal(untold(&s, LEDGER_EARLY_NS), 4);
	spool_close(&s);
	file_bytes_deinit(&file);
	scratch_destroy(folder);
}

/* Wherever a draft was cut: it is kept if it has samples, and is never said to be told. */
TEST(test_drafts_cut_anywhere)
{
	uint64_t kept = 0, amounts[LEDGER_LOSSES];
	struct salvage found;
	struct file_bytes file;
	struct spool s;

	read_fixture(&file);
	folder = scratch_create();
	assert_null(spool_open(&s, folder));
	ledger_lose(&s.ledger, LEDGER_BROKEN, 1);
	for (size_t i = 1; i <= 16; i++) {
		ledger_give(&s.ledger, s.next, amounts);
		assert_int_equal(amounts[LEDGER_BROKEN], 1);
		free(put_draft(&s, file.data, (file.size - 1) * i / 16));
		restart(&s);
		salvage_drafts(&s, MEMORY_BYTES, &found);
		assert_int_equal(found.kept + found.empty, 1);
		assert_true(found.kept >= kept);
		kept = found.kept;
		assert_int_equal(untold(&s, LEDGER_BROKEN), 1);
	}
	assert_int_equal(kept, 1);
	assert_int_equal(s.ledger.state.total[LEDGER_DROPPED], 0);
	spool_close(&s);
	file_bytes_deinit(&file);
	scratch_destroy(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_losses_survive),
		cmocka_unit_test(test_ledger_is_whole),
		cmocka_unit_test(test_gap),
		cmocka_unit_test(test_kill_while_dropping),
		cmocka_unit_test(test_room_on_the_disk),
		cmocka_unit_test(test_drafts),
		cmocka_unit_test(test_drafts_cut_anywhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
