#ifndef SONDE_OBJ_CFI_PROGRAM_H
#define SONDE_OBJ_CFI_PROGRAM_H

/*
 * Runs the programs of CIEs and FDEs.  Private to the compiler of CFI tables.
 */

#include "obj/cfi_parse.h"
#include "obj/cfi_rows.h"

/* Sets cie->initial, the registers with which its FDEs begin. */
void cfi_program_run_cie(struct cfi_cie *cie, const struct cfi_section *section);
/*
 * Adds the rows of [fde->low, high), high being at most fde->high.  False if the program is bad:
 * the rows end at the bad instruction.
 */
bool cfi_program_run_fde(const struct cfi_fde *fde, const struct cfi_cie *cie, uint64_t high,
	const struct cfi_object *object, struct cfi_rows *rows);

#endif
