#ifndef SONDE_AGENT_RIGHTS_H
#define SONDE_AGENT_RIGHTS_H

/*
 * The rights of the agent.  Each minute it opens events anew and reads other processes' files, so
 * it keeps what that takes, and nothing else.  Its processes that read what comes from elsewhere,
 * the intake and the sender, keep nothing.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/*
 * Keeps CAP_PERFMON, CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH and CAP_SYSLOG, as far as it has them, and
 * CAP_SYS_ADMIN where the kernel wants that in place of the first; as root, also what it takes to
 * start processes of another user, and to end them.  Gives up all others, for good:
 * no exec brings one back.  Other processes of the same user can no longer trace the agent or read
 * its memory.
 */
must_use struct error *rights_drop(void);
/* What is left of them for a process that only samples: it starts and ends no other one. */
must_use struct error *rights_drop_starting(void);

/*
 * The group of the user whom confined processes become, to be asked before rights_drop: nobody's,
 * if we are root and may become another user; -1: they stay who we are.
 */
int64_t rights_other_group(void);
/*
 * Gives up what a process does not need that reads what others sent: all capabilities, the user
 * (if group is not -1), programs to start, other processes, and files to write to, except in
 * `folder`, which becomes the working directory.  The last needs Landlock, in Linux since 5.13.
 * Other processes of the same user can then neither trace it nor read its memory.  The process must
 * have one thread.
 */
must_use struct error *rights_confine(int64_t group, int folder);

#endif
