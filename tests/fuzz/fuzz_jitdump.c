/*
 * Jitdumps: the input is one, whole; then the same as a file that grows, with rules asked for in
 * between.
 */
#include <assert.h>
#include <string.h>

#include "obj/jit_rules.h"
#include "obj/jitdump.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void find_places(struct str input)
{
	struct jitdump *dump = jitdump_parse(input);
	struct arena *arena = arena_create();
	struct jitdump_place place;

	for (uint64_t va = 0x1000; va < 0x1400; va += 0x20) {
		for (uint64_t time_ns = 0; time_ns < 500; time_ns += 100) {
			uint8_t code[48];
			if (jitdump_find(dump, va, time_ns, arena, &place))
				assert(place.function.size > 0);
			(void)jitdump_code(dump, va - 16, time_ns, code, sizeof(code));
		}
	}
	assert(!jitdump_is_cut(dump) || jitdump_count(dump) <= input.size);
	arena_destroy(arena);
	jitdump_close(dump);
}

static bool read_input(void *context, uint64_t offset, void *bytes, size_t size)
{
	const struct str *input = context;

	if (offset > input->size || input->size - offset < size)
		return false;
	memcpy(bytes, input->data + offset, size);
	return true;
}

static void find_rules(struct jit_rules *rules, const struct jitdump_reader *reader)
{
	struct cfi_rule rule;

	for (uint64_t va = 0x1000; va < 0x2100; va += 0x10)
		if (jit_rules_find(rules, reader, va, va % 5 * 100, &rule))
			assert(rule.kind == CFI_CODE_SP || rule.kind == CFI_CODE_BP ||
				rule.kind == CFI_END);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str input = {(const char *)data, size};
	struct jitdump_reader reader = {.read = read_input, .context = &input};
	struct jitdump_record record;
	struct jit_rules rules = {0};

	find_places(input);
	while (jitdump_next(&reader, &record)) {
		jit_rules_add(&rules, &record);
		if (rules.codes.count < 8)
			find_rules(&rules, &reader);
	}
	find_rules(&rules, &reader);
	jit_rules_deinit(&rules);
	return 0;
}
