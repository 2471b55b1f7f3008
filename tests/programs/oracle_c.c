/*
 * For the single-step oracle: a C program that calls in every way that C knows, in few
 * instructions. It checks its own results and exits with 0 if they are right.
 */
#include <alloca.h>
#include <search.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define noinline __attribute__((noinline, noclone))

static int failures;

static noinline void check(int good, const char *what)
{
	if (good)
		return;
	failures++;
	fprintf(stderr, "oracle_c: %s\n", what);
}

/* ---- recursion, tail calls, function pointers ---- */

static noinline unsigned int fibonacci(unsigned int n)
{
	return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

static noinline int is_odd(unsigned int n);

/* Tail calls at -O2. */
static noinline int is_even(unsigned int n)
{
	return n == 0 ? 1 : is_odd(n - 1);
}

static noinline int is_odd(unsigned int n)
{
	return n == 0 ? 0 : is_even(n - 1);
}

static noinline unsigned int descend(unsigned int depth)
{
	volatile unsigned int here[8] = {depth};

	return depth ? descend(depth - 1) + here[0] : here[0];
}

static int compare_ints(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	return (x > y) - (x < y);
}

static noinline void sort_and_search(void)
{
	int numbers[48], key = 17 * 7 % 101;

	for (int i = 0; i < 48; i++)
		numbers[i] = i * 7 % 101;
	qsort(numbers, 48, sizeof(numbers[0]), compare_ints);
	check(bsearch(&key, numbers, 48, sizeof(key), compare_ints) != NULL, "bsearch");
	void *tree = NULL;
	for (int i = 0; i < 20; i++)
		tsearch(&numbers[i * 7 % 20], &tree, compare_ints);
	check(tfind(&numbers[3], &tree, compare_ints) != NULL, "tfind");
}

/* ---- frames of all sizes ---- */

static noinline size_t fill(char *bytes, size_t size)
{
	memset(bytes, 'x', size);
	bytes[size - 1] = 0;
	return strlen(bytes);
}

static noinline size_t allocate_on_stack(unsigned int rounds)
{
	size_t sum = 0;

	for (unsigned int i = 1; i <= rounds; i++)
		sum += fill(alloca(i * 16), i * 16);
	return sum;
}

/* Beyond what 14 bits of eight bytes can say. */
static noinline int big_frame(int depth)
{
	volatile char big[200000];

	big[0] = big[sizeof(big) - 1] = (char)depth;
	return depth ? big_frame(depth - 1) + big[sizeof(big) - 1] : big[0];
}

/* The stack is realigned, and its size is not known: needs both frame and base pointer. */
static noinline size_t realigned(size_t size)
{
	_Alignas(128) volatile char aligned[128];

	aligned[0] = (char)size;
	return fill(alloca(size), size) + ((uintptr_t)aligned & 127) + (size_t)aligned[0] * 0;
}

static noinline int sum_of(int count, ...)
{
	va_list args;
	int sum = 0;

	va_start(args, count);
	while (count--)
		sum += va_arg(args, int);
	va_end(args);
	return sum;
}

static noinline double sum_of_doubles(int count, ...)
{
	va_list args;
	double sum = 0;

	va_start(args, count);
	while (count--)
		sum += va_arg(args, double);
	va_end(args);
	return sum;
}

static noinline void format(void)
{
	char text[80];

	snprintf(text, sizeof(text), "%d %s %5.2f %p", 42, "text", 3.25, (void *)0x10);
	check(strcmp(text, "42 text  3.25 0x10") == 0, "snprintf");
	check(strtod("2.5e3", NULL) == 2500, "strtod");
}

/* ---- longjmp ---- */

static jmp_buf place;
static sigjmp_buf signal_place;

static noinline int jump_from(int depth)
{
	volatile int here = depth;

	if (here == 0)
		longjmp(place, 7);
	return depth ? jump_from(depth - 1) + here : here;
}

static noinline void jumps(void)
{
	for (volatile int i = 0; i < 4; i++) {
		int value = setjmp(place);
		if (value == 0)
			jump_from(4 * i + 1);
		check(value == 7, "longjmp");
	}
}

/* ---- signals ---- */

static volatile sig_atomic_t handled;

static void handle(int signal)
{
	handled++;
	if (signal == SIGUSR1 && handled % 3 == 0)
		raise(SIGUSR2);
	fibonacci(3);
}

static void escape(int signal)
{
	(void)signal;
	fibonacci(2);
	siglongjmp(signal_place, 1);
}

static noinline void install(int signal, void (*handler)(int), int flags)
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = flags};

	sigemptyset(&action.sa_mask);
	check(sigaction(signal, &action, NULL) == 0, "sigaction");
}

static noinline void raise_at_depth(int signal, int depth)
{
	volatile int here = depth;

	if (depth)
		raise_at_depth(signal, depth - 1);
	else
		raise(signal);
	here++;
}

/* Faults in the middle of a function, not at a call. */
static noinline int fault(volatile int *nowhere)
{
	volatile int before[4] = {1, 2, 3, 4};

	return *nowhere + before[2];
}

static noinline void escapes(void)
{
	volatile int escaped = 0;

	if (sigsetjmp(signal_place, 1) == 0)
		fault(NULL);
	else
		escaped++;
	if (sigsetjmp(signal_place, 1) == 0)
		raise_at_depth(SIGSEGV, 3);
	else
		escaped++;
	check(escaped == 2, "siglongjmp");
}

/* A call through a null pointer: the interrupted pc is in no mapping. */
static noinline void call_null(void)
{
	void (*volatile nothing)(void) = NULL;

	if (sigsetjmp(signal_place, 1) == 0)
		nothing();
}

static noinline void signals(void)
{
	static char alternate[65536];
	stack_t stack = {.ss_sp = alternate, .ss_size = sizeof(alternate)};

	install(SIGUSR1, handle, 0);
	install(SIGUSR2, handle, 0);
	install(SIGSEGV, escape, 0);
	for (int i = 0; i < 4; i++)
		raise_at_depth(SIGUSR1, i);
	escapes();
	check(sigaltstack(&stack, NULL) == 0, "sigaltstack");
	install(SIGUSR1, handle, SA_ONSTACK);
	install(SIGUSR2, handle, SA_ONSTACK);
	install(SIGSEGV, escape, SA_ONSTACK);
	for (int i = 0; i < 4; i++)
		raise_at_depth(SIGUSR1, i);
	escapes();
	call_null();
	check(handled > 8, "signals");
}

/* ---- code without unwind rules ---- */

int leaf_without_rules(int value);
int frame_by_rax(void);
int frame_without_rules(int value, int (*call)(int value));

__asm__(".text\n"
	".globl leaf_without_rules\n"
	".type leaf_without_rules, @function\n"
	"leaf_without_rules:\n"
	"	mov %edi, %eax\n"
	"	add $1, %eax\n"
	"	ret\n"
	".size leaf_without_rules, . - leaf_without_rules\n"
	".globl frame_without_rules\n"
	".type frame_without_rules, @function\n"
	"frame_without_rules:\n"
	"	push %rbp\n"
	"	mov %rsp, %rbp\n"
	"	sub $32, %rsp\n"
	"	movq $0, (%rsp)\n"
	"	call *%rsi\n"
	"	add $2, %eax\n"
	"	leave\n"
	"	ret\n"
	".size frame_without_rules, . - frame_without_rules\n"
	/* The frame of its caller hangs on rax, which it leaves alone. */
	".type leaf_keeps_rax, @function\n"
	"leaf_keeps_rax:\n"
	"	.cfi_startproc\n"
	"	push %rcx\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	mov $3, %ecx\n"
	"1:	dec %ecx\n"
	"	jnz 1b\n"
	"	pop %rcx\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size leaf_keeps_rax, . - leaf_keeps_rax\n"
	".globl frame_by_rax\n"
	".type frame_by_rax, @function\n"
	"frame_by_rax:\n"
	"	.cfi_startproc\n"
	"	mov %rsp, %rax\n"
	"	.cfi_def_cfa_register %rax\n"
	"	push %rbx\n"
	"	.cfi_offset %rbx, -16\n"
	"	and $-64, %rsp\n"
	"	sub $64, %rsp\n"
	"	xor %ebx, %ebx\n"
	"	call leaf_keeps_rax\n"
	"	mov -8(%rax), %rbx\n"
	"	mov %rax, %rsp\n"
	"	.cfi_def_cfa_register %rsp\n"
	"	.cfi_restore %rbx\n"
	"	mov $9, %eax\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size frame_by_rax, . - frame_by_rax\n"
	".section .note.GNU-stack, \"\", @progbits\n"
	".text\n");

static noinline int back_with_rules(int value)
{
	return leaf_without_rules(value) + (int)fibonacci(3);
}

static void at_end(void)
{
	check(fibonacci(3) == 2, "at exit");
}

int main(void)
{
	atexit(at_end);
	check(fibonacci(9) == 34, "fibonacci");
	check(is_even(40), "tail calls");
	check(descend(150) == 150 * 151 / 2, "recursion");
	sort_and_search();
	check(allocate_on_stack(6) == 16 * 21 - 6, "alloca");
	check(big_frame(2) == 3, "big frames");
	check(realigned(100) == 99, "realigned");
	check(sum_of(5, 1, 2, 3, 4, 5) == 15, "varargs");
	check(sum_of_doubles(2, 1.5, 2.5) == 4, "varargs in vector registers");
	format();
	jumps();
	signals();
	check(frame_without_rules(1, back_with_rules) == 6, "assembly");
	check(frame_by_rax() == 9, "assembly whose frame hangs on rax");
	return failures != 0;
}
