/* What tails.c and tails_other.c share. */
#ifdef __clang__
#define KEPT __attribute__((noinline))
#else
#define KEPT __attribute__((noipa))
#endif

int inner(int x);
int other(int x);
