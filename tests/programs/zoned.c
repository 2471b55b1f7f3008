/*
 * A program with zones that says what a recording of it must show: for each stack of zones how
 * often it was entered and how long it measured itself there, for each frame when it began and
 * ended (CLOCK_MONOTONIC).
 *
 *	zoned frames COUNT MS      frames with nested and recursive zones, each a function of the
 *				    same name, on two threads
 *	zoned short                a few zones, and gone at once
 *	zoned plain MS MS          zones, no frames, and a sleep in between
 *	zoned children COUNT       processes with zones of their own
 *	zoned exec FILE            runs "FILE short" in its own place, out of a zone
 *	zoned crash                ends by SIGSEGV in a zone
 *	zoned storm MS             zones entered as quickly as can be
 *	zoned ticks MS             frames as quickly as can be
 *	zoned broken               zones without end
 *	zoned extra                ends without zone
 *	zoned sleep MS             sleeps in a zone
 *	zoned wait                 runs in frames until SIGTERM ends it
 */
#define Prof_ENABLED
#include <prof.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Measured outside and inside of its clock calls, so that the truth is between the two. */
struct truth {
	const char *stack;
	uint64_t count, inside_ns, outside_ns;
};
static struct truth truths[] = {
	{"_global/frame/physics", 0, 0, 0},
	{"_global/frame/physics/contact", 0, 0, 0},
	{"_global/frame/render", 0, 0, 0},
	{"_global/tree", 0, 0, 0},
	{"_global/tree/tree", 0, 0, 0},
	{"_global/tree/tree/tree", 0, 0, 0},
	{"_global/worker", 0, 0, 0},
};
static volatile uint64_t sink;

/* Burns CPU time until then. */
#define SPIN_UNTIL(end)                                                                            \
	do                                                                                         \
		for (int spin_ = 0; spin_ < 50; spin_++)                                           \
			sink = sink + 1;                                                           \
	while (now_ns() < (end))

#define WORK(name, spend_ns, truth)                                                                \
	do {                                                                                       \
		uint64_t outside_ = now_ns(), inside_;                                             \
		Prof_Begin(name) inside_ = now_ns();                                               \
		SPIN_UNTIL(inside_ + (spend_ns));                                                  \
		inside_ = now_ns() - inside_;                                                      \
		Prof_End truths[truth].count++;                                                    \
		truths[truth].inside_ns += inside_;                                                \
		truths[truth].outside_ns += now_ns() - outside_;                                   \
	} while (0)

static NOINLINE void contact(uint64_t spend_ns)
{
	WORK(contact, spend_ns, 1);
}

static NOINLINE void render(uint64_t spend_ns)
{
	WORK(render, spend_ns, 2);
}

static NOINLINE void worker(uint64_t spend_ns)
{
	WORK(worker, spend_ns, 6);
}

static NOINLINE void physics(uint64_t spend_ns)
{
	uint64_t outside = now_ns(), inside;
	uint64_t contacts_ns = truths[1].inside_ns, contacts_out_ns = truths[1].outside_ns;

	Prof_Begin(physics) inside = now_ns();
	SPIN_UNTIL(inside + spend_ns / 2);
	contact(spend_ns / 4);
	SPIN_UNTIL(inside + spend_ns);
	inside = now_ns() - inside;
	Prof_End truths[0].count++;
	truths[0].inside_ns += inside - (truths[1].outside_ns - contacts_out_ns);
	truths[0].outside_ns += now_ns() - outside - (truths[1].inside_ns - contacts_ns);
}

static NOINLINE void tree(int depth, uint64_t spend_ns)
{
	static Prof_Define(tree);
	uint64_t below_in = 0, below_out = 0, outside = now_ns(), inside;

	Prof_Region(tree) inside = now_ns();
	SPIN_UNTIL(inside + spend_ns);
	if (depth < 2) {
		uint64_t in = 0, out = 0;

		for (int k = depth + 1; k < 3; k++) {
			in += truths[3 + k].inside_ns;
			out += truths[3 + k].outside_ns;
		}
		tree(depth + 1, spend_ns);
		for (int k = depth + 1; k < 3; k++) {
			below_in += truths[3 + k].inside_ns;
			below_out += truths[3 + k].outside_ns;
		}
		below_in -= in;
		below_out -= out;
	}
	inside = now_ns() - inside;
	Prof_End truths[3 + depth].count++;
	truths[3 + depth].inside_ns += inside > below_out ? inside - below_out : 0;
	truths[3 + depth].outside_ns += now_ns() - outside - below_in;
}

static void tell(void)
{
	for (size_t i = 0; i < sizeof(truths) / sizeof(truths[0]); i++)
		if (truths[i].count)
			printf("stack %s %llu %llu %llu\n", truths[i].stack,
				(unsigned long long)truths[i].count,
				(unsigned long long)truths[i].inside_ns,
				(unsigned long long)truths[i].outside_ns);
	fflush(stdout);
}

static NOINLINE void frame(uint64_t spend_ns)
{
	Prof_Begin(frame) physics(spend_ns / 2);
	render(spend_ns / 4);
	Prof_End tree(0, spend_ns / 12);
}

static void *work_beside(void *frames)
{
	int count = *(int *)frames;

	for (int i = 0; i < count; i++)
		worker(1000000);
	return NULL;
}

static void run_frames(int count, uint64_t spend_ns)
{
	pthread_t thread;
	uint64_t *times = calloc((size_t)count + 1, 2 * sizeof(*times));

	pthread_create(&thread, NULL, work_beside, &count);
	for (int i = 0; i < count; i++) {
		frame(spend_ns);
		times[2 * i] = now_ns();
		Prof_update(1);
		times[2 * i + 1] = now_ns();
	}
	pthread_join(thread, NULL);
	/* Each ends while Prof_update runs. */
	for (int i = 0; i < count; i++)
		printf("frame %d %llu %llu\n", i, (unsigned long long)times[2 * i],
			(unsigned long long)times[2 * i + 1]);
	free(times);
}

static void run_children(int count)
{
	for (int i = 0; i < count; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			for (int k = 0; k <= i; k++)
				contact(200000);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
}

static NOINLINE void crash(void)
{
	Prof_Begin(crashing) render(5000000);
	*(volatile int *)0 = 1;
	Prof_End
}

static void run_storm(uint64_t spend_ns)
{
	uint64_t end = now_ns() + spend_ns, count = 0;

	while (now_ns() < end) {
		for (int i = 0; i < 1000; i++) {
			Prof_Begin(drop) Prof_End
		}
		count += 1000;
	}
	printf("stack _global/drop %llu 0 %llu\n", (unsigned long long)count,
		(unsigned long long)spend_ns * 2);
}

static void run_ticks(uint64_t spend_ns)
{
	uint64_t end = now_ns() + spend_ns, count = 0;

	while (now_ns() < end) {
		Prof_Begin(drip) Prof_End Prof_update(1);
		count++;
	}
	printf("stack _global/drip %llu 0 %llu\n", (unsigned long long)count,
		(unsigned long long)spend_ns * 2);
	printf("stack _global/prof_update %llu 0 %llu\n", (unsigned long long)count,
		(unsigned long long)spend_ns * 2);
}

/* One after the other, of 3 ms each. */
static void run_threads(int threads)
{
	int count = 3;

	for (int i = 0; i < threads; i++) {
		pthread_t thread;

		pthread_create(&thread, NULL, work_beside, &count);
		pthread_join(thread, NULL);
	}
}

static void run_broken(bool extra)
{
	for (int i = 0; i < 10; i++) {
		Prof_Begin(left_open) if (extra){Prof_End Prof_End} Prof_update(1);
	}
}

static volatile sig_atomic_t ended;

static void end(int number)
{
	(void)number;
	ended = 1;
}

static void run_until_told(void)
{
	signal(SIGTERM, end);
	printf("ready\n");
	fflush(stdout);
	while (!ended) {
		frame(4000000);
		Prof_update(1);
	}
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "short";
	uint64_t number = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;

	if (!strcmp(mode, "frames")) {
		run_frames((int)number, argc > 3 ? strtoull(argv[3], NULL, 10) * 1000000 : 4000000);
	} else if (!strcmp(mode, "short")) {
		contact(100000);
		render(100000);
	} else if (!strcmp(mode, "plain")) {
		physics(number * 1000000);
		usleep(1000 * (useconds_t)strtoul(argv[3], NULL, 10));
		render(number * 1000000);
	} else if (!strcmp(mode, "children")) {
		run_children((int)number);
	} else if (!strcmp(mode, "exec")) {
		render(3000000);
		tell();
		Prof_Begin(before_exec) execl(argv[2], argv[2], "short", (char *)NULL);
		Prof_End
	} else if (!strcmp(mode, "crash")) {
		crash();
	} else if (!strcmp(mode, "storm")) {
		run_storm(number * 1000000);
	} else if (!strcmp(mode, "ticks")) {
		run_ticks(number * 1000000);
	} else if (!strcmp(mode, "threads")) {
		run_threads((int)number);
	} else if (!strcmp(mode, "broken")) {
		run_broken(false);
	} else if (!strcmp(mode, "extra")) {
		run_broken(true);
	} else if (!strcmp(mode, "sleep")) {
		Prof_Begin(dozing) usleep((useconds_t)number * 1000);
		Prof_End render(number * 1000000);
	} else if (!strcmp(mode, "wait")) {
		run_until_told();
	}
	tell();
	return 0;
}
