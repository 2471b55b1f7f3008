/*
 * Stacks of addresses.  See address_stacks.h.
 */
#include "formats/common/address_stacks.h"

#include "formats/common/importer.h"
#include "formats/common/text_field.h"

/* The stacks of an input may take this, plus so many times its size. */
#define BUDGET_FREE_BYTES ((int64_t)40 << 20)
#define BUDGET_RATIO	  9
#define STACK_BYTES	  40
#define WEIGHT_BYTES	  16

void address_stacks_init(
	struct address_stacks *s, struct builder *builder, size_t metric_count, size_t input_size)
{
	*s = (struct address_stacks){.builder = builder,
		.code = mapped_code_create(builder, input_size),
		.budget = BUDGET_FREE_BYTES + BUDGET_RATIO * (int64_t)input_size,
		.price = STACK_BYTES + WEIGHT_BYTES * (int64_t)metric_count};
}

bool address_stacks_is_end(struct str line)
{
	struct str rest;

	return text_find(line, STR("MAPPED_LIBRARIES:"), &rest) ||
	       text_find(line, STR("--- Memory map: ---"), &rest);
}

void address_stacks_maps(struct address_stacks *s, struct str text)
{
	while (text.size && !address_stacks_is_end(str_take_line(&text)))
		;
	maps_text_read(&s->maps, text, s->code);
}

void address_stacks_take(struct address_stacks *s, struct str row)
{
	uint64_t va;

	s->vas.count = 0;
	while (text_find(row, STR("0x"), &row))
		if (text_take_hex(&row, &va))
			vec_push(&s->vas, va ? va - 1 : 0);
}

void address_stacks_want(struct address_stacks *s)
{
	for (size_t i = 0; i < s->vas.count; i++)
		mapped_code_want(s->code, maps_text_find(&s->maps, s->vas.data[i]), s->vas.data[i]);
}

void address_stacks_resolve(struct address_stacks *s)
{
	mapped_code_resolve(s->code);
}

stack_id address_stacks_stack(struct address_stacks *s)
{
	size_t left = s->vas.count;
	stack_id stack = {0};

	while (left && s->budget > 0) {
		uint64_t va = s->vas.data[--left];
		struct mapped_frames found =
			mapped_code_frames(s->code, maps_text_find(&s->maps, va), va);

		for (uint32_t i = found.count; i-- > 0;)
			stack = builder_stack(s->builder, stack, found.frames[i]);
		if (stack.i > s->newest) {
			s->budget -= s->price * (int64_t)(stack.i - s->newest);
			s->newest = stack.i;
		}
	}
	s->cut += left != 0;
	return stack;
}

void address_stacks_finish(struct address_stacks *s)
{
	cut_stacks_note(s->builder, s->cut);
	maps_text_deinit(&s->maps);
	vec_deinit(&s->vas);
	mapped_code_destroy(s->code);
}
