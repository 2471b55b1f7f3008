/*
 * The known processors, found by name or by ELF machine number.
 */
#include "arch/arch.h"

#include "base/compiler.h"

static const struct arch *const archs[] = {&arch_x86_64, &arch_aarch64};

const struct arch *arch_here(void)
{
#if defined(__x86_64__)
	return &arch_x86_64;
#elif defined(__aarch64__)
	return &arch_aarch64;
#else
#error "unknown processor: see struct arch in arch/arch.h"
#endif
}

const struct arch *arch_of_machine(unsigned int machine)
{
	for (size_t i = 0; i < ARRAY_SIZE(archs); i++)
		if (archs[i]->machine == machine)
			return archs[i];
	return NULL;
}

const struct arch *arch_of_name(struct str name)
{
	for (size_t i = 0; i < ARRAY_SIZE(archs); i++)
		if (str_equal(name, str_from(archs[i]->name)))
			return archs[i];
	return NULL;
}
