/*
 * Zones while a reader looks at them: of zones_bench, 8,192 nodes and the reader, a process of its
 * own (zones_reader.c next to the program), that is let go on for each batch and stopped after it.
 */
#define Prof_ENABLED
#include <prof.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "zones_bench.h"

enum { SIDE = 90 };

static pid_t reader;

/* 90 zones, and below each of them the same again. */
static void make_nodes(void)
{
	Prof_Zone *zones[SIDE];
	char name[32];

	for (int i = 0; i < SIDE; i++) {
		snprintf(name, sizeof(name), "read_%d", i);
		zones[i] = Prof_zone(name, NULL, 0);
	}
	for (int i = 0; i < SIDE; i++) {
		Prof_enter(zones[i]);
		for (int j = 0; j < SIDE; j++) {
			Prof_enter(zones[j]);
			Prof_leave();
		}
		Prof_leave();
	}
}

static void start_reader(void)
{
	char program[4096], pid[16];
	ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 32);
	char *slash;
	int status;

	make_nodes();
	if (length < 0)
		abort();
	program[length] = '\0';
	slash = strrchr(program, '/');
	memcpy(slash + 1, "zones_reader", sizeof("zones_reader"));
	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	reader = fork();
	if (!reader) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execl(program, program, pid, "1000", (char *)NULL);
		_exit(127);
	}
	/* It stops when it has attached. */
	if (waitpid(reader, &status, WUNTRACED) != reader || !WIFSTOPPED(status)) {
		fprintf(stderr, "zones_bench: no %s\n", program);
		_exit(2);
	}
}

static void set_read(int on)
{
	if (!reader)
		start_reader();
	kill(reader, on ? SIGCONT : SIGSTOP);
	if (on)
		usleep(2000);
}

static void run_plain(int pairs)
{
	for (int i = 0; i < pairs; i++) {
		Prof_Begin(read_plain) KEEP();
		Prof_End
	}
}

/* Batches of 5 ms, so that each has several readings; the same zone with nobody who reads. */
const struct variant zones_read[] = {
	{"unread", run_plain, NULL, 1.10, 16},
	{"read", run_plain, set_read, 1.10, 16},
	{NULL, NULL, NULL, 0, 0},
};
