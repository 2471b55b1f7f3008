/*
 * STACKS chunks by themselves: what was encoded is decoded, wherever frames are found, and numbers
 * that a file may give to frames cost no memory.
 */
#include <stdlib.h>

#include "formats/sonde/layout/capture_stacks.h"
#include "base/wire.h"
#include "../unit.h"

enum { FRAMES = 40000, NODES = 50000 };

static uint32_t draw(uint64_t *seed, uint32_t below)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((*seed >> 33) % below);
}

/* A node that goes on from the one before, or begins again somewhere, among few or many frames. */
static struct capture_node random_node(uint64_t *seed, uint32_t node)
{
	bool begins = draw(seed, 8) == 0;
	uint32_t near = node < 100 ? node : 100;

	return (struct capture_node){
		.parent = begins ? (draw(seed, 2) ? draw(seed, node) : node - 1 - draw(seed, near))
				 : node - 1,
		.frame = draw(seed, draw(seed, 3) ? 20 : FRAMES)};
}

static void decode(struct capture_stacks *s, const struct strbuf *payload)
{
	struct cursor c;

	cursor_init(&c, payload->data, payload->size, "test", 0);
	assert_null(capture_stacks_decode(&c, s));
}

/* All frames are in the first chunk; nodes in chunks of any size, most smaller than the frames. */
TEST(test_chunks_of_any_size)
{
	struct capture_stacks_encoder *e = capture_stacks_encoder_create();
	struct capture_node *nodes = xcalloc(NODES + 1, sizeof(*nodes));
	struct capture_stacks s = {0};
	struct strbuf payload = {0};
	uint32_t handles[FRAMES], first = 1;
	uint64_t seed = 1;

	for (uint32_t i = 0; i < FRAMES; i++)
		handles[i] = capture_stacks_frame(e, (struct capture_frame){0, 16 * i});
	while (first <= NODES) {
		uint32_t count = 1 + draw(&seed, draw(&seed, 2) ? 30 : 8000);

		if (count > NODES + 1 - first)
			count = NODES + 1 - first;
		for (uint32_t node = first; node < first + count; node++) {
			nodes[node] = random_node(&seed, node);
			capture_stacks_node(
				e, node, nodes[node].parent, handles[nodes[node].frame]);
		}
		strbuf_clear(&payload);
		capture_stacks_encode(e, &payload);
		decode(&s, &payload);
		assert_int_equal(s.first_node, first);
		assert_int_equal(s.nodes.count, count);
		for (uint32_t i = 0; i < count; i++) {
			assert_int_equal(s.nodes.data[i].parent, nodes[first + i].parent);
			assert_int_equal(s.nodes.data[i].frame, nodes[first + i].frame);
		}
		first += count;
	}
	capture_stacks_deinit(&s);
	capture_stacks_encoder_destroy(e);
	strbuf_deinit(&payload);
	free(nodes);
}

static void put_column(struct strbuf *out, const char *bytes, size_t size)
{
	wire_put_str(out, (struct str){bytes, size});
}

/* A chain of three below the empty stack: two whole numbers that are as high as can be, a guess. */
static void put_high_frames(struct strbuf *out)
{
	wire_put_uleb(out, UINT32_MAX - 1); /* the first frame, of none */
	wire_put_uleb(out, 0);
	wire_put_uleb(out, 1); /* the first node, of three */
	wire_put_uleb(out, 3);
	put_column(out, "\x11\x08\x08", 3);
	put_column(out, "", 0);
	put_column(out, "\xfe\xfe\xfe", 3);
	put_column(out, "\xff\xff\xff\x07\xff\xff\xff\x07\xff\xff\xff\x07", 12);
	put_column(out, "\x00", 1);
	put_column(out, "\x00", 1);
}

TEST(test_high_numbers_cost_no_memory)
{
	struct capture_stacks s = {0};
	struct strbuf payload = {0};

	put_high_frames(&payload);
	decode(&s, &payload);
	assert_int_equal(s.nodes.count, 3);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(s.nodes.data[i].parent, i);
		assert_int_equal(s.nodes.data[i].frame, UINT32_MAX - 1);
	}
	assert_true(s.predictor.frame_count <= 16384);
	capture_stacks_deinit(&s);
	strbuf_deinit(&payload);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chunks_of_any_size),
		cmocka_unit_test(test_high_numbers_cost_no_memory),
	};

	return cmocka_run_group_tests_name("capture_stacks", tests, NULL, NULL);
}
