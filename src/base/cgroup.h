#ifndef SONDE_BASE_CGROUP_H
#define SONDE_BASE_CGROUP_H

/* Control groups (cgroups(7)), by the names that people use for them. */

#include <stdbool.h>

#include "base/str.h"

/*
 * Whether a control group, such as "/system.slice/nginx.service", is the named one or inside it.  A
 * name is a path from the root; or a component of the path, for systemd units also without
 * .service, .scope or .slice; or at least the first 12 digits of a container id, as in the group
 * names of docker, podman, containerd and CRI-O.
 */
bool cgroup_is(struct str path, struct str name);

#endif
