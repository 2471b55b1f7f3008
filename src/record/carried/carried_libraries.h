#ifndef SONDE_RECORD_CARRIED_CARRIED_LIBRARIES_H
#define SONDE_RECORD_CARRIED_CARRIED_LIBRARIES_H

/*
 * The libraries that sonde preloads into programs, carried by a static program, which is one file.
 */

/*
 * A folder that has them, each where it is in a build folder; writes them first if necessary.  The
 * caller frees the path.  NULL: this program carries none, or no folder can be written.
 */
char *carried_libraries(void);

/* What is wrong with a library that has no path, after its name: "is not installed". */
extern const char library_missing[];

#endif
