/*
 * Generations of code.  The jitdump is read as it grows, as far as where and when code was put:
 * where it takes a place that had other code, a generation ends.  Some programs write it late; so
 * that what stood where can be told apart all the same, generations last no longer than
 * GENERATION_MAX.
 *
 * A stack's outer frames keep their objects when they are reused by a later sample: rightly, as
 * their code cannot have changed while it was on the stack.
 */
#include "record/jit_table.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/search.h"
#include "obj/jit_rules.h"
#include "obj/jitdump.h"

#define GENERATION_MAX UINT64_C(1000000000)
#define GENERATION_MIN UINT64_C(5000000)
/* Code counts as in the same place by blocks of this size; functions are aligned to it. */
#define BLOCK_BITS 6
#define BLOCKS_MAX ((size_t)1 << 22)
/* A sample waits for so many records to be read, some 50 ms; the next one for the next. */
enum { RECORDS_MAX = 1 << 16 };

struct jit_code {
	int fd;
	char path[32]; /* where fd was opened */
	struct jitdump_reader reader;
	struct map blocks;	/* that have code */
	VEC(uint64_t) begin_ns; /* of generations, ascending */
	uint64_t read_ns;	/* up to when it was read */
	struct jit_rules rules;
	bool has_turned; /* other code took a place, with other rules, and nobody has asked yet */
};

void jit_table_init(struct jit_table *t, struct object_table *objects)
{
	*t = (struct jit_table){.objects = objects};
}

static void forget(struct jit_code *c)
{
	if (c->fd >= 0)
		close(c->fd);
	map_deinit(&c->blocks);
	vec_deinit(&c->begin_ns);
	jit_rules_deinit(&c->rules);
}

static uint64_t bad_records(const struct jit_code *c)
{
	return c->reader.bad_records + c->rules.bad + c->rules.left_out;
}

void jit_table_deinit(struct jit_table *t)
{
	for (size_t i = 0; i < t->code.count; i++) {
		forget(t->code.data[i]);
		free(t->code.data[i]);
	}
	vec_deinit(&t->code);
	map_deinit(&t->by_object);
}

static bool read_dump(void *context, uint64_t offset, void *bytes, size_t size)
{
	const struct jit_code *c = context;

	return offset <= INT64_MAX && pread(c->fd, bytes, size, (off_t)offset) == (ssize_t)size;
}

static struct jit_code *code_of(struct jit_table *t, uint32_t object)
{
	bool added;
	uint32_t *place = map_at(&t->by_object, object, 0, (uint32_t)t->code.count, &added);

	if (added) {
		struct jit_code *c = xalloc(sizeof(*c));
		c->fd = -1;
		vec_push(&t->code, c);
	}
	return t->code.data[*place];
}

/* Another file than last time: the process has become another program. */
static void open_dump(struct jit_table *t, struct jit_code *c, struct str path)
{
	t->bad_before += bad_records(c);
	forget(c);
	*c = (struct jit_code){.reader = {.read = read_dump, .context = c}};
	memcpy(c->path, path.data, path.size);
	c->fd = open(c->path, O_RDONLY | O_CLOEXEC);
}

/* Whether code comes to where there was some. */
static bool take_place(struct jit_code *c, uint64_t low, uint64_t size)
{
	bool was_taken = false, added;

	for (uint64_t block = low >> BLOCK_BITS; block << BLOCK_BITS < low + size; block++) {
		if (c->blocks.count >= BLOCKS_MAX)
			return true;
		map_at(&c->blocks, block, 0, 0, &added);
		was_taken |= !added;
	}
	return was_taken;
}

/* From time_ns on there is other code; of many such times soon after another not all count. */
static void begin_generation(struct jit_code *c, uint64_t time_ns)
{
	size_t count = c->begin_ns.count;
	uint64_t last_ns = count ? c->begin_ns.data[count - 1] : 0;

	if (count == 0 || time_ns >= last_ns + GENERATION_MIN)
		vec_push(&c->begin_ns, time_ns);
	else if (time_ns > last_ns)
		vec_push(&c->begin_ns, last_ns + GENERATION_MIN);
}

static void read_on(struct jit_code *c, uint64_t time_ns)
{
	struct jitdump_record record;

	if (time_ns == c->read_ns)
		return;
	c->read_ns = time_ns;
	for (int i = 0; i < RECORDS_MAX && jitdump_next(&c->reader, &record); i++) {
		bool is_code = record.kind == JITDUMP_LOAD || record.kind == JITDUMP_MOVE;

		jit_rules_add(&c->rules, &record);
		if (is_code && take_place(c, record.low, record.size)) {
			begin_generation(c, record.time_ns);
			c->has_turned = c->rules.is_used;
		}
	}
}

/* When the last one began that did at time_ns or before. */
static uint64_t find_generation(const struct jit_code *c, uint64_t time_ns)
{
	size_t next = partition_point(i, 0, c->begin_ns.count, c->begin_ns.data[i] <= time_ns);

	return next ? c->begin_ns.data[next - 1] : 0;
}

/* The code of an object as the dump has it up to a time; NULL: it has none. */
static struct jit_code *code_at(struct jit_table *t, uint32_t object, uint64_t time_ns)
{
	struct str path = object_table_jitdump(t->objects, object);

	if (path.size == 0 || path.size >= sizeof(((struct jit_code *)NULL)->path))
		return NULL;
	struct jit_code *c = code_of(t, object);

	if (!str_equal(str_from(c->path), path))
		open_dump(t, c, path);
	if (c->fd < 0)
		return NULL;
	read_on(c, time_ns);
	return c;
}

uint32_t jit_table_object(struct jit_table *t, uint32_t object, uint64_t time_ns)
{
	const struct jit_code *c = code_at(t, object, time_ns);

	if (!c)
		return object;
	uint64_t begin_ns = find_generation(c, time_ns);
	uint64_t slot_ns = time_ns - time_ns % GENERATION_MAX;

	return object_table_generation(t->objects, object, begin_ns > slot_ns ? begin_ns : slot_ns);
}

bool jit_table_has_turned(struct jit_table *t, uint32_t object, uint64_t time_ns)
{
	struct jit_code *c = code_at(t, object, time_ns);

	if (!c || !c->has_turned)
		return false;
	c->has_turned = false;
	return true;
}

bool jit_table_rule(
	struct jit_table *t, uint32_t object, uint64_t va, uint64_t time_ns, struct cfi_rule *rule)
{
	struct jit_code *c = code_at(t, object, time_ns);

	return c && jit_rules_find(&c->rules, &c->reader, va, time_ns, rule);
}

uint64_t jit_table_bad_records(const struct jit_table *t)
{
	uint64_t bad = t->bad_before;

	for (size_t i = 0; i < t->code.count; i++)
		bad += bad_records(t->code.data[i]);
	return bad;
}
