/*
 * Startup: finds the recorder's memory through the environment, maps it, and registers the
 * program's first thread.  After any failure, the library stays idle and the program runs
 * unchanged.
 *
 * The memory is opened by its path in /proc instead of an inherited descriptor, because programs
 * close unknown descriptors, and depend on the numbers of those that they open.
 */
#include "preload/preload.h"

#include <cpuid.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <unistd.h>

#include "preload/raw.h"

/* If the program's address space is limited, the library takes at most this part. */
#define ADDRESS_SPACE_PART 16
#define STACK_MAX	   ((uint64_t)1 << 30)
#define PAGE_BYTES	   UINT64_C(4096)

struct preload_process preload_process;
__thread struct preload_thread preload_self __attribute__((tls_model("initial-exec")));

/* How many pieces of data may be mapped with limited address space. */
static int32_t pieces_affordable(uint64_t limit)
{
	uint64_t part = limit / ADDRESS_SPACE_PART;

	if (part < PRELOAD_DATA_OFF + PRELOAD_PIECE_BYTES)
		return 0;
	part = (part - PRELOAD_DATA_OFF) / PRELOAD_PIECE_BYTES;
	return part < PRELOAD_SLOTS ? (int32_t)part : PRELOAD_SLOTS;
}

/* Whether the memory is the recorder's: its pid or segment id may have been reused. */
static bool is_ours(const void *memory)
{
	return ((const struct preload_header *)memory)->magic == PRELOAD_MAGIC;
}

static void *map_file(size_t size)
{
	int fd = open(preload_process.path, O_RDWR | O_CLOEXEC | O_NOCTTY);
	void *memory = MAP_FAILED;
	struct stat st;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) == 0 && (uint64_t)st.st_size == PRELOAD_FILE_BYTES)
		memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (memory == MAP_FAILED)
		return NULL;
	if (is_ours(memory))
		return memory;
	munmap(memory, size);
	return NULL;
}

/* Maps the whole segment, or nothing. */
static void *map_segment(const char *id)
{
	struct shmid_ds ds;
	int number = (int)strtol(id, NULL, 10);
	void *memory;

	if (shmctl(number, IPC_STAT, &ds) != 0 || ds.shm_segsz != PRELOAD_FILE_BYTES)
		return NULL;
	memory = shmat(number, NULL, 0);
	if ((intptr_t)memory == -1)
		return NULL;
	if (is_ours(memory))
		return memory;
	shmdt(memory);
	return NULL;
}

static bool map_memory(const char *path)
{
	size_t size = PRELOAD_FILE_BYTES;
	struct rlimit limit;
	void *memory;

	if (strlen(path) >= sizeof(preload_process.path))
		return false;
	memcpy(preload_process.path, path, strlen(path) + 1);
	if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
		size = PRELOAD_DATA_OFF;
		preload_process.in_pieces = true;
		preload_process.pieces_left = pieces_affordable(limit.rlim_cur);
	}
	if (strncmp(path, PRELOAD_SEGMENT, sizeof(PRELOAD_SEGMENT) - 1) != 0)
		memory = strncmp(path, "/proc/", 6) == 0 ? map_file(size) : NULL;
	else
		memory = preload_process.in_pieces
				 ? NULL
				 : map_segment(path + sizeof(PRELOAD_SEGMENT) - 1);
	if (!memory)
		return false;
	/* A core dump would contain all of it, including holes. */
	madvise(memory, size, MADV_DONTDUMP);
	preload_process.header = memory;
	preload_process.slot_count = PRELOAD_SLOTS;
	return true;
}

bool preload_piece_map(struct preload_lane *lane)
{
	off_t at = (off_t)(PRELOAD_DATA_OFF + lane->number * PRELOAD_DATA_BYTES);
	void *data = MAP_FAILED;
	int fd;

	if (!preload_process.in_pieces)
		return true;
	if (atomic_fetch_sub(&preload_process.pieces_left, 1) <= 0) {
		atomic_fetch_add(&preload_process.pieces_left, 1);
		return false;
	}
	fd = open(preload_process.path, O_RDWR | O_CLOEXEC | O_NOCTTY);
	if (fd >= 0) {
		data = mmap(NULL, PRELOAD_PIECE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, at);
		close(fd);
	}
	if (data == MAP_FAILED) {
		atomic_fetch_add(&preload_process.pieces_left, 1);
		return false;
	}
	lane->data = data;
	lane->data_bytes = PRELOAD_PIECE_BYTES;
	return true;
}

void preload_piece_unmap(struct preload_lane *lane)
{
	if (!preload_process.in_pieces)
		return;
	raw2(SYS_munmap, lane->data, PRELOAD_PIECE_BYTES);
	atomic_fetch_add(&preload_process.pieces_left, 1);
}

/* The program's name is the last item on the first thread's stack. */
static uint64_t first_stack_end(void)
{
	const char *name = (const char *)getauxval(AT_EXECFN); /* NOLINT */

	if (!name)
		return 0;
	return ((uint64_t)(uintptr_t)name + strlen(name) + PAGE_BYTES) / PAGE_BYTES * PAGE_BYTES;
}

static void register_first_thread(void)
{
	uint64_t high_va = first_stack_end(), size = STACK_MAX;
	struct rlimit limit;

	if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < size)
		size = limit.rlim_cur;
	preload_thread_begin(
		PRELOAD_START_EXEC, getppid(), high_va > size ? high_va - size : high_va, high_va);
}

/* ---- fork ---- */

static __thread uint64_t mask_before_fork __attribute__((tls_model("initial-exec")));

/* A pending signal makes the kernel restart a fork, so hold signals during it. */
static void before_fork(void)
{
	uint64_t ours = UINT64_C(1) << (SIGURG - 1);

	if (!preload_self.sealed)
		raw4(SYS_rt_sigprocmask, SIG_BLOCK, &ours, &mask_before_fork, sizeof(ours));
}

static void after_fork(void)
{
	if (!preload_self.sealed)
		raw4(SYS_rt_sigprocmask, SIG_SETMASK, &mask_before_fork, NULL,
			sizeof(mask_before_fork));
}

static void in_child(void)
{
	int32_t parent_pid = preload_process.global_pid;

	/* It may be the first process in another time namespace. */
	if (preload_self.sealed) {
		atomic_fetch_add(&preload_process.header->sealed, 1);
		return;
	}
	if (preload_process.on)
		preload_time_begin();
	preload_thread_forked(parent_pid);
	after_fork();
}

typedef void fork_fn(void);
/* glibc has pthread_atfork only in a static part, and the program may be linked with musl. */
extern int __register_atfork(fork_fn *before, fork_fn *after, fork_fn *child, void *object)
	__attribute__((weak));

static bool watch_forks(void)
{
	int (*atfork)(fork_fn *, fork_fn *, fork_fn *);

	if (__register_atfork)
		return __register_atfork(before_fork, after_fork, in_child, NULL) == 0;
	atfork = (int (*)(fork_fn *, fork_fn *, fork_fn *))dlsym(RTLD_NEXT, "pthread_atfork");
	return atfork && atfork(before_fork, after_fork, in_child) == 0;
}

/* Whether the system uses memory protection keys. */
static bool has_keys(void)
{
	enum { LEAF = 7, OSPKE = 1 << 4 };
	unsigned int a, b, c, d;

	return __get_cpuid_count(LEAF, 0, &a, &b, &c, &d) && (c & OSPKE);
}

__attribute__((constructor)) static void begin(void)
{
	const char *path = getenv(PRELOAD_VARIABLE);

	if (!path || !map_memory(path))
		return;
	if (!watch_forks())
		return;
	if (preload_seccomp_filters() > preload_process.header->filters) {
		atomic_fetch_add(&preload_process.header->sealed, 1);
		return;
	}
	preload_time_begin();
	preload_process.has_keys = has_keys();
	preload_process.on = true;
	preload_signals_begin();
	register_first_thread();
}

/* ---- exit ---- */

__attribute__((destructor)) static void end(void)
{
	struct preload_thread *t = preload_enter();

	if (!t)
		return;
	preload_thread_account(t, PRELOAD_USED);
	preload_leave(t);
}

preload_exported __attribute__((noreturn)) void _exit(int status);
preload_exported __attribute__((noreturn)) void _Exit(int status);

void _exit(int status)
{
	end();
	for (;;)
		raw1(SYS_exit_group, status);
}

void _Exit(int status)
{
	_exit(status);
}
