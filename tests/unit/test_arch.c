/*
 * Processors: what their code names, by bytes written out here, and that their tables agree.
 */

#include <string.h>

#include "arch/arch.h"
#include "base/compiler.h"
#include "../unit.h"

static const struct arch *const all[] = {&arch_x86_64, &arch_aarch64};

TEST(test_names_and_machines_find_them)
{
	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		assert_ptr_equal(arch_of_machine(all[i]->machine), all[i]);
		assert_ptr_equal(arch_of_name(str_from(all[i]->name)), all[i]);
	}
	assert_null(arch_of_machine(0));
	assert_null(arch_of_name(STR("pdp11")));
}

TEST(test_a_sample_is_asked_for_what_is_followed)
{
	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		uint64_t mask = 0;
		uint32_t slots = 0;

		for (size_t n = 0; n < all[i]->perf_count; n++) {
			uint8_t reg = all[i]->perf_regs[n].reg;

			if (reg == ARCH_REG_NONE)
				continue;
			mask |= UINT64_C(1) << n;
			assert_false(slots >> reg & 1);
			slots |= 1u << reg;
		}
		assert_int_equal(mask, all[i]->perf_mask);
		assert_true(slots >> ARCH_REG_PC & 1);
		assert_true(slots >> ARCH_REG_SP & 1);
		assert_int_equal(all[i]->callee_saved & ~slots, 0);
	}
}

/* ---- x86-64 ---- */

enum { HERE = 0x401000 };

static void expect(bool found, const struct arch_target *target, bool is_slot, uint64_t addr)
{
	assert_true(found);
	assert_int_equal(target->is_slot, is_slot);
	assert_int_equal(target->addr, addr);
}

/* The call ends at the end of the bytes, and returns to HERE. */
#define CALLS(code, is_slot, addr)                                                                 \
	expect(arch_x86_64.call_target((const uint8_t *)(code), sizeof(code) - 1, HERE, &target),  \
		&target, is_slot, addr)
#define NO_CALL(code)                                                                              \
	assert_false(                                                                              \
		arch_x86_64.call_target((const uint8_t *)(code), sizeof(code) - 1, HERE, &target))

TEST(test_calls_on_x86)
{
	struct arch_target target;

	CALLS("\x90\x90\x90\xe8\x10\0\0\0", false, HERE + 0x10);
	CALLS("\x90\x90\x90\xe8\xf0\xff\xff\xff", false, HERE - 0x10);
	/* call *0x20(%rip) */
	CALLS("\x90\x90\xff\x15\x20\0\0\0", true, HERE + 0x20);
	/* mov 0x40(%rip), %rax; call *%rax */
	CALLS("\x90\x48\x8b\x05\x40\0\0\0\xff\xd0", true, HERE - 2 + 0x40);
	/* lea 0x40(%rip), %r12; mov %rbx, %rdi; call *%r12 */
	CALLS("\x4c\x8d\x25\x40\0\0\0\x48\x89\xdf\x41\xff\xd4", false, HERE - 6 + 0x40);
	/* The register is written to, or another call comes, between the two. */
	NO_CALL("\x48\x8b\x05\x40\0\0\0\x48\x89\xd8\xff\xd0");
	NO_CALL("\x48\x8b\x05\x40\0\0\0\xe8\0\0\0\0\x90\xff\xd0");
	/* What is called is not there yet: call *%rax, call *8(%rax), no call. */
	NO_CALL("\x90\x90\x90\x90\x90\x90\xff\xd0");
	NO_CALL("\x90\x90\x90\x90\x90\xff\x50\x08");
	NO_CALL("\x90\x90\x90\x90\x90\x90\x90\x90");
	NO_CALL("\xff\xd0");
}

#define STUB(code) arch_x86_64.stub_target((const uint8_t *)(code), HERE, &target)

TEST(test_stubs_on_x86)
{
	struct arch_target target;
	uint64_t slot;

	expect(STUB("\xe9\x20\0\0\0\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90"), &target, false,
		HERE + 5 + 0x20);
	expect(STUB("\xff\x25\x20\0\0\0\x68\0\0\0\0\xe9\0\0\0\0"), &target, true, HERE + 6 + 0x20);
	/* endbr64; bnd jmp *0x20(%rip) */
	expect(STUB("\xf3\x0f\x1e\xfa\xf2\xff\x25\x20\0\0\0\x90\x90\x90\x90\x90"), &target, true,
		HERE + 11 + 0x20);
	assert_false(STUB("\x55\x48\x89\xe5\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90"));
	/* mov $1, %r11d; jmp *0x20(%rip): a stub of the PLT, though it does more than jump. */
	static const uint8_t stub[] = {
		0x41, 0xbb, 1, 0, 0, 0, 0xff, 0x25, 0x20, 0, 0, 0, 0x90, 0x90, 0x90, 0x90};
	assert_true(arch_x86_64.plt_slot(stub, sizeof(stub), HERE, &slot));
	assert_int_equal(slot, HERE + 12 + 0x20);
	assert_false(arch_x86_64.plt_slot(stub, 11, HERE, &slot));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_and_machines_find_them),
		cmocka_unit_test(test_a_sample_is_asked_for_what_is_followed),
		cmocka_unit_test(test_calls_on_x86),
		cmocka_unit_test(test_stubs_on_x86),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
