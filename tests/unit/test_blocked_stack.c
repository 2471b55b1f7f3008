/*
 * Stacks of sleeping threads, read from outside.
 */

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/compiler.h"
#include "record/switches/blocked_stack.h"
#include "../unit.h"

TEST(test_parse)
{
	static const struct {
		const char *text;
		bool asleep;
		int64_t number;
		uint64_t third, sp, pc;
	} rows[] = {
		{"running\n", false, 0, 0, 0, 0},
		{"", false, 0, 0, 0, 0},
		{"230 0x0 0x0 0x7f10 0x0 0x0 0x1 0x7ffe00 0x7f9e03\n", true, 230, 0x7f10, 0x7ffe00,
			0x7f9e03},
		{"-1 0x7ffe00 0x7f9e03\n", true, -1, 0, 0x7ffe00, 0x7f9e03},
		{"0 0x0 0xffffffffffffffff 0x1 0x2 0x3 0x4 0x10 0x20\n", true, 0, 1, 0x10, 0x20},
		{"-1 0x7ffe00\n", false, 0, 0, 0, 0},
		{"230 0x0 0x0 0x7f10 0x0 0x7ffe00 0x7f9e03\n", false, 0, 0, 0, 0},
		{"0 0x0 0x1ffffffffffffffff 0x1 0x2 0x3 0x4 0x10 0x20\n", false, 0, 0, 0, 0},
		{"0 0x0 0x1 0x2 0x3 0x4 0x5 0x10 0x20 0x30\n", false, 0, 0, 0, 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct blocked_call call = {0};

		assert_int_equal(blocked_stack_parse(rows[i].text, &call), rows[i].asleep);
		assert_int_equal(call.number, rows[i].number);
		assert_int_equal(call.arguments[2], rows[i].third);
		assert_int_equal(call.sp, rows[i].sp);
		assert_int_equal(call.pc, rows[i].pc);
	}
}

/* A child that sleeps in pause(), with a mark on its stack. */
static pid_t start_sleeper(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		volatile char mark[] = "a mark that is on the stack";

		while (mark[0])
			pause();
	}
	return pid;
}

static void end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

TEST(test_asleep)
{
	struct blocked_stack b;
	struct perf_sample sample;
	enum blocked_state found = BLOCKED_RUNNING;
	pid_t pid = start_sleeper();

	blocked_stack_init(&b);
	for (int i = 0; i < 1000 && found == BLOCKED_RUNNING; i++) {
		usleep(5000);
		found = blocked_stack_read(&b, pid, pid, &sample);
	}
	if (found == BLOCKED_REFUSED) {
		end_child(pid);
		blocked_stack_deinit(&b);
		skip();
	}
	assert_int_equal(found, BLOCKED_ASLEEP);
	assert_true(sample.has_user && !sample.in_kernel);
	assert_int_equal(sample.regs.known, 1u << UNWIND_REG_SP | 1u << UNWIND_REG_PC);
	assert_int_equal(sample.pid, pid);
	assert_int_equal(sample.tid, pid);
	assert_true(sample.time_ns > 0);
	assert_non_null(memmem(sample.stack, sample.stack_size, "that is on the stack", 20));
	end_child(pid);
	blocked_stack_deinit(&b);
}

TEST(test_not_asleep)
{
	struct blocked_stack b;
	struct perf_sample sample = {.pid = 77};
	pid_t pid = fork();

	if (pid == 0)
		for (volatile int i = 0;; i++)
			;
	blocked_stack_init(&b);
	for (int i = 0; i < 50; i++) {
		usleep(1000);
		assert_int_not_equal(blocked_stack_read(&b, pid, pid, &sample), BLOCKED_ASLEEP);
	}
	end_child(pid);
	assert_int_equal(blocked_stack_read(&b, pid, pid, &sample), BLOCKED_REFUSED);
	assert_int_equal(sample.pid, 77);
	blocked_stack_deinit(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_asleep),
		cmocka_unit_test(test_not_asleep),
	};

	return cmocka_run_group_tests_name("blocked_stack", tests, NULL, NULL);
}
