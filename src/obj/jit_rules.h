#ifndef SONDE_OBJ_JIT_RULES_H
#define SONDE_OBJ_JIT_RULES_H

/*
 * The unwind rules in a jitdump for code generated at run time, by the code's address and time.
 * They are fed with the dump's records, while the dump may still be growing.
 *
 * Source: the kernel's tools/perf/Documentation/jitdump-specification.txt, and tools/perf/util/
 * genelf.c for the assumed address of .eh_frame: after the code, rounded up to 8 bytes.  Pointers
 * in it are relative to that (V8's eh-frame.cc, CPython's perf_jit_trampoline.c).
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "obj/cfi.h"
#include "obj/jitdump.h"

/* Limits: pieces of code, 56 bytes each, and bytes read from the file at once. */
#define JIT_RULES_CODES_MAX    ((size_t)1 << 20)
#define JIT_RULES_EH_FRAME_MAX ((size_t)1 << 16)

struct jit_rules_code {
	uint64_t low, high, reach; /* reach: the highest `high` of its run up to here */
	uint64_t time_ns;
	uint64_t record_off; /* with equal times, the later in the file is later */
	uint64_t eh_frame_off;
	uint32_t eh_frame_size; /* 0: it has no rules */
};

/* A zeroed one is empty. */
struct jit_rules {
	VEC(struct jit_rules_code) codes; /* in runs; each is sorted by address */
	VEC(size_t) runs;	    /* where the runs begin; each is shorter than the one before */
	size_t sorted;		    /* how many of codes are in runs */
	struct jitdump_record next; /* the unwind information for the next code */
	bool has_next, is_used;	    /* is_used: there has been such information */
	uint8_t *bytes;		    /* [JIT_RULES_EH_FRAME_MAX]; NULL: nothing has been read yet */
	uint64_t bad;		    /* rules that are unreadable or too large */
	uint64_t left_out;	    /* pieces of code left out for lack of room */
};

void jit_rules_deinit(struct jit_rules *rules);

/* Adds the next record of the dump. */
void jit_rules_add(struct jit_rules *rules, const struct jitdump_record *record);

/*
 * The rule at va for the code that was there at that time or, if there was none, the first code
 * there after it.  reader reads the dump.  The rule has the kind CFI_CODE_SP, CFI_CODE_BP or
 * CFI_END.  It must be checked, because programs may write records about code after running it.
 * False: there is no rule, or it is not an offset from sp or bp.
 */
bool jit_rules_find(struct jit_rules *rules, const struct jitdump_reader *reader, uint64_t va,
	uint64_t time_ns, struct cfi_rule *rule);

#endif
