#ifndef SONDE_FORMATS_PERF_DSO_H
#define SONDE_FORMATS_PERF_DSO_H

/* Load objects by the names that perf gives them. */

#include "model/profile.h"

/* The kind of object: "[kernel.kallsyms]", "[nf_conntrack]", "//anon", "/tmp/perf-7.map" … */
enum object_kind perf_dso_kind(struct str name);

#endif
