/* What an intake reads itself: forms, names with labels, times, heads, and how much it unpacks. */
#include <stdlib.h>
#include <string.h>

#include "http/socket.h"
#include "intake/check.h"
#include "intake/multipart.h"
#include "intake/pyroscope_name.h"
#include "../unit.h"

#define assert_text(s, expected)                                                                   \
	do {                                                                                       \
		struct str text_ = (s);                                                            \
		if (!str_equal(text_, str_from(expected)))                                         \
			fail_msg("'%.*s', expected '%s'", STR_ARG(text_), expected);               \
	} while (0)

/* ---- forms ---- */

TEST(test_boundaries)
{
	static const char *const types[][2] = {{"multipart/form-data; boundary=b", "b"},
		{"Multipart/Form-Data;charset=x;  BOUNDARY=\"a b;c\" ; x=y", "a b;c"},
		{"multipart/form-data; boundary= b ", "b"}, {"multipart/form-data", ""},
		{"multipart/form-data; boundary=\"b", ""}, {"multipart/form-data; boundary", ""},
		{"multipart/mixed; boundary=b", ""}, {"", ""},
		{"multipart/form-data; boundary="
		 "123456789012345678901234567890123456789012345678901234567890123456789012345",
			""}};

	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		assert_text(multipart_boundary(str_from(types[i][0])), types[i][1]);
}

TEST(test_parts)
{
	struct multipart m =
		multipart_begin(STR("a preamble\r\n--b\r\n"
				    "Content-Disposition: form-data; name=\"x\"; "
				    "filename=\"name=y\"\r\nA: b\r\n\r\n"
				    "one\r\n--c\r\n\n\r\n--b\r\n"
				    "content-disposition: form-data; NAME=y\r\n\r\n\r\n--b  \r\n"
				    "\r\nnameless\r\n--b--\r\n--b\r\n\r\nnot a part\r\n--b--"),
			STR("b"));
	struct multipart_part part;

	assert_true(multipart_next(&m, &part));
	assert_text(part.name, "x");
	assert_text(part.body, "one\r\n--c\r\n\n");
	assert_true(multipart_next(&m, &part));
	assert_text(part.name, "y");
	assert_text(part.body, "");
	assert_true(multipart_next(&m, &part));
	assert_text(part.name, "");
	assert_text(part.body, "nameless");
	assert_false(multipart_next(&m, &part));
	assert_false(m.is_damaged);
}

TEST(test_damaged_forms)
{
	static const char *const forms[] = {"", "b", "--", "--b", "--b\r\n", "--b\r\n\r\n",
		"--b\r\nA: b", "--b\r\nA: b\r\n", "--b\r\n\r\nbody", "--b\r\n\r\nbody--b--",
		"--b\r\n\r\nbody\r\n--"};

	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		struct multipart m = multipart_begin(str_from(forms[i]), STR("b"));
		struct multipart_part part;

		while (multipart_next(&m, &part))
			;
		if (!m.is_damaged)
			fail_msg("form %zu is not damaged", i);
	}
	/* A delimiter for each part that there may be, and more. */
	struct strbuf many = {0};

	for (int i = 0; i < 100; i++)
		strbuf_add(&many, STR("--b\r\n\r\nx\r\n"));
	strbuf_add(&many, STR("--b--"));
	struct multipart m = multipart_begin(strbuf_str(&many), STR("b"));
	struct multipart_part part;
	int count = 0;

	while (multipart_next(&m, &part))
		count++;
	assert_int_equal(count, MULTIPART_PARTS_MAX);
	assert_true(m.is_damaged);
	strbuf_deinit(&many);
}

/* ---- names ---- */

TEST(test_names)
{
	struct pyroscope_name name;
	struct intake_origin origin;

	assert_null(pyroscope_name_read(STR(" shop/web-1 {a=1, b = x=y , __c=3,host=h}z"), &name));
	assert_text(name.app, "shop/web-1");
	assert_int_equal(name.label_count, 3);
	origin = pyroscope_name_origin(&name, "ingest");
	assert_text(origin.service, "shop/web-1");
	assert_text(origin.host, "h");
	assert_int_equal(origin.label_count, 2);
	assert_text(origin.labels[1].key, "b");
	assert_text(origin.labels[1].value, "x=y");
	/* A label without its end does not count, as in Pyroscope. */
	assert_null(pyroscope_name_read(STR("a{b=c"), &name));
	assert_int_equal(name.label_count, 0);
	assert_null(pyroscope_name_read(STR("a{service_name=other,hostname=}"), &name));
	origin = pyroscope_name_origin(&name, "ingest");
	assert_text(origin.service, "other");
	assert_text(origin.host, "");
	assert_non_null(pyroscope_name_read(STR(""), &name));
	assert_non_null(pyroscope_name_read(STR("{a=b}"), &name));
	assert_non_null(pyroscope_name_read(STR("a\nb"), &name));
	assert_non_null(pyroscope_name_read(STR("a{=b}"), &name));
	assert_non_null(pyroscope_name_read(STR("a{b\"=c}"), &name));
}

TEST(test_kinds)
{
	struct pyroscope_name name;

	assert_null(pyroscope_name_read(STR("my.app.alloc_space"), &name));
	assert_text(pyroscope_name_take_kind(&name), "alloc_space");
	assert_text(name.app, "my.app");
	assert_text(pyroscope_name_take_kind(&name), "");
	assert_text(name.app, "my.app");
	assert_null(pyroscope_name_read(STR(".cpu"), &name));
	assert_text(pyroscope_name_take_kind(&name), "");
}

TEST(test_labels_end)
{
	struct pyroscope_name name = {.app = STR("a")};
	const struct intake_label label = {STR("k"), STR("v")};

	static char text[INTAKE_TEXT_MAX + 1];
	const struct intake_label longest = {STR("k"), {text, INTAKE_TEXT_MAX}};
	const struct intake_label too_long = {STR("k"), {text, INTAKE_TEXT_MAX + 1}};

	memset(text, 'x', sizeof(text));
	assert_null(pyroscope_name_add(&name, longest));
	assert_null(pyroscope_name_add(&name, too_long));
	assert_int_equal(name.label_count, 1);
	name.label_count = 0;
	for (int i = 0; i < PYROSCOPE_LABELS_MAX; i++)
		assert_null(pyroscope_name_add(&name, label));
	assert_non_null(pyroscope_name_add(&name, label));
}

TEST(test_times)
{
	assert_int_equal(pyroscope_time_ns("1764000000"), UINT64_C(1764000000000000000));
	assert_int_equal(pyroscope_time_ns(" 1764000000123 "), UINT64_C(1764000000123000000));
	assert_int_equal(pyroscope_time_ns("1764000000123456"), UINT64_C(1764000000123456000));
	assert_int_equal(pyroscope_time_ns("1764000000123456789"), UINT64_C(1764000000123456789));
	assert_int_equal(pyroscope_time_ns("now-10s"), 0);
	assert_int_equal(pyroscope_time_ns(""), 0);
	assert_int_equal(pyroscope_time_ns(NULL), 0);
	assert_int_equal(pyroscope_time_ns("17640000001"), 0);
	assert_int_equal(pyroscope_time_ns("99999999999999999999999"), 0);
}

/* ---- heads ---- */

TEST(test_tokens)
{
	const struct intake_door door = {
		.token = STR("0123456789abcdef"), .is_loopback = true, .body_max = 10};
	struct intake_head head = {.http = {.method = STR("POST"), .host = STR("any"), .hosts = 1}};
	enum intake_reason reason;
	const char *why;

	assert_int_equal(intake_check(&door, &head, INTAKE_OTLP, &reason, &why), 401);
	assert_int_equal(reason, REASON_TOKEN);
	head.authorization = STR("bearer  0123456789abcdef ");
	assert_int_equal(intake_check(&door, &head, INTAKE_OTLP, &reason, &why), 0);
	head.authorization = STR("Bearer 0123456789abcdeg");
	assert_int_equal(intake_check(&door, &head, INTAKE_OTLP, &reason, &why), 401);
	head.authorization = STR("Bearer");
	assert_int_equal(intake_check(&door, &head, INTAKE_OTLP, &reason, &why), 401);
	/* Whoever does not know the token is not told which paths there are. */
	assert_int_equal(intake_check(&door, &head, INTAKE_OTHER, &reason, &why), 401);
}

TEST(test_public_addresses)
{
	static const char *const local[] = {
		"127.0.0.1:1", "127.9.9.9:1", "[::1]:4318", "/run/x", "./x:1", "nonsense"};
	static const char *const others[] = {
		":4318", "0.0.0.0:4318", "[::]:4318", "192.168.1.2:1", "[fe80::1]:1"};

	for (size_t i = 0; i < sizeof(local) / sizeof(*local); i++)
		assert_false(http_address_is_public(local[i]));
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		assert_true(http_address_is_public(others[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_boundaries),
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_damaged_forms),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_labels_end),
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_tokens),
		cmocka_unit_test(test_public_addresses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
