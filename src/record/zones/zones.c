/*
 * Zones of all programs that are recorded.
 *
 * Launched programs send us the descriptor of their memory, at their first zone and after each
 * fork, to a socket named in their environment (SONDE_ZONES=notify=NAME), unix(7).  So even the
 * shortest program's memory is recorded, and remains when the program is gone.  Anybody on the
 * machine who guesses the socket's name can send to it.  So the sender's identity is taken from the
 * kernel, and the memory is checked like any other.
 *
 * When a sample is taken out of its ring, its program is known: a program sends its memory before
 * it enters its first zone, and messages are read before samples, at the first sample of each
 * round.  After a program has ended or called exec, its rest waits for one round, until all samples
 * up to then are taken.
 */
#include "record/zones/zones.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "live/attach.h"
#include "record/carried/carried_libraries.h"
#include "record/engines/preload/preload_library.h"
#include "record/recording.h"
#include "record/target.h"
#include "record/zones/zone_rows.h"
#include "zonereport/last_end.h"

struct zone_notice {
	pid_t pid; /* in our pid namespace, from the kernel */
	uid_t uid;
	int fd; /* the caller's */
};

struct zone_notices {
	int fd;	       /* of the socket; -1: none */
	char name[64]; /* in the abstract namespace */
};

/* Opens the socket; without one, programs cannot announce themselves. */
static void zone_notices_open(struct zone_notices *n);
static void zone_notices_close(struct zone_notices *n);
/* The next notice; false: there is none now. */
static bool zone_notices_take(struct zone_notices *n, struct zone_notice *notice);

/* ---- notices ---- */

/* One descriptor is expected.  All are received, so that the others can be closed. */
#define FDS_MAX 8

union control {
	char bytes[CMSG_SPACE(sizeof(struct ucred)) + CMSG_SPACE(FDS_MAX * sizeof(int))];
	struct cmsghdr align;
};

static void zone_notices_open(struct zone_notices *n)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	uint64_t nonce[2] = {0};
	const int on = 1;

	*n = (struct zone_notices){.fd = -1};
	if (getrandom(nonce, sizeof(nonce), GRND_NONBLOCK) != sizeof(nonce))
		return;
	int size = snprintf(n->name, sizeof(n->name), "sonde-zones-%d-%016llx%016llx", getpid(),
		(unsigned long long)nonce[0], (unsigned long long)nonce[1]);

	n->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (n->fd < 0)
		return;
	memcpy(address.sun_path + 1, n->name, (size_t)size);
	if (setsockopt(n->fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) != 0 ||
		bind(n->fd, (const struct sockaddr *)&address,
			(socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)size)) !=
			0)
		zone_notices_close(n);
}

static void zone_notices_close(struct zone_notices *n)
{
	if (n->fd >= 0)
		close(n->fd);
	n->fd = -1;
}

/* The first descriptor stays open; the others are closed. */
static void take_fds(const struct cmsghdr *c, struct zone_notice *notice)
{
	size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

	for (size_t i = 0; i < count; i++) {
		int fd;

		memcpy(&fd, CMSG_DATA(c) + i * sizeof(fd), sizeof(fd));
		if (notice->fd < 0)
			notice->fd = fd;
		else
			close(fd);
	}
}

static void take_control(struct msghdr *message, struct zone_notice *notice)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c)) {
		struct ucred from;

		if (c->cmsg_level != SOL_SOCKET)
			continue;
		if (c->cmsg_type == SCM_RIGHTS)
			take_fds(c, notice);
		if (c->cmsg_type == SCM_CREDENTIALS && c->cmsg_len >= CMSG_LEN(sizeof(from))) {
			memcpy(&from, CMSG_DATA(c), sizeof(from));
			notice->pid = from.pid;
			notice->uid = from.uid;
		}
	}
}

static bool zone_notices_take(struct zone_notices *n, struct zone_notice *notice)
{
	char bytes[256];
	union control control;
	struct iovec part = {bytes, sizeof(bytes)};

	while (n->fd >= 0) {
		struct msghdr message = {.msg_iov = &part,
			.msg_iovlen = 1,
			.msg_control = &control,
			.msg_controllen = sizeof(control)};

		if (recvmsg(n->fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) < 0)
			return false;
		*notice = (struct zone_notice){.fd = -1};
		take_control(&message, notice);
		if (notice->fd >= 0 && notice->pid > 0)
			return true;
		if (notice->fd >= 0)
			close(notice->fd);
	}
	return false;
}

/* ---- programs ---- */

/* Minimum time between readings of counters and ticks, and between searches for new programs. */
#define LOOK_NS (SECOND_NS / 10)
#define FIND_NS SECOND_NS
/* After this time, its process will no longer be reported. */
#define GRACE_NS (SECOND_NS / 4)

/* The library that makes functions zones. */
#define FUNCTIONS_LIBRARY "libsonde-zones-functions.so"

struct zones {
	struct zone_context context;
	enum recorder_zones mode;
	struct zone_notices notices;
	char *variable, *preload;
	VEC(struct zone_program *) programs;
	struct map program_of; /* pid → its newest program */
	struct map asked;      /* pid → how often it was searched for zones */
	uint64_t look_ns, find_ns;
	bool has_taken; /* notices were read in this round */
};

static struct zone_program *find_program(const struct zones *z, int64_t pid, uint64_t time_ns)
{
	uint32_t i;

	if (!map_get(&z->program_of, (uint64_t)pid, 0, &i))
		return NULL;
	for (; i != CAPTURE_NO_ID && z->programs.data[i]; i = z->programs.data[i]->older) {
		struct zone_program *p = z->programs.data[i];

		if (p->memory.region.header.start_monotonic_ns <= time_ns)
			return p->ended_ns == 0 || time_ns <= p->ended_ns ? p : NULL;
	}
	return NULL;
}

static void add_program(
	struct zones *z, int64_t pid, struct live_memory *memory, int fd, bool is_whole)
{
	struct zone_program *p = zone_program_create(pid, memory, fd, is_whole);

	if (p == NULL)
		return;
	zone_rows_begin(p);
	if (!map_get(&z->program_of, (uint64_t)pid, 0, &p->older))
		p->older = CAPTURE_NO_ID;
	map_put(&z->program_of, (uint64_t)pid, 0, (uint32_t)z->programs.count);
	vec_push(&z->programs, p);
	z->context.counts.programs++;
}

/* ---- programs that report themselves ---- */

/* Whether the sender may be a recorded process. */
static bool is_ours(const struct zones *z, const struct zone_notice *notice)
{
	return notice->uid == geteuid() ||
	       process_table_find_late(z->context.recording->processes, notice->pid);
}

static void take_notice(struct zones *z, const struct zone_notice *notice)
{
	struct live_memory memory;

	if (!is_ours(z, notice)) {
		close(notice->fd);
	} else if (live_memory_open(&memory, notice->fd) != NULL) {
		z->context.counts.broken++;
		close(notice->fd);
	} else {
		add_program(z, notice->pid, &memory, notice->fd, true);
	}
}

static void take_notices(struct zones *z)
{
	struct zone_notice notice;

	z->has_taken = true;
	while (zone_notices_take(&z->notices, &notice))
		take_notice(z, &notice);
}

/* ---- programs that run already ---- */

static void attach(struct zones *z, int64_t pid)
{
	struct live *live;
	struct error *err = live_attach((pid_t)pid, &live);

	if (err) {
		error_destroy(err);
		return;
	}
	add_program(z, pid, &live->memory, live->fd, false);
	live->memory = (struct live_memory){0};
	live->fd = -1;
	live_destroy(live);
}

/* Whether to search that process now: the 1st, 2nd, 4th, … time. */
static bool is_due(struct zones *z, int64_t pid)
{
	bool added;
	uint32_t times = ++*map_at(&z->asked, (uint64_t)pid, 0, 0, &added);

	return (times & (times - 1)) == 0 || times % 16 == 0;
}

static void look_for(void *context, struct thread *thread)
{
	struct zones *z = context;
	uint32_t known;

	if (thread->tid == thread->pid &&
		!map_get(&z->program_of, (uint64_t)thread->pid, 0, &known) &&
		is_due(z, thread->pid))
		attach(z, thread->pid);
}

/* Launched programs report themselves. */
static void find_programs(struct zones *z, const struct target *target)
{
	uint64_t now_ns = clock_monotonic_ns();

	if (target->kind == TARGET_COMMAND || now_ns < z->find_ns)
		return;
	z->find_ns = now_ns + FIND_NS;
	process_table_each_thread(z->context.recording->processes, look_for, z);
}

/* ---- ends ---- */

static void end_program(struct zones *z, struct zone_program *p, uint64_t time_ns)
{
	(void)z;
	if (p->ended_ns)
		return;
	p->ended_ns = time_ns;
	p->memory.region.ended_ticks = zone_clock_ticks(&p->clock, time_ns);
}

static void thread_ended(void *context, struct thread *thread, uint64_t time_ns)
{
	struct zones *z = context;
	struct zone_program *p;
	const struct process *process;
	uint32_t slot;

	if (!z->has_taken)
		take_notices(z);
	p = find_program(z, thread->pid, time_ns);
	if (p == NULL)
		return;
	process = process_table_find_late(z->context.recording->processes, thread->pid);
	zone_program_look_at_slots(p);
	slot = zone_program_slot(p, thread->tid);
	if (slot != UINT32_MAX)
		(void)zone_program_thread(p, &z->context, slot);
	if (process && process->is_over)
		end_program(z, p, time_ns);
}

static void thread_execed(void *context, struct thread *thread, uint64_t time_ns)
{
	struct zones *z = context;
	struct zone_program *p = find_program(z, thread->pid, time_ns);

	if (p) {
		p->has_execed = true;
		end_program(z, p, time_ns);
	}
}

/* Adds notes about zones without end and ends without zone, with the names of the last one. */
static void note_ends(struct zones *z, const struct zone_program *p)
{
	char text[1024];

	zone_region_last_end(&p->memory.region, text, sizeof(text));
	if (text[0])
		capture_writer_note(
			z->context.recording->writer, CAPTURE_NOTE_INFO, 1, str_from(text));
}

static void note_off(struct zones *z, const struct zone_program *p)
{
	if (zone_region_header(&p->memory.region).is_off)
		capture_writer_note(z->context.recording->writer, CAPTURE_NOTE_INFO, 1,
			STR("zones of a program were switched off when it was last looked at"));
}

/*
 * Writes the rest.  False: its process is unknown yet, and may still be reported; never if is_last.
 */
static bool close_program(struct zones *z, struct zone_program *p, bool is_last)
{
	if (!zone_program_has_process(p, &z->context)) {
		if (!is_last && clock_monotonic_ns() < p->ended_ns + GRACE_NS)
			return false;
		p->process = process_table_past_process(z->context.recording->processes, p->pid,
			p->memory.region.header.start_monotonic_ns,
			str_from(p->memory.region.header.program));
	}
	if (z->mode == RECORDER_ZONES_EVENTS)
		zone_moment_store(p, &z->context);
	zone_rows_end(p, &z->context);
	note_ends(z, p);
	note_off(z, p);
	z->context.counts.merged_threads += p->merged_threads;
	for (int i = 0; i < ZONEWIRE_TROUBLES; i++)
		z->context.counts.trouble[i] +=
			zone_region_trouble(&p->memory.region, (enum zonewire_trouble)i);
	return true;
}

static void forget_program(struct zones *z, size_t i)
{
	struct zone_program *p = z->programs.data[i];
	uint32_t newest;

	if (map_get(&z->program_of, (uint64_t)p->pid, 0, &newest) && newest == i)
		map_remove(&z->program_of, (uint64_t)p->pid, 0);
	zone_program_destroy(p);
	z->programs.data[i] = NULL;
}

/* Whether it has ended without a report: the engine does not report it, or the report was lost. */
static bool has_ended(const struct zone_program *p)
{
	struct pollfd polled = {.fd = p->pidfd, .events = POLLIN};

	return p->pidfd >= 0 && poll(&polled, 1, 0) > 0 && (polled.revents & POLLIN);
}

/* ---- periodic work ---- */

void zones_expect_samples(struct zones *z)
{
	for (size_t i = 0; i < z->programs.count; i++)
		if (z->programs.data[i])
			zone_clock_look(&z->programs.data[i]->clock);
}

static void look_at_program(struct zones *z, size_t i)
{
	struct zone_program *p = z->programs.data[i];
	uint64_t now_ns = clock_monotonic_ns();

	if (p->ended_ns == 0 && has_ended(p))
		end_program(z, p, now_ns);
	if (p->ended_ns == 0)
		zone_rows_look(p, &z->context);
	else if (close_program(z, p, false))
		forget_program(z, i);
}

void zones_look(struct zones *z, const struct target *target)
{
	uint64_t now_ns = clock_monotonic_ns();

	take_notices(z);
	/* From now on, engines may take samples at any time. */
	z->has_taken = false;
	for (size_t i = 0; z->mode == RECORDER_ZONES_EVENTS && i < z->programs.count; i++)
		if (z->programs.data[i])
			zone_moment_store(z->programs.data[i], &z->context);
	if (now_ns < z->look_ns)
		return;
	z->look_ns = now_ns + LOOK_NS;
	find_programs(z, target);
	for (size_t i = 0; i < z->programs.count; i++)
		if (z->programs.data[i])
			look_at_program(z, i);
}

void zones_end(struct zones *z)
{
	take_notices(z);
	for (size_t i = 0; i < z->programs.count; i++) {
		struct zone_program *p = z->programs.data[i];

		if (p == NULL)
			continue;
		if (p->ended_ns == 0)
			end_program(z, p, clock_monotonic_ns());
		(void)close_program(z, p, true);
		forget_program(z, i);
	}
}

uint32_t zones_at(struct zones *z, const struct thread *thread, uint64_t time_ns)
{
	uint32_t node = 0, stack = 0;
	struct zone_program *p;

	if (!z->has_taken)
		take_notices(z);
	if (z->programs.count == 0)
		return 0;
	p = find_program(z, thread->pid, time_ns);
	if (p == NULL)
		return 0;
	p->process = thread->process;
	switch (zone_moment_find(p, thread->tid, time_ns, &node)) {
	case ZONE_MOMENT_OUTSIDE:
		return 0;
	case ZONE_MOMENT_IN:
		stack = zone_program_stack(p, &z->context, node);
		break;
	case ZONE_MOMENT_UNKNOWN:
		break;
	}
	if (stack)
		return stack;
	z->context.counts.unknown++;
	return zone_unknown_stack(&z->context);
}

/* ---- all zones ---- */

/* Appended to other preloaded libraries. */
static void preload_functions(struct zones *z)
{
	char *library = library_path("zonehook", FUNCTIONS_LIBRARY);
	const char *before = getenv("LD_PRELOAD");

	if (library)
		z->preload = xasprintf(
			"%s%s%s", before ? before : "", before && *before ? ":" : "", library);
	free(library);
}

struct zones *zones_create(struct recording *recording, enum recorder_zones mode)
{
	const char *before = getenv(ZONEWIRE_VARIABLE);
	struct zones *z;

	if (mode == RECORDER_ZONES_NONE)
		return NULL;
	z = xalloc(sizeof(*z));
	z->mode = mode;
	z->context.recording = recording;
	zone_names_init(&z->context.names, recording->writer, recording->objects);
	zone_notices_open(&z->notices);
	if (z->notices.fd >= 0)
		z->variable = xasprintf("%s=%s%sevents,notify=%s", ZONEWIRE_VARIABLE,
			before ? before : "", before && *before ? "," : "", z->notices.name);
	if (mode == RECORDER_ZONES_FUNCTIONS)
		preload_functions(z);
	process_table_hook(recording->processes,
		&(struct process_hooks){
			.ended = thread_ended, .execed = thread_execed, .context = z});
	return z;
}

void zones_destroy(struct zones *z)
{
	if (z == NULL)
		return;
	process_table_unhook(z->context.recording->processes, z);
	for (size_t i = 0; i < z->programs.count; i++)
		zone_program_destroy(z->programs.data[i]);
	vec_deinit(&z->programs);
	map_deinit(&z->program_of);
	map_deinit(&z->asked);
	zone_notices_close(&z->notices);
	zone_names_deinit(&z->context.names);
	free(z->variable);
	free(z->preload);
	free(z);
}

struct error *zones_check_functions(void)
{
	char *library = library_path("zonehook", FUNCTIONS_LIBRARY);

	free(library);
	return library ? NULL
		       : error_new(ERROR_UNSUPPORTED, "--zones=functions: " FUNCTIONS_LIBRARY " %s",
				 library_missing);
}

const char *zones_preload(const struct zones *z)
{
	return z->preload;
}

const char *zones_variable(const struct zones *z)
{
	return z->variable;
}

int zones_fd(const struct zones *z)
{
	return z->notices.fd;
}

void zones_count(const struct zones *z, uint64_t *counters)
{
	const struct zone_context *c = &z->context;

	counters[CAPTURE_LOST_TICKS] = c->counts.lost_ticks;
	counters[CAPTURE_CUT_TICKS] = c->counts.cut_ticks;
	counters[CAPTURE_UNKNOWN_ZONES] = c->counts.unknown;
	counters[CAPTURE_LOST_ZONE_EVENTS] = c->counts.lost_events;
	counters[CAPTURE_BROKEN_ZONES] = c->counts.broken;
	counters[CAPTURE_MERGED_THREADS] = c->counts.merged_threads;
	for (int i = 0; i < ZONEWIRE_TROUBLES; i++)
		counters[CAPTURE_ZONE_TROUBLE + i] = c->counts.trouble[i];
}

struct zones_result zones_result(const struct zones *z)
{
	return (struct zones_result){.programs = z->context.counts.programs,
		.zones = z->context.names.count,
		.functions = z->context.names.function_count,
		.ticks = z->context.counts.ticks,
		.lost_ticks = z->context.counts.lost_ticks,
		.unknown = z->context.counts.unknown,
		.lost_events = z->context.counts.lost_events};
}
