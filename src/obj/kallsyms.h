#ifndef SONDE_OBJ_KALLSYMS_H
#define SONDE_OBJ_KALLSYMS_H

/*
 * Names of the running kernel's functions, from /proc/kallsyms.  Kernel addresses have no slide:
 * obj_addr is the address itself.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"

struct kallsyms;

struct kernel_symbol {
	uint64_t low_va, high_va; /* [low, high): up to the next symbol */
	struct str name;
	struct str module; /* with its brackets, "[ext4]"; "[kernel]" for the kernel itself */
	bool is_bounded;   /* high_va is where the next function of the same module begins */
};

/* Reads a file of that form; path NULL: /proc/kallsyms. */
must_use struct error *kallsyms_open(const char *path, struct kallsyms **kallsyms);
/* The same from bytes. Lines of another form are skipped. */
must_use returns_owned struct kallsyms *kallsyms_parse(struct str bytes);
void kallsyms_close(struct kallsyms *k);

/*
 * The table as bytes, from which kallsyms_unpack restores it hundreds of times faster than the
 * kernel prints it; they live in k.
 */
struct str kallsyms_packed(const struct kallsyms *k);
/* Copies the bytes.  NULL if they are invalid. */
must_use struct kallsyms *kallsyms_unpack(struct str bytes);

/* Whether the kernel hides its addresses from us: it lists names, all at address 0. */
bool kallsyms_are_hidden(const struct kallsyms *k);
size_t kallsyms_count(const struct kallsyms *k);
/* True and sets *symbol if there is a known function at va; it lives in k. */
bool kallsyms_find(const struct kallsyms *k, uint64_t va, struct kernel_symbol *symbol);

#endif
