/*
 * Generations of code.  The jitdump is read as it grows, as far as where and when code was put:
 * where it takes a place that had other code, a generation ends.  Some programs write it late; so
 * that what stood where can be told apart all the same, generations last no longer than
 * GENERATION_MAX.
 *
 * A stack's outer frames keep their objects when they are reused by a later sample: rightly, as
 * their code cannot have changed while it was on the stack.
 */
#include "record/processes/jit_table.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "perfstream/jit.h"

#define GENERATION_MAX UINT64_C(1000000000)
#define GENERATION_MIN UINT64_C(5000000)
/* A sample waits for so many records to be read, some 50 ms; the next one for the next. */
enum { RECORDS_MAX = 1 << 16 };

struct jit_code {
	char path[32]; /* of the dump */
	struct perfstream_jit jit;
	uint64_t read_ns; /* up to when it was read */
	uint64_t turns;	  /* of jit when somebody asked for them last */
};

void jit_table_init(struct jit_table *t, struct object_table *objects)
{
	*t = (struct jit_table){.objects = objects};
}

void jit_table_deinit(struct jit_table *t)
{
	for (size_t i = 0; i < t->code.count; i++) {
		perfstream_jit_deinit(&t->code.data[i]->jit);
		free(t->code.data[i]);
	}
	vec_deinit(&t->code);
	map_deinit(&t->by_object);
}

static struct jit_code *code_of(struct jit_table *t, uint32_t object)
{
	bool added;
	uint32_t *place = map_at(&t->by_object, object, 0, (uint32_t)t->code.count, &added);

	if (added) {
		struct jit_code *c = xalloc(sizeof(*c));
		perfstream_jit_init(&c->jit);
		vec_push(&t->code, c);
	}
	return t->code.data[*place];
}

/* Another file than last time: the process has become another program. */
static void open_dump(struct jit_table *t, struct jit_code *c, struct str path)
{
	t->bad_before += perfstream_jit_bad_records(&c->jit);
	perfstream_jit_deinit(&c->jit);
	*c = (struct jit_code){0};
	memcpy(c->path, path.data, path.size);
	perfstream_jit_init(&c->jit);
	perfstream_jit_open(&c->jit, c->path, GENERATION_MIN);
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
	if (c->jit.fd < 0)
		return NULL;
	if (time_ns != c->read_ns)
		perfstream_jit_read(&c->jit, RECORDS_MAX);
	c->read_ns = time_ns;
	return c;
}

uint32_t jit_table_object(struct jit_table *t, uint32_t object, uint64_t time_ns)
{
	const struct jit_code *c = code_at(t, object, time_ns);

	if (!c)
		return object;
	uint64_t begin_ns =
		perfstream_jit_begin_ns(&c->jit, perfstream_jit_epoch(&c->jit, time_ns));
	uint64_t slot_ns = time_ns - time_ns % GENERATION_MAX;

	return object_table_generation(t->objects, object, begin_ns > slot_ns ? begin_ns : slot_ns);
}

bool jit_table_has_turned(struct jit_table *t, uint32_t object, uint64_t time_ns)
{
	struct jit_code *c = code_at(t, object, time_ns);

	if (!c || c->turns == c->jit.turns)
		return false;
	c->turns = c->jit.turns;
	return true;
}

bool jit_table_rule(
	struct jit_table *t, uint32_t object, uint64_t va, uint64_t time_ns, struct cfi_rule *rule)
{
	struct jit_code *c = code_at(t, object, time_ns);

	return c && perfstream_jit_rule(&c->jit, va, time_ns, rule);
}

uint64_t jit_table_bad_records(const struct jit_table *t)
{
	uint64_t bad = t->bad_before;

	for (size_t i = 0; i < t->code.count; i++)
		bad += perfstream_jit_bad_records(&t->code.data[i]->jit);
	return bad;
}
