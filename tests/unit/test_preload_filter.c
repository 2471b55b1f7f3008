/*
 * What a seccomp filter answers to the calls of the preloaded library.
 */
#include "preload/filter.h"
#include "../unit.h"

#include <linux/audit.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <sys/syscall.h>

#define LOAD_NUMBER    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))
#define RETURN(action) BPF_STMT(BPF_RET | BPF_K, (action))
#define ALLOWS(code)   preload_filter_allows(code, sizeof(code) / sizeof((code)[0]))

/* Another answer to one call than to all others. */
static bool allows_but(unsigned number, unsigned action)
{
	const struct sock_filter code[] = {LOAD_NUMBER,
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), RETURN(action),
		RETURN(SECCOMP_RET_ALLOW)};

	return ALLOWS(code);
}

TEST(all_is_allowed)
{
	const struct sock_filter code[] = {RETURN(SECCOMP_RET_ALLOW)};

	assert_true(ALLOWS(code));
	assert_true(allows_but(SYS_swapoff, SECCOMP_RET_KILL_PROCESS));
	assert_true(allows_but(SYS_rt_sigreturn, SECCOMP_RET_LOG));
}

TEST(what_we_need_is_forbidden)
{
	static const unsigned actions[] = {SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_KILL_THREAD,
		SECCOMP_RET_TRAP, SECCOMP_RET_TRACE, SECCOMP_RET_USER_NOTIF};

	for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++) {
		assert_false(allows_but(SYS_rt_sigreturn, actions[i]));
		assert_false(allows_but(SYS_process_vm_readv, actions[i]));
	}
	/* An error ends sampling here, and there only a copy. */
	assert_false(allows_but(SYS_clock_gettime, SECCOMP_RET_ERRNO | 1));
	assert_true(allows_but(SYS_process_vm_readv, SECCOMP_RET_ERRNO | 1));
}

TEST(arguments_are_looked_at)
{
	/* Of madvise all but one advice. */
	const struct sock_filter code[] = {LOAD_NUMBER,
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_madvise, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 23, 0, 1), RETURN(SECCOMP_RET_TRAP),
		RETURN(SECCOMP_RET_ALLOW)};

	assert_false(ALLOWS(code));
}

/* By all kinds of instructions: the number doubled, halved, kept and compared. */
TEST(filters_are_calculated)
{
	const struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0),
		RETURN(SECCOMP_RET_KILL_PROCESS), LOAD_NUMBER,
		BPF_STMT(BPF_ALU | BPF_MUL | BPF_K, 2), BPF_STMT(BPF_ST, 3),
		BPF_STMT(BPF_LDX | BPF_W | BPF_MEM, 3), BPF_STMT(BPF_MISC | BPF_TXA, 0),
		BPF_STMT(BPF_ALU | BPF_RSH | BPF_K, 1),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_gettid, 0, 1),
		RETURN(SECCOMP_RET_KILL_PROCESS), RETURN(SECCOMP_RET_ALLOW)};

	assert_false(ALLOWS(code));
}

TEST(what_is_no_filter_is_refused)
{
	const struct sock_filter endless[] = {BPF_STMT(BPF_LD | BPF_W | BPF_IMM, 1)};
	const struct sock_filter far[] = {BPF_STMT(BPF_JMP | BPF_JA, UINT32_MAX)};
	const struct sock_filter outside[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, sizeof(struct seccomp_data)),
		RETURN(SECCOMP_RET_ALLOW)};
	const struct sock_filter odd[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 2), RETURN(SECCOMP_RET_ALLOW)};
	const struct sock_filter memory[] = {
		BPF_STMT(BPF_ST, BPF_MEMWORDS), RETURN(SECCOMP_RET_ALLOW)};
	const struct sock_filter by_nought[] = {
		BPF_STMT(BPF_ALU | BPF_DIV | BPF_K, 0), RETURN(SECCOMP_RET_ALLOW)};

	assert_false(ALLOWS(endless));
	assert_false(ALLOWS(far));
	assert_false(ALLOWS(outside));
	assert_false(ALLOWS(odd));
	assert_false(ALLOWS(memory));
	assert_false(ALLOWS(by_nought));
	assert_false(preload_filter_allows(NULL, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_is_allowed),
		cmocka_unit_test(what_we_need_is_forbidden),
		cmocka_unit_test(arguments_are_looked_at),
		cmocka_unit_test(filters_are_calculated),
		cmocka_unit_test(what_is_no_filter_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
