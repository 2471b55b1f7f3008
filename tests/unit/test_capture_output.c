/*
 * Where a recording is written: what was there before, what may not be written to, and disks and
 * pipes that fail.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../capture_files.h"
#include "../unit.h"
#include "base/alloc.h"

static const struct random_capture_options options = {
	.seed = 3,
	.functions = 500,
	.depth = 20,
	.turnover = 6,
	.threads = 1,
	.objects = 3,
	.interval_ns = 1000000,
	.jitter_ns = 5000,
};

static void put_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void expect_file(const char *path, const char *text)
{
	struct file_bytes bytes = capture_file_bytes(path);

	assert_int_equal(bytes.size, strlen(text));
	assert_memory_equal(bytes.data, text, bytes.size);
	file_bytes_deinit(&bytes);
}

TEST(test_old_file_is_kept)
{
	char *path = capture_file_path("kept.prof"), *old = capture_file_path("kept.prof.old");
	struct capture_writer *w;
	struct stat st;
	uint64_t size;

	put_file(path, "first");
	assert_null(capture_writer_create(path, &w));
	assert_null(capture_writer_finish(w, &size));
	expect_file(old, "first");
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(st.st_size, size);
	/* A recording that never began leaves everything as it was. */
	put_file(path, "second");
	assert_null(capture_writer_create(path, &w));
	capture_writer_abandon(w);
	expect_file(path, "second");
	assert_int_not_equal(access(old, F_OK), 0);
	free(path);
	free(old);
}

TEST(test_rewriting_keeps_the_mode)
{
	struct random_capture r;
	struct stat st;

	random_capture_init(&r, &options);
	char *path = capture_make_file(&r, "mode.prof", 5000, false);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	random_capture_deinit(&r);
	free(path);
}

static void expect_refused(const char *path, const char *words)
{
	struct capture_writer *w;
	struct error *err = capture_writer_create(path, &w);

	assert_non_null(err);
	assert_non_null(strstr(err->message, words));
	error_destroy(err);
}

TEST(test_refused)
{
	char *folder = capture_file_path("folder"), *link = capture_file_path("link.prof");
	char *victim = capture_file_path("victim"), *none = capture_file_path("no/such/x.prof");

	assert_int_equal(mkdir(folder, 0700), 0);
	put_file(victim, "precious");
	assert_int_equal(symlink(victim, link), 0);
	expect_refused(folder, "is a directory");
	expect_refused(link, "symbolic link");
	expect_refused(none, "No such file");
	expect_file(victim, "precious");
	free(folder);
	free(link);
	free(victim);
	free(none);
}

/* Records until the writer says that it has failed; how many samples that took. */
static size_t record_until_failure(struct random_capture *r, struct capture_writer *w)
{
	random_capture_begin(r, w);
	for (int i = 0; i < 100 && !capture_writer_failed(w); i++)
		random_capture_run(r, w, 100);
	assert_true(capture_writer_failed(w));
	size_t samples = r->samples.count;
	random_capture_run(r, w, 1000);
	return samples;
}

static void expect_failure(struct capture_writer *w, int code)
{
	uint64_t size;
	struct error *err = capture_writer_finish(w, &size);

	assert_non_null(err);
	assert_int_equal(err->kind, ERROR_SYSTEM);
	assert_int_equal(err->code, code);
	assert_non_null(strstr(err->message, "samples are not in the recording"));
	error_destroy(err);
}

/* With SIGXFSZ at its default, which would end us. */
TEST(test_file_size_limit)
{
	char *path = capture_file_path("limit.prof");
	struct rlimit before, limit;
	struct random_capture r;
	struct capture_writer *w;

	random_capture_init(&r, &options);
	signal(SIGXFSZ, SIG_DFL);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	limit = before;
	limit.rlim_cur = 10000;
	assert_null(capture_writer_create(path, &w));
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	record_until_failure(&r, w);
	size_t recorded = r.samples.count;
	expect_failure(w, EFBIG);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	struct profile *p = capture_read_file(path);
	assert_true(p->samples.count > 0);
	capture_expect_equal(&r, p, p->samples.count, false);
	/* The end mark found room, so what is not there is known exactly. */
	assert_int_equal(capture_note_count(p, NOTE_INCOMPLETE), 0);
	assert_int_equal(p->samples.count + p->stats.lost, recorded);
	profile_destroy(p);
	random_capture_deinit(&r);
	free(path);
}

TEST(test_full_device)
{
	struct random_capture r;
	struct capture_writer *w;

	random_capture_init(&r, &options);
	assert_null(capture_writer_create("/dev/full", &w));
	record_until_failure(&r, w);
	expect_failure(w, ENOSPC);
	random_capture_deinit(&r);
}

TEST(test_full_disk)
{
	struct random_capture r;
	struct capture_writer *w;
	char *folder = capture_file_path("disk"), *path = capture_file_path("disk/x.prof");
	char *mount = xasprintf("mount -t tmpfs -o size=16k none %s 2>/dev/null", folder);
	char *umount = xasprintf("umount %s", folder);

	assert_int_equal(mkdir(folder, 0700), 0);
	if (geteuid() == 0 && system(mount) == 0) {
		random_capture_init(&r, &options);
		assert_null(capture_writer_create(path, &w));
		record_until_failure(&r, w);
		expect_failure(w, ENOSPC);
		struct profile *p = capture_read_file(path);
		assert_true(p->samples.count > 0);
		capture_expect_equal(&r, p, p->samples.count, false);
		profile_destroy(p);
		random_capture_deinit(&r);
		assert_int_equal(system(umount), 0);
	} else {
		print_message("# no mount here: a full disk is not tried\n");
	}
	free(folder);
	free(path);
	free(mount);
	free(umount);
}

/* To a reader that goes away; with SIGPIPE at its default. */
TEST(test_broken_pipe)
{
	char *path = capture_file_path("pipe");
	struct random_capture r;
	struct capture_writer *w;

	signal(SIGPIPE, SIG_DFL);
	assert_int_equal(mkfifo(path, 0600), 0);
	int fd = open(path, O_RDONLY | O_NONBLOCK);
	assert_true(fd >= 0);
	random_capture_init(&r, &options);
	assert_null(capture_writer_create(path, &w));
	close(fd);
	record_until_failure(&r, w);
	expect_failure(w, EPIPE);
	random_capture_deinit(&r);
	free(path);
}

TEST(test_standard_output)
{
	char *path = capture_file_path("stdout.prof");
	struct random_capture r;
	int status;

	random_capture_init(&r, &options);
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		struct capture_writer *w;
		int fd = open(path, O_WRONLY | O_CREAT, 0600);
		if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0 || capture_writer_create("-", &w) != NULL)
			_exit(1);
		random_capture_begin(&r, w);
		random_capture_run(&r, w, 1000);
		_exit(capture_writer_finish(w, NULL) != NULL);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	struct profile *p = capture_read_file(path);
	assert_int_equal(p->samples.count, 1000);
	assert_int_equal(capture_note_count(p, NOTE_INCOMPLETE), 0);
	profile_destroy(p);
	random_capture_deinit(&r);
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_old_file_is_kept),
		cmocka_unit_test(test_rewriting_keeps_the_mode),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_file_size_limit),
		cmocka_unit_test(test_full_device),
		cmocka_unit_test(test_full_disk),
		cmocka_unit_test(test_broken_pipe),
		cmocka_unit_test(test_standard_output),
	};

	return cmocka_run_group_tests_name("capture_output", tests, NULL, NULL);
}
