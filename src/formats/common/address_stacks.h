#ifndef SONDE_FORMATS_COMMON_ADDRESS_STACKS_H
#define SONDE_FORMATS_COMMON_ADDRESS_STACKS_H

/*
 * Stacks given as addresses, leaf first, followed by the mappings of the process: pprof's legacy
 * formats.  Most are text, "0x55f4e445d1d8 0x7fdc8c84524a".  Rows are read twice:
 *
 *  *	address_stacks_init, address_stacks_maps or maps_text_read
 *  *	address_stacks_take, address_stacks_want     for each row
 *  *	address_stacks_resolve
 *  *	address_stacks_take, address_stacks_stack    for each row
 *  *	address_stacks_finish
 *
 * Readers without text empty vas and add the addresses themselves, instead of calling
 * address_stacks_take.
 */

#include "formats/common/maps_text.h"

struct address_stacks {
	struct builder *builder;
	struct mapped_code *code;
	struct maps_text maps;
	VEC(uint64_t) vas; /* of the current row, leaf first */
	int64_t budget;	   /* bytes that further stacks may take */
	int64_t price;	   /* bytes per stack */
	uint32_t newest;   /* stack */
	uint64_t cut;	   /* stacks truncated because the budget was used up */
};

/* Call it once the builder has its metrics, that many. */
void address_stacks_init(
	struct address_stacks *s, struct builder *builder, size_t metric_count, size_t input_size);
/*
 * Finds "MAPPED_LIBRARIES:" or "--- Memory map: ---" in the whole text, and reads the mappings
 * after it.
 */
void address_stacks_maps(struct address_stacks *s, struct str text);
/* Whether a line begins the mappings, and so ends the rows. */
bool address_stacks_is_end(struct str line);
/*
 * Takes the addresses of a row, replacing those of the previous row.  All are return addresses; the
 * call is one byte before.
 */
void address_stacks_take(struct address_stacks *s, struct str row);
void address_stacks_want(struct address_stacks *s);
void address_stacks_resolve(struct address_stacks *s);
stack_id address_stacks_stack(struct address_stacks *s);
/* Adds the notes, and frees everything. */
void address_stacks_finish(struct address_stacks *s);

#endif
