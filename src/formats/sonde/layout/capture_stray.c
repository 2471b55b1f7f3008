/*
 * Causes are measured by occasional checks, the total by the system's accounting, so the causes may
 * add up to slightly more than the total.
 */
#include "formats/sonde/layout/capture_stray.h"

/* Shorter times are not reported. */
#define LEAST_NS UINT64_C(5000000)

static const char *const places[CAPTURE_STRAYS] = {
	[CAPTURE_STRAY_STATIC] = "in statically linked programs",
	[CAPTURE_STRAY_RIGHTS] =
		("in programs that are set-uid or set-gid, have file capabilities or may "
		 "not be read (record as root, or the whole machine with -a)"),
	[CAPTURE_STRAY_ENVIRONMENT] = "in programs started without our LD_PRELOAD",
	[CAPTURE_STRAY_SECCOMP] = "in threads under seccomp",
	[CAPTURE_STRAY_CLONE] = "in threads not made by pthread_create",
};

static double seconds(uint64_t ns)
{
	return (double)ns / 1e9;
}

void capture_stray_put(struct strbuf *out, uint64_t all_ns, const uint64_t *stray_ns)
{
	const char *separator = "";
	uint64_t left_ns = all_ns;

	for (int i = 0; i < CAPTURE_STRAYS; i++) {
		uint64_t ns = stray_ns[i] < left_ns ? stray_ns[i] : left_ns;

		if (ns < LEAST_NS)
			continue;
		strbuf_printf(out, "%s%.3f s %s", separator, seconds(ns), places[i]);
		separator = ", ";
		left_ns -= ns;
	}
	if (left_ns == all_ns)
		strbuf_add(out, STR("it is not known where"));
	else if (left_ns >= LEAST_NS)
		strbuf_printf(out, "%s%.3f s it is not known where", separator, seconds(left_ns));
}
