/*
 * Which control groups a name means.
 */
#include "base/cgroup.h"

#include "base/compiler.h"
#include "../unit.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

TEST(test_names)
{
	static const struct {
		const char *path, *name;
		bool is;
	} rows[] = {
		/* Paths, and what lies below. */
		{"/system.slice/nginx.service", "/system.slice/nginx.service", true},
		{"/system.slice/nginx.service", "/system.slice", true},
		{"/system.slice/nginx.service", "/system.slice/", true},
		{"/system.slice/nginx.service", "/system", false},
		{"/system.slice/nginx.service", "/nginx.service", false},
		{"/system.slice", "/system.slice/nginx.service", false},
		{"/a", "/", true},
		{"/", "/", true},
		/* Units. */
		{"/system.slice/nginx.service", "nginx.service", true},
		{"/system.slice/nginx.service", "nginx", true},
		{"/system.slice/nginx.service", "system", true},
		{"/system.slice/nginx.service/worker", "nginx", true},
		{"/user.slice/session-2.scope", "session-2", true},
		{"/system.slice/nginx.service", "ngin", false},
		{"/system.slice/nginx.service", "ginx", false},
		{"/system.slice/nginx.service", "service", false},
		{"/system.slice/nginx.socket", "nginx", false},
		{"/system.slice/nginx2.service", "nginx", false},
		{"", "nginx", false},
		{"/", "nginx", false},
		{"relative", "relative", true},
		/* Containers. */
		{"/system.slice/docker-" ID ".scope", "0123456789ab", true},
		{"/system.slice/docker-" ID ".scope", ID, true},
		{"/docker/" ID, "0123456789abcdef01", true},
		{"/kubepods/besteffort/pod1/cri-containerd:" ID, "0123456789ab", true},
		{"/machine.slice/libpod-" ID ".scope/container", "0123456789ab", true},
		{"/docker/" ID, "0123456789a", false},
		{"/docker/" ID, "123456789abc", false},
		{"/docker/" ID, "0123456789ax", false},
		{"/docker/" ID "0", "0123456789ab", false},
		{"/docker/0123456789ab", "0123456789ab", true},
		{"/docker/0123456789abc", "0123456789ab", false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (cgroup_is(str_from(rows[i].path), str_from(rows[i].name)) != rows[i].is)
			fail_msg("%s: %s", rows[i].path, rows[i].name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
