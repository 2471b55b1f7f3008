/*
 * A zoned program that knows what its zones have done: counted [WAY...].
 *
 * It does 50 frames, enters the zone "waiting", prints "done PID", then "zone entries" for each
 * zone and "." to standard output, and waits for a line on standard input; then it does all that
 * again, until input ends.  Ways, done after the first 50:
 *
 *	close	closes all descriptors above 2, so its own memory's
 *	fork	a child does so too, with counts of its own from then on; it tells first
 *	exec	becomes `sleep 60` when it has a line
 *	abort	aborts in the zone "waiting" when it has a line
 *	hide	lets no other program look at it
 *	hard	has a thread at work all the time, in the zone "worker"
 *	stream	has no frames, but a stream "request" in their place, from the beginning
 */
#define Prof_ENABLED
#include "prof.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static struct {
	unsigned long frame, outer, inner, leaf;
} did;
static volatile unsigned long work;
static int has_stream;

static void leaf(int depth)
{
	Prof_Begin(leaf) did.leaf++;
	for (int i = 0; i < 2000; i++)
		work++;
	if (depth > 1)
		leaf(depth - 1);
	Prof_End
}

static void inner(void)
{
	Prof_Begin(inner) did.inner++;
	leaf(2);
	Prof_End
}

static void outer(void)
{
	Prof_Begin(outer) did.outer++;
	for (int i = 0; i < 3; i++)
		inner();
	Prof_End
}

static void do_frames(void)
{
	for (int i = 0; i < 50; i++) {
		Prof_Begin(frame) did.frame++;
		outer();
		leaf(1);
		Prof_End if (has_stream) Prof_update_stream("request");
		else Prof_update(1);
	}
}

static void tell(void)
{
	printf("done %d\nframe %lu\nouter %lu\ninner %lu\nleaf %lu\n.\n", (int)getpid(), did.frame,
		did.outer, did.inner, did.leaf);
	fflush(stdout);
}

static void *worker(void *unused)
{
	Prof_thread_name("worker-thread");
	for (;;) {
		Prof_Begin(worker) for (int i = 0; i < 1000; i++) work++;
		Prof_End
	}
	return unused;
}

static int has_way(char **ways, const char *way)
{
	while (*ways)
		if (strcmp(*ways++, way) == 0)
			return 1;
	return 0;
}

/* In a zone; 0: there is no more. */
static int wait_for_line(char **ways)
{
	char line[64];
	int is_there;

	/* It has told when it waits. */
	Prof_Begin(waiting) tell();
	is_there = fgets(line, sizeof(line), stdin) != NULL;
	if (is_there && has_way(ways, "abort"))
		abort();
	if (is_there && has_way(ways, "exec"))
		execlp("sleep", "sleep", "60", (char *)NULL);
	Prof_End return is_there;
}

static void go_other_ways(char **ways)
{
	pthread_t thread;

	if (has_way(ways, "close"))
		for (int fd = 3; fd < 1024; fd++)
			close(fd);
	if (has_way(ways, "hide"))
		prctl(PR_SET_DUMPABLE, 0);
	if (has_way(ways, "hard"))
		pthread_create(&thread, NULL, worker, NULL);
	if (has_way(ways, "fork") && fork() == 0) {
		memset(&did, 0, sizeof(did));
		do_frames();
		tell();
		for (;;)
			pause();
	}
}

int main(int argc, char **argv)
{
	(void)argc;
	has_stream = has_way(argv + 1, "stream");
	do_frames();
	go_other_ways(argv + 1);
	if (has_way(argv + 1, "fork"))
		sleep(1);
	while (wait_for_line(argv + 1))
		do_frames();
	return 0;
}
