/*
 * The BPF program and the recorder share a ring and tables of threads and processes.  All of these
 * are mapped memory, so that a sample needs no system call here.
 *
 * libbpf loads the program and relocates it for the running kernel's structures (CO-RE).  The
 * object file has two programs: one for newer kernels, which pass a sample's time to it, and one
 * for older kernels.
 */
#include "record/engines/exact/exact.h"

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
#include "record/engines/exact/exact_ring.h"
#include "record/engines/exact/exact_tuning.h"

/* The object file of the BPF program, included by the build. */
extern const unsigned char exact_object[];
extern const size_t exact_object_bytes;

struct bpf_object;

struct exact_program {
	struct bpf_object *object;
	int fd;
	size_t ring_bytes; /* of the map "rests", as granted */
	bool is_plain;	   /* the program for kernels before 6.2, without the sample's time */
};

/* ---- the program ---- */

#define RING_MIN ((size_t)1 << 20)

/* The verifier's reason, or libbpf's first warning; libbpf has one printer for all objects. */
static char last_words[256];

/* The verifier's log with its statistics, but without each step; a larger one fails the loading. */
enum { VERIFIER_STATISTICS = 4, VERIFIER_LOG_BYTES = 1 << 16 };

static int keep_words(enum libbpf_print_level level, const char *format, va_list arguments)
{
	char words[sizeof(last_words)];

	if (level != LIBBPF_WARN)
		return 0;
	vsnprintf(words, sizeof(words), format, arguments);
	words[strcspn(words, "\n")] = '\0';
	/* The first one is the cause; the others are its consequences. */
	if (last_words[0] == '\0')
		memcpy(last_words, words, sizeof(words));
	return 0;
}

/* The reason is the last line before the statistics.  The log may be empty. */
static void keep_verifier_words(char *log)
{
	char *end = strstr(log, "verification time "), *line;

	if (!end)
		return;
	while (end > log && end[-1] == '\n')
		end--;
	*end = '\0';
	line = strrchr(log, '\n');
	line = line ? line + 1 : log;
	if (*line)
		snprintf(last_words, sizeof(last_words), "the verifier: %s", line);
}

static struct error *exact_program_refusal(int code, const char *what)
{
	return error_new(ERROR_UNSUPPORTED, "%s: %s%s%s", what, strerror(code),
		last_words[0] ? "; " : "", last_words);
}

static void set_settings(struct bpf_object *object, const struct exact_settings *settings)
{
	struct bpf_map *map;

	bpf_object__for_each_map(map, object)
	{
		if (strstr(bpf_map__name(map), ".rodata"))
			bpf_map__set_initial_value(map, settings, sizeof(*settings));
	}
}

static void exact_program_unload(struct exact_program *p)
{
	bpf_object__close(p->object);
	p->object = NULL;
}

/* Loads one of the two programs, with a ring of that size. 0, or an errno. */
static int load_program(
	struct exact_program *p, const struct exact_settings *settings, size_t ring_bytes)
{
	LIBBPF_OPTS(bpf_object_open_opts, names, .object_name = "sonde");
	const char *wanted = p->is_plain ? "on_sample" : "on_sample_told";
	struct bpf_program *program;
	char *log;
	int code;

	p->object = bpf_object__open_mem(exact_object, exact_object_bytes, &names);
	if (!p->object)
		return errno;
	log = xalloc(VERIFIER_LOG_BYTES);
	bpf_object__for_each_program(program, p->object)
	{
		bpf_program__set_autoload(program, strcmp(bpf_program__name(program), wanted) == 0);
		bpf_program__set_log_level(program, VERIFIER_STATISTICS);
		bpf_program__set_log_buf(program, log, VERIFIER_LOG_BYTES);
	}
	set_settings(p->object, settings);
	bpf_map__set_max_entries(
		bpf_object__find_map_by_name(p->object, "rests"), (uint32_t)ring_bytes);
	code = -bpf_object__load(p->object);
	if (code)
		keep_verifier_words(log);
	free(log);
	if (code) {
		exact_program_unload(p);
		return code;
	}
	p->ring_bytes = ring_bytes;
	p->fd = bpf_program__fd(bpf_object__find_program_by_name(p->object, wanted));
	return 0;
}

static struct error *load_best(
	struct exact_program *p, const struct exact_settings *settings, size_t ring_bytes)
{
	int code;

	last_words[0] = '\0';
	code = load_program(p, settings, ring_bytes);
	while ((code == ENOMEM || code == EPERM) && ring_bytes / 2 >= RING_MIN) {
		ring_bytes /= 2;
		code = load_program(p, settings, ring_bytes);
	}
	if (code && !p->is_plain) {
		p->is_plain = true;
		last_words[0] = '\0';
		code = load_program(p, settings, ring_bytes);
	}
	if (code && libbpf_probe_bpf_helper(BPF_PROG_TYPE_PERF_EVENT, BPF_FUNC_loop, NULL) == 0)
		return error_new(ERROR_UNSUPPORTED, "it takes Linux 5.17 or later");
	return code ? exact_program_refusal(code, "the kernel refused its BPF program") : NULL;
}

static struct error *exact_program_load(struct exact_program *p,
	const struct exact_settings *settings, size_t ring_bytes, bool is_plain)
{
	libbpf_print_fn_t printer = libbpf_set_print(keep_words);
	struct error *err;

	*p = (struct exact_program){.is_plain = is_plain};
	err = load_best(p, settings, ring_bytes);
	libbpf_set_print(printer);
	return err;
}

static int exact_program_map(const struct exact_program *p, const char *name)
{
	return bpf_object__find_map_fd_by_name(p->object, name);
}

/* ---- the engine ---- */

/* The limit for a new thread.  A deeper stack is truncated once. */
#define THREAD_BYTES_FIRST ((uint64_t)4 << 20)
/* The limit for stacks in large mappings: coroutines' are in heaps, and few are as deep as that. */
#define MAPPED_BYTES_FIRST ((uint64_t)256 << 10)
/* A copy of this size costs the target more than waking the recorder, which then sets new marks. */
#define WAKE_BYTES ((uint32_t)256 << 10)
/* A rest this much older than the drained samples belongs to a lost sample. */
#define LATE_NS UINT64_C(50000000)
/* If the program does not get a sample's time, its own differs by at most this. */
#define SLACK_NS UINT64_C(250000)

struct exact {
	struct exact_program program;
	struct exact_tuning tuning;
	struct exact_processes *processes; /* shared with the program */
	int ring_fd, counts_fd;
	int wake_fd; /* an epoll descriptor */
	struct exact_ring ring;
	void *consumer_map, *producer_map;
};

static size_t page_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

/* ---- requirements ---- */

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

/* ---- shared memory ---- */

static struct error *map_shared(struct exact *x)
{
	size_t page = page_bytes();

	x->ring_fd = exact_program_map(&x->program, "rests");
	x->counts_fd = exact_program_map(&x->program, "counts");
	x->consumer_map = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, x->ring_fd, 0);
	x->producer_map = mmap(
		NULL, page + x->program.ring_bytes, PROT_READ, MAP_SHARED, x->ring_fd, (off_t)page);
	x->tuning.threads = mmap(NULL, EXACT_THREADS * sizeof(*x->tuning.threads),
		PROT_READ | PROT_WRITE, MAP_SHARED, exact_program_map(&x->program, "threads"), 0);
	x->processes = mmap(NULL, sizeof(*x->processes), PROT_READ | PROT_WRITE, MAP_SHARED,
		exact_program_map(&x->program, "processes"), 0);
	if (x->consumer_map == MAP_FAILED || x->producer_map == MAP_FAILED ||
		x->tuning.threads == MAP_FAILED || x->processes == MAP_FAILED)
		return exact_program_refusal(
			errno, "the memory that it shares with its BPF program");
	exact_ring_init(&x->ring, x->consumer_map, x->producer_map,
		(const uint8_t *)x->producer_map + page, x->program.ring_bytes);
	return NULL;
}

/*
 * The ring itself is readable while it contains anything, and would wake us for every sample.  So
 * an edge-triggered epoll wakes us only when the program requests it.
 */
static struct error *watch_ring(struct exact *x)
{
	struct epoll_event event = {.events = EPOLLIN | EPOLLET};

	x->wake_fd = epoll_create1(EPOLL_CLOEXEC);
	if (x->wake_fd < 0 || epoll_ctl(x->wake_fd, EPOLL_CTL_ADD, x->ring_fd, &event))
		return exact_program_refusal(errno, "waiting for its BPF program");
	return NULL;
}

static struct error *load(struct exact *x, const struct exact_options *options)
{
	struct exact_settings settings = {
		.dump_bytes = options->dump_bytes,
		.wake_bytes = WAKE_BYTES,
		.main_bytes = EXACT_STACK_BYTES_MAX,
		.thread_bytes = THREAD_BYTES_FIRST,
		.mapped_bytes = MAPPED_BYTES_FIRST,
	};
	struct error *err =
		exact_program_load(&x->program, &settings, options->ring_bytes, options->is_plain);

	x->tuning.slack_ns = x->program.is_plain ? SLACK_NS : 0;
	return err;
}

static void unmap(void *memory, size_t size)
{
	if (memory && memory != MAP_FAILED)
		munmap(memory, size);
}

struct error *exact_open(const struct exact_options *options, struct exact **exact)
{
	const char *lack = exact_lacks();
	struct error *err;

	if (lack)
		return error_new(ERROR_UNSUPPORTED, "%s", lack);
	struct exact *x = xalloc(sizeof(*x));

	x->wake_fd = -1;
	err = load(x, options);
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
	unmap(x->producer_map, page_bytes() + x->program.ring_bytes);
	unmap(x->tuning.threads, EXACT_THREADS * sizeof(*x->tuning.threads));
	unmap(x->processes, sizeof(*x->processes));
	if (x->wake_fd >= 0)
		close(x->wake_fd);
	exact_program_unload(&x->program);
	free(x);
}

int exact_attach(struct exact *x, int perf_fd)
{
	return ioctl(perf_fd, PERF_EVENT_IOC_SET_BPF, x->program.fd) ? errno : 0;
}

int exact_fd(const struct exact *x)
{
	return x->wake_fd;
}

size_t exact_ring_bytes(const struct exact *x)
{
	return x->program.ring_bytes;
}

/* ---- samples ---- */

void exact_rest(struct exact *x, const struct perf_sample *sample, struct stack_rest *rest)
{
	struct exact_key key = {
		.time_ns = sample->time_ns,
		.sp = sample->regs.value[UNWIND_REG_SP],
		.tid = (uint32_t)sample->tid,
		.slack_ns = x->tuning.slack_ns,
	};

	/* A round may have many samples: release the last one's rest immediately. */
	exact_ring_release(&x->ring, 0);
	exact_ring_find(&x->ring, &key, rest);
}

void exact_release(struct exact *x, uint64_t horizon_ns)
{
	struct epoll_event event;

	(void)epoll_wait(x->wake_fd, &event, 1, 0);
	exact_ring_release(&x->ring, horizon_ns > LATE_NS ? horizon_ns - LATE_NS : 0);
}

void exact_keep(struct exact *x)
{
	exact_ring_keep(&x->ring);
}

void exact_learn(struct exact *x, const struct perf_sample *sample, const struct stack_rest *rest,
	const struct unwind_history *history, bool is_short)
{
	exact_tuning_learn(&x->tuning, sample, rest, history, is_short);
}

/* ---- which processes ---- */

void exact_only_known(struct exact *x)
{
	__atomic_store_n(&x->processes->is_on, 1, __ATOMIC_RELEASE);
}

void exact_know(struct exact *x, int64_t pid)
{
	uint32_t bit = (uint32_t)pid % EXACT_PROCESSES;

	x->processes->bits[bit / 64] |= UINT64_C(1) << bit % 64;
}

void exact_learn_go(struct exact *x, int64_t pid, uint32_t below)
{
	struct exact_go *go = &x->processes->go[(uint32_t)pid % EXACT_GO_PROCESSES];

	/* The program never sees the pid with another one's place. */
	__atomic_store_n(&go->pid, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&go->below, below, __ATOMIC_RELEASE);
	__atomic_store_n(&go->pid, (uint32_t)pid, __ATOMIC_RELEASE);
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
