/*
 * Processes in /proc, looked at for memory of zones.  A memfd shows by its name in the link
 * /proc/PID/fd/N, which costs a readlink for each descriptor; reading the mappings costs more, and
 * is only done where no descriptor is found.  A region in a file (SONDE_ZONES=file=) has any name:
 * of descriptors that are open for reading and writing, and of regular files, the first bytes are
 * read.
 */
#include "live/proc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/zonewire.h"

#define MEMFD_PATH "/memfd:" ZONEWIRE_NAME

/* ---- who it is ---- */

/* The contents of /proc/PID/NAME, cut to size - 1 bytes; how many, or -1. */
static ssize_t read_proc(pid_t pid, const char *name, char *text, size_t size)
{
	char path[64];
	ssize_t got = 0;
	size_t used = 0;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	while (used < size - 1 && (got = read(fd, text + used, size - 1 - used)) > 0)
		used += (size_t)got;
	close(fd);
	text[used] = '\0';
	return got < 0 && used == 0 ? -1 : (ssize_t)used;
}

/* What stands behind "\nKEY:\t"; the name, which is the program's choice, stands in the first line,
 * with newlines escaped. */
static const char *status_field(const char *status, const char *key)
{
	const char *at = strstr(status, key);

	return at ? at + strlen(key) : NULL;
}

static pid_t last_number(const char *list)
{
	pid_t number = 0;

	while (*list && *list != '\n') {
		char *end;
		long n = strtol(list, &end, 10);
		if (end == list)
			break;
		number = (pid_t)n;
		list = end;
	}
	return number;
}

struct error *live_process_look(pid_t pid, struct live_process *process)
{
	char status[4096];
	const char *tgid, *state, *uid, *inner;
	unsigned real, effective;

	if (pid <= 0 || read_proc(pid, "status", status, sizeof(status)) <= 0)
		return access("/proc/self/status", R_OK) == 0
			       ? error_new(ERROR_INPUT, "there is no process %d", pid)
			       : error_new(ERROR_INPUT,
					 "process %d can't be looked at: there is no /proc here",
					 pid);
	tgid = status_field(status, "\nTgid:");
	state = status_field(status, "\nState:\t");
	uid = status_field(status, "\nUid:");
	inner = status_field(status, "\nNSpid:");
	if (!tgid || !state || !uid || sscanf(uid, "%u %u", &real, &effective) != 2)
		return error_new(
			ERROR_INPUT, "process %d: its /proc/%d/status makes no sense", pid, pid);
	*process = (struct live_process){
		.pid = (pid_t)strtol(tgid, NULL, 10), .state = *state, .uid = (uid_t)effective};
	/* Of a thread NSpid tells the thread's. */
	if (process->pid != pid)
		return live_process_look(process->pid, process);
	process->inner_pid = inner ? last_number(inner) : pid;
	ssize_t size = read_proc(pid, "comm", process->name, sizeof(process->name));
	process->name[size > 0 ? strcspn(process->name, "\n") : 0] = '\0';
	return NULL;
}

void live_process_command(pid_t pid, char *text, size_t size)
{
	ssize_t got = read_proc(pid, "cmdline", text, size);

	if (got < 0)
		got = 0;
	while (got > 0 && text[got - 1] == '\0')
		got--;
	for (ssize_t i = 0; i < got; i++)
		if (text[i] == '\0')
			text[i] = ' ';
	text[got] = '\0';
}

/* The name of the thread of that number in our own pid namespace; false: there is none. */
static bool name_of_task(pid_t pid, int32_t tid, char *name, size_t size)
{
	char file[32];

	snprintf(file, sizeof(file), "task/%" PRId32 "/comm", tid);
	if (read_proc(pid, file, name, size) <= 0)
		return false;
	name[strcspn(name, "\n")] = '\0';
	return true;
}

/* A thread's number out here; 0: there is none. */
static int32_t outer_tid(pid_t pid, int32_t tid)
{
	char path[64], file[sizeof("task/") + 256 + sizeof("/status")], status[4096];
	int32_t found = 0;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	DIR *tasks = opendir(path);
	for (struct dirent *e; tasks && found == 0 && (e = readdir(tasks)) != NULL;) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(file, sizeof(file), "task/%s/status", e->d_name);
		if (read_proc(pid, file, status, sizeof(status)) <= 0)
			continue;
		const char *inner = status_field(status, "\nNSpid:");
		if (inner && last_number(inner) == tid)
			found = (int32_t)strtol(e->d_name, NULL, 10);
	}
	if (tasks)
		closedir(tasks);
	return found;
}

void live_process_thread_name(
	const struct live_process *process, int32_t tid, char *name, size_t size)
{
	name[0] = '\0';
	if (process->pid != process->inner_pid)
		tid = outer_tid(process->pid, tid);
	if (tid > 0 && !name_of_task(process->pid, tid, name, size))
		name[0] = '\0';
}

/* ---- its memory ---- */

static bool is_memfd(const char *link)
{
	size_t size = strlen(MEMFD_PATH);

	return strncmp(link, MEMFD_PATH, size) == 0 &&
	       (link[size] == '\0' || strcmp(link + size, " (deleted)") == 0);
}

/*
 * Whether descriptor `name` is of a regular file that begins with the magic number.  Opened so that
 * what turns out to be no file makes nobody wait.
 */
static bool is_region_file(int directory, const char *name)
{
	struct stat link, file;
	uint64_t magic = 0;

	if (fstatat(directory, name, &link, AT_SYMLINK_NOFOLLOW) != 0 ||
		(link.st_mode & (S_IRUSR | S_IWUSR)) != (S_IRUSR | S_IWUSR))
		return false;
	if (fstatat(directory, name, &file, 0) != 0 || !S_ISREG(file.st_mode) ||
		file.st_size < ZONEWIRE_HEADER_BYTES)
		return false;
	int fd = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return false;
	bool is = pread(fd, &magic, sizeof(magic), 0) == sizeof(magic) && magic == ZONEWIRE_MAGIC;
	close(fd);
	return is;
}

static void add_descriptor(int directory, const char *name, live_places *places)
{
	char link[512];
	ssize_t size = readlinkat(directory, name, link, sizeof(link) - 1);
	int fd = (int)strtol(name, NULL, 10);

	/* Sockets, pipes and the like are "socket:[…]". */
	if (size <= 0 || link[0] != '/')
		return;
	link[size] = '\0';
	if (is_memfd(link))
		vec_push(places, (struct live_place){.kind = LIVE_PLACE_MEMFD, .fd = fd});
	else if (is_region_file(directory, name))
		vec_push(places, (struct live_place){.kind = LIVE_PLACE_FILE, .fd = fd});
}

static bool add_descriptors(pid_t pid, live_places *places)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	DIR *directory = opendir(path);
	if (directory == NULL)
		return false;
	for (struct dirent *e; (e = readdir(directory)) != NULL;)
		if (e->d_name[0] != '.')
			add_descriptor(dirfd(directory), e->d_name, places);
	closedir(directory);
	return true;
}

static FILE *open_maps(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	return fopen(path, "re");
}

/* A line of /proc/PID/maps that is one of memory of zones, from its beginning. */
static bool map_place(const char *line, struct live_place *place)
{
	uint64_t low, high, offset;
	int path = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %*s %n", &low, &high, &offset,
		    &path) != 3 ||
		path == 0 || offset != 0 || high <= low)
		return false;
	/* Where there was no memfd the memory may be called by prctl(PR_SET_VMA). */
	if (!is_memfd(line + path) && strcmp(line + path, "[anon:" ZONEWIRE_NAME "]") != 0)
		return false;
	*place = (struct live_place){
		.kind = LIVE_PLACE_MEMORY, .fd = -1, .va = low, .va_bytes = high - low};
	return true;
}

static bool add_mappings(pid_t pid, live_places *places)
{
	FILE *maps = open_maps(pid);
	char *line = NULL;
	size_t capacity = 0;
	struct live_place place;

	if (maps == NULL)
		return false;
	for (ssize_t size; (size = getline(&line, &capacity, maps)) > 0;) {
		if (strstr(line, ZONEWIRE_NAME) == NULL)
			continue;
		line[strcspn(line, "\n")] = '\0';
		if (map_place(line, &place))
			vec_push(places, place);
	}
	free(line);
	fclose(maps);
	return true;
}

bool live_process_places(pid_t pid, live_places *places)
{
	size_t before = places->count;

	if (!add_descriptors(pid, places))
		return false;
	return places->count > before || add_mappings(pid, places);
}

bool live_process_has_library(pid_t pid)
{
	FILE *maps = open_maps(pid);
	char *line = NULL;
	size_t capacity = 0;
	bool has = false;

	if (maps == NULL)
		return false;
	while (!has && getline(&line, &capacity, maps) > 0)
		has = strstr(line, "/libsonde-zones.so") != NULL;
	free(line);
	fclose(maps);
	return has;
}
