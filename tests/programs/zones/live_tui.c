/*
 * A program for `sonde live`: frames of 16 ms by a clock of its own, so that what is on the screen
 * is known to the digit; each 50th takes 40. A frame takes a few milliseconds of real time.
 *
 * Arguments: "noframes" to have none; a number of further zones. On standard input, a letter each:
 * s the next frame is slow (90 ms), m an end is missing, f frames stop, c crash, e end.
 */
#define Prof_ENABLED
#include <prof.h>

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static _Atomic uint64_t clock_us = 1;

static uint64_t now(void)
{
	return clock_us;
}

static void pass(unsigned us)
{
	clock_us += us;
}

/* clang-format takes the macros of zones for what they are not. */
/* clang-format off */
static void *waits(void *unused)
{
	Prof_thread_name("worker-1");
	Prof_Begin(wait_for_job)
	for (;;)
		pause();
	Prof_End
	return unused;
}

static void walk(int depth)
{
	Prof_Begin(walk)
	pass(1000);
	if (depth > 1)
		walk(depth - 1);
	Prof_End
}

static void physics(void)
{
	Prof_Begin(physics)
	pass(3000);
	Prof_Begin(collide)
	pass(2000);
	Prof_End
	Prof_End
}

static void render(Prof_Zone *odd)
{
	Prof_Begin(render)
	pass(4000);
	Prof_Begin(draw_ui)
	pass(1000);
	Prof_End
	Prof_enter(odd);
	pass(250);
	Prof_leave();
	Prof_End
}

static void missing(void)
{
	Prof_Begin(never_ended)
	pass(0);
}

static void ai(unsigned us)
{
	Prof_Begin(ai)
	pass(us);
	Prof_End
}

static int more_zones;

static void frame(unsigned ai_us, Prof_Zone *odd, Prof_Zone **more)
{
	Prof_Begin(frame)
	pass(500);
	physics();
	ai(ai_us);
	walk(3);
	render(odd);
	for (int i = 0; i < more_zones; i++) {
		Prof_enter(more[i]);
		Prof_leave();
	}
	Prof_End
	pass(1250);
}

/* clang-format on */

int main(int argc, char **argv)
{
	bool has_frames = argc < 2 || strcmp(argv[1], "noframes") != 0;
	pthread_t thread;

	Prof_set_clock(now, 1e6);
	Prof_thread_name("main");
	fcntl(STDIN_FILENO, F_SETFL, O_NONBLOCK);
	Prof_Zone *odd = Prof_zone("漢字\033[2J odd", "odd.c", 7);
	more_zones = argc > 2 ? atoi(argv[2]) : 0;
	Prof_Zone **more = calloc((size_t)more_zones + 1, sizeof(*more));
	for (int i = 0; i < more_zones; i++) {
		char name[32];
		snprintf(name, sizeof(name), "more_%03d", i);
		more[i] = Prof_zone(name, "more.c", (uint32_t)i);
	}
	if (pthread_create(&thread, NULL, waits, NULL) != 0)
		return 1;
	printf("ready\n");
	fflush(stdout);
	for (unsigned n = 0;; n++) {
		char order = 0;
		if (read(STDIN_FILENO, &order, 1) == 1 && order == 'c')
			abort();
		if (order == 'e')
			_exit(0);
		if (order == 'm')
			missing();
		if (order == 'f')
			has_frames = false;
		frame(order == 's' ? 75000 : n % 50 == 49 ? 25000 : 1000, odd, more);
		if (has_frames)
			Prof_update(1);
		usleep(8000);
	}
}
