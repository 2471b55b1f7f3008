#ifndef SONDE_FORMATS_PERF_DATA_FORMAT_H
#define SONDE_FORMATS_PERF_DATA_FORMAT_H

/*
 * The numbers of perf.data files: types of perf's own records, features.
 *
 * Sources: the kernel's tools/perf/util/{event,header}.h and
 * tools/perf/Documentation/perf.data-file-format.txt.
 */

#include "perfstream/format.h"

enum perf_data_type {
	/* The kernel's types (perfstream/format.h) end here. */
	PERF_DATA_USER_FIRST = 64,
	PERF_DATA_ATTR = 64,
	PERF_DATA_TRACING_DATA = 66,
	PERF_DATA_BUILD_ID = 67,
	PERF_DATA_FINISHED_ROUND = 68,
	PERF_DATA_AUXTRACE_INFO = 70,
	PERF_DATA_AUXTRACE = 71,
	PERF_DATA_EVENT_UPDATE = 78,
	PERF_DATA_FEATURE = 80,
	PERF_DATA_COMPRESSED = 81,
	PERF_DATA_COMPRESSED2 = 83,
	PERF_DATA_TYPE_COUNT = 88, /* those with a name: perf_data_type_name */
};

/* Bit of misc in struct perf_event_header, in build-ID records. */
#define PERF_DATA_MISC_BUILD_ID_SIZE (1 << 15)

/* The relevant bits of struct perf_event_attr, by number. */
enum {
	PERF_DATA_FLAG_FREQ = 10,
	PERF_DATA_FLAG_SAMPLE_ID_ALL = 18,
};

/* Features: by number in the header's bits, and in FEATURE records. */
enum perf_data_feature {
	PERF_DATA_FEATURE_BUILD_ID = 2,
	PERF_DATA_FEATURE_HOSTNAME = 3,
	PERF_DATA_FEATURE_OS_RELEASE = 4,
	PERF_DATA_FEATURE_ARCH = 6,
	PERF_DATA_FEATURE_COMMAND = 11,
	PERF_DATA_FEATURE_EVENT_DESC = 12,
	PERF_DATA_FEATURE_DIR_FORMAT = 24,
	PERF_DATA_FEATURE_CPU_PMU_CAPS = 28,
	PERF_DATA_FEATURE_CLOCK_DATA = 29,
	PERF_DATA_FEATURE_PMU_CAPS = 31,
	PERF_DATA_FEATURE_COUNT = 256,
};

#endif
