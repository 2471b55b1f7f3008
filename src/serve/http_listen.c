/*
 * Listens on the loopback address, or a Unix socket that only its owner may connect to.
 *
 * The browser is started with the path of a private file that leads to the URL: everybody may read
 * the arguments of a process, and they would have the token.
 */
#include "serve/http_listen.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"

struct error *http_listen_init(struct http_listen *l, const struct http_options *options)
{
	*l = (struct http_listen){0};
	if (options->socket == NULL)
		return http_socket_open_port(&l->socket, options->port);
	struct error *err = http_socket_open_path(&l->socket, options->socket, false);

	return err && err->kind == ERROR_USAGE ? error_prefix(err, "--socket") : err;
}

void http_listen_deinit(struct http_listen *l)
{
	http_socket_close(&l->socket);
	if (l->opened)
		unlink(l->opened);
	free(l->opened);
}

/* A file that only its owner may read, which leads a browser to the URL. */
static char *make_opened(const char *url)
{
	const char *folder = getenv("XDG_RUNTIME_DIR");

	if (folder == NULL || *folder == '\0')
		folder = getenv("TMPDIR");
	char *path = xasprintf("%s/sonde-XXXXXX.html", folder && *folder ? folder : "/tmp");
	char *page = xasprintf("<!DOCTYPE html>\n<meta charset=\"utf-8\">\n"
			       "<meta http-equiv=\"refresh\" content=\"0; url=%s\">\n"
			       "<a href=\"%s\">sonde</a>\n",
		url, url);
	int fd = mkostemps(path, (int)strlen(".html"), O_CLOEXEC);
	struct error *err = fd < 0 ? NULL : file_write_all(fd, page, strlen(page), path);

	free(page);
	if (fd >= 0 && err == NULL) {
		close(fd);
		return path;
	}
	error_destroy(err);
	if (fd >= 0)
		close(fd);
	free(path);
	return NULL;
}

/* A grandchild, so that nobody waits for it. */
static void start_browser(const char *path)
{
	pid_t pid = fork();

	if (pid == 0) {
		int null = open("/dev/null", O_RDWR);

		if (fork() != 0)
			_exit(0);
		if (null >= 0)
			dup2(null, STDIN_FILENO), dup2(null, STDOUT_FILENO),
				dup2(null, STDERR_FILENO);
		setsid();
		execlp("xdg-open", "xdg-open", path, (char *)NULL);
		_exit(127);
	}
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

static bool has_display(void)
{
	const char *x = getenv("DISPLAY"), *wayland = getenv("WAYLAND_DISPLAY");

	return (x && *x) || (wayland && *wayland);
}

/* The address of this machine that the ssh client knows: the third word. */
static void print_tunnel(const struct http_listen *l, const char *connection)
{
	char address[64];
	const char *user = getenv("USER");

	if (sscanf(connection, "%*63s %*63s %63s", address) != 1)
		return;
	if (l->socket.port)
		fprintf(stderr, "sonde: from elsewhere: ssh -N -L %u:127.0.0.1:%u %s%s%s\n",
			l->socket.port, l->socket.port, user ? user : "", user ? "@" : "", address);
	else
		fprintf(stderr, "sonde: from elsewhere: ssh -N -L 8000:%s %s%s%s\n", l->socket.path,
			user ? user : "", user ? "@" : "", address);
}

void http_listen_announce(
	struct http_listen *l, const struct http_options *options, const char *token)
{
	const char *connection = getenv("SSH_CONNECTION");
	char *url = l->socket.port ? xasprintf("http://127.0.0.1:%u/%s/", l->socket.port, token)
				   : xasprintf("http://localhost/%s/", token);

	printf("%s\n", url);
	fflush(stdout);
	if (l->socket.path)
		fprintf(stderr, "sonde: listening at %s: curl --unix-socket %s %s\n",
			l->socket.path, l->socket.path, url);
	if (connection && *connection)
		print_tunnel(l, connection);
	else if (options->opens_browser && l->socket.port && has_display())
		l->opened = make_opened(url);
	if (l->opened)
		start_browser(l->opened);
	free(url);
}
