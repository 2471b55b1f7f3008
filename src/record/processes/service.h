#ifndef SONDE_RECORD_PROCESSES_SERVICE_H
#define SONDE_RECORD_PROCESSES_SERVICE_H

/*
 * The service of a process, by the path of its control group (cgroups(7)), of version 1 or 2.
 *
 * The service is the systemd unit without ".service"; in a container, its name or id; in a scope
 * of the desktop, the application.  Sessions, slices and unknown groups have none: there, the
 * command is the service.
 */

#include "base/str.h"

struct service {
	struct strbuf service;	 /* empty: the command is the service */
	struct strbuf unit;	 /* "nginx.service", the innermost; empty: none */
	struct strbuf container; /* its name, or the first 12 digits of its id; empty: none */
	struct strbuf id;	 /* of the container, complete; empty: none, or it has a name */
};

/* Zero it at first; it can be used again.  Names are unescaped: systemd writes "-" as "\x2d". */
void service_find(struct service *s, struct str path);
void service_deinit(struct service *s);

/*
 * Replaces the container's id by the name that its runtime wrote to a file: docker's in
 * root/var/lib/docker.  root: "", or a folder in its place.  Without rights or such a file, the id
 * stays.
 */
void service_name_container(struct service *s, const char *root);

/*
 * The name of a kernel thread without what differs between its instances: "kworker" for
 * "kworker/u8:3-ext4".
 */
struct str service_kernel_thread(struct str name);

#endif
