#ifndef SONDE_AGENT_RIGHTS_H
#define SONDE_AGENT_RIGHTS_H

/*
 * The rights of the agent.  Each minute it opens events anew and reads other processes' files, so
 * it keeps what that takes, and nothing else.
 */

#include "base/error.h"

/*
 * Keeps CAP_PERFMON, CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH and CAP_SYSLOG, as far as it has them, and
 * CAP_SYS_ADMIN where the kernel wants that in place of the first; gives up all others, for good:
 * no exec brings one back.  Other processes of the same user can no longer trace the agent or read
 * its memory.
 */
must_use struct error *rights_drop(void);

#endif
