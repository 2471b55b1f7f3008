/*
 * own_stacks PLACE MILLISECONDS: for so much CPU time, two coroutines take turns with main at work,
 * each a third of it, on stacks that the program made itself: "heap" by malloc, "map" by mmap,
 * "huge" in the middle of a mapping of 1 GB, "grows" in a mapping that grows downwards.
 *
 * Turns are of unequal length: three of equal length may last a third of the sampling interval,
 * which then always meets the same one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "cpu_time.h"
#include "spin.h"

#define STACK_BYTES ((size_t)1 << 18)
#define HUGE_BYTES  ((size_t)1 << 30)
#define PAGE_BYTES  ((size_t)4096)
#define DEPTH	    50
/* What a turn has at least; it has up to twice as many more. */
#define TURN_ROUNDS 50000

static ucontext_t main_context, contexts[2];
static uint64_t state = 1;
static uint64_t turn_rounds; /* the same for the three that take turns */

KEEP uint64_t left_level(int depth, uint64_t x)
{
	x = depth > 1 ? left_level(depth - 1, x) : spin(turn_rounds, x);
	NO_TAIL_CALL(x);
	return x + 1;
}

KEEP uint64_t right_level(int depth, uint64_t x)
{
	x = depth > 1 ? right_level(depth - 1, x) : spin(turn_rounds, x);
	NO_TAIL_CALL(x);
	return x + 1;
}

KEEP uint64_t in_main(uint64_t x)
{
	return spin(turn_rounds, x) + 1;
}

static KEEP void left(void)
{
	for (;;) {
		state = left_level(DEPTH, state);
		swapcontext(&contexts[0], &contexts[1]);
	}
}

static KEEP void right(void)
{
	for (;;) {
		state = right_level(DEPTH, state);
		swapcontext(&contexts[1], &main_context);
	}
}

static void *map(size_t size, int flags)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);

	return at == MAP_FAILED ? NULL : at;
}

/* The lowest byte of a stack, whose size is put into *size. */
static char *stack_make(const char *place, size_t *size)
{
	char *at;

	*size = STACK_BYTES;
	if (strcmp(place, "heap") == 0)
		return malloc(STACK_BYTES);
	if (strcmp(place, "map") == 0)
		return map(STACK_BYTES, 0);
	if (strcmp(place, "huge") == 0) {
		at = map(HUGE_BYTES, 0);
		return at ? at + HUGE_BYTES / 2 : NULL;
	}
	/* One page, below which the kernel adds more as they are touched. */
	at = map(STACK_BYTES, 0);
	if (!at || munmap(at, STACK_BYTES - PAGE_BYTES) != 0 ||
		mmap(at + STACK_BYTES - PAGE_BYTES, PAGE_BYTES, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN | MAP_FIXED, -1,
			0) == MAP_FAILED)
		return NULL;
	return at;
}

static int coroutine_make(ucontext_t *context, const char *place, void (*body)(void))
{
	size_t size;

	getcontext(context);
	context->uc_stack.ss_sp = stack_make(place, &size);
	context->uc_stack.ss_size = size;
	if (!context->uc_stack.ss_sp)
		return 0;
	makecontext(context, body, 0);
	return 1;
}

int main(int argc, char **argv)
{
	if (argc < 3 || !coroutine_make(&contexts[0], argv[1], left) ||
		!coroutine_make(&contexts[1], argv[1], right))
		return 2;
	struct cpu_time time = cpu_time_of_process(atof(argv[2]));
	uint64_t seed = 1;

	do {
		for (int round = 0; round < 2; round++) {
			seed = seed * 6364136223846793005 + 1442695040888963407;
			turn_rounds = TURN_ROUNDS + (seed >> 33) % (2 * TURN_ROUNDS);
			state = in_main(state);
			swapcontext(&main_context, &contexts[0]);
		}
	} while (cpu_time_is_left(&time));
	puts("left_level 0.333 0.333\nright_level 0.333 0.333\nin_main 0.333 0.333");
	return state == 0;
}
