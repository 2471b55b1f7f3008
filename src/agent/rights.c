/*
 * capabilities(7), by the system calls: libcap would only wrap them.  The bounding set can only be
 * reduced with CAP_SETPCAP, so that comes first.
 */
#include "agent/rights.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/compiler.h"
#include "record/events/perf_attr.h"

#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#endif
#define CAPABILITIES_MAX 64

struct capabilities {
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
};

static struct __user_cap_header_struct header(void)
{
	return (struct __user_cap_header_struct){.version = _LINUX_CAPABILITY_VERSION_3};
}

/* Whether this kernel has CAP_PERFMON, since 5.8. */
static bool knows_perfmon(void)
{
	return prctl(PR_CAPBSET_READ, CAP_PERFMON, 0, 0, 0) >= 0;
}

/*
 * Whether CAP_PERFMON is not enough: Linux has no setting above 2, and Debian's kernels, which
 * start with 3, want CAP_SYS_ADMIN then.
 */
static bool needs_admin(void)
{
	return !knows_perfmon() || perf_event_paranoid() > 2;
}

static uint64_t kept(void)
{
	uint64_t perf = UINT64_C(1) << CAP_PERFMON;

	if (needs_admin())
		perf |= UINT64_C(1) << CAP_SYS_ADMIN;
	return perf | UINT64_C(1) << CAP_SYS_PTRACE | UINT64_C(1) << CAP_DAC_READ_SEARCH |
	       UINT64_C(1) << CAP_SYSLOG;
}

struct error *rights_drop(void)
{
	struct __user_cap_header_struct h = header();
	struct capabilities c;
	uint64_t keep = kept();

	if (syscall(SYS_capget, &h, c.data) != 0)
		return error_system(errno, "capget");
	for (int i = 0; i < CAPABILITIES_MAX; i++)
		if (!(keep >> i & 1) && prctl(PR_CAPBSET_READ, i, 0, 0, 0) == 1)
			(void)prctl(PR_CAPBSET_DROP, i, 0, 0, 0);
	(void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	for (size_t i = 0; i < ARRAY_SIZE(c.data); i++) {
		uint32_t part = (uint32_t)(keep >> (32 * i));

		c.data[i].permitted &= part;
		c.data[i].effective = c.data[i].permitted;
		c.data[i].inheritable = 0;
	}
	if (syscall(SYS_capset, &h, c.data) != 0)
		return error_system(errno, "capset");
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return error_system(errno, "cannot set no_new_privs");
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0)
		return error_system(errno, "cannot become undumpable");
	return NULL;
}
