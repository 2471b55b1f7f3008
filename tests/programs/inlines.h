/* Inlined from both files: its functions must be the same two to both. */
static inline __attribute__((always_inline)) int step(int x)
{
	__asm__ volatile("" : "+r"(x));
	return x ^ (x << 3);
}

static inline __attribute__((always_inline)) int middle(int x)
{
	return step(x) + step(x + 1);
}
