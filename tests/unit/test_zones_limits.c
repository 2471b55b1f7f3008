/*
 * The runtime where a program is short of things: descriptors, address space, file sizes, /proc;
 * and what the environment may ask for.
 */
#define Prof_ENABLED
#include <prof.h>
#include <prof_internal.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../unit.h"
#include "../zones_seen.h"

Prof_Define(outer);
Prof_Define(inner);

static struct zones_seen seen;

static void work(int times)
{
	for (int i = 0; i < times; i++) {
		Prof_Region(outer) Prof_Region(inner) Prof_End Prof_End
	}
}

static void set_limit(unsigned int which, rlim_t most)
{
	struct rlimit limit = {most, most};

	NEED(!setrlimit(which, &limit));
}

/* The program's own report has both zones, each so often. */
static void check_report(double entries)
{
	Prof_Report *report;
	int found = 0;

	Prof_update(1);
	work((int)entries);
	Prof_set_average(0);
	Prof_update(1);
	report = Prof_create_report();
	NEED(report);
	for (int i = 0; i < report->num_record; i++) {
		const Prof_Report_Record *row = &report->record[i];

		if (!strcmp(row->name, "outer") || !strcmp(row->name, "inner")) {
			NEED(row->values[2] == entries);
			found++;
		}
	}
	NEED_EQUAL(found, 2);
	Prof_free_report(report);
}

static void no_descriptors_body(void)
{
	while (open("/dev/null", O_RDONLY) >= 0)
		;
	NEED_EQUAL(errno, EMFILE);
	check_report(7);
	NEED(!zones_seen_open(&seen));
}

static void no_file_size_body(void)
{
	set_limit(RLIMIT_FSIZE, 0);
	check_report(7);
	NEED(!zones_seen_open(&seen));
}

/* Smaller memory, as far as that goes. */
static void little_space_body(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	unsigned long pages;

	NEED(file && fscanf(file, "%lu", &pages) == 1);
	fclose(file);
	set_limit(RLIMIT_AS, pages * (rlim_t)sysconf(_SC_PAGESIZE) + (44 << 20));
	work(7);
	/* The reader's mapping, too, needs room. */
	NEED(zones_seen_open(&seen));
	NEED(seen.region.size < 64 << 20);
	NEED_EQUAL(zones_seen_entries(&seen, "outer/inner"), 7);
}

static void no_space_body(void)
{
	set_limit(RLIMIT_AS, 0);
	work(1000);
	Prof_update(1);
	Prof_leave();
	work(1000);
	NEED_EQUAL(Prof_thread_.skipped, 0);
}

static void forked_without_space_body(void)
{
	work(3);
	set_limit(RLIMIT_AS, 0);
	Prof_Region(outer) if (!fork())
	{
		work(1000);
		Prof_End work(1000);
		NEED_EQUAL(Prof_thread_.skipped, 0);
		_exit(0);
	}
	Prof_End
}

static void no_proc_body(void)
{
	char empty[] = "/tmp/zones-XXXXXX";

	NEED(mkdtemp(empty));
	if (chroot(empty)) {
		rmdir(empty);
		return; /* not allowed here */
	}
	check_report(7);
}

static void closed_by_program_body(void)
{
	int status;
	pid_t child;

	work(1);
	for (int fd = 3; fd < 1024; fd++)
		close(fd);
	NEED(open("/dev/null", O_RDONLY) >= 0);
	child = fork();
	if (!child) {
		struct stat stat;

		NEED(!fstat(3, &stat)); /* the program's own */
		work(5);
		NEED(zones_seen_open(&seen));
		NEED_EQUAL(zones_seen_entries(&seen, "outer"), 5);
		_exit(0);
	}
	NEED(waitpid(child, &status, 0) == child && status == 0);
}

/* A reader can neither write it nor take it away. */
static void sealed_body(void)
{
	char path[64];
	int fd = -1;

	work(1);
	for (int i = 3; i < 1024 && fd < 0; i++) {
		if (fcntl(i, F_GET_SEALS) > 0)
			fd = i;
	}
	NEED(fd >= 0);
	NEED(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	NEED(ftruncate(fd, 0) && errno == EPERM);
	NEED(ftruncate(fd, 1 << 30) && errno == EPERM);
	NEED(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED);
	NEED(write(fd, path, 1) < 0);
	NEED(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE) < 0);
	work(1);
}

static void environment_body(void)
{
	char path[64], expected[64];
	struct stat stat;

	snprintf(path, sizeof(path), "off,file=/tmp/zones-%%p.test,unknown,events");
	setenv("SONDE_ZONES", path, 1);
	snprintf(expected, sizeof(expected), "/tmp/zones-%ld.test", (long)getpid());
	work(9);
	NEED(!lstat(expected, &stat));
	unlink(expected);
	NEED_EQUAL(stat.st_size, 64 << 20);
	NEED_EQUAL(stat.st_mode & 0777, 0600);
	Prof_set_enabled(1);
	check_report(4);
	NEED(Prof_thread_.mode & Prof_EVENTS_);
}

/* Works with that in the environment, twice, and so a forked child: what they print in all. */
static void work_refused(const char *environment, char *text, size_t bytes)
{
	int out[2], saved = dup(STDERR_FILENO), status;
	ssize_t size;
	pid_t child;

	setenv("SONDE_ZONES", environment, 1);
	NEED(!pipe(out) && dup2(out[1], STDERR_FILENO) == STDERR_FILENO);
	close(out[1]);
	work(2);
	child = fork();
	if (child == 0) {
		work(1);
		_exit(0);
	}
	NEED(waitpid(child, &status, 0) == child && status == 0);
	dup2(saved, STDERR_FILENO);
	size = read(out[0], text, bytes - 1);
	NEED(size >= 0);
	text[size] = '\0';
	NEED(zones_seen_open(&seen));
	NEED_EQUAL(zones_seen_entries(&seen, "outer"), 2);
}

/* Nothing but an ordinary file is ever written over. */
static void file_refused_body(void)
{
	struct stat stat;
	char text[1024];

	work_refused("events,file=/dev/null", text, sizeof(text));
	NEED(!lstat("/dev/null", &stat) && S_ISCHR(stat.st_mode));
	NEED(!strcmp(text, "sonde: SONDE_ZONES=file=/dev/null: there is something that is not a "
			   "file; zones are kept in memory alone\n"));
}

static void file_nowhere_body(void)
{
	char text[1024];

	work_refused("file=/nowhere/\n%p.zones", text, sizeof(text));
	NEED(strncmp(text, "sonde: SONDE_ZONES=file=/nowhere/?", 34) == 0);
	NEED(strstr(text, ".zones: No such file or directory; zones are kept in memory alone\n"));
	NEED(strchr(text, '\n') == text + strlen(text) - 1);
}

static void file_path_long_body(void)
{
	char environment[2000] = "file=/", text[4096];

	memset(environment + 6, 'x', sizeof(environment) - 7);
	work_refused(environment, text, sizeof(text));
	NEED(strstr(text, "xxx: the path is too long; zones are kept in memory alone\n"));
	NEED(strchr(text, '\n') == text + strlen(text) - 1);
}

/* Who has closed the other end of stderr's pipe goes on as without zones. */
static void file_refused_unheard_body(void)
{
	int out[2];

	setenv("SONDE_ZONES", "file=/nowhere/zones", 1);
	signal(SIGPIPE, SIG_DFL);
	NEED(!pipe(out) && dup2(out[1], STDERR_FILENO) == STDERR_FILENO);
	close(out[0]);
	close(out[1]);
	work(2);
	NEED(zones_seen_open(&seen));
	NEED_EQUAL(zones_seen_entries(&seen, "outer"), 2);
}

enum { MANY_THREADS = 64 };
static pthread_barrier_t many;

/* How many stacks each thread enters, and how many events follow. */
struct many_entered {
	uint32_t stacks;
	int events;
};

static void *enter_many(void *data)
{
	const struct many_entered *entered = data;
	char name[16];

	for (uint32_t i = 0; i < entered->stacks; i++) {
		snprintf(name, sizeof(name), "zone %u", i);
		Prof_enter(Prof_zone(name, NULL, 0));
		Prof_leave();
	}
	for (int i = 0; i < entered->events; i++) {
		Prof_Region(outer) Prof_End
	}
	pthread_barrier_wait(&many);
	pthread_barrier_wait(&many);
	return NULL;
}

/* Of /proc/self/status, in KiB. */
static long status_kib(const char *key)
{
	char line[256];
	FILE *file = fopen("/proc/self/status", "r");
	long value = -1;

	NEED(file);
	while (value < 0 && fgets(line, sizeof(line), file))
		if (!strncmp(line, key, strlen(key)))
			value = strtol(line + strlen(key), NULL, 10);
	fclose(file);
	NEED(value >= 0);
	return value;
}

/* What the process has in memory after ten frames of such threads, in KiB. */
static void measure_many(struct many_entered entered, long *shared, long *own)
{
	pthread_t thread[MANY_THREADS];
	long before = status_kib("RssAnon:");

	NEED(!pthread_barrier_init(&many, NULL, MANY_THREADS + 1));
	for (int i = 0; i < MANY_THREADS; i++)
		NEED(!pthread_create(&thread[i], NULL, enter_many, &entered));
	pthread_barrier_wait(&many);
	for (int i = 0; i < 10; i++)
		Prof_update(1);
	*shared = status_kib("RssShmem:");
	*own = status_kib("RssAnon:") - before;
	pthread_barrier_wait(&many);
	for (int i = 0; i < MANY_THREADS; i++)
		pthread_join(thread[i], NULL);
	NEED(zones_seen_open(&seen));
}

/* What man/sonde-zones.7 says of memory, with all of the events' rings. */
static void many_threads_body(void)
{
	const struct many_entered entered = {.stacks = 2200, .events = 60000};
	long shared, own;

	setenv("SONDE_ZONES", "events", 1);
	measure_many(entered, &shared, &own);
	NEED(zone_region_header(&seen.region).nodes.count > MANY_THREADS * entered.stacks);
	NEED_EQUAL(zones_seen_trouble(&seen, ZONEWIRE_NO_NODES), 0);
	NEED(shared > 32 << 10 && shared <= 64 << 10);
#ifndef __SANITIZE_ADDRESS__ /* whose allocator keeps more */
	NEED(own <= (8 << 10) + 260 * MANY_THREADS * (long)entered.stacks / 1024);
#else
	(void)own;
#endif
}

/* All zone stacks that there can be, and a program that shows them: 64 MiB. */
static void all_stacks_body(void)
{
	long shared, own;

	measure_many((struct many_entered){.stacks = 3000}, &shared, &own);
	NEED(zones_seen_trouble(&seen, ZONEWIRE_NO_NODES) > 0);
	NEED_EQUAL(zone_region_header(&seen.region).nodes.count,
		zone_region_header(&seen.region).nodes.capacity);
#ifndef __SANITIZE_ADDRESS__
	NEED(shared + own <= 64 << 10);
#else
	(void)own;
#endif
}

static void notify_body(void)
{
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	int listener = socket(AF_UNIX, SOCK_DGRAM, 0), fd;
	char text[128], control[CMSG_SPACE(sizeof(int))];
	uint64_t magic = 0;
	struct iovec words = {&magic, sizeof(magic)};
	struct msghdr message = {.msg_iov = &words,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control)};
	int size = snprintf(
		name.sun_path + 1, sizeof(name.sun_path) - 1, "zones-test-%ld", (long)getpid());

	NEED(!bind(listener, (void *)&name,
		(socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)size)));
	snprintf(text, sizeof(text), "notify=%s", name.sun_path + 1);
	setenv("SONDE_ZONES", text, 1);
	work(1);
	NEED(recvmsg(listener, &message, MSG_DONTWAIT) == sizeof(magic));
	NEED(magic == ZONEWIRE_MAGIC);
	NEED(CMSG_FIRSTHDR(&message) && CMSG_FIRSTHDR(&message)->cmsg_type == SCM_RIGHTS);
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(fd));
	NEED(mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0) != MAP_FAILED);
}

#define CASE(name)                                                                                 \
	TEST(name)                                                                                 \
	{                                                                                          \
		assert_true(zones_apart(name##_body));                                             \
	}
CASE(no_descriptors)
CASE(no_file_size)
CASE(little_space)
CASE(no_space)
CASE(forked_without_space)
CASE(no_proc)
CASE(closed_by_program)
CASE(sealed)
CASE(environment)
CASE(file_refused)
CASE(file_nowhere)
CASE(file_path_long)
CASE(file_refused_unheard)
CASE(many_threads)
CASE(all_stacks)
CASE(notify)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_descriptors),
		cmocka_unit_test(no_file_size),
		cmocka_unit_test(little_space),
		cmocka_unit_test(no_space),
		cmocka_unit_test(forked_without_space),
		cmocka_unit_test(no_proc),
		cmocka_unit_test(closed_by_program),
		cmocka_unit_test(sealed),
		cmocka_unit_test(environment),
		cmocka_unit_test(file_refused),
		cmocka_unit_test(file_nowhere),
		cmocka_unit_test(file_path_long),
		cmocka_unit_test(file_refused_unheard),
		cmocka_unit_test(many_threads),
		cmocka_unit_test(all_stacks),
		cmocka_unit_test(notify),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
