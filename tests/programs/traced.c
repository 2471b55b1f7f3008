/*
 * For tracers of calls and of the heap: recursion, threads, and memory that is freed, kept and
 * lost.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

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
	unsigned long rounds = count > 1 ? strtoul(arguments[1], NULL, 10) : 1000;
	pthread_t thread;

	lose(3);
	pthread_create(&thread, NULL, work, NULL);
	pthread_join(thread, NULL);
	fibonacci(12);
	struct node *tree = grow(6);
	scribble(20);
	fell(tree);
	spin(rounds);
	lose(2);
	return 0;
}
