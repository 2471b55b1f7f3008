/*
 * aligned MILLISECONDS: works below three functions of assembly that come without unwind rules, a
 * third of the time in each: saved, which aligns its stack and saves sp in it; kept, which keeps sp
 * in a register that the leaf it calls leaves alone; handler, which ends in a jump, as handlers of
 * bytecode do, and calls what takes its arguments off the stack itself.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "cpu_time.h"

#define BEGIN(name) ".globl " #name "\n.type " #name ", @function\n.p2align 4\n" #name ":\n"
#define END(name)   ".size " #name ", . - " #name "\n"

/* clang-format off */
__asm__(".text\n"
	BEGIN(leaf)
	"	mov $200000, %eax\n"
	"1:	dec %eax\n"
	"	jnz 1b\n"
	"	ret\n"
	END(leaf)
	BEGIN(saved)
	"	push %rbx\n"
	"	push %r12\n"
	"	mov %rsp, %rax\n"
	"	and $-64, %rsp\n"
	"	sub $128, %rsp\n"
	"	mov %rax, 64(%rsp)\n"
	"	call leaf\n"
	"	mov 64(%rsp), %rsp\n"
	"	pop %r12\n"
	"	pop %rbx\n"
	"	ret\n"
	END(saved)
	BEGIN(kept)
	"	mov %rsp, %r11\n"
	"	and $-64, %rsp\n"
	"	sub $64, %rsp\n"
	"	call leaf\n"
	"	mov %r11, %rsp\n"
	"	ret\n"
	END(kept)
	BEGIN(popper)
	"	pop %rcx\n"
	"	push %rdi\n"
	"	push %rdi\n"
	"	push %rcx\n"
	"	call leaf\n"
	"	ret $16\n"
	END(popper)
	BEGIN(handler)
	"	push %rbp\n"
	"	mov %rsp, %rbp\n"
	"	push $16\n"
	"	sub $24, %rsp\n"
	"	call popper\n"
	"	lea dispatched(%rip), %rcx\n"
	"	mov 0(%rbp), %rbp\n"
	"	add $40, %rsp\n"
	"	jmp *%rcx\n"
	END(handler)
	BEGIN(dispatched)
	"	ret\n"
	END(dispatched));
/* clang-format on */

void saved(void), kept(void), handler(void);

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	struct cpu_time time = cpu_time_of_process(atof(argv[1]));

	while (cpu_time_is_left(&time)) {
		saved();
		kept();
		handler();
	}
	puts("main 0 1\nsaved 0 0.333\nkept 0 0.333\nhandler 0 0.333");
	return 0;
}
