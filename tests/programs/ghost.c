/*
 * ghost NAPS: naps in `sleeper`, which `mid` calls, which `main` calls. Before each nap `decoy` has
 * called `inner` and is over; what it left on the stack is in the room that `sleeper` takes by
 * alloca, and looks like a caller of it. With -DHIDDEN_CALL nothing in the code says whom `mid`
 * calls.
 */
#include <alloca.h>
#include <stdlib.h>
#include <time.h>

#include "spin.h"

typedef int step(int);

static step inner, sleeper;
#ifdef HIDDEN_CALL
static step *volatile steps[] = {inner, sleeper};
static volatile int inner_number = 0, sleeper_number = 1;
#define CALL(name, n) steps[name##_number](n)
#else
static step *volatile inner_step = inner, *volatile sleeper_step = sleeper;
#define CALL(name, n) name##_step(n)
#endif

static KEEP int inner(int n)
{
	volatile char *room = alloca((size_t)n);

	room[0] = 1;
	return room[0];
}

static KEEP int decoy(int n)
{
	volatile char *room = alloca((size_t)n);

	room[0] = 2;
	return CALL(inner, n) + room[0];
}

static KEEP int sleeper(int n)
{
	struct timespec nap = {.tv_nsec = 3000000};
	volatile char *room = alloca((size_t)(20 * n));

	room[0] = 3;
	nanosleep(&nap, NULL);
	return room[0];
}

static KEEP int mid(int n)
{
	volatile char *room = alloca((size_t)n);

	room[0] = 4;
	int sum = decoy(n);

	return sum + CALL(sleeper, n) + room[0];
}

int main(int argc, char **argv)
{
	int sum = 0;

	for (int naps = argc > 1 ? atoi(argv[1]) : 0; naps > 0; naps--)
		sum += mid(argc * 128);
	return sum == 42;
}
