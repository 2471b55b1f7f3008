/* A program that is not static has its libraries next to it, or in LIBDIR/sonde. */
#include "record/carried/carried_libraries.h"

#include <stddef.h>

const char library_missing[] = "is not installed";

char *carried_libraries(void)
{
	return NULL;
}
