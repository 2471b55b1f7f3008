/*
 * keys MILLISECONDS: works for so much CPU time in code that it has put behind a protection key
 * (pkeys(7)), which shuts it for reading and leaves it to be run.  Exits with 3 where there are no
 * keys.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "cpu_time.h"
#include "spin.h"

typedef void code_fn(unsigned int rounds);

/* 1: dec %edi; jnz 1b; ret */
static const unsigned char code[] = {0xff, 0xcf, 0x75, 0xfc, 0xc3};

KEEP void work(code_fn *shut, double milliseconds)
{
	struct cpu_time time = cpu_time_of_process(milliseconds);

	while (cpu_time_is_left(&time))
		shut(1000000);
}

int main(int argc, char **argv)
{
	int key = pkey_alloc(0, PKEY_DISABLE_ACCESS);
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (argc < 2 || page == MAP_FAILED)
		return 2;
	if (key < 0)
		return 3;
	memcpy(page, code, sizeof(code));
	if (pkey_mprotect(page, 4096, PROT_READ | PROT_EXEC, key) != 0)
		return 3;
	work((code_fn *)page, atof(argv[1]));
	puts("worked");
	return 0;
}
