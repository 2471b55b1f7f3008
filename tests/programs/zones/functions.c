/*
 * Functions that are called a known number of times, for -finstrument-functions: by recursion, by
 * each other, by threads, in a signal handler, before main, in a library that is closed again, and
 * left by longjmp.  Linked with -rdynamic, so that they have names.  Prints "NAME CALLS" for each.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#define HIDDEN __attribute__((no_instrument_function))
#define CALLED __attribute__((noinline))

enum { THREADS = 4, SIGNALS = 25, JUMPS = 3, CLOSES = 3 };

static jmp_buf away;
static volatile unsigned early_calls, handler_calls;

__attribute__((constructor)) CALLED void early(void)
{
	early_calls = early_calls + 1;
}

CALLED int fibonacci(int n)
{
	return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

CALLED int odd(int n);
CALLED int even(int n)
{
	return n == 0 ? 1 : odd(n - 1);
}
CALLED int odd(int n)
{
	return n == 0 ? 0 : even(n - 1);
}

CALLED void jump(int n)
{
	if (n == 0)
		longjmp(away, 1);
	jump(n - 1);
}
CALLED void jumper(void)
{
	if (setjmp(away) == 0)
		jump(5);
}

CALLED void handler(int number)
{
	(void)number;
	handler_calls = handler_calls + 1;
}

CALLED void *thread(void *data)
{
	fibonacci(15);
	return data;
}

/* How often fibonacci(n) calls itself, and the first call. */
static HIDDEN int calls(int n)
{
	return n < 2 ? 1 : 1 + calls(n - 1) + calls(n - 2);
}

static HIDDEN void run_threads(void)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++) {
		if (pthread_create(&threads[i], NULL, thread, NULL) != 0)
			abort();
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

static HIDDEN void run_plugin(const char *path)
{
	for (int i = 0; i < CLOSES; i++) {
		void *library = dlopen(path, RTLD_NOW);
		void (*plugged)(void) = NULL;

		if (!library) {
			fprintf(stderr, "%s\n", dlerror());
			exit(1);
		}
		*(void **)&plugged = dlsym(library, "plugged");
		plugged();
		dlclose(library);
	}
	printf("plugged %d\n", CLOSES);
}

int main(int argc, char **argv)
{
	signal(SIGUSR1, handler);
	printf("fibonacci %d\n", calls(20) + THREADS * calls(15));
	fibonacci(20);
	run_threads();
	even(10);
	for (int i = 0; i < JUMPS; i++)
		jumper();
	for (int i = 0; i < SIGNALS; i++)
		raise(SIGUSR1);
	if (argc > 1)
		run_plugin(argv[1]);
	printf("even 6\nodd 5\njump %d\njumper %d\n", JUMPS * 6, JUMPS);
	printf("handler %u\nthread %d\nearly %u\nmain 1\n", handler_calls, THREADS, early_calls);
	return 0;
}
