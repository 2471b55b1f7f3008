#ifndef SONDE_OBJ_FUNCTION_STARTS_H
#define SONDE_OBJ_FUNCTION_STARTS_H

/*
 * The starts and ends of functions, for objects without symbols: unwind rules have one entry per
 * function, and stripping keeps them, since exceptions need them.  If there are hardly any, the
 * code is searched for addresses that are called, pointed to, or begin like a function.  Where only
 * some functions have entries, as in browsers, which are built without exceptions, the code between
 * entries is searched around the addresses that are asked for.
 *
 * A part that the compiler splits off a function (its cold part) has its own entry, and so looks
 * like a separate function.
 */

#include <stdbool.h>
#include <stdint.h>

struct function_starts;
struct objfile;

struct function_extent {
	uint64_t low, high; /* obj_addr, [low, high) */
	bool is_guess;	    /* found in code, not in unwind rules: it may be wrong */
};

/* Borrows from object, which must outlive it.  Never fails: what cannot be read is unknown. */
struct function_starts *function_starts_create(struct objfile *object);
/* The same, but only functions that unwind rules describe are known. */
struct function_starts *function_starts_create_from_rules(struct objfile *object);
void function_starts_destroy(struct function_starts *s);

/*
 * True and sets *extent if a function contains obj_addr.  Addresses that ascend cost least, as the
 * code around the latest ones is kept.
 */
bool function_starts_find(
	struct function_starts *s, uint64_t obj_addr, struct function_extent *extent);
/* The same where a symbol shows that what is before floor is another function; 0: none does. */
bool function_starts_find_from(struct function_starts *s, uint64_t obj_addr, uint64_t floor,
	struct function_extent *extent);
/* The first start of a known function after obj_addr, UINT64_MAX if there is none. */
uint64_t function_starts_after(const struct function_starts *s, uint64_t obj_addr);
/*
 * The end of the function at low, a symbol without size; the next symbol is at high.  It ends
 * before the next function with unwind rules.  If it has none itself, it may end earlier: where its
 * code, followed from low, ends.
 */
uint64_t function_starts_end_of(struct function_starts *s, uint64_t low, uint64_t high);

#endif
