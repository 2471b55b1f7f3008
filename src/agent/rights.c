/*
 * capabilities(7), by the system calls: libcap would only wrap them.  The bounding set can only be
 * reduced with CAP_SETPCAP, so that comes first.
 *
 * A confined process has three fences, as each has gaps: another user, where we are root, keeps it
 * from all that belongs to root; seccomp(2), from what no reader or client needs; Landlock, from
 * files to write to, which matters most where the user stays the same.  The filter is a list of
 * what is refused, not of what is allowed: what libcurl, a TLS library and three C libraries call
 * is not ours to know.  It is short enough to be written here, so libseccomp is not needed.
 */
#include "agent/rights.h"

#include <errno.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/compiler.h"
#include "record/events/perf_attr.h"

#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#endif
#define CAPABILITIES_MAX 64
/* To become another user, and to end a process of that user. */
#define OTHER_USER (UINT64_C(1) << CAP_SETUID | UINT64_C(1) << CAP_SETGID | UINT64_C(1) << CAP_KILL)
#define NOBODY	   65534

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
	if (geteuid() == 0)
		perf |= OTHER_USER;
	return perf | UINT64_C(1) << CAP_SYS_PTRACE | UINT64_C(1) << CAP_DAC_READ_SEARCH |
	       UINT64_C(1) << CAP_SYSLOG;
}

/* Makes `keep` all that this process can have. */
static struct error *limit_capabilities(uint64_t keep)
{
	struct __user_cap_header_struct h = header();
	struct capabilities c;

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

struct error *rights_drop(void)
{
	return limit_capabilities(kept());
}

struct error *rights_drop_starting(void)
{
	return limit_capabilities(kept() & ~OTHER_USER);
}

/* ---- confined processes ---- */

int64_t rights_other_group(void)
{
	const uint64_t needed = OTHER_USER | UINT64_C(1) << CAP_CHOWN;
	struct __user_cap_header_struct h = header();
	struct capabilities c;

	if (geteuid() != 0 || syscall(SYS_capget, &h, c.data) != 0 ||
		(c.data[0].effective & needed) != needed)
		return -1;
	/* In a user namespace there may be no such user; only the next call shows a failure. */
	(void)setfsuid(NOBODY);
	bool is_known = setfsuid(0) == NOBODY;

	(void)setfsgid(NOBODY);
	is_known &= setfsgid((gid_t)getegid()) == NOBODY;
	return is_known ? NOBODY : -1;
}

static struct error *leave_user(int64_t group)
{
	gid_t gid = (gid_t)group;

	if (group < 0)
		return NULL;
	if (setgroups(0, NULL) != 0 || setresgid(gid, gid, gid) != 0 ||
		setresuid(NOBODY, NOBODY, NOBODY) != 0)
		return error_system(errno, "cannot become the user %d", NOBODY);
	return NULL;
}

/* The numbers of one table for all processors; x32's are refused as a whole. */
#if defined(__x86_64__)
#define AUDIT_ARCH_HERE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define AUDIT_ARCH_HERE AUDIT_ARCH_AARCH64
#endif

#define X32_CALLS (1u << 30)

/* What neither a reader of profiles nor a client of a server calls. */
static const uint16_t refused_calls[] = {
	/* programs, and other processes */
	SYS_execve,
	SYS_execveat,
	SYS_ptrace,
	SYS_process_vm_readv,
	SYS_process_vm_writev,
	SYS_pidfd_open,
	SYS_pidfd_getfd,
	SYS_pidfd_send_signal,
	SYS_kcmp,
	/* namespaces, mounts, roots */
	SYS_unshare,
	SYS_setns,
	SYS_mount,
	SYS_umount2,
	SYS_pivot_root,
	SYS_chroot,
	SYS_move_mount,
	SYS_open_tree,
	SYS_fsopen,
	SYS_fsconfig,
	SYS_fsmount,
	SYS_fspick,
	SYS_open_by_handle_at,
	SYS_name_to_handle_at,
	/* users */
	SYS_setuid,
	SYS_setgid,
	SYS_setreuid,
	SYS_setregid,
	SYS_setresuid,
	SYS_setresgid,
	SYS_setfsuid,
	SYS_setfsgid,
	SYS_setgroups,
	SYS_capset,
	/* parts of the kernel in which faults were often found */
	SYS_bpf,
	SYS_perf_event_open,
	SYS_userfaultfd,
	SYS_io_uring_setup,
	SYS_io_uring_enter,
	SYS_io_uring_register,
	SYS_add_key,
	SYS_request_key,
	SYS_keyctl,
	/* the machine */
	SYS_init_module,
	SYS_finit_module,
	SYS_delete_module,
	SYS_kexec_load,
	SYS_reboot,
	SYS_swapon,
	SYS_swapoff,
	SYS_acct,
	SYS_quotactl,
	SYS_syslog,
	SYS_settimeofday,
	SYS_clock_settime,
	SYS_clock_adjtime,
	SYS_adjtimex,
	SYS_sethostname,
	SYS_setdomainname,
	/* rights of files */
	SYS_fchmodat,
	SYS_fchownat,
	SYS_mknodat,
	SYS_setxattr,
	SYS_lsetxattr,
	SYS_fsetxattr,
#ifdef SYS_chmod
	SYS_chmod,
	SYS_chown,
	SYS_lchown,
	SYS_mknod,
#endif
};

static struct error *refuse_calls(void)
{
#ifdef AUDIT_ARCH_HERE
	enum { HEAD = 5 };
	const size_t count = ARRAY_SIZE(refused_calls), all = HEAD + count + 2;
	struct sock_filter code[HEAD + ARRAY_SIZE(refused_calls) + 2] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_HERE, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		/* x32 has 1 << 30; no other number is so large */
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, X32_CALLS,
			(uint8_t)(ARRAY_SIZE(refused_calls) + 1), 0),
	};
	const struct sock_fprog program = {(unsigned short)all, code};

	for (size_t i = 0; i < count; i++)
		code[HEAD + i] = (struct sock_filter)BPF_JUMP(
			BPF_JMP | BPF_JEQ | BPF_K, refused_calls[i], (uint8_t)(count - i), 0);
	code[HEAD + count] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	code[HEAD + count + 1] =
		(struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
	/* A kernel without seccomp filters has the other fences. */
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0 && errno != EINVAL)
		return error_system(errno, "cannot refuse system calls");
#endif
	return NULL;
}

/* landlock(7), whose header the oldest systems that sonde is built on do not have. */
#define LANDLOCK_CREATE	     444
#define LANDLOCK_ADD	     445
#define LANDLOCK_RESTRICT    446
#define LANDLOCK_BENEATH     1
#define LANDLOCK_WRITE_FILE  (UINT64_C(1) << 1)
#define LANDLOCK_REMOVE_FILE (UINT64_C(1) << 5)
#define LANDLOCK_MAKE_REG    (UINT64_C(1) << 8)
/* Running a file, and bits 4 to 12: removing and making entries of every kind. */
#define LANDLOCK_ALL (UINT64_C(1) | LANDLOCK_WRITE_FILE | UINT64_C(0x1ff0))

struct landlock_beneath {
	uint64_t allowed;
	int32_t folder;
} __attribute__((packed));

/* Only where the kernel has Landlock, and lets us use it. */
static void write_only_in(int folder)
{
	const uint64_t handled = LANDLOCK_ALL;
	const struct landlock_beneath beneath = {
		LANDLOCK_WRITE_FILE | LANDLOCK_REMOVE_FILE | LANDLOCK_MAKE_REG, folder};
	int rules = (int)syscall(LANDLOCK_CREATE, &handled, sizeof(handled), 0);

	if (rules < 0)
		return;
	if (syscall(LANDLOCK_ADD, rules, LANDLOCK_BENEATH, &beneath, 0) == 0)
		(void)syscall(LANDLOCK_RESTRICT, rules, 0);
	close(rules);
}

struct error *rights_confine(int64_t group, int folder)
{
	int end_signal = 0;
	struct error *err;

	/* A change of the user clears what is to happen when the agent ends. */
	(void)prctl(PR_GET_PDEATHSIG, &end_signal);
	if (fchdir(folder) != 0)
		return error_system(errno, "cannot enter a folder");
	err = leave_user(group);
	if (!err)
		err = limit_capabilities(0);
	(void)prctl(PR_SET_PDEATHSIG, end_signal);
	if (!err) {
		write_only_in(folder);
		err = refuse_calls();
	}
	return err;
}
