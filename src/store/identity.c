/*
 * XXH3 (Yann Collet), from libxxhash's header.  Its results have been fixed since version 0.8.
 * Things are hashed as RowBinary, so that different things have different bytes.
 */
#include "store/identity.h"
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
