/*
 * Steering signals by signalfd(2).
 */
#include "record/control.h"

#include <errno.h>
#include <sys/signalfd.h>
#include <unistd.h>

static bool is_ignored(int number)
{
	struct sigaction action;

	return sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

struct error *control_init(struct control *c, bool dumps)
{
	static const int steering[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

	*c = (struct control){.fd = -1};
	sigemptyset(&c->blocked);
	sigaddset(&c->blocked, SIGCHLD);
	for (size_t i = 0; i < ARRAY_SIZE(steering); i++)
		if (!is_ignored(steering[i]))
			sigaddset(&c->blocked, steering[i]);
	if (dumps)
		sigaddset(&c->blocked, SIGUSR2);
	c->fd = signalfd(-1, &c->blocked, SFD_CLOEXEC | SFD_NONBLOCK);
	if (c->fd < 0)
		return error_system(errno, "signalfd");
	sigprocmask(SIG_BLOCK, &c->blocked, NULL);
	return NULL;
}

void control_deinit(struct control *c)
{
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
}

void control_read(struct control *c)
{
	struct signalfd_siginfo info;

	while (read(c->fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		int number = (int)info.ssi_signo;

		c->wants_dump |= number == SIGUSR2;
		if (number == SIGCHLD || number == SIGUSR2)
			continue;
		if (number == SIGINT && ++c->interrupts < 2 && !c->is_alone)
			continue;
		if (c->detach_signal == 0)
			c->detach_signal = number;
	}
}
