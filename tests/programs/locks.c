/*
 * locks: threads that wait for locks of others.  "first" waits for `gate`, which "keeper" holds for
 * 20 ms at a time, and "second" for `shelf.lock` and for a lock on the heap, which "keeper" has for
 * 10 ms each.  "third" waits for what keeper tells through the condition variable `news`.  Goes on
 * until they have waited enough, then prints the truth: "lock holder seconds".  With "deadlock":
 * two threads, "one" and "two", wait for `left` and `right` of each other, for ever.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "spin.h"

#define ENOUGH_S 0.2

static struct {
	long books;
	pthread_mutex_t lock;
} shelf = {0, PTHREAD_MUTEX_INITIALIZER};

pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER, right = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t news = PTHREAD_COND_INITIALIZER;
static pthread_mutex_t news_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t *heap_lock;
static volatile int is_over;
static volatile double gate_s, shelf_s, heap_s;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void rest(long ns)
{
	struct timespec t = {.tv_nsec = ns};

	nanosleep(&t, NULL);
}

/* How long it took to get the lock. */
KEEP double take(pthread_mutex_t *lock)
{
	double from = now();

	pthread_mutex_lock(lock);
	double took = now() - from;

	pthread_mutex_unlock(lock);
	return took;
}

static void *keep(void *data)
{
	prctl(PR_SET_NAME, "keeper");
	while (!is_over) {
		pthread_mutex_lock(&gate);
		rest(20000000);
		pthread_mutex_unlock(&gate);
		pthread_mutex_lock(&shelf.lock);
		rest(10000000);
		pthread_mutex_unlock(&shelf.lock);
		pthread_mutex_lock(heap_lock);
		rest(10000000);
		pthread_mutex_unlock(heap_lock);
		pthread_mutex_lock(&news_lock);
		pthread_cond_signal(&news);
		pthread_mutex_unlock(&news_lock);
	}
	return data;
}

static void *first(void *data)
{
	prctl(PR_SET_NAME, "first");
	while (!is_over) {
		gate_s += take(&gate);
		rest(3000000);
	}
	return data;
}

static void *second(void *data)
{
	prctl(PR_SET_NAME, "second");
	while (!is_over) {
		shelf_s += take(&shelf.lock);
		heap_s += take(heap_lock);
		rest(3000000);
	}
	return data;
}

KEEP void wait_for_news(void)
{
	pthread_mutex_lock(&news_lock);
	pthread_cond_wait(&news, &news_lock);
	pthread_mutex_unlock(&news_lock);
}

static void *third(void *data)
{
	prctl(PR_SET_NAME, "third");
	while (!is_over)
		wait_for_news();
	return data;
}

static void *take_both(void *data)
{
	pthread_mutex_t *inner = data == &left ? &right : &left;

	prctl(PR_SET_NAME, data == &left ? "one" : "two");
	pthread_mutex_lock(data);
	rest(50000000);
	take(inner);
	return NULL;
}

static void deadlock(void)
{
	pthread_t one, two;

	pthread_create(&one, NULL, take_both, &left);
	pthread_create(&two, NULL, take_both, &right);
	pthread_join(one, NULL);
	pthread_join(two, NULL);
}

int main(int argc, char **argv)
{
	void *(*const starts[])(void *) = {first, second, third, keep};
	pthread_t threads[4];

	if (argc > 1 && strcmp(argv[1], "deadlock") == 0)
		deadlock();
	heap_lock = calloc(1, sizeof(*heap_lock));
	pthread_mutex_init(heap_lock, NULL);
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, starts[i], NULL);
	while (gate_s < ENOUGH_S || shelf_s < ENOUGH_S / 4 || heap_s < ENOUGH_S / 4)
		rest(10000000);
	is_over = 1;
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	printf("gate keeper %.6f\nshelf+0x8 keeper %.6f\nheap keeper %.6f\n", gate_s, shelf_s,
		heap_s);
	return 0;
}
