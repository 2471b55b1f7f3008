/*
 * Who runs?  A process that has used no CPU time since the last tick has no thread that does; of
 * the others' threads /proc/PID/task/TID/syscall says "running" or which system call they sleep in.
 * Of processes with many threads only those that ran lately are asked, and a few of the others in
 * turn: the library's own timers find the rest.
 *
 * A thread that waits for a CPU is "running" as well.  The signal says when it was sent, by which
 * the library tells (preload/sample.c).
 */
#include "record/preload_pace.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/map.h"
#include "base/vec.h"

/* Of a process with more threads, so many that did not run lately are asked at a tick. */
#define ASKED_ALWAYS 16
/* "Lately". */
#define LATELY_NS (SECOND_NS / 40)
/* Reading the clock of a process adds up all its threads: not of those that have more. */
#define CLOCK_MOST_THREADS 64
#define FILES_MOST	   512
/* Between looks whether a process has mapped our memory. */
#define FOREIGN_NS (SECOND_NS / 100)
/* Between ticks while nothing runs. */
#define IDLE_NS	      (SECOND_NS / 250)
#define IDLE_AFTER_NS (SECOND_NS / 10)
/* Processes that are no more are forgotten now and then. */
#define PROCESSES_MOST 4096

/* The thread in a slot. */
struct paced_thread {
	pid_t tid; /* 0: none */
	pid_t pid;
	uint32_t head;	    /* of its records, when last looked at */
	int state_fd;	    /* /proc/PID/task/TID/syscall; -1: not kept open */
	uint64_t active_ns; /* when it last ran, as far as we know */
};

struct paced_process {
	bool is_foreign;
	uint64_t asked_ns;		  /* when that was looked at */
	uint64_t tick;			  /* at which it was last looked at */
	uint64_t cpu_ns;		  /* that it had used then */
	bool moved;			  /* and it was more than before */
	uint32_t threads, threads_before; /* met at this tick so far, and at the one before */
	uint32_t asked;			  /* of those that did not run lately */
};

struct preload_pacer {
	const struct preload_memory *memory;
	pthread_t thread;
	_Atomic bool ends;
	struct paced_thread threads[PRELOAD_SLOTS];
	struct map pids; /* to places in processes */
	VEC(struct paced_process) processes;
	int files; /* kept open */
	uint64_t tick, moved_ns;
	uint32_t first; /* slot to look at first, so that all are in turn */
};

static uint64_t process_cpu_ns(pid_t pid)
{
	clockid_t clock;
	struct timespec ts;

	if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &ts) != 0)
		return 0;
	return (uint64_t)ts.tv_sec * SECOND_NS + (uint64_t)ts.tv_nsec;
}

/* ---- whether a thread runs ---- */

static int open_file(const struct paced_thread *thread, const char *name)
{
	char path[80];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", (int)thread->pid, (int)thread->tid,
		name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static bool state_is_running(const struct paced_thread *thread)
{
	char text[512], *end;
	int fd = open_file(thread, "stat");
	ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	if (got <= 0)
		return false;
	text[got] = '\0';
	/* The name before the last ")" may hold anything. */
	end = strrchr(text, ')');
	return end && strncmp(end, ") R", 3) == 0;
}

static bool is_running(const struct paced_thread *thread)
{
	static const char running[] = "running";
	char text[sizeof(running) - 1];
	int fd = thread->state_fd >= 0 ? thread->state_fd : open_file(thread, "syscall");
	ssize_t got = fd < 0 ? -1 : pread(fd, text, sizeof(text), 0);

	if (fd >= 0 && fd != thread->state_fd)
		close(fd);
	/* Not to be read where tracing is forbidden. */
	if (got < 0)
		return state_is_running(thread);
	return got == sizeof(text) && memcmp(text, running, sizeof(text)) == 0;
}

static void send_signal(const struct paced_thread *thread)
{
	siginfo_t info = {.si_signo = SIGURG, .si_code = PRELOAD_SI_CODE};

	info.si_value.sival_ptr = (void *)(uintptr_t)clock_monotonic_ns();
	(void)syscall(SYS_rt_tgsigqueueinfo, thread->pid, thread->tid, SIGURG, &info);
}

/* ---- whom there is ---- */

static void forget_thread(struct preload_pacer *p, struct paced_thread *thread)
{
	if (thread->tid != 0 && thread->state_fd >= 0) {
		close(thread->state_fd);
		p->files--;
	}
	*thread = (struct paced_thread){0};
}

/* What is in the slot now; NULL: nobody to be paced. */
static struct paced_thread *look_up(struct preload_pacer *p, uint32_t slot, uint64_t now_ns)
{
	const struct preload_slot *shared = &p->memory->slots[slot];
	struct paced_thread *thread = &p->threads[slot];
	pid_t tid = (pid_t)atomic_load_explicit(&shared->owner, memory_order_acquire);
	pid_t pid = atomic_load_explicit(&shared->pid, memory_order_acquire);
	uint32_t head = atomic_load_explicit(&shared->head, memory_order_relaxed);

	if (tid <= 0 || pid <= 0) {
		forget_thread(p, thread);
		return NULL;
	}
	if (thread->tid != tid || thread->pid != pid) {
		forget_thread(p, thread);
		*thread = (struct paced_thread){.tid = tid, .pid = pid, .state_fd = -1};
		if (p->files < FILES_MOST)
			thread->state_fd = open_file(thread, "syscall");
		p->files += thread->state_fd >= 0;
		thread->active_ns = now_ns;
	}
	if (thread->head != head)
		thread->active_ns = now_ns;
	thread->head = head;
	return thread;
}

static void forget_processes(struct preload_pacer *p)
{
	map_deinit(&p->pids);
	p->processes.count = 0;
}

/*
 * Whether the process has not mapped our memory: somebody wrote its pid there, to have us signal
 * it.  Only root may signal whom they could not.
 */
static bool is_foreign(const struct preload_pacer *p, pid_t pid)
{
	return geteuid() == 0 && !preload_memory_is_mapped(p->memory, pid);
}

/* The thread's process, looked at in this tick; counts the thread. */
static struct paced_process *process_of(struct preload_pacer *p, pid_t pid, uint64_t now_ns)
{
	bool added;
	uint32_t *place = map_at(&p->pids, (uint64_t)pid, 0, (uint32_t)p->processes.count, &added);

	if (added)
		vec_push(&p->processes, (struct paced_process){.is_foreign = true});
	struct paced_process *process = &p->processes.data[*place];

	/* Amid an exec it has nothing mapped. */
	if (process->is_foreign && now_ns >= process->asked_ns + FOREIGN_NS) {
		process->is_foreign = is_foreign(p, pid);
		process->asked_ns = now_ns;
	}

	if (process->tick != p->tick) {
		uint64_t before_ns = process->cpu_ns;

		process->tick = p->tick;
		process->threads_before = process->threads;
		process->threads = process->asked = 0;
		process->moved = process->threads_before > CLOCK_MOST_THREADS ||
				 (process->cpu_ns = process_cpu_ns(pid)) != before_ns;
		if (process->moved)
			p->moved_ns = now_ns;
	}
	process->threads++;
	return process;
}

/* ---- a tick ---- */

static void pace_slot(struct preload_pacer *p, uint32_t slot, uint64_t now_ns)
{
	struct paced_thread *thread = look_up(p, slot, now_ns);

	if (!thread)
		return;
	struct paced_process *process = process_of(p, thread->pid, now_ns);

	if (!process->moved || process->is_foreign)
		return;
	if (process->threads_before > ASKED_ALWAYS && thread->active_ns + LATELY_NS <= now_ns &&
		process->asked++ >= ASKED_ALWAYS)
		return;
	if (!is_running(thread))
		return;
	thread->active_ns = now_ns;
	send_signal(thread);
}

static void tick(struct preload_pacer *p, uint64_t now_ns)
{
	uint32_t used = atomic_load(&p->memory->header->slots_used);

	if (used > PRELOAD_SLOTS)
		used = PRELOAD_SLOTS;
	p->tick++;
	if (p->processes.count > PROCESSES_MOST)
		forget_processes(p);
	if (used == 0)
		return;
	p->first = (p->first + ASKED_ALWAYS) % used;
	for (uint32_t i = 0; i < used; i++)
		pace_slot(p, (p->first + i) % used, now_ns);
}

/* ---- the thread ---- */

/* Be on time on a busy machine, as far as it is allowed; there is little to do each time. */
static void be_prompt(void)
{
	struct sched_param first = {.sched_priority = 1};

	if (sched_setscheduler(0, SCHED_RR, &first) != 0)
		(void)setpriority(PRIO_PROCESS, 0, -19);
}

static uint64_t pause_ns(const struct preload_pacer *p, uint64_t now_ns)
{
	uint64_t interval_ns = atomic_load(&p->memory->header->interval_ns);
	bool is_idle = now_ns > p->moved_ns + IDLE_AFTER_NS;

	return is_idle && interval_ns < IDLE_NS ? IDLE_NS : interval_ns;
}

/* Not until a time: a time namespace may shift the clock that the system knows. */
static void sleep_ns(uint64_t ns)
{
	struct timespec time = {(time_t)(ns / SECOND_NS), (long)(ns % SECOND_NS)};

	clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
}

static void *pace(void *context)
{
	struct preload_pacer *p = context;
	uint64_t due_ns = clock_monotonic_ns();

	be_prompt();
	p->moved_ns = due_ns;
	while (!p->ends) {
		uint64_t now_ns = clock_monotonic_ns();

		atomic_store(&p->memory->header->heartbeat_ns, now_ns);
		tick(p, now_ns);
		due_ns += pause_ns(p, now_ns);
		/* Ticks that were missed are not made up for: weights are. */
		now_ns = clock_monotonic_ns();
		if (due_ns < now_ns)
			due_ns = now_ns + pause_ns(p, now_ns);
		sleep_ns(due_ns - now_ns);
	}
	return NULL;
}

struct error *preload_pacer_create(
	const struct preload_memory *memory, struct preload_pacer **pacer)
{
	struct preload_pacer *p = xalloc(sizeof(*p));
	int code;

	p->memory = memory;
	code = pthread_create(&p->thread, NULL, pace, p);
	if (code != 0) {
		free(p);
		return error_system(code, "a thread to pace samples");
	}
	*pacer = p;
	return NULL;
}

void preload_pacer_destroy(struct preload_pacer *p)
{
	if (!p)
		return;
	p->ends = true;
	pthread_join(p->thread, NULL);
	for (uint32_t i = 0; i < PRELOAD_SLOTS; i++)
		forget_thread(p, &p->threads[i]);
	map_deinit(&p->pids);
	vec_deinit(&p->processes);
	free(p);
}
