/*
 * storm WHAT COUNT: processes or threads in numbers.  "forks": COUNT children, 50 at a time, that
 * end at once; "tree": COUNT forks, each of which forks half of those left to it and waits for
 * them; "execs": the program in place of itself COUNT times; "vforks": COUNT children by vfork,
 * which exec; "crowd": COUNT threads that all live at once; "chain": COUNT threads, one after the
 * other.  Each process and thread but a chain's works for 0.1 ms.  Says how many there were: fewer,
 * where the system allows no more.  A crowd writes into the file $STORM_TRUTH how many ns of CPU
 * time its threads worked.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cpu_time.h"
#include "spin.h"

#define AT_A_TIME 50

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t all_there = PTHREAD_COND_INITIALIZER;
static int is_go;

KEEP uint64_t little(uint64_t x)
{
	struct cpu_time time = cpu_time_of_thread(0.1);

	do
		x = spin(5000, x);
	while (cpu_time_is_left(&time));
	return x + 1;
}

static int reap(int count)
{
	int status, good = 0;

	while (count-- > 0 && wait(&status) > 0)
		good += status == 0;
	return good;
}

static int forks(int count)
{
	int good = 0, living = 0;

	for (int i = 0; i < count; i++) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(little((uint64_t)i + 1) == 0);
		living += pid > 0;
		if (living == AT_A_TIME) {
			good += reap(living);
			living = 0;
		}
	}
	return good + reap(living);
}

/* Two children at once, each with half of the forks that are left. How many processes there were.
 */
static int tree(int count)
{
	const int halves[2] = {count / 2, count - count / 2};
	int made = 0, status;
	pid_t pids[2];

	for (int i = 0; i < 2; i++) {
		pids[i] = halves[i] > 0 ? fork() : -1;
		if (pids[i] == 0)
			_exit(tree(halves[i] - 1) != halves[i] - 1);
	}
	little(1);
	for (int i = 0; i < 2; i++)
		if (pids[i] > 0 && waitpid(pids[i], &status, 0) == pids[i] && status == 0)
			made += halves[i];
	return made;
}

static int execs(char **argv, int count)
{
	char left[16];

	little(1);
	if (count == 0)
		return atoi(argv[3]);
	snprintf(left, sizeof(left), "%d", count - 1);
	execl(argv[0], argv[0], "execs", left, argv[3], (char *)NULL);
	return -1;
}

static int vforks(const char *program, int count)
{
	int good = 0;

	for (int i = 0; i < count; i++) {
		pid_t pid = vfork();

		if (pid == 0) {
			execl(program, program, "child", "0", (char *)NULL);
			_exit(1);
		}
		good += pid > 0 && reap(1) == 1;
	}
	return good;
}

static int64_t worked_ns;

static void tell_truth(void)
{
	const char *path = getenv("STORM_TRUTH");
	FILE *file = path ? fopen(path, "w") : NULL;

	if (file) {
		fprintf(file, "%lld\n", (long long)worked_ns);
		fclose(file);
	}
}

static void *crowd_main(void *context)
{
	pthread_mutex_lock(&lock);
	while (!is_go)
		pthread_cond_wait(&all_there, &lock);
	pthread_mutex_unlock(&lock);
	int64_t start_ns = cpu_time_used_ns(CLOCK_THREAD_CPUTIME_ID);
	uint64_t result = little((uint64_t)(uintptr_t)context + 1);
	__atomic_fetch_add(
		&worked_ns, cpu_time_used_ns(CLOCK_THREAD_CPUTIME_ID) - start_ns, __ATOMIC_RELAXED);
	return (void *)(uintptr_t)result;
}

static int crowd(int count)
{
	pthread_t *threads = calloc((size_t)count, sizeof(*threads));
	pthread_attr_t attributes;
	int made = 0;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 65536);
	while (made < count && pthread_create(&threads[made], &attributes, crowd_main, NULL) == 0)
		made++;
	pthread_mutex_lock(&lock);
	is_go = 1;
	pthread_cond_broadcast(&all_there);
	pthread_mutex_unlock(&lock);
	for (int i = 0; i < made; i++)
		pthread_join(threads[i], NULL);
	free(threads);
	tell_truth();
	return made;
}

static void *chain_main(void *context)
{
	return context;
}

static int chain(int count)
{
	int made = 0;
	pthread_t thread;

	while (made < count && pthread_create(&thread, NULL, chain_main, NULL) == 0) {
		pthread_join(thread, NULL);
		made++;
	}
	return made;
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	const char *what = argv[1];
	int count = atoi(argv[2]), made = 0;

	if (strcmp(what, "child") == 0)
		return little(1) == 0;
	if (strcmp(what, "execs") == 0)
		made = execs(argv, count);
	else if (strcmp(what, "forks") == 0)
		made = forks(count);
	else if (strcmp(what, "tree") == 0)
		made = tree(count);
	else if (strcmp(what, "vforks") == 0)
		made = vforks(argv[0], count);
	else if (strcmp(what, "crowd") == 0)
		made = crowd(count);
	else
		made = chain(count);
	printf("%s %d\n", what, made);
	return 0;
}
