/*
 * XXH3 (Yann Collet), from libxxhash's header.  Its results have been fixed since version 0.8.
 * Things are hashed as RowBinary, so that different things have different bytes.
 */
#include "store/identity.h"
#include "base/alloc.h"
#include "base/wire.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t identity_bytes(struct str bytes)
{
	return XXH3_64bits(bytes.data, bytes.size);
}

uint64_t identity_after(uint64_t before, uint64_t next)
{
	uint8_t bytes[16];

	for (size_t i = 0; i < 8; i++) {
		bytes[i] = (uint8_t)(before >> (8 * i));
		bytes[8 + i] = (uint8_t)(next >> (8 * i));
	}
	return XXH3_64bits(bytes, sizeof(bytes));
}

uint64_t identity_frame(const struct profile *p, const struct frame *frame, struct strbuf *scratch)
{
	const struct function *f = &p->functions[frame->function.i];

	strbuf_clear(scratch);
	if (f->object.i != NO_ID) {
		const struct object *o = &p->objects[f->object.i];

		wire_put_u8(scratch, (uint8_t)o->kind);
		wire_put_str(scratch, profile_string(p, o->path));
		wire_put_str(scratch, profile_string(p, o->build_id));
	}
	wire_put_u64(scratch, frame->obj_addr);
	wire_put_str(scratch, profile_string(p, f->name));
	wire_put_str(scratch, profile_string(p, f->file));
	wire_put_u32(scratch, f->line);
	wire_put_str(scratch, profile_string(p, frame->file));
	wire_put_u32(scratch, frame->line);
	wire_put_u8(scratch, frame->is_inline);
	return identity_bytes(strbuf_str(scratch));
}

uint64_t identity_service(struct str service)
{
	return identity_bytes(service);
}

static void put_numbers(struct strbuf *b, const void *numbers, size_t count)
{
	const uint8_t *at = numbers;

	for (size_t i = 0; i < count; i++) {
		uint64_t number;

		memcpy(&number, at + i * sizeof(number), sizeof(number));
		wire_put_u64(b, number);
	}
}

/* The address in a load object, which stays when names are added; else the names. */
static uint64_t identity_place(
	const struct profile *p, const struct frame *frame, struct strbuf *scratch)
{
	object_id object = p->functions[frame->function.i].object;

	if (frame->obj_addr == 0 || object.i == NO_ID)
		return identity_frame(p, frame, scratch);
	const struct object *o = &p->objects[object.i];

	strbuf_clear(scratch);
	wire_put_u8(scratch, (uint8_t)o->kind);
	wire_put_str(scratch, profile_string(p, o->path));
	wire_put_str(scratch, profile_string(p, o->build_id));
	wire_put_u64(scratch, frame->obj_addr);
	return identity_bytes(strbuf_str(scratch));
}

/*
 * Of the stacks with weight, in any order.  Inlined calls of an address belong to its names, so
 * they are left out.
 */
static uint64_t identity_weights(const struct profile *p)
{
	uint64_t *of_frame = xcalloc(p->frame_count + 1, sizeof(*of_frame));
	uint64_t *of_stack = xcalloc(p->stack_count + 1, sizeof(*of_stack));
	struct strbuf scratch = {0};
	uint64_t sum = 0;

	for (size_t i = 0; i < p->frame_count; i++)
		of_frame[i] = identity_place(p, &p->frames[i], &scratch);
	for (uint32_t i = 1; i < p->stack_count; i++) {
		uint32_t frame = p->stack_frame[i].i;
		uint64_t outer = of_stack[profile_stack_parent(p, i)];
		bool is_inlined = p->frames[frame].is_inline && p->frames[frame].obj_addr;

		of_stack[i] = is_inlined ? outer : identity_after(outer, of_frame[frame]);
	}
	for (uint32_t i = 0; i < p->stack_count; i++) {
		uint64_t row = of_stack[i];

		for (size_t k = 0; k < p->metric_count; k++)
			row = identity_after(row, (uint64_t)profile_weight(p, k, i));
		sum += profile_row(p, i) ? row : 0;
	}
	strbuf_deinit(&scratch);
	free(of_frame);
	free(of_stack);
	return sum;
}

uint64_t identity_recording(const struct profile *p, struct str host, uint64_t start_unix_ns)
{
	const struct samples *s = &p->samples;
	struct strbuf b = {0};

	wire_put_str(&b, host);
	wire_put_str(&b, profile_string(p, p->format));
	wire_put_str(&b, profile_string(p, p->command));
	wire_put_u64(&b, start_unix_ns);
	wire_put_u64(&b, s->count);
	for (size_t i = 0; i < p->metric_count; i++) {
		wire_put_str(&b, profile_string(p, p->metrics[i].name));
		wire_put_str(&b, profile_string(p, p->metrics[i].unit));
		wire_put_u64(&b, (uint64_t)p->total[i]);
	}
	/* Times alone distinguish recordings; what has none is known by its stacks. */
	if (s->count && s->time_ns)
		put_numbers(&b, s->time_ns, s->count);
	else
		wire_put_u64(&b, identity_weights(p));
	uint64_t id = identity_bytes(strbuf_str(&b));

	strbuf_deinit(&b);
	return id;
}
