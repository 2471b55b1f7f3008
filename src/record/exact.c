/*
 * Loads the BPF program with libbpf, which fits it to the running kernel's structures (CO-RE), and
 * keeps what it and the recorder share: the ring and the table of threads, both memory that is
 * mapped here, so that neither costs a system call for each sample.
 *
 * What is copied is governed by three things, all told to the program for each thread: marks, where
 * the rest of the stack is what it was; a request for a whole one, for the checks of suffix reuse;
 * and a limit, for stacks whose end nothing tells, such as a coroutine's within a large heap.
 */
#include "record/exact.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/str.h"
#include "record/exact_marks.h"
#include "record/exact_object.h"
#include "record/exact_ring.h"

/* A stack is not deeper, or is cut. */
#define STACK_BYTES_MOST ((uint64_t)64 << 20)
/* Of a thread that has not been seen yet: one deeper than that is cut once. */
#define THREAD_BYTES_FIRST ((uint64_t)4 << 20)
/* So much copied for nothing makes the limit of the thread sink. */
#define WASTE_BYTES ((uint64_t)64 << 10)
#define LIMIT_LEAST ((uint64_t)8 << 10)
/* A copy of that much costs the target more than waking the recorder, which then moves the marks.
 */
#define WAKE_BYTES ((uint32_t)256 << 10)
#define RING_LEAST ((size_t)1 << 20)
/* A rest so much older than what has been drained belongs to no sample: that was lost. */
#define LATE_NS UINT64_C(50000000)
/* Where the program is not told a sample's time, its own is that much off at most. */
#define SLACK_NS UINT64_C(250000)
/* After so many samples a request for a whole stack is taken to be lost. */
#define WANTED_SAMPLES 256
/* So many samples without marks where they have misled us. */
#define DISTRUST_LEAST 256u
#define DISTRUST_MOST  (1u << 16)

/* What the recorder alone knows of the thread in the same entry of the table. */
struct request {
	bool is_open; /* a whole stack was asked for */
	uint32_t age; /* samples since then */
	/* Samples yet to be taken without marks, and how many there were before. */
	uint32_t distrust, distrusted;
};

struct exact {
	struct bpf_object *object;
	struct exact_thread *threads;	   /* [EXACT_THREADS], shared with the program */
	struct exact_processes *processes; /* likewise */
	struct request requests[EXACT_THREADS];
	int program_fd, ring_fd, counts_fd;
	int wake_fd; /* an epoll */
	size_t ring_bytes;
	struct exact_ring ring;
	void *consumer_map, *producer_map;
	bool is_plain;
};

static size_t page_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

/* ---- what is needed ---- */

static bool has_capability(unsigned int capability)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {{0}};

	return syscall(SYS_capget, &header, data) == 0 &&
	       (data[capability / 32].effective >> capability % 32 & 1);
}

const char *exact_lacks(void)
{
	if (!has_capability(CAP_SYS_ADMIN) &&
		(!has_capability(CAP_BPF) || !has_capability(CAP_PERFMON)))
		return "it takes the capabilities CAP_BPF and CAP_PERFMON, which root has";
	if (access("/sys/kernel/btf/vmlinux", R_OK))
		return "the kernel has no BTF, a description of its types";
	return NULL;
}

/* ---- loading ---- */

/* The last line that libbpf or the verifier had to say; libbpf has one printer for all. */
static char last_words[256];

static int keep_words(enum libbpf_print_level level, const char *format, va_list arguments)
{
	char words[sizeof(last_words)];

	if (level != LIBBPF_WARN)
		return 0;
	vsnprintf(words, sizeof(words), format, arguments);
	words[strcspn(words, "\n")] = '\0';
	/* The first is the cause, the others tell who gave up for it. */
	if (last_words[0] == '\0')
		memcpy(last_words, words, sizeof(words));
	return 0;
}

static struct error *refusal(int code, const char *what)
{
	return error_new(ERROR_UNSUPPORTED, "%s: %s%s%s", what, strerror(code),
		last_words[0] ? "; " : "", last_words);
}

static void set_settings(struct bpf_object *object, const struct exact_options *options)
{
	struct exact_settings settings = {
		.dump_bytes = options->dump_bytes,
		.wake_bytes = WAKE_BYTES,
		.main_bytes = STACK_BYTES_MOST,
		.thread_bytes = THREAD_BYTES_FIRST,
	};
	struct bpf_map *map;

	bpf_object__for_each_map(map, object)
	{
		if (strstr(bpf_map__name(map), ".rodata"))
			bpf_map__set_initial_value(map, &settings, sizeof(settings));
	}
}

/* Loads one of the two programs with a ring of that size. 0, or an errno. */
static int load(struct exact *x, const struct exact_options *options, size_t ring_bytes)
{
	LIBBPF_OPTS(bpf_object_open_opts, names, .object_name = "sonde");
	const char *wanted = x->is_plain ? "on_sample" : "on_sample_told";
	struct bpf_program *program;
	int code;

	x->object = bpf_object__open_mem(exact_object, exact_object_bytes, &names);
	if (!x->object)
		return errno;
	bpf_object__for_each_program(program, x->object)
	{
		bpf_program__set_autoload(program, strcmp(bpf_program__name(program), wanted) == 0);
	}
	set_settings(x->object, options);
	bpf_map__set_max_entries(
		bpf_object__find_map_by_name(x->object, "rests"), (uint32_t)ring_bytes);
	code = -bpf_object__load(x->object);
	if (code) {
		bpf_object__close(x->object);
		x->object = NULL;
		return code;
	}
	x->ring_bytes = ring_bytes;
	x->program_fd = bpf_program__fd(bpf_object__find_program_by_name(x->object, wanted));
	return 0;
}

/* With the largest ring that is granted, by the program that the kernel is new enough for. */
static struct error *load_best(struct exact *x, const struct exact_options *options)
{
	size_t ring_bytes = options->ring_bytes;
	int code;

	x->is_plain = options->is_plain;
	last_words[0] = '\0';
	code = load(x, options, ring_bytes);
	while ((code == ENOMEM || code == EPERM) && ring_bytes / 2 >= RING_LEAST) {
		ring_bytes /= 2;
		code = load(x, options, ring_bytes);
	}
	if (code && !x->is_plain) {
		x->is_plain = true;
		last_words[0] = '\0';
		code = load(x, options, ring_bytes);
	}
	return code ? refusal(code, "the kernel refused its BPF program") : NULL;
}

/* ---- what is shared ---- */

static int map_fd(const struct exact *x, const char *name)
{
	return bpf_object__find_map_fd_by_name(x->object, name);
}

static struct error *map_shared(struct exact *x)
{
	size_t page = page_bytes();

	x->ring_fd = map_fd(x, "rests");
	x->counts_fd = map_fd(x, "counts");
	x->consumer_map = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, x->ring_fd, 0);
	x->producer_map =
		mmap(NULL, page + x->ring_bytes, PROT_READ, MAP_SHARED, x->ring_fd, (off_t)page);
	x->threads = mmap(NULL, EXACT_THREADS * sizeof(*x->threads), PROT_READ | PROT_WRITE,
		MAP_SHARED, map_fd(x, "threads"), 0);
	x->processes = mmap(NULL, sizeof(*x->processes), PROT_READ | PROT_WRITE, MAP_SHARED,
		map_fd(x, "processes"), 0);
	if (x->consumer_map == MAP_FAILED || x->producer_map == MAP_FAILED ||
		x->threads == MAP_FAILED || x->processes == MAP_FAILED)
		return refusal(errno, "the memory that it shares with its BPF program");
	exact_ring_init(&x->ring, x->consumer_map, x->producer_map,
		(const uint8_t *)x->producer_map + page, x->ring_bytes);
	return NULL;
}

/*
 * The ring itself is readable while there is anything in it, and would wake us for every sample;
 * what must wake us is only that the program says so.
 */
static struct error *watch_ring(struct exact *x)
{
	struct epoll_event event = {.events = EPOLLIN | EPOLLET};

	x->wake_fd = epoll_create1(EPOLL_CLOEXEC);
	if (x->wake_fd < 0 || epoll_ctl(x->wake_fd, EPOLL_CTL_ADD, x->ring_fd, &event))
		return refusal(errno, "waiting for its BPF program");
	return NULL;
}

static void unmap(void *memory, size_t size)
{
	if (memory && memory != MAP_FAILED)
		munmap(memory, size);
}

struct error *exact_open(const struct exact_options *options, struct exact **exact)
{
	const char *lack = exact_lacks();
	libbpf_print_fn_t printer;
	struct error *err;

	if (lack)
		return error_new(ERROR_UNSUPPORTED, "%s", lack);
	struct exact *x = xalloc(sizeof(*x));

	x->wake_fd = -1;
	printer = libbpf_set_print(keep_words);
	err = load_best(x, options);
	libbpf_set_print(printer);
	if (!err)
		err = map_shared(x);
	if (!err)
		err = watch_ring(x);
	if (err) {
		exact_close(x);
		return err;
	}
	*exact = x;
	return NULL;
}

void exact_close(struct exact *x)
{
	if (x == NULL)
		return;
	exact_ring_deinit(&x->ring);
	unmap(x->consumer_map, page_bytes());
	unmap(x->producer_map, page_bytes() + x->ring_bytes);
	unmap(x->threads, EXACT_THREADS * sizeof(*x->threads));
	unmap(x->processes, sizeof(*x->processes));
	if (x->wake_fd >= 0)
		close(x->wake_fd);
	bpf_object__close(x->object);
	free(x);
}

int exact_attach(struct exact *x, int perf_fd)
{
	return ioctl(perf_fd, PERF_EVENT_IOC_SET_BPF, x->program_fd) ? errno : 0;
}

int exact_fd(const struct exact *x)
{
	return x->wake_fd;
}

size_t exact_ring_bytes(const struct exact *x)
{
	return x->ring_bytes;
}

/* ---- samples ---- */

/* By how much the program's time of a sample may differ from that in the sample. */
static uint64_t slack_ns(const struct exact *x)
{
	return x->is_plain ? SLACK_NS : 0;
}

void exact_rest(struct exact *x, const struct perf_sample *sample, struct stack_rest *rest)
{
	struct exact_key key = {
		.time_ns = sample->time_ns,
		.sp = sample->regs.value[UNWIND_REG_SP],
		.tid = (uint32_t)sample->tid,
		.slack_ns = slack_ns(x),
	};

	exact_ring_find(&x->ring, &key, rest);
}

void exact_release(struct exact *x, uint64_t horizon_ns)
{
	struct epoll_event event;

	(void)epoll_wait(x->wake_fd, &event, 1, 0);
	exact_ring_release(&x->ring, horizon_ns > LATE_NS ? horizon_ns - LATE_NS : 0);
}

/*
 * The limit matters only for stacks whose end is not known: what was copied beyond the outermost
 * frame was in vain, and what the limit cut off was missed.
 */
static void adapt_limit(
	struct exact_thread *thread, const struct stack_rest *rest, uint64_t root_va, bool is_short)
{
	uint64_t limit = thread->limit_bytes;

	if (is_short && (rest->pieces.count == 0 || rest->end == STACK_REST_LIMITED)) {
		limit = limit < LIMIT_LEAST ? LIMIT_LEAST : 8 * limit;
	} else if (!is_short && rest->pieces.count > 0 && rest->end != STACK_REST_MARKED &&
		   root_va < rest->high_va && rest->high_va - root_va > WASTE_BYTES) {
		uint64_t used = root_va > rest->low_va ? root_va - rest->low_va : 0;

		limit = 2 * used > LIMIT_LEAST ? 2 * used : LIMIT_LEAST;
	}
	thread->limit_bytes = limit < STACK_BYTES_MOST ? limit : STACK_BYTES_MOST;
}

/* A whole stack is wanted for a check that is due, once. */
static void want_whole(struct exact_thread *thread, struct request *request,
	const struct unwind_history *history, bool is_served)
{
	if (is_served || ++request->age >= WANTED_SAMPLES)
		request->is_open = false;
	if (request->is_open || !unwind_history_check_due(history))
		return;
	request->is_open = true;
	request->age = 0;
	__atomic_store_n(&thread->wanted, thread->given + 1, __ATOMIC_RELEASE);
}

/*
 * Lays marks in the stack of the thread's last sample.  Those of an earlier one would come too
 * late: there will be others when the last one has been walked.
 */
static void mark_anew(const struct exact *x, struct exact_thread *thread,
	const struct unwind_history *history, uint64_t sample_ns)
{
	uint64_t last_ns = __atomic_load_n(&thread->last_ns, __ATOMIC_ACQUIRE);
	struct exact_mark marks[EXACT_MARKS];

	uint64_t distance_ns = last_ns < sample_ns ? sample_ns - last_ns : last_ns - sample_ns;

	if (distance_ns <= slack_ns(x))
		exact_thread_mark(thread, marks, exact_marks_choose(history, marks), last_ns);
}

/*
 * Return addresses of frames that are gone can stay in the holes of new frames, where they look as
 * if nothing had changed.  A thread in which that has misled us does without marks for a while, and
 * each time twice as long.
 */
static void distrust_marks(struct exact_thread *thread, struct request *request)
{
	uint32_t again = 2 * request->distrusted;

	request->distrusted = again < DISTRUST_LEAST ? DISTRUST_LEAST : again;
	if (request->distrusted > DISTRUST_MOST)
		request->distrusted = DISTRUST_MOST;
	request->distrust = request->distrusted;
	exact_thread_mark(thread, NULL, 0, 0);
}

static bool is_misled(
	const struct exact_thread *thread, const struct stack_rest *rest, bool is_short)
{
	bool is_marked =
		rest->pieces.count > 0 ? rest->end == STACK_REST_MARKED : thread->mark_count > 0;

	return is_short && is_marked;
}

/* The outermost frame of the last whole stack; 0: there is none. */
static uint64_t outermost_sp(const struct unwind_history *history)
{
	size_t count = unwind_history_count(history);

	return count > 0 ? unwind_history_frame(history, count - 1).sp : 0;
}

void exact_learn(struct exact *x, const struct perf_sample *sample, const struct stack_rest *rest,
	const struct unwind_history *history, bool is_short)
{
	uint32_t tid = (uint32_t)sample->tid;
	uint64_t root_va = outermost_sp(history);
	uint64_t dump_end_va = sample->regs.value[UNWIND_REG_SP] + sample->stack_size;
	bool is_copied = rest->pieces.count > 0;
	struct exact_thread *thread = exact_threads_find(x->threads, tid);
	struct request *request;

	if (!thread && !is_copied && !is_short && root_va <= dump_end_va)
		return;
	if (!thread) {
		thread = exact_threads_add(x->threads, tid, STACK_BYTES_MOST);
		x->requests[thread - x->threads] = (struct request){0};
	}
	request = &x->requests[thread - x->threads];
	adapt_limit(thread, rest, root_va, is_short);
	if (is_misled(thread, rest, is_short))
		distrust_marks(thread, request);
	else if (request->distrust > 0)
		request->distrust--;
	else if (is_copied || thread->mark_count == 0)
		mark_anew(x, thread, history, sample->time_ns);
	want_whole(thread, request, history, rest->is_wanted);
}

/* ---- whose samples ---- */

void exact_only_known(struct exact *x)
{
	__atomic_store_n(&x->processes->is_on, 1, __ATOMIC_RELEASE);
}

void exact_know(struct exact *x, int64_t pid)
{
	uint32_t bit = (uint32_t)pid % EXACT_PROCESSES;

	x->processes->bits[bit / 64] |= UINT64_C(1) << bit % 64;
}

/* ---- counts ---- */

static void add_counts(struct exact_counts *sum, const struct exact_counts *one)
{
	sum->samples += one->samples;
	sum->rests += one->rests;
	sum->bytes += one->bytes;
	sum->marked += one->marked;
	sum->limited += one->limited;
	sum->lost += one->lost;
	sum->absent += one->absent;
	sum->looked_up += one->looked_up;
}

struct exact_counts exact_counts(const struct exact *x)
{
	int cpus = libbpf_num_possible_cpus();
	struct exact_counts sum = {0};
	uint32_t key = 0;

	if (cpus <= 0)
		return sum;
	struct exact_counts *each = xalloc((size_t)cpus * sizeof(*each));

	if (bpf_map_lookup_elem(x->counts_fd, &key, each) == 0)
		for (int i = 0; i < cpus; i++)
			add_counts(&sum, &each[i]);
	free(each);
	return sum;
}
