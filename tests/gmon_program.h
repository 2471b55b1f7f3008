#ifndef SONDE_TESTS_GMON_PROGRAM_H
#define SONDE_TESTS_GMON_PROGRAM_H

/*
 * A program for tests of gmon.out: an ELF file that is nothing but a symbol table.
 */

#include "base/str.h"

/* Its code: [GMON_TEXT, GMON_TEXT + GMON_TEXT_SIZE), where functions of these names begin. */
#define GMON_TEXT      0x1000u
#define GMON_TEXT_SIZE 0x100u
#define GMON_MAIN      0x1010u /* "main" */
#define GMON_F	       0x1020u /* "f", with aliases "_f", "__f" and a local one, "local" */
#define GMON_G	       0x1033u /* "g", at an odd address */
#define GMON_G_PART    0x1050u /* "g.part.0", local */
#define GMON_MANGLED   0x1060u /* "_Z1hi" */
#define GMON_LABEL     0x1070u /* "label", untyped; also ".Llabel" and an object, not functions */
#define GMON_LAST      0x1080u /* "last", to the end */

/* Appends the program's bytes. */
void gmon_program_write(struct strbuf *out);

#endif
