#ifndef SONDE_OBJ_MINIDEBUG_H
#define SONDE_OBJ_MINIDEBUG_H

/*
 * "MiniDebugInfo": an xz-compressed ELF file in the section .gnu_debugdata whose .symtab names the
 * functions that .dynsym does not.  Fedora's packages carry it.
 */

struct objfile;
struct minidebug;

/* NULL if the object has none, if it is damaged, or if this build has no liblzma. */
struct minidebug *minidebug_open(struct objfile *object);
/* NULL is allowed. */
void minidebug_close(struct minidebug *m);
/* The ELF file; closed by minidebug_close. */
struct objfile *minidebug_objfile(const struct minidebug *m);

#endif
