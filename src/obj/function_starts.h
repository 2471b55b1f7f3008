#ifndef SONDE_OBJ_FUNCTION_STARTS_H
#define SONDE_OBJ_FUNCTION_STARTS_H

/*
 * Where functions begin and end, for objects whose symbols do not say: unwind rules come in one
 * entry a function, and stripping leaves them, since exceptions need them.  Where there are hardly
 * any, the code is looked through for what is called, pointed to, or begins like a function.
 *
 * What a compiler splits off a function (its cold part) has an entry of its own and so looks like a
 * function of its own.
 */

#include <stdbool.h>
#include <stdint.h>

struct function_starts;
struct objfile;

struct function_extent {
	uint64_t low, high; /* obj_addr, [low, high) */
};

/* Borrows from object, which must outlive it.  Never fails: what cannot be read is not known. */
struct function_starts *function_starts_create(struct objfile *object);
void function_starts_destroy(struct function_starts *s);

/* True and *extent set if a function is known to hold obj_addr. */
bool function_starts_find(
	const struct function_starts *s, uint64_t obj_addr, struct function_extent *extent);
/* Where the first function behind obj_addr begins, UINT64_MAX if none does. */
uint64_t function_starts_after(const struct function_starts *s, uint64_t obj_addr);

#endif
