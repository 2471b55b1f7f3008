/*
 * preload_signals MILLISECONDS: works for that much CPU time while it uses signals in each way that
 * a profiler's own signal could disturb, and prints what went wrong, or "fine".  SIGURG, which is
 * the profiler's, has a handler of the program's own, is blocked and asked for; SIGPROF comes from
 * a timer.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "cpu_time.h"
#include "spin.h"

static volatile sig_atomic_t urgent, profiled, wrong_value;

static void on_urgent(int number, siginfo_t *info, void *context)
{
	(void)context;
	urgent += number == SIGURG;
	if (info->si_code == SI_QUEUE && info->si_value.sival_int != 7)
		wrong_value = 1;
}

static void on_profile(int number)
{
	profiled += number == SIGPROF;
}

static void must(int holds, const char *what)
{
	if (!holds) {
		printf("wrong: %s\n", what);
		exit(1);
	}
}

static void send_ours(void)
{
	sigqueue(getpid(), SIGURG, (union sigval){.sival_int = 7});
}

static void check_handler(void)
{
	struct sigaction action = {.sa_sigaction = on_urgent, .sa_flags = SA_SIGINFO}, now;
	int before = urgent;

	must(sigaction(SIGURG, &action, &now) == 0 && now.sa_handler == SIG_DFL, "first action");
	must(sigaction(SIGURG, NULL, &now) == 0 && now.sa_sigaction == on_urgent, "query");
	must(now.sa_flags & SA_SIGINFO, "flags");
	send_ours();
	must(urgent == before + 1, "own handler is called once");
}

static void check_mask(void)
{
	sigset_t all, old, pending;
	int before = urgent;

	sigfillset(&all);
	must(sigprocmask(SIG_SETMASK, &all, &old) == 0, "block");
	must(!sigismember(&old, SIGURG), "not blocked before");
	send_ours();
	must(sigprocmask(SIG_BLOCK, NULL, &pending) == 0 && sigismember(&pending, SIGURG),
		"blocked now");
	must(urgent == before, "blocked signals wait");
	must(sigprocmask(SIG_SETMASK, &old, NULL) == 0, "unblock");
	must(urgent == before + 1, "and come when unblocked");
}

static void check_wait(void)
{
	sigset_t one, old;
	siginfo_t info;
	struct timespec soon = {.tv_nsec = 20000000};
	int before = urgent;

	sigemptyset(&one);
	sigaddset(&one, SIGURG);
	sigprocmask(SIG_BLOCK, &one, &old);
	errno = 0;
	must(sigtimedwait(&one, &info, &soon) == -1 && errno == EAGAIN, "nothing to wait for");
	send_ours();
	must(sigtimedwait(&one, &info, &soon) == SIGURG && info.si_value.sival_int == 7, "wait");
	sigprocmask(SIG_SETMASK, &old, NULL);
	must(urgent == before, "what was waited for is not handled");
}

static void check_other_action(void)
{
	struct sigaction action = {.sa_handler = on_profile}, now;

	sigfillset(&action.sa_mask);
	must(sigaction(SIGPROF, &action, NULL) == 0, "SIGPROF");
	must(sigaction(SIGPROF, NULL, &now) == 0 && sigismember(&now.sa_mask, SIGURG),
		"the mask of an action is told as it was set");
	must(signal(SIGURG, SIG_IGN) != SIG_ERR, "signal");
	send_ours();
}

KEEP uint64_t work_for(double seconds)
{
	uint64_t x = 1;

	struct cpu_time time = cpu_time_of_thread(seconds * 1000);

	while (cpu_time_is_left(&time))
		x = spin(50000, x);
	return x;
}

int main(int argc, char **argv)
{
	struct itimerval often = {{0, 5000}, {0, 5000}}, never = {0};
	double seconds = argc > 1 ? atof(argv[1]) / 1000 : 0.1;
	sigset_t all;

	check_handler();
	check_mask();
	check_wait();
	check_other_action();
	setitimer(ITIMER_PROF, &often, NULL);
	work_for(seconds / 2);
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	if (work_for(seconds / 2) == 0)
		return 3;
	setitimer(ITIMER_PROF, &never, NULL);
	must(profiled > 0, "SIGPROF came");
	must(!wrong_value, "signals that were not the program's");
	puts("fine");
	return 0;
}
