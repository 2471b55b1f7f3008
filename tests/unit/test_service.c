/*
 * The service of a process, from paths as systems have them.
 */
#include "record/processes/service.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/compiler.h"
#include "../unit.h"

#define ID    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define SHOWN "0123456789ab"
#define POD   "4ad9c5a1-1f0e-4a3e-9d0e-3f1b1a2c3d4e"

struct shape {
	const char *path, *service, *unit, *container;
};

static const struct shape shapes[] = {
	/* systemd, version 2 and the "name=systemd" hierarchy of version 1. */
	{"/system.slice/nginx.service", "nginx", "nginx.service", ""},
	{"/system.slice/nginx.service/worker", "nginx", "nginx.service", ""},
	{"/system.slice/system-getty.slice/getty@tty1.service", "getty@tty1", "getty@tty1.service",
		""},
	{"/system.slice/system-postgresql.slice/postgresql@15-main.service", "postgresql@15-main",
		"postgresql@15-main.service", ""},
	{"/system.slice/system-serial\\x2dgetty.slice/serial-getty@ttyS0.service",
		"serial-getty@ttyS0", "serial-getty@ttyS0.service", ""},
	{"/system.slice/dbus\\x2dbroker.service", "dbus-broker", "dbus-broker.service", ""},
	{"/init.scope", "init", "", ""},
	{"/system.slice", "", "", ""},
	{"/", "", "", ""},
	{"", "", "", ""},
	{"/.service", "", "", ""},
	{"/../../system.slice/cron.service", "cron", "cron.service", ""},
	/* Sessions, users and applications. */
	{"/user.slice/user-1000.slice/session-3.scope", "", "", ""},
	{"/user.slice/user-1000.slice/user@1000.service/init.scope", "user@1000",
		"user@1000.service", ""},
	{"/user.slice/user-1000.slice/user@1000.service/app.slice/gitea.service", "gitea",
		"gitea.service", ""},
	{"/user.slice/user-1000.slice/user@1000.service/session.slice/org.gnome.Shell@x11.service",
		"org.gnome.Shell@x11", "org.gnome.Shell@x11.service", ""},
	{"/user.slice/user-1000.slice/user@1000.service/app.slice/app-gnome-firefox-4321.scope",
		"firefox", "user@1000.service", ""},
	{"/user.slice/user-1000.slice/user@1000.service/app.slice/app-org.kde.kate-99.scope",
		"org.kde.kate", "user@1000.service", ""},
	{"/user.slice/user-1000.slice/user@1000.service/app.slice/"
	 "app-gnome-gnome\\x2dterminal-17.scope",
		"gnome-terminal", "user@1000.service", ""},
	/* docker: both drivers, both versions, and inside another container. */
	{"/docker/" ID, SHOWN, "", SHOWN},
	{"/system.slice/docker-" ID ".scope", SHOWN, "", SHOWN},
	{"/docker/" ID "/docker/f" ID, SHOWN, "", SHOWN},
	{"/docker/" ID "/system.slice/sshd.service", "sshd", "sshd.service", SHOWN},
	{"/system.slice/docker.service", "docker", "docker.service", ""},
	{"/system.slice/docker.service/docker/" ID, SHOWN, "docker.service", SHOWN},
	/* podman. */
	{"/machine.slice/libpod-" ID ".scope", SHOWN, "", SHOWN},
	{"/machine.slice/libpod-" ID ".scope/container", SHOWN, "", SHOWN},
	{"/machine.slice/libpod-conmon-" ID ".scope", "", "", ""},
	{"/libpod_parent/libpod-" ID, SHOWN, "", SHOWN},
	{"/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" ID ".scope/container",
		SHOWN, "user@1000.service", SHOWN},
	{"/system.slice/web.service/libpod-payload-" ID, "web", "web.service", SHOWN},
	/* Kubernetes: systemd and cgroupfs drivers, containerd, CRI-O, docker, k3s. */
	{"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod4ad9c5a1.slice/"
	 "cri-containerd-" ID ".scope",
		SHOWN, "", SHOWN},
	{"/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod4ad9c5a1.slice/crio-" ID
	 ".scope/container",
		SHOWN, "", SHOWN},
	{"/kubepods.slice/kubepods-pod4ad9c5a1.slice/crio-conmon-" ID ".scope", "", "", ""},
	{"/kubepods/burstable/pod" POD "/" ID, SHOWN, "", SHOWN},
	{"/kubepods/pod" POD "/" ID, SHOWN, "", SHOWN},
	{"/system.slice/containerd.service/kubepods-burstable-pod4ad9c5a1.slice:cri-containerd:" ID,
		SHOWN, "containerd.service", SHOWN},
	{"/system.slice/k3s.service/kubepods/besteffort/pod" POD "/" ID, SHOWN, "k3s.service",
		SHOWN},
	{"/system.slice/kubelet.service", "kubelet", "kubelet.service", ""},
	/* LXC, LXD, systemd-nspawn, virtual machines. */
	{"/lxc/web1", "web1", "", "web1"},
	{"/lxc.payload.web1/system.slice/nginx.service", "nginx", "nginx.service", "web1"},
	{"/lxc.payload/web1", "web1", "", "web1"},
	{"/lxc.monitor.web1", "", "", ""},
	{"/machine.slice/systemd-nspawn@deb.service/payload/system.slice/cron.service", "cron",
		"cron.service", ""},
	{"/machine.slice/machine-qemu\\x2d1\\x2dvm.scope/libvirt/emulator", "qemu-1-vm", "",
		"qemu-1-vm"},
	/* Not ids: too short, other letters. */
	{"/docker/0123456789abcdef", "", "", ""},
	{"/jobs/" ID "g", "", "", ""},
	{"/slurm/uid_1000/job_42/step_0", "", "", ""},
};

TEST(test_shapes)
{
	struct service s = {0};

	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++) {
		const struct shape *shape = &shapes[i];

		service_find(&s, str_from(shape->path));
		if (!str_equal(strbuf_str(&s.service), str_from(shape->service)) ||
			!str_equal(strbuf_str(&s.unit), str_from(shape->unit)) ||
			!str_equal(strbuf_str(&s.container), str_from(shape->container)))
			fail_msg("%s: service '%.*s', unit '%.*s', container '%.*s'", shape->path,
				STR_ARG(strbuf_str(&s.service)), STR_ARG(strbuf_str(&s.unit)),
				STR_ARG(strbuf_str(&s.container)));
	}
	service_deinit(&s);
}

/* docker's file names the container; a file that is damaged does not. */
TEST(test_docker_name)
{
	char root[] = "/tmp/sonde-service-XXXXXX", path[512];
	static const char *const folders[] = {"/var", "/var/lib", "/var/lib/docker",
		"/var/lib/docker/containers", "/var/lib/docker/containers/" ID};
	static const char *const texts[] = {
		"{\"State\":{\"Name\":\"no\"},\"Name\":\"/web-1\",\"ID\":\"x\"}", "{\"Name\":"};
	static const char *const names[] = {"web-1", SHOWN};
	struct service s = {0};

	assert_non_null(mkdtemp(root));
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		snprintf(path, sizeof(path), "%s%s", root, folders[i]);
		assert_int_equal(mkdir(path, 0700), 0);
	}
	snprintf(path, sizeof(path), "%s%s/config.v2.json", root, folders[4]);
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		FILE *f = fopen(path, "w");

		assert_non_null(f);
		fputs(texts[i], f);
		fclose(f);
		service_find(&s, STR("/system.slice/docker-" ID ".scope"));
		service_name_container(&s, root);
		assert_true(str_equal(strbuf_str(&s.service), str_from(names[i])));
		assert_true(str_equal(strbuf_str(&s.container), str_from(names[i])));
	}
	unlink(path);
	for (size_t i = ARRAY_SIZE(folders); i-- > 0;) {
		snprintf(path, sizeof(path), "%s%s", root, folders[i]);
		rmdir(path);
	}
	rmdir(root);
	service_deinit(&s);
}

TEST(test_kernel_threads)
{
	assert_true(str_equal(service_kernel_thread(STR("kworker/u8:3-ext4")), STR("kworker")));
	assert_true(str_equal(service_kernel_thread(STR("ksoftirqd/0")), STR("ksoftirqd")));
	assert_true(str_equal(service_kernel_thread(STR("kthreadd")), STR("kthreadd")));
	assert_true(str_equal(service_kernel_thread(STR("")), STR("")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shapes),
		cmocka_unit_test(test_docker_name),
		cmocka_unit_test(test_kernel_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
