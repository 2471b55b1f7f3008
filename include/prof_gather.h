#ifndef PROF_GATHER_H
#define PROF_GATHER_H

/* For programs that include the header behind IProf's prof.h themselves. */
#include "prof.h"

#endif
