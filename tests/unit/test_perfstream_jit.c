/*
 * Epochs of code made at run time, from a jitdump that grows.
 */

#include <stdio.h>
#include <stdlib.h>

#include "../jitdump_bytes.h"
#include "../scratch.h"
#include "../unit.h"
#include "base/alloc.h"
#include "perfstream/jit.h"

struct dump {
	struct jitdump_bytes bytes;
	char *folder, *path;
	struct perfstream_jit jit;
};

/* Appends what the writer has written since. */
static void flush(struct dump *d)
{
	FILE *f = fopen(d->path, "a");

	assert_non_null(f);
	assert_int_equal(fwrite(d->bytes.out.data, 1, d->bytes.out.size, f), d->bytes.out.size);
	fclose(f);
	d->bytes.out.size = 0;
}

static void begin(struct dump *d, uint64_t gap_ns)
{
	*d = (struct dump){.folder = scratch_create()};
	d->path = xasprintf("%s/jit-7.dump", d->folder);
	assert_true(jitdump_is_path(str_from(d->path)));
	jitdump_bytes_header(&d->bytes, 0);
	flush(d);
	perfstream_jit_init(&d->jit);
	assert_true(perfstream_jit_open(&d->jit, d->path, gap_ns));
}

static void end(struct dump *d)
{
	perfstream_jit_deinit(&d->jit);
	strbuf_deinit(&d->bytes.out);
	free(d->path);
	scratch_destroy(d->folder);
}

static void code(struct dump *d, uint64_t time_ns, uint64_t low)
{
	jitdump_bytes_load(&d->bytes, time_ns, low, 64, "f");
	flush(d);
}

TEST(test_an_epoch_begins_where_code_takes_a_place)
{
	struct dump d;

	begin(&d, 0);
	code(&d, 100, 0x1000);
	code(&d, 200, 0x1040); /* next to it */
	perfstream_jit_read(&d.jit, SIZE_MAX);
	assert_int_equal(perfstream_jit_epoch(&d.jit, 300), 0);

	code(&d, 300, 0x1020); /* on both */
	jitdump_bytes_move(&d.bytes, 400, 0x1020, 0x1000, 64);
	flush(&d);
	perfstream_jit_read(&d.jit, SIZE_MAX);
	assert_int_equal(perfstream_jit_epoch(&d.jit, 299), 0);
	assert_int_equal(perfstream_jit_epoch(&d.jit, 300), 1);
	assert_int_equal(perfstream_jit_epoch(&d.jit, 400), 2);
	assert_int_equal(perfstream_jit_epoch(&d.jit, UINT64_MAX), 2);
	assert_int_equal(perfstream_jit_begin_ns(&d.jit, 0), 0);
	assert_int_equal(perfstream_jit_begin_ns(&d.jit, 2), 400);
	end(&d);
}

/* Times out of order begin no epoch, and one at a time is enough. */
TEST(test_epochs_ascend)
{
	static const uint64_t times_ns[] = {500, 500, 400, 600, 550};
	struct dump d;

	begin(&d, 0);
	code(&d, 100, 0x1000);
	for (size_t i = 0; i < ARRAY_SIZE(times_ns); i++)
		code(&d, times_ns[i], 0x1000);
	perfstream_jit_read(&d.jit, SIZE_MAX);
	assert_int_equal(perfstream_jit_epoch(&d.jit, UINT64_MAX), 2);
	assert_int_equal(perfstream_jit_begin_ns(&d.jit, 1), 500);
	assert_int_equal(perfstream_jit_begin_ns(&d.jit, 2), 600);
	end(&d);
}

/* Of many soon after another one counts, at the gap's end. */
TEST(test_epochs_last_for_a_while)
{
	struct dump d;

	begin(&d, 1000);
	for (uint64_t i = 0; i < 10; i++)
		code(&d, 5000 + 10 * i, 0x1000);
	code(&d, 9000, 0x1000);
	perfstream_jit_read(&d.jit, SIZE_MAX);
	assert_int_equal(perfstream_jit_epoch(&d.jit, UINT64_MAX), 3);
	assert_int_equal(perfstream_jit_begin_ns(&d.jit, 1), 5010);
	assert_int_equal(perfstream_jit_begin_ns(&d.jit, 2), 6010);
	assert_int_equal(perfstream_jit_begin_ns(&d.jit, 3), 9000);
	end(&d);
}

/* What is not there whole is read when it is; no more records at a time than are asked for. */
TEST(test_reading_goes_on)
{
	struct dump d;

	begin(&d, 0);
	for (uint64_t i = 0; i < 5; i++)
		code(&d, 100 * i, 0x1000);
	perfstream_jit_read(&d.jit, 2);
	assert_int_equal(perfstream_jit_epoch(&d.jit, UINT64_MAX), 1);
	perfstream_jit_read(&d.jit, 2);
	assert_int_equal(perfstream_jit_epoch(&d.jit, UINT64_MAX), 3);

	jitdump_bytes_load(&d.bytes, 900, 0x1000, 64, "g");
	size_t size = d.bytes.out.size;

	d.bytes.out.size = size - 1;
	struct strbuf last = {0};

	strbuf_add(&last, (struct str){d.bytes.out.data + size - 1, 1});
	flush(&d);
	perfstream_jit_read(&d.jit, SIZE_MAX);
	assert_int_equal(perfstream_jit_epoch(&d.jit, UINT64_MAX), 4);
	strbuf_add(&d.bytes.out, strbuf_str(&last));
	strbuf_deinit(&last);
	flush(&d);
	perfstream_jit_read(&d.jit, SIZE_MAX);
	assert_int_equal(perfstream_jit_epoch(&d.jit, UINT64_MAX), 5);
	assert_int_equal(perfstream_jit_bad_records(&d.jit), 0);

	/* A dump without unwind rules is not kept open. */
	perfstream_jit_finish(&d.jit);
	assert_int_equal(d.jit.fd, -1);
	assert_int_equal(perfstream_jit_epoch(&d.jit, UINT64_MAX), 5);
	end(&d);
}

TEST(test_no_dump)
{
	struct perfstream_jit jit;
	struct cfi_rule rule;

	perfstream_jit_init(&jit);
	assert_false(perfstream_jit_open(&jit, "/nowhere/jit-7.dump", 0));
	perfstream_jit_read(&jit, SIZE_MAX);
	assert_int_equal(perfstream_jit_epoch(&jit, 5), 0);
	assert_false(perfstream_jit_rule(&jit, 0x1000, 5, &rule));
	perfstream_jit_deinit(&jit);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_epoch_begins_where_code_takes_a_place),
		cmocka_unit_test(test_epochs_ascend),
		cmocka_unit_test(test_epochs_last_for_a_while),
		cmocka_unit_test(test_reading_goes_on),
		cmocka_unit_test(test_no_dump),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
