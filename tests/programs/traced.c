/*
 * For tracers of calls and of the heap: recursion, threads, and memory that is freed, kept and
 * lost.  At its end it works in spin, for as many milliseconds of CPU time as the argument says.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "cpu_time.h"

static volatile unsigned long sink;
static void *volatile kept;

struct node {
	struct node *left, *right;
};

__attribute__((noinline)) static void spin(unsigned long rounds)
{
	for (unsigned long i = 0; i < rounds; i++)
		sink += i;
}

__attribute__((noinline)) static int fibonacci(int n)
{
	return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

__attribute__((noinline)) static struct node *grow(int depth)
{
	struct node *node = depth ? calloc(1, sizeof(*node)) : NULL;

	if (node) {
		node->left = grow(depth - 1);
		node->right = grow(depth - 1);
	}
	return node;
}

__attribute__((noinline)) static void fell(struct node *node)
{
	if (node == NULL)
		return;
	fell(node->left);
	fell(node->right);
	free(node);
}

__attribute__((noinline)) static void scribble(int times)
{
	for (int i = 0; i < times; i++) {
		char *text = malloc(100 + (size_t)i);
		kept = text;
		strcpy(text, "for a moment");
		free(text);
	}
}

__attribute__((noinline)) static void lose(int times)
{
	for (int i = 0; i < times; i++)
		kept = malloc(40);
}

static void *work(void *argument)
{
	fibonacci(9);
	spin(1000);
	return argument;
}

int main(int count, char **arguments)
{
	double milliseconds = count > 1 ? strtod(arguments[1], NULL) : 0;
	pthread_t thread;

	lose(3);
	pthread_create(&thread, NULL, work, NULL);
	pthread_join(thread, NULL);
	fibonacci(12);
	struct node *tree = grow(6);
	scribble(20);
	fell(tree);
	struct cpu_time time = cpu_time_of_thread(milliseconds);
	do
		spin(1000000);
	while (cpu_time_is_left(&time));
	lose(2);
	return 0;
}
