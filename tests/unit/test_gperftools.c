/*
 * CPU profiles of gperftools: words of each size and order, what the signal handler leaves in
 * stacks, mappings in both of their forms, files cut off.
 */
#include <stdlib.h>

#include "../read_profile.h"
#include "../unit.h"
#include "../writer_text.h"
#include "formats/common/maps_text.h"
#include "formats/readers.h"

struct encoding {
	unsigned int width;
	bool is_big;
};

static const struct encoding encodings[] = {{8, false}, {8, true}, {4, false}, {4, true}};

static void put(struct strbuf *b, struct encoding e, const uint64_t *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		for (unsigned int k = 0; k < e.width; k++)
			strbuf_add_char(
				b, (char)(words[i] >> 8 * (e.is_big ? e.width - 1 - k : k)));
}

#define PUT(b, e, ...)                                                                             \
	put((b), (e), (const uint64_t[]){__VA_ARGS__},                                             \
		sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

static const char maps[] =
	"00400000-00500000 r-xp 00000000 08:01 17    /no/such/program\n"
	"00500000-00600000 rw-p 00100000 08:01 17    /no/such/program\n"
	"70001000-70003000 r-xp 00001000 08:01 18    /no/such/lib c.so (deleted)\n";

static struct profile *try_read(struct strbuf *b, size_t size, struct error **err)
{
	struct profile *p = NULL;

	*err = try_profile((struct str){b->data, size}, "cpu.prof", "gperftools-cpu", &p);
	return p;
}

static void expect(struct strbuf *b, const char *folded, const char *note)
{
	struct error *err;
	struct profile *p = try_read(b, b->size, &err);
	bool found = note == NULL;

	if (err)
		fail_msg("%s", err->message);
	struct strbuf text = writer_text(
		&writer_folded, p, &(struct writer_options){.metric = p->default_metric});
	assert_string_equal(text.data, folded);
	assert_string_equal(profile_string(p, p->metrics[1].name).data, "cpu");
	assert_int_equal(p->stats.interval_ns, 10000000);
	assert_int_equal(p->stats.counted * 10000000, p->total[1]);
	for (size_t i = 0; note && i < p->note_count; i++)
		found |= strstr(profile_string(p, p->notes[i].text).data, note) != NULL;
	assert_true(found);
	strbuf_deinit(&text);
	strbuf_deinit(b);
	profile_destroy(p);
}

/* Callers are looked up one byte before where they return to. */
TEST(reads_each_encoding)
{
	for (size_t i = 0; i < ARRAY_SIZE(encodings); i++) {
		struct strbuf b = {0};
		PUT(&b, encodings[i], 0, 3, 0, 10000, 0);
		PUT(&b, encodings[i], 2, 3, 0x70001234, 0x400100, 0x400200);
		PUT(&b, encodings[i], 5, 2, 0x400300, 0x90000000);
		PUT(&b, encodings[i], 0, 1, 0);
		assert_int_equal(
			reader_find("gperftools-cpu")->bid((const uint8_t *)b.data, b.size), 90);
		strbuf_add(&b, str_from(maps));
		expect(&b,
			"[program+0x4001ff];[program+0x4000ff];[lib c.so (deleted)+0x1234] "
			"20000000\n[0x8fffffff];[program+0x400300] 50000000\n",
			"3 addresses in /no/such/program have no name");
	}
}

/* Twice in all stacks: the handler and its caller; then a leaf that is there twice. */
TEST(takes_out_the_handler)
{
	struct strbuf b = {0};
	struct encoding e = encodings[0];

	PUT(&b, e, 0, 3, 0, 10000, 0);
	PUT(&b, e, 1, 4, 0x400010, 0x400800, 0x400900, 0x400050);
	PUT(&b, e, 1, 5, 0x400020, 0x400800, 0x400900, 0x400020, 0x400060);
	PUT(&b, e, 0, 1, 0);
	strbuf_add(&b, str_from(maps));
	expect(&b,
		"[program+0x40004f];[program+0x400010] 10000000\n"
		"[program+0x40005f];[program+0x400020] 10000000\n",
		NULL);
}

TEST(cut_anywhere)
{
	struct strbuf b = {0};
	struct encoding e = encodings[0];
	size_t errors = 0, whole;

	PUT(&b, e, 0, 3, 0, 10000, 0);
	PUT(&b, e, 2, 3, 0x70001234, 0x400100, 0x400200);
	PUT(&b, e, 5, 2, 0x400300, 0x90000000);
	whole = b.size;
	for (size_t size = 1; size < whole; size++) {
		struct error *err;
		struct profile *p = try_read(&b, size, &err);
		assert_true((err == NULL) == (p != NULL));
		if (p)
			assert_true(p->total[0] == 2);
		errors += err != NULL;
		error_destroy(err);
		profile_destroy(p);
	}
	assert_int_equal(errors, (5 + 5) * 8 - 1);
	expect(&b,
		"[0x4001ff];[0x4000ff];[0x70001234] 20000000\n[0x8fffffff];[0x400300] 50000000\n",
		"the file ends early, at offset 0x70");
}

TEST(depth_beyond_the_file)
{
	struct strbuf b = {0};
	struct error *err;

	PUT(&b, encodings[0], 0, 3, 0, 10000, 0, 1, UINT64_MAX, 1, 2);
	assert_null(try_read(&b, b.size, &err));
	assert_non_null(strstr(err->message, "cut off before the first stack"));
	error_destroy(err);
	strbuf_deinit(&b);
}

TEST(mappings_in_both_forms)
{
	static const char text[] = "build=/x\n"
				   "  00400000-00fcb000: /bin/main\n"
				   "7f0000002000-7f0000004000 /lib/a.so (@2000) 0ABc\n"
				   "nothing 12-13\n"
				   "7f0000004000-7f0000004000 /lib/empty.so\n"
				   "7f0000005000-7f0000006000 rw-p 00001000 08:01 3 /lib/data\n"
				   "7f0000001000-7f0000002000 r-xp 00001000 08:01 3   [vdso]";
	struct builder *b = builder_create();
	struct mapped_code *code = mapped_code_create(b, 1000);
	struct maps_text found = {0};

	maps_text_read(&found, str_from(text), code);
	assert_int_equal(found.ranges.count, 3);
	assert_int_equal(maps_text_find(&found, 0x400000), 0);
	assert_int_equal(maps_text_find(&found, 0xfcb000), MAPPING_NONE);
	assert_int_equal(maps_text_find(&found, 0x3fffff), MAPPING_NONE);
	assert_int_equal(maps_text_find(&found, 0x7f0000001fff), 2);
	assert_int_equal(maps_text_find(&found, 0x7f0000002000), 1);
	assert_int_equal(maps_text_find(&found, 0x7f0000005000), MAPPING_NONE);
	assert_int_equal(mapped_code_obj_addr(code, 1, 0x7f0000002345), 0x2345);
	assert_int_equal(mapped_code_obj_addr(code, 0, 0x400123), 0x400123);
	maps_text_deinit(&found);
	mapped_code_destroy(code);
	builder_destroy(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_each_encoding),
		cmocka_unit_test(takes_out_the_handler),
		cmocka_unit_test(cut_anywhere),
		cmocka_unit_test(depth_beyond_the_file),
		cmocka_unit_test(mappings_in_both_forms),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
