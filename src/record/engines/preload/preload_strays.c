/*
 * A stray is a thread without a slot in the shared memory, one that has stopped writing, or one
 * that now runs another program.  CPU time that it uses between checks is attributed to its cause.
 * Other time remains unexplained, so that only observed causes are reported.
 */
#include "record/engines/preload/preload_strays.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/clock.h"
#include "preload/shared.h"
#include "record/processes/proc.h"

/* At most this part of the time is spent on checks. */
#define LOOK_PART     100
#define LOOK_LEAST_NS (SECOND_NS / 50)
/* A program's start takes less.  Causes of less CPU time are not determined. */
#define LEAST_NS (SECOND_NS / 100)
/* A thread with a slot is checked after it has used this much since its last record. */
#define SILENT_NS	(SECOND_NS / 20)
#define ENVIRONMENT_MAX ((size_t)256 << 10)

/* ---- what a process is ---- */

static int open_of(pid_t pid, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* The parts of a 64-bit ELF file, elf(5), that show whether it is statically linked. */
#define ELF_MAGIC	"\177ELF\2"
#define ELF_INTERPRETER 3u
struct elf_head {
	char magic[5], other[27];
	uint64_t segments_off, sections_off;
	uint16_t unused[3], segment_size, segment_count, rest[3];
};

/* Whether it has no interpreter, which would load libraries. */
static bool is_static(int exe)
{
	struct elf_head head;
	uint32_t type;

	if (pread(exe, &head, sizeof(head), 0) != sizeof(head) ||
		memcmp(head.magic, ELF_MAGIC, sizeof(head.magic)) != 0)
		return false;
	for (uint32_t i = 0; i < head.segment_count; i++) {
		off_t at = (off_t)(head.segments_off + (uint64_t)i * head.segment_size);

		if (pread(exe, &type, sizeof(type), at) != sizeof(type) || type == ELF_INTERPRETER)
			return false;
	}
	return true;
}

/* Whether the program's file gives it privileges that its caller lacks. */
static bool gives_rights(int exe)
{
	struct stat st;

	return (fstat(exe, &st) == 0 && (st.st_mode & (S_ISUID | S_ISGID))) ||
	       fgetxattr(exe, "security.capability", NULL, 0) > 0;
}

static bool environment_names_us(pid_t pid)
{
	static const char name[] = PRELOAD_VARIABLE "=";
	int fd = open_of(pid, "environ");
	char *text = fd >= 0 ? xalloc(ENVIRONMENT_MAX) : NULL;
	size_t size = 0;
	ssize_t got;

	while (text && size < ENVIRONMENT_MAX &&
		(got = read(fd, text + size, ENVIRONMENT_MAX - size)) > 0)
		size += (size_t)got;
	if (fd >= 0)
		close(fd);
	/* An environment that cannot be read, or is longer, may contain the library's name. */
	bool found = !text || size == ENVIRONMENT_MAX || memmem(text, size, name, strlen(name));

	free(text);
	return found;
}

/* The cause for a process without the library; CAPTURE_STRAYS: unknown. */
static enum capture_stray cause_outside(pid_t pid)
{
	int exe = open_of(pid, "exe");
	enum capture_stray cause = CAPTURE_STRAYS;

	if (exe < 0)
		return errno == EACCES || errno == EPERM ? CAPTURE_STRAY_RIGHTS : cause;
	if (gives_rights(exe))
		cause = CAPTURE_STRAY_RIGHTS;
	else if (is_static(exe))
		cause = CAPTURE_STRAY_STATIC;
	else if (!environment_names_us(pid))
		cause = CAPTURE_STRAY_ENVIRONMENT;
	close(exe);
	return cause;
}

/* ---- threads ---- */

/* A thread that has just begun may have a slot but no record yet. */
static bool owns_slot(const struct preload_memory *m, pid_t tid)
{
	uint32_t used = atomic_load(&m->header->slots_used);

	for (uint32_t slot = 0; slot < used && slot < PRELOAD_SLOTS; slot++)
		if (preload_memory_owner(m, slot) == (uint32_t)tid)
			return true;
	return false;
}

static enum capture_stray cause_of(
	const struct preload_strays *s, pid_t pid, pid_t tid, bool is_sealed)
{
	uint32_t filters = proc_seccomp_filters(pid, tid);

	if (is_sealed || filters > s->memory->header->filters)
		return CAPTURE_STRAY_SECCOMP;
	if (!preload_memory_is_mapped(s->memory, pid))
		return cause_outside(pid);
	return owns_slot(s->memory, tid) || atomic_load(&s->memory->header->refused) > 0
		       ? CAPTURE_STRAYS
		       : CAPTURE_STRAY_CLONE;
}

static void count(struct preload_strays *s, const struct task *task, uint64_t base_ns,
	uint64_t ran_ns, bool is_sealed)
{
	bool added;
	uint32_t *place = map_at(&s->tids, (uint64_t)task->tid, (uint64_t)task->pid,
		(uint32_t)s->counted_ns.count, &added);

	if (added)
		vec_push(&s->counted_ns, base_ns);
	uint64_t *counted_ns = &s->counted_ns.data[*place];

	/* The tid has been reused, or the thread is new. */
	if (*counted_ns > ran_ns || *counted_ns < base_ns)
		*counted_ns = base_ns;
	if (ran_ns < *counted_ns + LEAST_NS)
		return;
	/* Determined each time, as it may run another program by now. */
	enum capture_stray cause = cause_of(s, task->pid, task->tid, is_sealed);

	if (cause != CAPTURE_STRAYS)
		s->ns[cause] += ran_ns - *counted_ns;
	*counted_ns = ran_ns;
}

/*
 * Whether a silent thread with a slot has stopped writing.  If it still has the library, its next
 * sample shows that.
 */
static bool is_left(const struct preload_strays *s, const struct task *task)
{
	return !preload_memory_is_mapped(s->memory, task->pid) ||
	       proc_seccomp_filters(task->pid, task->tid) > s->memory->header->filters;
}

static void look_at(struct preload_strays *s, const struct task *task)
{
	struct preload_told told = {0};
	struct proc_sched sched;
	bool has_slot = s->told(s->context, task->tid, &told) && told.pid == task->pid;

	if (!proc_sched_read(task->tid, &sched))
		return;
	if (!has_slot) {
		count(s, task, 0, sched.ran_ns, false);
		return;
	}
	if (told.is_sealed || (sched.ran_ns > told.used_ns + SILENT_NS && is_left(s, task)))
		count(s, task, told.used_ns, sched.ran_ns, told.is_sealed);
}

/*
 * The thread id assigned last, from /proc/loadavg.  While it is unchanged, no thread was added, and
 * a search of /proc would find nothing new.  0: unknown.
 */
static uint64_t last_tid(void)
{
	char text[128];
	int fd = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
	ssize_t got = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;

	if (fd >= 0)
		close(fd);
	if (got <= 0)
		return 0;
	text[got] = '\0';
	char *last = strrchr(text, ' ');

	return last ? strtoull(last, NULL, 10) : 0;
}

static void search(struct preload_strays *s)
{
	/* Read it first, so that threads added in the meantime are found next time. */
	uint64_t tid = last_tid();

	if (tid != 0 && tid == s->last_tid)
		return;
	s->last_tid = tid;
	s->tasks.count = 0;
	task_scan(&s->root, 1, &s->tasks);
}

void preload_strays_look(struct preload_strays *s, uint64_t now_ns)
{
	if (now_ns < s->due_ns)
		return;
	uint64_t begin_ns = clock_thread_cpu_ns();

	search(s);
	for (size_t i = 0; i < s->tasks.count; i++)
		look_at(s, &s->tasks.data[i]);
	/* On a busy machine, the time that passed is much longer. */
	uint64_t took_ns = clock_thread_cpu_ns() - begin_ns;

	s->due_ns = now_ns +
		    (LOOK_PART * took_ns > LOOK_LEAST_NS ? LOOK_PART * took_ns : LOOK_LEAST_NS);
}

void preload_strays_init(struct preload_strays *s, pid_t root, const struct preload_memory *memory,
	bool (*told)(void *context, pid_t tid, struct preload_told *told), void *context)
{
	*s = (struct preload_strays){
		.root = root, .memory = memory, .told = told, .context = context};
	s->due_ns = clock_monotonic_ns() + LOOK_LEAST_NS;
}

void preload_strays_deinit(struct preload_strays *s)
{
	vec_deinit(&s->tasks);
	map_deinit(&s->tids);
	vec_deinit(&s->counted_ns);
}
