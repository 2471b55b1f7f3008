#ifndef SONDE_RECORD_TARGET_H
#define SONDE_RECORD_TARGET_H

/*
 * The recorded target: a command, as long as it runs; running processes with their descendants,
 * until all have ended; or the whole machine.  The latter two may also have a command.  It only
 * sets the recording's end, and is not a target itself.
 *
 * Attached processes are only observed: no ptrace, no signal.
 */

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/vec.h"

/* ---- launching ---- */

/*
 * A command is started as a child that waits until the events are set up on it, and then calls
 * exec.  It stays in our process group and on our terminal, so that Ctrl-C reaches it.  It gets the
 * signal mask, dispositions and limits that we were started with.
 */

struct launch {
	pid_t pid;
	int go_fd;     /* a byte written to it lets the child call exec; closed: the child ends */
	int status_fd; /* gives execve's errno, or end of file after a successful exec */
};

/* What the recorder changes for itself, and restores for the target. */
struct launch_state {
	sigset_t mask;
	struct sigaction pipe, file_size, child; /* SIGPIPE, SIGXFSZ, SIGCHLD */
	struct rlimit files, locked_memory;
	int niceness;
	int timer_slack_ns;
};
/*
 * Saves all of launch_state.  From then on, SIGPIPE and SIGXFSZ are ignored, as failed writes
 * report the same.  SIGCHLD is not ignored: otherwise the target's exit status would be lost.
 */
void launch_state_save(struct launch_state *state);
/* Restores the signal mask and the dispositions. */
void launch_state_restore(const struct launch_state *state);
/*
 * Raises our limits, as far as allowed: we may open many files and lock much memory, and get a CPU
 * quickly on a busy machine to empty the rings.
 */
void launch_raise_ourselves(void);

/* ---- targets ---- */

enum target_kind {
	TARGET_COMMAND,
	TARGET_PROCESSES,
	TARGET_MACHINE,
};

/* CPU time, divided by ticks as the system does. */
struct target_cpu {
	uint64_t user_ns, system_ns;
};

struct target_process {
	pid_t pid;
	int fd; /* from pidfd_open(2), readable once it has ended; -1: it has ended */
	uint64_t attached_ns, first_cpu_ns, last_cpu_ns;
	struct target_cpu first, last;
};

struct target {
	enum target_kind kind;
	char *const *command;		  /* NULL-terminated argv; NULL: none */
	const struct launch_state *state; /* the initial state of the command */
	const char *preload;		  /* the command's complete LD_PRELOAD; NULL: unchanged */
	const char *variable; /* "NAME=value" to add to its environment, if any; NULL: none */
	const pid_t *pids;    /* [pid_count] for TARGET_PROCESSES */
	size_t pid_count;

	struct launch launch; /* of the command */
	VEC(struct target_process) processes;
	uint64_t ask_ns; /* when to read their CPU time next */
	struct target_cpu machine_first, machine_last;
	bool is_closed; /* the accounts are closed; machine_last is valid */
	bool ended;
	int wait_status;     /* if ended: of the command */
	struct rusage usage; /* if ended: of the command and all its children waited for */
};

/*
 * Forks the command, which waits before its exec.  environment: NULL-terminated "NAME=value"s to
 * set in it, or NULL.  Opens the processes: ERROR_UNSUPPORTED if one cannot be attached to.
 */
must_use struct error *target_start(struct target *t, char *const *environment);
/*
 * Lets the command run. ERROR_SYSTEM with execve's errno if that failed; the child is gone then.
 */
must_use struct error *target_release(struct target *t);
/* Ends a command that was not released. */
void target_cancel(struct target *t);
/* Checks whether it has ended. */
void target_look(struct target *t);
/* Sampling has stopped: reads the CPU time used up to now. */
void target_close_accounts(struct target *t);
/* A zeroed one is allowed. */
void target_deinit(struct target *t);

/*
 * The CPU time that the system accounts to the target since its release: for a command that has
 * ended, with all children waited for; for attached processes, without their children; for the
 * machine.
 */
struct target_cpu target_cpu(const struct target *t);
/* For the attached processes, without their children; exact to the nanosecond while they live. */
uint64_t target_processes_cpu_ns(const struct target *t);

/*
 * Why an existing process cannot be attached to: an ERROR_UNSUPPORTED that states what would allow
 * it.  code: the errno of perf_event_open.
 */
must_use struct error *target_refusal(pid_t pid, int code);

#endif
