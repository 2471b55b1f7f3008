#ifndef PROF_GATHER_H
#define PROF_GATHER_H

/* For programs that include this header of IProf directly. */
#include "prof.h"

#endif
