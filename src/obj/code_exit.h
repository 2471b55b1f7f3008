#ifndef SONDE_OBJ_CODE_EXIT_H
#define SONDE_OBJ_CODE_EXIT_H

/*
 * The unwind rule of a place in code whose rules and function start are unknown: derived from the
 * path from there to the function's return.
 */

#include "obj/cfi.h"
#include "obj/code_frames.h"

#define CODE_EXIT_NOT_RESTORED INT64_MIN

/* Of the first instruction: sp, bp, what is in memory at sp + origin, or register number origin. */
enum exit_base { EXIT_SP, EXIT_BP, EXIT_SAVED, EXIT_REGISTER };

/* Where sp and bp are, from a base. */
struct exit_state {
	enum exit_base base;
	bool has_own;	/* bp is own_bp + base: it was set on the way */
	bool is_gone;	/* bp is the caller's again */
	bool is_other;	/* bp is not what it was, and nothing more is known of it */
	bool is_adrift; /* where sp is is not known */
	int64_t sp, own_bp, origin;
	int64_t bp_slot, bx_slot; /* from where they were taken; or CODE_EXIT_NOT_RESTORED */
};

/* A way that has come so far. */
struct code_exit {
	struct exit_state state;
	bool leads_on; /* it jumps to other code */
	uint64_t next_addr;
};

/* At the place that the rule is for. */
static inline struct code_exit code_exit_begin(void)
{
	return (struct code_exit){
		.state = {.bp_slot = CODE_EXIT_NOT_RESTORED, .bx_slot = CODE_EXIT_NOT_RESTORED}};
}

/*
 * Goes on from the instruction at code->bytes[at]. True and a rule of kind CFI_CODE_SP,
 * CFI_CODE_BP, CFI_CODE_SAVED or CFI_CODE_REGISTER; or false, and more code may help. If
 * exit->leads_on then, it is that at exit->next_addr.
 */
bool code_exit_rule(
	const struct code_piece *code, size_t at, struct code_exit *exit, struct cfi_rule *rule);

#endif
