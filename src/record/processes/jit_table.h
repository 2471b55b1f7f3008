#ifndef SONDE_RECORD_PROCESSES_JIT_TABLE_H
#define SONDE_RECORD_PROCESSES_JIT_TABLE_H

/*
 * Which generation of a process's run-time made code a sample was in: at one address there is now
 * this, now that function, and names are given at the end, when the stacks' times are gone.  And
 * the unwind rules that the process tells of the code.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"
#include "record/processes/object_table.h"

struct jit_table {
	struct object_table *objects;
	struct map by_object; /* place in code */
	VEC(struct jit_code *) code;
	uint64_t bad_before; /* of programs that are no more */
};

struct cfi_rule;

void jit_table_init(struct jit_table *t, struct object_table *objects);
void jit_table_deinit(struct jit_table *t);
/*
 * The object that stands for the code of a time in place of the given one, which is itself if its
 * process tells nothing of its code's times.
 */
uint32_t jit_table_object(struct jit_table *t, uint32_t object, uint64_t time_ns);
/*
 * Whether code of the object has taken the place of other code since this was asked last.  Only if
 * there are unwind rules for it: what was read off code is better kept, as it could not be read
 * again from a process that has ended by now.
 */
bool jit_table_has_turned(struct jit_table *t, uint32_t object, uint64_t time_ns);
/* The unwind rule of the object's code at va, at that time; see jit_rules_find. */
bool jit_table_rule(
	struct jit_table *t, uint32_t object, uint64_t va, uint64_t time_ns, struct cfi_rule *rule);
/* What was passed over in what processes tell: it can't be read, or there is no room for it. */
uint64_t jit_table_bad_records(const struct jit_table *t);

#endif
