#ifndef SONDE_READERS_PERF_DATA_FORMAT_H
#define SONDE_READERS_PERF_DATA_FORMAT_H

/*
 * The numbers of perf.data files: types of records, bits of what samples hold, features.
 *
 * Sources: the kernel's include/uapi/linux/perf_event.h; tools/perf/util/{event,header}.h and
 * tools/perf/Documentation/perf.data-file-format.txt.  They are written down here, rather than
 * taken from the system's header, so that files of later kernels and of other systems can be read
 * wherever sonde runs.
 */

#include <stdint.h>

enum perf_data_type {
	PERF_DATA_MMAP = 1,
	PERF_DATA_LOST = 2,
	PERF_DATA_COMM = 3,
	PERF_DATA_EXIT = 4,
	PERF_DATA_THROTTLE = 5,
	PERF_DATA_FORK = 7,
	PERF_DATA_SAMPLE = 9,
	PERF_DATA_MMAP2 = 10,
	PERF_DATA_LOST_SAMPLES = 13,
	/* Those of the kernel end here. */
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
	PERF_DATA_TYPE_COUNT = 88, /* that have a name: perf_data_type_name */
};

/* struct perf_event_header's misc. */
enum {
	PERF_DATA_MISC_CPUMODE = 7,
	PERF_DATA_MODE_KERNEL = 1,
	PERF_DATA_MODE_USER = 2,
	PERF_DATA_MODE_HYPERVISOR = 3,
	PERF_DATA_MODE_GUEST_KERNEL = 4,
	PERF_DATA_MODE_GUEST_USER = 5,
	PERF_DATA_MISC_MMAP_DATA = 1 << 13,	/* MMAP: of data, not of code */
	PERF_DATA_MISC_COMM_EXEC = 1 << 13,	/* COMM */
	PERF_DATA_MISC_MMAP_BUILD_ID = 1 << 14, /* MMAP2 */
	PERF_DATA_MISC_BUILD_ID_SIZE = 1 << 15, /* of a build-id's own record */
};

/* sample_type */
enum {
	PERF_DATA_IP = 1 << 0,
	PERF_DATA_TID = 1 << 1,
	PERF_DATA_TIME = 1 << 2,
	PERF_DATA_ADDR = 1 << 3,
	PERF_DATA_READ = 1 << 4,
	PERF_DATA_CALLCHAIN = 1 << 5,
	PERF_DATA_ID = 1 << 6,
	PERF_DATA_CPU = 1 << 7,
	PERF_DATA_PERIOD = 1 << 8,
	PERF_DATA_STREAM_ID = 1 << 9,
	PERF_DATA_RAW = 1 << 10,
	PERF_DATA_BRANCH_STACK = 1 << 11,
	PERF_DATA_REGS_USER = 1 << 12,
	PERF_DATA_STACK_USER = 1 << 13,
	PERF_DATA_IDENTIFIER = 1 << 16,
};

/* read_format */
enum {
	PERF_DATA_READ_ENABLED = 1 << 0,
	PERF_DATA_READ_RUNNING = 1 << 1,
	PERF_DATA_READ_ID = 1 << 2,
	PERF_DATA_READ_GROUP = 1 << 3,
	PERF_DATA_READ_LOST = 1 << 4,
};

/* branch_sample_type */
enum {
	PERF_DATA_BRANCH_CALL_STACK = 1 << 11, /* calls that are under way, no others */
	PERF_DATA_BRANCH_HW_INDEX = 1 << 17,
	PERF_DATA_BRANCH_COUNTERS = 1 << 19,
};

/* The bits of struct perf_event_attr that count here, by number. */
enum {
	PERF_DATA_FLAG_FREQ = 10,
	PERF_DATA_FLAG_SAMPLE_ID_ALL = 18,
};

/* Numbers in call chains that are no addresses: what follows is of the kernel, of the program … */
#define PERF_DATA_CONTEXT(n)	       ((uint64_t) - (n))
#define PERF_DATA_CONTEXT_HYPERVISOR   PERF_DATA_CONTEXT(32)
#define PERF_DATA_CONTEXT_KERNEL       PERF_DATA_CONTEXT(128)
#define PERF_DATA_CONTEXT_USER	       PERF_DATA_CONTEXT(512)
#define PERF_DATA_CONTEXT_DEFERRED     PERF_DATA_CONTEXT(640)
#define PERF_DATA_CONTEXT_GUEST	       PERF_DATA_CONTEXT(2048)
#define PERF_DATA_CONTEXT_GUEST_KERNEL PERF_DATA_CONTEXT(2176)
#define PERF_DATA_CONTEXT_GUEST_USER   PERF_DATA_CONTEXT(2560)
#define PERF_DATA_CONTEXT_MAX	       PERF_DATA_CONTEXT(4095)

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
