/*
 * Attaches to a process: finds, opens and checks the right one among all places where it may have
 * zones memory.
 *
 * A process can have several.  A child of fork has its parent's descriptor until its own memory is
 * created, and a child without fork handlers (clone(2), the time before an exec) keeps it; the pid
 * in the memory identifies its owner.  Two copies of the runtime in one process (in two libraries
 * that link it statically) have one memory each; the one with more zones is used.
 */
#include "live/attach.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/process_file.h"
#include "base/str.h"
#include "base/user.h"
#include "live/places.h"
#include "live/process_end.h"
#include "zonereport/last_tick.h"

/* The result of checking the places of one process. */
struct attaching {
	struct live *live;
	uint32_t zones;	     /* of the best so far */
	pid_t owner;	     /* the owner, if memory belongs to another process; 0: none */
	const char *problem; /* of invalid memory; NULL: none */
	int refused;	     /* errno of a failed open; 0: none */
};

static int open_place(pid_t pid, const struct live_place *place)
{
	const int flags = O_RDONLY | O_NONBLOCK | O_NOCTTY;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/root", pid);
	if (place->path && str_starts_with(str_from(place->path), str_from(path)))
		return process_file_open(pid, place->path + strlen(path), flags);
	if (place->fd >= 0)
		snprintf(path, sizeof(path), "/proc/%d/fd/%d", pid, place->fd);
	else
		snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	return open(place->path ? place->path : path, flags | O_CLOEXEC);
}

static bool is_memory_only(const struct live_place *place)
{
	return place->fd < 0 && place->path == NULL;
}

static const char *open_memory(struct live_memory *memory, const struct live_place *place, int fd)
{
	if (is_memory_only(place))
		return live_memory_copy(
			memory, &(struct live_source){
					.fd = fd, .base = place->va, .size = place->va_bytes});
	return live_memory_open(memory, fd);
}

static void take(struct attaching *a, const struct live_place *place, int fd,
	const struct live_memory *memory)
{
	struct live *live = a->live;
	struct stat info;

	live_memory_deinit(&live->memory);
	if (live->fd >= 0)
		close(live->fd);
	live->memory = *memory;
	live->fd = fd;
	live->place_fd = place->fd;
	live->device = 0;
	live->inode = place->inode;
	if (!is_memory_only(place) && fstat(fd, &info) == 0) {
		live->device = info.st_dev;
		live->inode = info.st_ino;
	}
	a->zones = zone_region_zone_count(&memory->region);
}

static void try_place(struct attaching *a, const struct live_place *place)
{
	const struct live_process *process = &a->live->process;
	struct live_memory memory;
	int fd = open_place(process->pid, place);

	if (fd < 0) {
		a->refused = errno;
		return;
	}
	const char *problem = open_memory(&memory, place, fd);
	if (problem) {
		/* /proc/PID/mem can be opened even where it cannot be read. */
		if (!is_memory_only(place))
			a->problem = problem;
		close(fd);
		return;
	}
	pid_t owner = memory.region.header.pid;
	if (owner != process->inner_pid && owner != process->pid) {
		a->owner = owner;
	} else if (!a->live->memory.data || zone_region_zone_count(&memory.region) > a->zones) {
		take(a, place, fd, &memory);
		return;
	}
	live_memory_deinit(&memory);
	close(fd);
}

/* ---- what is wrong ---- */

static struct error *refusal(const struct live_process *p, const char *what)
{
	if (p->uid != geteuid()) {
		char *owner = user_name(p->uid);
		struct error *err = error_new(ERROR_UNSUPPORTED,
			"process %d (%s) belongs to %s; only that user and root may inspect %s: "
			"try 'sudo sonde live %d'",
			p->pid, p->name, owner, what, p->pid);

		free(owner);
		return err;
	}
	if (p->uid == 0)
		return error_new(ERROR_UNSUPPORTED,
			"process %d (%s): root has too few privileges here to inspect %s", p->pid,
			p->name, what);
	return error_new(ERROR_UNSUPPORTED,
		"process %d (%s) does not let other programs inspect %s: try 'sudo sonde live %d'",
		p->pid, p->name, what, p->pid);
}

static struct error *no_zones(const struct attaching *a)
{
	const struct live_process *p = &a->live->process;

	if (p->state == 'Z')
		return error_new(ERROR_INPUT, "process %d (%s) has ended", p->pid, p->name);
	if (a->refused == EACCES || a->refused == EPERM)
		return refusal(p, "its memory, and it has closed the descriptor of its zones");
	if (a->problem)
		return error_new(ERROR_INPUT, "process %d (%s): what it has %s", p->pid, p->name,
			a->problem);
	if (a->owner)
		return error_new(ERROR_INPUT,
			"process %d (%s) has no zones of its own yet, only those it has inherited "
			"of process %d",
			p->pid, p->name, a->owner);
	if (live_places_has_library(p->pid))
		return error_new(ERROR_INPUT,
			"process %d (%s) has libsonde-zones, but has not entered a zone yet; is it "
			"compiled with -DProf_ENABLED?",
			p->pid, p->name);
	return error_new(ERROR_INPUT,
		"process %d (%s) has no zones: link it with libsonde-zones and mark them with "
		"prof.h, or see all its functions with 'sonde run -p %d'",
		p->pid, p->name, p->pid);
}

/* ---- attaching ---- */

static struct error *find_memory(struct live *live)
{
	struct attaching a = {.live = live};
	live_places places = {0};
	struct error *err = NULL;

	if (!live_places_find(live->process.pid, &places))
		err = errno == EACCES || errno == EPERM ? refusal(&live->process, "its zones")
							: no_zones(&a);
	for (size_t i = 0; err == NULL && i < places.count; i++)
		try_place(&a, &places.data[i]);
	if (err == NULL && live->memory.data == NULL)
		err = no_zones(&a);
	live_places_deinit(&places);
	return err;
}

struct error *live_attach(pid_t pid, struct live **result)
{
	struct live *live = xalloc(sizeof(*live));
	struct error *err;

	live->fd = live->pidfd = live->place_fd = -1;
	err = live_process_look(pid, &live->process);
	if (err == NULL) {
		live->pidfd = (int)syscall(SYS_pidfd_open, live->process.pid, 0);
		err = find_memory(live);
	}
	if (err) {
		live_destroy(live);
		return err;
	}
	live->alive_ticks = zone_region_now(&live->memory.region);
	(void)live_look(live);
	*result = live;
	return NULL;
}

void live_destroy(struct live *live)
{
	if (live == NULL)
		return;
	live_memory_deinit(&live->memory);
	if (live->fd >= 0)
		close(live->fd);
	if (live->pidfd >= 0)
		close(live->pidfd);
	free(live->path);
	free(live);
}

/* ---- after attaching ---- */

/* Whether a place is that of the attached memory. */
static bool is_attached(const struct live *live, const struct live_place *place)
{
	char path[64];
	struct stat info;

	if (place->fd < 0)
		return place->inode == live->inode;
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", live->process.pid, place->fd);
	return stat(path, &info) == 0 && info.st_dev == live->device && info.st_ino == live->inode;
}

static bool has_memory(const struct live *live, const live_places *places)
{
	for (size_t i = 0; i < places->count; i++)
		if (is_attached(live, &places->data[i]))
			return true;
	return false;
}

bool live_is_replaced(const struct live *live)
{
	live_places places = {0};
	bool is;

	if (live->path || !live_places_find(live->process.pid, &places))
		return false;
	is = places.count > 0 && !has_memory(live, &places);
	live_places_deinit(&places);
	return is;
}

/* Whether a running process no longer has the memory: exec has closed it. */
static bool is_abandoned(const struct live *live)
{
	const struct live_place place = {.fd = live->place_fd};
	live_places places = {0};
	bool is;

	/* It is usually where it was, so that a full search is not needed. */
	if (place.fd >= 0 && is_attached(live, &place))
		return false;
	is = live_places_find(live->process.pid, &places) && !has_memory(live, &places);
	live_places_deinit(&places);
	return is;
}

static void end(struct live *live)
{
	uint64_t last = zone_region_last_tick(&live->memory.region);

	live->state = LIVE_ENDED;
	live_memory_end(
		&live->memory, last > live->alive_ticks ? last : live->alive_ticks, ZONEWIRE_SAVED);
}

enum live_state live_look(struct live *live)
{
	struct live_process now;
	uint64_t ticks;

	if (live->state == LIVE_SAVED || live->state == LIVE_ENDED)
		return live->state;
	ticks = zone_region_now(&live->memory.region);
	if (process_has_ended(&live->process, live->pidfd, &now)) {
		process_end_describe(live->pidfd, live->detail, sizeof(live->detail));
		end(live);
		return live->state;
	}
	if (is_abandoned(live)) {
		snprintf(live->detail, sizeof(live->detail), "runs another program now");
		end(live);
		return live->state;
	}
	live->alive_ticks = ticks;
	live->state = now.state == 'T' || now.state == 't' ? LIVE_STOPPED : LIVE_RUNNING;
	live_memory_refresh(&live->memory);
	return live->state;
}
