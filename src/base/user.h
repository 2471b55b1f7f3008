#ifndef SONDE_BASE_USER_H
#define SONDE_BASE_USER_H

/* Names of users. */

#include <sys/types.h>

/* The user's name, or the number if there is none.  The caller frees it. */
char *user_name(uid_t uid);

#endif
