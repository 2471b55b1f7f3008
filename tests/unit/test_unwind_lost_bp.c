/*
 * Frames with a frame pointer, walked without knowing it: as of threads seen asleep.
 *
 * FN_SP16 is a system call's wrapper, FN_BP the function that called it, which FN_END or FN_SP16
 * called.
 */

#include <string.h>

#include "../fake_stack.h"
#include "../unit.h"
#include "base/compiler.h"

/* Places behind calls, which the tests put there. */
enum {
	IN_BP = FN_BP + 0x40,	/* of FN_SP16 */
	IN_END = FN_END + 0x40, /* of FN_BP, or of what a test says */
	IN_END_TOO = FN_END + 0x80,
	IN_SP16 = FN_SP16 + 0x40,
	CALLER_WORDS = 2, /* the frame of FN_SP16 */
};

static uint8_t code[OBJECT_SIZE];

static bool read_code(struct unwind_memory *memory, uint64_t va, uint8_t *bytes, size_t size)
{
	(void)memory;
	if (va < OBJECT_VA || va - OBJECT_VA > sizeof(code) - size)
		return false;
	memcpy(bytes, code + (va - OBJECT_VA), size);
	return true;
}

static void put_code(uint64_t place, const char *bytes, size_t size)
{
	memcpy(code + place, bytes, size);
}

static void put_call(uint64_t end, uint64_t target)
{
	int32_t distance = (int32_t)(target - end);

	code[end - 5] = 0xe8;
	memcpy(code + end - 4, &distance, sizeof(distance));
}

static void put_indirect_call(uint64_t end)
{
	put_code(end - 2, "\xff\xd0", 2);
}

/* Asleep in FN_SP16, which FN_BP called: its frame begins at the word CALLER_WORDS. */
static void init(struct fake_stack *s)
{
	memset(code, 0x90, sizeof(code));
	fake_stack_init(s, STACK_WORDS);
	s->memory.read_code = read_code;
	put_call(IN_BP, FN_SP16);
	put_call(IN_END, FN_BP);
	s->words[1] = code_va(IN_BP);
	fake_stack_set(s, code_va(FN_SP16 + 1), word_va(0), 0);
	s->regs.known &= ~(1u << UNWIND_REG_BP);
}

static void put_pair(struct fake_stack *s, size_t word, uint64_t bp, uint64_t return_addr)
{
	s->words[word] = bp;
	s->words[word + 1] = code_va(return_addr);
}

/* The walk goes through FN_BP, whose frame pointer is at that word, to its caller. */
static void expect_frame_at(struct fake_stack *s, size_t word, uint64_t return_addr, size_t guessed)
{
	fake_stack_walk(s, NULL);
	assert_int_equal(s->stack.end, UNWIND_ROOT);
	assert_true(s->stack.count >= 3);
	assert_int_equal(s->stack.frames[1].pc, code_va(IN_BP));
	assert_int_equal(s->stack.frames[2].pc, code_va(return_addr));
	assert_int_equal(s->stack.frames[2].sp, word_va(word + 2));
	assert_int_equal(s->stack.guessed, guessed);
}

/* A direct call of the function settles it, whatever bp its caller had. */
TEST(test_direct_call)
{
	struct fake_stack s;

	init(&s);
	put_pair(&s, 30, 12345, IN_END);
	expect_frame_at(&s, 30, IN_END, 0);
	assert_int_equal(unwind_walker_counts(s.walker).heuristic_steps, 1);
	fake_stack_deinit(&s);
}

/* What a prologue makes room for can hold old frames that look right. */
TEST(test_prologue)
{
	static const char prologue[] =
		"\xf3\x0f\x1e\xfa\x55\x48\x89\xe5\x41\x57\x53\x48\x81\xec\xf0\x00\x00\x00";
	struct fake_stack s;

	init(&s);
	put_call(IN_END_TOO, FN_BP);
	put_pair(&s, 10, word_va(40), IN_END_TOO);
	put_pair(&s, CALLER_WORDS + 2 + 30, word_va(40), IN_END);
	expect_frame_at(&s, 10, IN_END_TOO, 0);
	fake_stack_deinit(&s);
	init(&s);
	put_code(FN_BP, prologue, sizeof(prologue) - 1);
	put_call(IN_END_TOO, FN_BP);
	put_pair(&s, 10, word_va(40), IN_END_TOO);
	/* The code is enough, whoever called. */
	put_call(IN_END, FN_RBX);
	put_pair(&s, CALLER_WORDS + 2 + 30, word_va(40), IN_END);
	expect_frame_at(&s, CALLER_WORDS + 2 + 30, IN_END, 0);
	fake_stack_deinit(&s);
}

/* Behind alloca the code says how far the frame pointer is at the least. */
TEST(test_alloca)
{
	static const char prologue[] = "\x55\x48\x89\xe5\x48\x81\xec\x00\x01\x00\x00"
				       "\x48\x29\xc4"; /* sub %rax, %rsp */
	struct fake_stack s;

	init(&s);
	put_code(FN_BP, prologue, sizeof(prologue) - 1);
	put_call(IN_END_TOO, FN_BP);
	put_pair(&s, 10, word_va(40), IN_END_TOO);
	put_pair(&s, 300, word_va(340), IN_END);
	expect_frame_at(&s, 300, IN_END, 0);
	fake_stack_deinit(&s);
}

/*
 * FN_SAVES_RBX has returned. It had called another function through a slot in memory, and leads to
 * where FN_BP's own return address is by now: behind a call of that.
 */
TEST(test_ghost)
{
	enum { IN_GHOST = FN_SAVES_RBX + 0x40, GHOST_WORDS = 3, OWN = 100 };
	struct fake_stack s;

	init(&s);
	put_indirect_call(IN_GHOST);
	put_pair(&s, OWN - GHOST_WORDS, word_va(300), IN_GHOST);
	put_pair(&s, OWN, word_va(340), IN_END);
	expect_frame_at(&s, OWN, IN_END, 0);
	/* Its caller is unknown, too: either may be, but the inner one has nothing against it. */
	put_indirect_call(IN_END);
	code[IN_END - 5] = 0x90;
	expect_frame_at(&s, OWN - GHOST_WORDS, IN_GHOST, 1);
	/* mov slot(%rip), %rax; call *%rax: the slot is right behind, and names FN_BP. */
	put_code(IN_END - 9, "\x48\x8b\x05", 3);
	memcpy(code + IN_END - 6, &(int32_t){2}, sizeof(int32_t));
	memcpy(code + IN_END, &(uint64_t){code_va(FN_BP)}, sizeof(uint64_t));
	expect_frame_at(&s, OWN, IN_END, 0);
	/* call *slot(%rip) */
	put_code(IN_END - 9, "\x90\x90\x90\xff\x15\x00\x00\x00\x00", 9);
	expect_frame_at(&s, OWN, IN_END, 0);
	fake_stack_deinit(&s);
}

/* A call of a stub enters what the stub's slot says. */
TEST(test_stub)
{
	struct fake_stack s;

	init(&s);
	/* endbr64; bnd jmp *slot(%rip) */
	put_code(FN_PLT, "\xf3\x0f\x1e\xfa\xf2\xff\x25\x05\x00\x00\x00", 11);
	memcpy(code + FN_PLT + 16, &(uint64_t){code_va(FN_BP)}, sizeof(uint64_t));
	put_call(IN_END, FN_PLT);
	put_pair(&s, 30, 1, IN_END);
	expect_frame_at(&s, 30, IN_END, 0);
	memcpy(code + FN_PLT + 16, &(uint64_t){code_va(FN_RBX)}, sizeof(uint64_t));
	expect_frame_at(&s, 30, IN_END, 1);
	fake_stack_deinit(&s);
}

/* The inner one of two calls of the function may be over. */
TEST(test_recursion)
{
	struct fake_stack s;

	init(&s);
	put_call(IN_BP + 0x20, FN_BP);
	put_pair(&s, 20, word_va(60), IN_BP + 0x20);
	put_pair(&s, 60, 1, IN_END);
	expect_frame_at(&s, 20, IN_BP + 0x20, 1);
	fake_stack_deinit(&s);
}

/* Words that look like code but lead nowhere are skipped. */
TEST(test_decoys)
{
	struct fake_stack s;

	init(&s);
	put_indirect_call(IN_SP16);
	put_indirect_call(IN_END_TOO);
	/* After no call; a caller without a return address of its own. */
	put_pair(&s, 6, word_va(40), IN_END + 3);
	put_pair(&s, 10, word_va(40), IN_SP16);
	put_pair(&s, 30, word_va(40), IN_END);
	expect_frame_at(&s, 30, IN_END, 0);
	/* Another function was called from there, which may have jumped to this one: only if
	 * there is nothing better. */
	put_call(IN_END, FN_RBX);
	expect_frame_at(&s, 30, IN_END, 1);
	put_pair(&s, 50, word_va(60), IN_END_TOO);
	expect_frame_at(&s, 50, IN_END_TOO, 1);
	fake_stack_deinit(&s);
}

/* A call that may be of this function is not given up for a sure one far out: that is a
 * recursion's. */
TEST(test_indirect_call)
{
	struct fake_stack s;

	init(&s);
	put_indirect_call(IN_END_TOO);
	put_pair(&s, 20, 1, IN_END_TOO);
	put_pair(&s, 1000, 1, IN_END);
	expect_frame_at(&s, 20, IN_END_TOO, 1);
	put_pair(&s, 1000, 0, 0);
	/* It is better, but not all that there can be. */
	put_pair(&s, 100, 1, IN_END);
	expect_frame_at(&s, 100, IN_END, 1);
	fake_stack_deinit(&s);
}

/* A frame in between that saved bp gives it back. */
TEST(test_saved_bp)
{
	struct fake_stack s;

	init(&s);
	put_call(IN_BP + 0x20, FN_BP);
	put_pair(&s, 20, word_va(200), IN_BP + 0x20);
	put_pair(&s, 60, word_va(100), IN_END); /* never looked at */
	put_pair(&s, 200, word_va(300), IN_END);
	fake_stack_walk(&s, NULL);
	assert_int_equal(s.stack.end, UNWIND_ROOT);
	assert_int_equal(s.stack.count, 4);
	assert_int_equal(s.stack.frames[3].sp, word_va(202));
	assert_int_equal(unwind_walker_counts(s.walker).heuristic_steps, 1);
	fake_stack_deinit(&s);
}

/* A frame that realigned the stack keeps a copy of its return address above bp. */
TEST(test_realigned)
{
	struct fake_stack s;

	init(&s);
	put_call(FN_REALIGNED + 0x40, FN_SP16);
	put_call(IN_END, FN_REALIGNED);
	s.words[1] = code_va(FN_REALIGNED + 0x40);
	put_pair(&s, 24, word_va(90), IN_END);
	s.words[23] = word_va(34); /* the CFA */
	s.words[33] = code_va(IN_END);
	fake_stack_walk(&s, NULL);
	assert_int_equal(s.stack.end, UNWIND_ROOT);
	assert_int_equal(s.stack.count, 3);
	assert_int_equal(s.stack.frames[2].sp, word_va(34));
	fake_stack_deinit(&s);
}

/* Code without rules, all along. */
TEST(test_bare)
{
	struct fake_stack s;

	init(&s);
	put_indirect_call(FN_BARE + 0x40);
	put_indirect_call(FN_BARE + 0x80);
	s.words[1] = code_va(FN_BARE + 0x40);
	put_pair(&s, 20, word_va(50), FN_BARE + 0x80);
	put_pair(&s, 50, 0, IN_END);
	fake_stack_walk(&s, NULL);
	assert_int_equal(s.stack.end, UNWIND_ROOT);
	assert_int_equal(s.stack.count, 4);
	assert_int_equal(s.stack.guess_at, 2);
	assert_int_equal(s.stack.guessed, 3);
	fake_stack_deinit(&s);
}

TEST(test_nothing_there)
{
	struct fake_stack s;

	init(&s);
	fake_stack_walk(&s, NULL);
	assert_int_equal(s.stack.end, UNWIND_NO_MEMORY);
	assert_int_equal(s.stack.count, 2);
	s.memory.read_code = NULL;
	fake_stack_walk(&s, NULL);
	assert_int_equal(s.stack.end, UNWIND_NO_MEMORY);
	fake_stack_deinit(&s);
}

/* A guessed stack is not what later ones are compared with. */
TEST(test_guesses_are_not_kept)
{
	struct unwind_history *history = unwind_history_create();
	struct fake_stack s;
	size_t word = CALLER_WORDS;

	init(&s);
	put_call(IN_END, FN_SP16);
	put_call(IN_SP16, FN_BP);
	put_pair(&s, 2, 77, IN_SP16);
	for (word = 4; word < 104; word += 2)
		s.words[word + 1] = code_va(FN_SP16 + 0x60);
	put_call(FN_SP16 + 0x60, FN_SP16);
	s.words[103] = code_va(IN_END);
	for (int i = 0; i < 3; i++) {
		fake_stack_walk(&s, history);
		assert_int_equal(s.stack.end, i < 1 ? UNWIND_ROOT : UNWIND_REUSED);
		unwind_history_keep(history, &s.stack);
	}
	unwind_history_clear(history);
	put_indirect_call(IN_SP16);
	code[IN_SP16 - 5] = 0x90;
	for (int i = 0; i < 3; i++) {
		fake_stack_walk(&s, history);
		assert_int_equal(s.stack.end, UNWIND_ROOT);
		assert_int_equal(s.stack.guessed, 1);
		unwind_history_keep(history, &s.stack);
	}
	unwind_history_destroy(history);
	fake_stack_deinit(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_direct_call),
		cmocka_unit_test(test_prologue),
		cmocka_unit_test(test_alloca),
		cmocka_unit_test(test_ghost),
		cmocka_unit_test(test_stub),
		cmocka_unit_test(test_recursion),
		cmocka_unit_test(test_decoys),
		cmocka_unit_test(test_indirect_call),
		cmocka_unit_test(test_saved_bp),
		cmocka_unit_test(test_realigned),
		cmocka_unit_test(test_bare),
		cmocka_unit_test(test_nothing_there),
		cmocka_unit_test(test_guesses_are_not_kept),
	};

	return cmocka_run_group_tests_name("unwind_lost_bp", tests, NULL, NULL);
}
