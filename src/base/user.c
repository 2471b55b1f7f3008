/*
 * Names of users, as the machine knows them.  A static program has only /etc/passwd: for other
 * sources, the C library would load libraries of this machine into it, which may be of another
 * version (nsswitch.conf(5)).
 */
#include "base/user.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"

#ifdef SONDE_STATIC
char *user_name(uid_t uid)
{
	FILE *file = fopen("/etc/passwd", "re");
	struct passwd *user = NULL;

	while (file && (user = fgetpwent(file)) != NULL && user->pw_uid != uid)
		;
	char *name = user ? xstrdup(user->pw_name) : xasprintf("%u", uid);

	if (file)
		fclose(file);
	return name;
}
#else
char *user_name(uid_t uid)
{
	struct passwd entry, *found = NULL;
	char text[2048];

	if (getpwuid_r(uid, &entry, text, sizeof(text), &found) == 0 && found)
		return xstrdup(found->pw_name);
	return xasprintf("%u", uid);
}
#endif
