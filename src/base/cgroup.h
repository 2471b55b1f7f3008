#ifndef SONDE_BASE_CGROUP_H
#define SONDE_BASE_CGROUP_H

/* Control groups (cgroups(7)) by the names that people have for them. */

#include <stdbool.h>

#include "base/str.h"

/*
 * Whether a control group, such as "/system.slice/nginx.service", is the one that name means, or
 * lies in it.  A name is a path from the root on; or one of the path's parts, which systemd's units
 * may have without their .service, .scope or .slice; or the beginning of a container's id, 12
 * digits or more, as docker, podman, containerd and CRI-O name the groups of theirs.
 */
bool cgroup_is(struct str path, struct str name);

#endif
