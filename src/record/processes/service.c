/*
 * Services by control group.  The path is read from the root; the last component that means
 * something decides: a unit inside a container is the service there, and a container below a
 * unit, such as those of k3s.service, is a service of its own.  Only podman puts containers into
 * the unit that starts them ("libpod-payload-ID"), and there the unit is the name people know.
 *
 * The shapes are those of systemd (systemd.unit(5), and its "Desktop Environment Integration" for
 * applications), docker, containerd, CRI-O, podman, Kubernetes with both drivers, and LXC; the test
 * lists them.
 */
#include "record/processes/service.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json_reader.h"

enum { ID_DIGITS = 64, ID_SHOWN = 12 };
#define DOCKER_FILE_MAX ((uint64_t)1 << 20)

void service_deinit(struct service *s)
{
	strbuf_deinit(&s->service);
	strbuf_deinit(&s->unit);
	strbuf_deinit(&s->container);
	strbuf_deinit(&s->id);
}

/* ---- text ---- */

static struct str part_without_end(struct str part, const char *end)
{
	struct str suffix = str_from(end);

	if (str_ends_with(part, suffix))
		part.size -= suffix.size;
	return part;
}

static bool take_prefix(struct str *part, const char *start)
{
	struct str prefix = str_from(start);

	if (!str_starts_with(*part, prefix) || part->size == prefix.size)
		return false;
	part->data += prefix.size;
	part->size -= prefix.size;
	return true;
}

static bool is_of(struct str s, const char *digits)
{
	for (size_t i = 0; i < s.size; i++)
		if (!strchr(digits, s.data[i]))
			return false;
	return s.size > 0;
}

static void set_unescaped(struct strbuf *out, struct str name)
{
	char byte;

	strbuf_clear(out);
	for (size_t i = 0; i < name.size; i++)
		if (name.size - i >= 4 && memcmp(name.data + i, "\\x", 2) == 0 &&
			str_unhex((struct str){name.data + i + 2, 2}, &byte) && byte > ' ') {
			strbuf_add_char(out, byte);
			i += 3;
		} else {
			strbuf_add_char(out, name.data[i]);
		}
}

/* ---- containers ---- */

/* id: empty if its name is known. */
static void set_container(struct service *s, struct str shown, struct str id, bool is_service)
{
	set_unescaped(&s->container, shown);
	if (is_service)
		set_unescaped(&s->service, shown);
	strbuf_clear(&s->id);
	strbuf_add(&s->id, id);
}

/* "ID", "docker-ID.scope", "cri-containerd:ID", "libpod-payload-ID". */
static bool take_id(struct service *s, struct str part)
{
	bool is_payload = str_starts_with(part, STR("libpod-payload-"));

	part = part_without_end(part, ".scope");
	if (part.size < ID_DIGITS)
		return false;
	struct str id = {part.data + part.size - ID_DIGITS, ID_DIGITS};
	char before = part.size > ID_DIGITS ? part.data[part.size - ID_DIGITS - 1] : '-';
	bool is_conmon = str_starts_with(part, STR("libpod-conmon-")) ||
			 str_starts_with(part, STR("crio-conmon-"));

	if (!is_of(id, "0123456789abcdef") || !(before == '-' || before == ':') || is_conmon)
		return false;
	set_container(s, (struct str){id.data, ID_SHOWN}, id, !is_payload || s->unit.size == 0);
	return true;
}

/* "lxc.payload.NAME"; "NAME" below "lxc"; "machine-NAME.scope" of a virtual machine. */
static bool take_named(struct service *s, struct str part, struct str parent)
{
	if (take_prefix(&part, "lxc.payload.") || str_equal(parent, STR("lxc")) ||
		str_equal(parent, STR("lxc.payload"))) {
		set_container(s, part, STR(""), true);
		return true;
	}
	if (str_ends_with(part, STR(".scope")) && take_prefix(&part, "machine-")) {
		set_container(s, part_without_end(part, ".scope"), STR(""), true);
		return true;
	}
	return false;
}

/* ---- units ---- */

static bool take_service(struct service *s, struct str part)
{
	if (!str_ends_with(part, STR(".service")) || part.size == strlen(".service"))
		return false;
	set_unescaped(&s->unit, part);
	set_unescaped(&s->service, part_without_end(part, ".service"));
	return true;
}

/* "app-LAUNCHER-APPLICATION-NUMBER.scope"; the launcher may be missing. */
static bool take_application(struct service *s, struct str part)
{
	if (!str_ends_with(part, STR(".scope")) || !take_prefix(&part, "app-"))
		return false;
	part = part_without_end(part, ".scope");
	const char *dash = memrchr(part.data, '-', part.size);

	if (dash && dash > part.data)
		part.size = (size_t)(dash - part.data);
	dash = memrchr(part.data, '-', part.size);
	if (dash && dash + 1 < part.data + part.size)
		part = (struct str){dash + 1, part.size - (size_t)(dash + 1 - part.data)};
	set_unescaped(&s->service, part);
	return true;
}

/* A session's processes have little in common. */
static void take_scope(struct service *s, struct str part)
{
	if (!str_ends_with(part, STR(".scope")))
		return;
	if (str_equal(part, STR("init.scope")) && s->service.size == 0)
		strbuf_add(&s->service, STR("init"));
	else if (str_starts_with(part, STR("session-")))
		strbuf_clear(&s->service);
}

void service_find(struct service *s, struct str path)
{
	struct str parent = STR("");

	strbuf_clear(&s->service);
	strbuf_clear(&s->unit);
	strbuf_clear(&s->container);
	strbuf_clear(&s->id);
	while (path.size > 0) {
		const char *slash = memchr(path.data, '/', path.size);
		struct str part = {path.data, slash ? (size_t)(slash - path.data) : path.size};

		if (part.size > 0 && !take_id(s, part) && !take_named(s, part, parent) &&
			!take_service(s, part) && !take_application(s, part))
			take_scope(s, part);
		parent = part;
		part.size += slash != NULL;
		path = (struct str){path.data + part.size, path.size - part.size};
	}
}

/* ---- names of containers ---- */

/* docker's names begin with a slash. */
static bool docker_name(const struct file_bytes *bytes, struct strbuf *name)
{
	struct json_reader r;
	struct str key, value;

	json_reader_init(&r, bytes->data, bytes->size, "config.v2.json");
	if (json_object(&r))
		while (json_key(&r, &key))
			if (str_equal(key, STR("Name")) && json_string(&r, &value)) {
				(void)take_prefix(&value, "/");
				strbuf_clear(name);
				strbuf_add(name, value);
			}
	error_destroy(json_error(&r));
	json_reader_deinit(&r);
	return name->size > 0;
}

void service_name_container(struct service *s, const char *root)
{
	struct strbuf path = {0}, name = {0};
	struct file_bytes bytes;

	if (s->id.size == 0)
		return;
	strbuf_printf(&path, "%s/var/lib/docker/containers/%.*s/config.v2.json", root,
		STR_ARG(strbuf_str(&s->id)));
	struct error *err = file_read(path.data, DOCKER_FILE_MAX, &bytes);

	if (!err && docker_name(&bytes, &name)) {
		bool is_service = str_equal(strbuf_str(&s->service), strbuf_str(&s->container));

		strbuf_clear(&s->container);
		strbuf_add(&s->container, strbuf_str(&name));
		if (is_service) {
			strbuf_clear(&s->service);
			strbuf_add(&s->service, strbuf_str(&name));
		}
		strbuf_clear(&s->id);
	}
	if (!err)
		file_bytes_deinit(&bytes);
	error_destroy(err);
	strbuf_deinit(&name);
	strbuf_deinit(&path);
}

/* ---- kernel threads ---- */

struct str service_kernel_thread(struct str name)
{
	size_t size = 0;

	while (size < name.size && name.data[size] != '/' && name.data[size] != ':')
		size++;
	return (struct str){name.data, size > 0 ? size : name.size};
}
