/*
 * Messages of a server: lines of bounded length, JSON-RPC messages and faults; files below a folder
 * and none outside; which requests are
 * answered; terms.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../scratch.h"
#include "../unit.h"
#include "base/alloc.h"
#include "obj/source_root.h"
#include "serve/explain.h"
#include "serve/http_check.h"
#include "serve/lines.h"
#include "serve/rpc.h"

TEST(test_lines_are_bounded)
{
	struct lines l = lines_of(4);
	struct str line;

	lines_feed(&l, STR("abcd\nab"));
	assert_int_equal(lines_next(&l, &line), LINES_LINE);
	assert_true(str_equal(line, STR("abcd")));
	assert_int_equal(lines_next(&l, &line), LINES_NONE);
	lines_feed(&l, STR("cde"));
	assert_int_equal(lines_next(&l, &line), LINES_TOO_LONG);
	for (int i = 0; i < 1000; i++) {
		lines_feed(&l, STR("more and more"));
		assert_int_equal(lines_next(&l, &line), LINES_NONE);
		assert_true(l.bytes.size < 32);
	}
	lines_feed(&l, STR("end\n\nx\r\nlast"));
	assert_int_equal(lines_next(&l, &line), LINES_LINE);
	assert_int_equal(line.size, 0);
	assert_int_equal(lines_next(&l, &line), LINES_LINE);
	assert_true(str_equal(line, STR("x\r")));
	assert_int_equal(lines_next(&l, &line), LINES_NONE);
	l.is_at_end = true;
	assert_int_equal(lines_next(&l, &line), LINES_LINE);
	assert_true(str_equal(line, STR("last")));
	assert_int_equal(lines_next(&l, &line), LINES_NONE);
	lines_deinit(&l);
}

/* "kind id method" of a message, or the code of its fault and the id. */
static void assert_read(const char *text, const char *expected)
{
	static const char *const kinds[] = {"request", "notification", "response"};
	struct rpc_message message;
	struct rpc_fault fault;
	struct json_reader r;
	char *found;

	json_reader_init(&r, text, strlen(text), "message");
	found = rpc_read(&r, &message, &fault)
			? xasprintf("%s %s %s", kinds[message.kind], message.id, message.method)
			: xasprintf("%d %s", fault.code, message.id);
	assert_string_equal(found, expected);
	free(found);
	json_reader_deinit(&r);
}

TEST(test_messages)
{
	assert_read("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}", "request 1 ping");
	assert_read("{\"method\":\"ping\",\"params\":{\"a\":[1]},\"id\":\"a\\u0041\",\"jsonrpc\":"
		    "\"2.0\"}",
		"request \"aA\" ping");
	assert_read(
		"{\"jsonrpc\":\"2.0\",\"id\":-7,\"method\":\"x\",\"more\":{}} ", "request -7 x");
	assert_read("{\"jsonrpc\":\"2.0\",\"method\":\"n\"}", "notification null n");
	assert_read("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}", "response 1 ");
	assert_read("{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{}}", "response null ");
}

TEST(test_faults)
{
	assert_read("", "-32700 null");
	assert_read("nonsense", "-32700 null");
	assert_read("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"", "-32700 1");
	assert_read("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}}", "-32700 1");
	assert_read("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"} {}", "-32700 1");
	assert_read("[]", "-32600 null");
	assert_read("[{]", "-32700 null");
	assert_read("7", "-32600 null");
	assert_read("{\"id\":1,\"method\":\"ping\"}", "-32600 1");
	assert_read("{\"jsonrpc\":2.0,\"id\":1,\"method\":\"ping\"}", "-32600 1");
	assert_read("{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}", "-32600 null");
	assert_read("{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", "-32600 null");
	assert_read("{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}", "-32600 null");
	assert_read("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":7}", "-32600 1");
	assert_read("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\"}", "-32600 1");
	assert_read("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\\u0000b\"}", "-32600 1");
	assert_read("{\"jsonrpc\":\"2.0\",\"id\":1}", "-32600 1");
	assert_read("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\",\"params\":[]}", "-32602 1");
}

TEST(test_long_ids_are_refused)
{
	char *id = xasprintf("%0300d", 0);
	char *text = xasprintf("{\"jsonrpc\":\"2.0\",\"id\":\"%s\",\"method\":\"ping\"}", id);

	assert_read(text, "-32600 null");
	free(text);
	free(id);
}

/* The text of the file that is found for a path; NULL: none. */
static char *found(const struct source_root *root, const char *path)
{
	struct arena *arena = arena_create();
	struct str shown;
	int fd = source_root_find(root, str_from(path), arena, &shown);
	char text[32] = "";

	if (fd >= 0) {
		assert_true(read(fd, text, sizeof(text) - 1) > 0);
		close(fd);
	}
	arena_destroy(arena);
	return fd >= 0 ? xstrndup(text, strlen(text)) : NULL;
}

static void assert_found(const struct source_root *root, const char *path, const char *expected)
{
	char *text = found(root, path);

	if (expected)
		assert_string_equal(text, expected);
	else
		assert_null(text);
	free(text);
}

static void write_text(const char *folder, const char *name, const char *text)
{
	char *path = xasprintf("%s/%s", folder, name);
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	free(path);
}

static void make_tree(const char *folder)
{
	char *src = xasprintf("%s/root/src", folder), *root = xasprintf("%s/root", folder);
	char *secret = xasprintf("%s/secret", folder),
	     *link = xasprintf("%s/root/src/link.c", folder);
	char *out = xasprintf("%s/root/out", folder),
	     *fifo = xasprintf("%s/root/src/fifo.c", folder);

	assert_int_equal(mkdir(root, 0700), 0);
	assert_int_equal(mkdir(src, 0700), 0);
	write_text(folder, "secret", "secret");
	write_text(src, "a.c", "a");
	assert_int_equal(symlink(secret, link), 0);
	assert_int_equal(symlink(folder, out), 0);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	free(src), free(root), free(secret), free(link), free(out), free(fifo);
}

TEST(test_root_bounds_files)
{
	struct source_root *root;
	char *folder = scratch_create();

	make_tree(folder);
	char *path = xasprintf("%s/root", folder);
	char *inside = xasprintf("%s/src/a.c", path), *outside = xasprintf("%s/secret", folder);
	char *prefix = xasprintf("%sx/src/none.c", path);

	assert_null(source_root_open(path, &root));
	assert_found(root, inside, "a");
	assert_found(root, "src/a.c", "a");
	assert_found(root, "/build/app/src/a.c", "a");
	assert_found(root, outside, NULL);
	assert_found(root, prefix, NULL);
	assert_found(root, "a.c", NULL);
	assert_found(root, "../secret", NULL);
	assert_found(root, "src/../../secret", NULL);
	assert_found(root, "/x/src/../../secret", NULL);
	assert_found(root, "src/./a.c", NULL);
	assert_found(root, "src/link.c", NULL);
	assert_found(root, "out/secret", NULL);
	assert_found(root, "src/fifo.c", NULL);
	assert_found(root, "/etc/passwd", NULL);
	assert_found(root, "/root/src", NULL);
	assert_found(root, "", NULL);
	assert_found(root, "//", NULL);
	source_root_close(root);
	free(path), free(inside), free(outside), free(prefix);
	scratch_destroy(folder);
}

#define TOKEN "0123456789abcdef0123456789abcdef"

static struct http_head good_head(void)
{
	return (struct http_head){.method = STR("GET"),
		.path = STR("/" TOKEN "/ask"),
		.host = STR("127.0.0.1:8000"),
		.hosts = 1};
}

static void assert_status(struct http_head head, unsigned expected)
{
	struct str path;

	assert_int_equal(http_check(&head, TOKEN, &path), expected);
	if (expected == 0)
		assert_true(str_equal(path, STR("ask")));
}

TEST(test_hosts_and_origins)
{
	static const char *const hosts[] = {"127.0.0.1", "localhost", "localhost:1", "[::1]:65535"};
	static const char *const others[] = {"", "evil", "127.0.0.1.evil", "localhostx",
		"localhost:", "localhost:123456", "localhost:1x", "127.0.0.1:1:2", "[::1", "::1"};
	struct http_head head = good_head();

	assert_status(head, 0);
	for (size_t i = 0; i < sizeof(hosts) / sizeof(*hosts); i++) {
		head.host = str_from(hosts[i]);
		assert_status(head, 0);
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		head.host = str_from(others[i]);
		assert_status(head, 421);
	}
	head = good_head();
	head.origin = STR("http://127.0.0.1:8000");
	assert_status(head, 0);
	head.origin = STR("http://localhost:8000");
	assert_status(head, 403);
	head = good_head();
	head.fetch_site = STR("same-origin");
	assert_status(head, 0);
	head.fetch_site = STR("cross-site");
	assert_status(head, 403);
	head.fetch_mode = STR("navigate");
	assert_status(head, 0);
}

TEST(test_tokens)
{
	static const char *const paths[] = {"", "/", "/ask", "/" TOKEN, "/" TOKEN "x/ask",
		"//" TOKEN "/ask", "/0123456789ABCDEF0123456789abcdef/ask",
		"/1123456789abcdef0123456789abcdef/ask"};
	struct http_head head = good_head();
	char one[HTTP_TOKEN_SIZE + 1], other[HTTP_TOKEN_SIZE + 1];

	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		head.path = str_from(paths[i]);
		assert_status(head, 404);
	}
	assert_true(http_token_make(one) && http_token_make(other));
	assert_int_equal(strlen(one), HTTP_TOKEN_SIZE);
	assert_string_not_equal(one, other);
}

TEST(test_bad_requests)
{
	struct http_head head = good_head();

	head.hosts = 2;
	assert_status(head, 400);
	head = good_head();
	head.has_body = true;
	assert_status(head, 400);
	head = good_head();
	head.upgrades = true;
	assert_status(head, 400);
	head = good_head();
	head.is_odd = true;
	assert_status(head, 400);
	head = good_head();
	head.method = STR("POST");
	assert_status(head, 405);
}

TEST(test_terms)
{
	static const char *const terms[] = {"exclusive", "Inclusive", "cycle", "attributed", "stub",
		"fit as evidence", "recursive", "tick", "estimated", "chance in shares"};

	for (size_t i = 0; i < sizeof(terms) / sizeof(*terms); i++) {
		struct strbuf out = {0};

		assert_true(explain_term(str_from(terms[i]), 4000, &out));
		assert_true(out.size < 4100);
		strbuf_deinit(&out);
	}
	struct strbuf out = {0};

	assert_false(explain_term(STR("attribted"), 4000, &out));
	assert_non_null(strstr(out.data, "did you mean 'attributed'"));
	strbuf_clear(&out);
	assert_false(explain_term(STR(""), 4000, &out));
	strbuf_deinit(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines_are_bounded),
		cmocka_unit_test(test_messages),
		cmocka_unit_test(test_faults),
		cmocka_unit_test(test_long_ids_are_refused),
		cmocka_unit_test(test_root_bounds_files),
		cmocka_unit_test(test_hosts_and_origins),
		cmocka_unit_test(test_tokens),
		cmocka_unit_test(test_bad_requests),
		cmocka_unit_test(test_terms),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
