/*
 * Runs a fuzz harness without libFuzzer: over its seeds, and over mutants of them that are the same
 * in every run. So `make check` replays, with any compiler, in seconds; `make fuzz` searches.
 *
 *	fuzz_NAME [--mutants N] [--seconds S] [--seeds-to DIR] PATH...
 *
 * PATH is a seed or a folder of seeds; a harness may make further ones itself (fuzz_seed). Prints
 * TAP, a point a seed. Every seed has a process of its own, which notes in shared memory where it
 * is, so a crash or a hang (10 s of CPU time on one input, or, as a busy machine may give none,
 * two minutes) names its mutant, which is kept in a file.
 */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SIZE_MAX_BYTES (1u << 20)
#define SEEDS_MAX      1024
#define HANG_CPU_S     10
#define HANG_WALL_S    120

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
/* The n-th seed of the harness's own making, its size; 0: no more. Optional. */
__attribute__((weak)) size_t fuzz_seed(size_t n, uint8_t *data, size_t capacity);

struct seed {
	char *name;
	uint8_t *data;
	size_t size;
};

struct place {	       /* shared with the child: what it is running */
	size_t mutant; /* 0: the seed itself */
	size_t done;
};

static struct seed seeds[SEEDS_MAX];
static size_t seed_count;

static _Noreturn void fail(const char *what)
{
	printf("Bail out! %s: %s\n", what, strerror(errno));
	exit(1);
}

static void seed_add(const char *name, const uint8_t *data, size_t size)
{
	struct seed *s = &seeds[seed_count];

	if (seed_count == SEEDS_MAX)
		return;
	s->name = strdup(name);
	s->data = malloc(size ? size : 1);
	if (!s->name || !s->data)
		fail("malloc");
	memcpy(s->data, data, size);
	s->size = size;
	seed_count++;
}

static void seed_read(const char *path)
{
	static uint8_t bytes[SIZE_MAX_BYTES];
	FILE *file = fopen(path, "rb");
	size_t size;

	if (!file)
		fail(path);
	size = fread(bytes, 1, sizeof(bytes), file);
	fclose(file);
	seed_add(path, bytes, size);
}

static int is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static void seeds_gather(const char *path)
{
	struct dirent **entries;
	struct stat info;
	int count;

	if (stat(path, &info) != 0) /* a harness need not have a folder of seeds */
		return;
	if (!S_ISDIR(info.st_mode)) {
		seed_read(path);
		return;
	}
	count = scandir(path, &entries, is_visible, alphasort);
	for (int i = 0; i < count; i++) {
		char *child;

		if (asprintf(&child, "%s/%s", path, entries[i]->d_name) < 0)
			fail("malloc");
		seeds_gather(child);
		free(child);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
}

static void seeds_make(void)
{
	static uint8_t bytes[SIZE_MAX_BYTES];
	char name[32];

	for (size_t n = 0; fuzz_seed; n++) {
		size_t size = fuzz_seed(n, bytes, sizeof(bytes));

		if (size == 0)
			break;
		snprintf(name, sizeof(name), "made-%zu", n);
		seed_add(name, bytes, size);
	}
	seed_add("nothing", bytes, 0);
}

static void write_file(const char *folder, const char *name, const uint8_t *data, size_t size)
{
	const char *base = strrchr(name, '/');
	char *path;
	FILE *file;

	if (asprintf(&path, "%s/%s", folder, base ? base + 1 : name) < 0)
		fail("malloc");
	file = fopen(path, "wb");
	if (!file || fwrite(data, 1, size, file) != size || fclose(file) != 0)
		fail(path);
	free(path);
}

/* xorshift64* (G. Marsaglia; S. Vigna, 2016). */
static uint64_t next_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1du;
}

static size_t below(uint64_t *state, size_t limit)
{
	return limit ? (size_t)(next_random(state) % limit) : 0;
}

struct mutant {
	uint8_t data[SIZE_MAX_BYTES];
	size_t size;
	uint64_t random;
};

static void mutant_overwrite_number(struct mutant *m)
{
	static const uint64_t edges[] = {0, 1, 2, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff,
		0x7fffffff, 0x80000000, 0xffffffff, 0x100000000, INT64_MAX, (uint64_t)INT64_MAX + 1,
		UINT64_MAX};
	uint64_t number = edges[below(&m->random, sizeof(edges) / sizeof(edges[0]))];
	size_t width = (size_t)1 << below(&m->random, 4);

	if (m->size >= width)
		memcpy(m->data + below(&m->random, m->size - width + 1), &number, width);
}

static void mutant_remove(struct mutant *m)
{
	size_t at = below(&m->random, m->size), most = m->size - at;
	size_t size = 1 + below(&m->random, most > 64 ? 64 : most);

	if (at + size <= m->size) {
		memmove(m->data + at, m->data + at + size, m->size - at - size);
		m->size -= size;
	}
}

/* Puts a stretch of some seed, often itself, somewhere. */
static void mutant_insert(struct mutant *m)
{
	const struct seed *from = &seeds[below(&m->random, seed_count)];
	size_t start = below(&m->random, from->size);
	size_t most = from->size - start > 256 ? 256 : from->size - start;
	size_t size = 1 + below(&m->random, most), at = below(&m->random, m->size + 1);

	if (start + size > from->size || m->size + size > SIZE_MAX_BYTES)
		return;
	memmove(m->data + at + size, m->data + at, m->size - at);
	memcpy(m->data + at, from->data + start, size);
	m->size += size;
}

static void mutant_change(struct mutant *m)
{
	switch (below(&m->random, 8)) {
	case 0:
	case 1:
		if (m->size)
			m->data[below(&m->random, m->size)] ^=
				(uint8_t)(1u << below(&m->random, 8));
		break;
	case 2:
	case 3:
		if (m->size)
			m->data[below(&m->random, m->size)] = (uint8_t)next_random(&m->random);
		break;
	case 4:
		mutant_overwrite_number(m);
		break;
	case 5:
		mutant_remove(m);
		break;
	case 6:
		mutant_insert(m);
		break;
	default:
		if (below(&m->random, 4) == 0)
			m->size = below(&m->random, m->size + 1);
		else
			mutant_insert(m);
		break;
	}
}

/* The n-th mutant of a seed, n > 0; n = 0 is the seed. */
static void mutant_make(struct mutant *m, size_t seed, size_t n)
{
	m->size = seeds[seed].size;
	m->random = (seed + 1) * 0x9e3779b97f4a7c15u ^ (n + 1) * 0xbf58476d1ce4e5b9u;
	memcpy(m->data, seeds[seed].data, m->size);
	for (size_t changes = n ? 1 + below(&m->random, 6) : 0; changes; changes--)
		mutant_change(m);
}

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* SIGPROF or SIGALRM ends us after the times of a hang; 0: not any more. */
static void limit_time(time_t cpu_s, unsigned int wall_s)
{
	setitimer(ITIMER_PROF, &(struct itimerval){.it_value.tv_sec = cpu_s}, NULL);
	alarm(wall_s);
}

static _Noreturn void run_child(size_t seed, size_t mutants, double end_s, struct place *place)
{
	static struct mutant m;

	for (size_t n = 0; n <= mutants && (n == 0 || now_s() < end_s); n++) {
		uint8_t *exact; /* of just its size, so that sanitizers see one byte too far */

		mutant_make(&m, seed, n);
		exact = malloc(m.size);
		if (exact)
			memcpy(exact, m.data, m.size);
		place->mutant = n;
		limit_time(HANG_CPU_S, HANG_WALL_S);
		LLVMFuzzerTestOneInput(exact, m.size);
		limit_time(0, 0);
		free(exact);
		place->done = n;
	}
	exit(0); /* not _exit: the leak checker reports now */
}

static void report_crash(const char *harness, size_t seed, size_t n, int status)
{
	static struct mutant m;
	char name[64];

	mutant_make(&m, seed, n);
	snprintf(name, sizeof(name), "crash-%s-%zu-%zu", harness, seed, n);
	write_file(".", name, m.data, m.size);
	printf("# mutant %zu of %s: %s %d; the input is kept in %s\n", n, seeds[seed].name,
		WIFSIGNALED(status) ? "signal" : "exit status",
		WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status), name);
	if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGALRM || WTERMSIG(status) == SIGPROF))
		printf("# a hang: no end within %d s of CPU time, or %d s\n", HANG_CPU_S,
			HANG_WALL_S);
}

/* True if the seed and its mutants all came through. */
static bool run_seed(
	const char *harness, size_t seed, size_t mutants, double end_s, struct place *place)
{
	bool is_good;
	int status;
	pid_t child;

	*place = (struct place){0};
	fflush(stdout);
	child = fork();
	if (child == 0)
		run_child(seed, mutants, end_s, place);
	if (child < 0 || waitpid(child, &status, 0) < 0)
		fail("fork");
	is_good = WIFEXITED(status) && WEXITSTATUS(status) == 0;
	printf("%sok %zu - %s, %zu mutants\n", is_good ? "" : "not ", seed + 1, seeds[seed].name,
		place->done);
	if (!is_good)
		report_crash(harness, seed, place->mutant, status);
	return is_good;
}

int main(int argc, char **argv)
{
	const char *harness = strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 : argv[0];
	const char *seeds_to = NULL;
	size_t mutants = 1000, bad = 0;
	double seconds = 10, start_s = now_s();
	struct place *place = mmap(
		NULL, sizeof(*place), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (place == MAP_FAILED)
		fail("mmap");
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--mutants") == 0 && i + 1 < argc)
			mutants = strtoul(argv[++i], NULL, 10);
		else if (strcmp(argv[i], "--seconds") == 0 && i + 1 < argc)
			seconds = strtod(argv[++i], NULL);
		else if (strcmp(argv[i], "--seeds-to") == 0 && i + 1 < argc)
			seeds_to = argv[++i];
		else
			seeds_gather(argv[i]);
	}
	seeds_make();
	for (size_t i = 0; seeds_to && i < seed_count; i++)
		write_file(seeds_to, seeds[i].name, seeds[i].data, seeds[i].size);
	if (seeds_to)
		return 0;
	printf("1..%zu\n", seed_count);
	for (size_t i = 0; i < seed_count; i++) {
		double end_s = start_s + seconds * (double)(i + 1) / (double)seed_count;

		bad += !run_seed(harness, i, mutants / seed_count + 1, end_s, place);
	}
	return bad != 0;
}
