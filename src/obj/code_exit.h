#ifndef SONDE_OBJ_CODE_EXIT_H
#define SONDE_OBJ_CODE_EXIT_H

/*
 * The unwind rule of a place in code whose rules and function start are unknown: derived from the
 * path from there to the function's return.
 */

#include "obj/cfi.h"
#include "obj/code_frames.h"

#define CODE_EXIT_NOT_RESTORED INT64_MIN

/*
 * At the first instruction: sp, bp, the value in memory at sp + origin, or register number origin.
 */
enum exit_base { EXIT_SP, EXIT_BP, EXIT_SAVED, EXIT_REGISTER };

/* Where sp and bp are, from a base. */
struct exit_state {
	enum exit_base base;
	bool has_own;	/* bp is own_bp + base: it was set on this path */
	bool is_gone;	/* bp is the caller's again */
	bool is_other;	/* bp has changed to an unknown value */
	bool is_adrift; /* sp is unknown */
	int64_t sp, own_bp, origin;
	int64_t bp_slot, bx_slot; /* where they were restored from; or CODE_EXIT_NOT_RESTORED */
};

/* A path up to some instruction. */
struct code_exit {
	struct exit_state state;
	bool leads_on; /* the path jumps to other code */
	uint64_t next_addr;
};

/* A path that begins at the place that the rule is for. */
static inline struct code_exit code_exit_begin(void)
{
	return (struct code_exit){
		.state = {.bp_slot = CODE_EXIT_NOT_RESTORED, .bx_slot = CODE_EXIT_NOT_RESTORED}};
}

/*
 * Continues from the instruction at code->bytes[at].  Returns true and a rule of kind CFI_CODE_SP,
 * CFI_CODE_BP, CFI_CODE_SAVED or CFI_CODE_REGISTER; or false if more code may help.  If
 * exit->leads_on is then set, that code is at exit->next_addr.
 */
bool code_exit_rule(
	const struct code_piece *code, size_t at, struct code_exit *exit, struct cfi_rule *rule);

#endif
