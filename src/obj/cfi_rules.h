#ifndef SONDE_OBJ_CFI_RULES_H
#define SONDE_OBJ_CFI_RULES_H

/*
 * The dictionary of rules of one table: the complete contents of a row become a number.  Rules
 * never move.  Private to the compiler of CFI tables.
 */

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "obj/cfi.h"

/* Rule 0 is "no rule"; the last number means that the rule is not known yet. */
enum { CFI_RULE_NONE = 0, CFI_RULE_UNKNOWN = 0xffff, CFI_RULES_MAX = CFI_RULE_UNKNOWN };
enum { CFI_RULES_CHUNK_BITS = 8, CFI_RULES_CHUNK = 1 << CFI_RULES_CHUNK_BITS };
enum { CFI_RULES_CHUNKS = (CFI_RULES_MAX + 1) / CFI_RULES_CHUNK, CFI_MEMO_SIZE = 1024 };

struct cfi_rules {
	const struct arch *arch;
	bool has_go_frames;			   /* .debug_frame is that of Go's linker */
	struct cfi_rule *chunks[CFI_RULES_CHUNKS]; /* CFI_RULES_CHUNK rules each, in the arena */
	size_t count;
	VEC(struct cfi_slow_rule *) slow_rules; /* in the arena */
	struct arena *arena;
	struct str_table expressions;
	struct map numbers;	    /* key of a fast rule → number */
	struct str_table slow_keys; /* bytes of a struct cfi_slow_rule → its index */
	VEC(uint16_t) slow_numbers; /* index of a slow rule → its rule number */
	struct {
		uint64_t a, b;
		uint16_t number;
	} memo[CFI_MEMO_SIZE]; /* the latest of numbers */
	bool too_many;	       /* some rows have "no rule" instead of theirs */
};

/* arch NULL: the one that sonde was built for. */
void cfi_rules_init(struct cfi_rules *rules, const struct arch *arch);
void cfi_rules_deinit(struct cfi_rules *rules);
/* The number of a row; its expressions are in the section, by offset. */
uint16_t cfi_rules_number(struct cfi_rules *rules, const struct cfi_section *section,
	const struct cfi_slow_rule *row);
size_t cfi_rules_size_bytes(const struct cfi_rules *rules);

static inline const struct cfi_rule *cfi_rules_at(const struct cfi_rules *rules, uint16_t number)
{
	return &rules->chunks[number >> CFI_RULES_CHUNK_BITS][number & (CFI_RULES_CHUNK - 1)];
}

#endif
