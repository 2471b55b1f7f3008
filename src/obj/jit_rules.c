/*
 * Only the position of code and of its unwind information in the file is stored; rules are compiled
 * when an address is looked up, and not kept: the walker caches the rules that it uses.
 *
 * Code arrives between look-ups, so keeping it sorted must be cheap.  New code is appended unsorted
 * until the next look-up.  Then it becomes a run, which is sorted together with earlier runs that
 * are at most twice as long.  So there are few runs, and each piece of code is sorted only a few
 * times (Bentley and Saxe, "Decomposable searching problems", 1980).
 */
#include "obj/jit_rules.h"

#include <stdlib.h>

#include "base/search.h"
#include "base/sort.h"

/* Where pieces of code overlap, only this many are examined, nearest first. */
enum { STEPS_MAX = 512 };

void jit_rules_deinit(struct jit_rules *rules)
{
	vec_deinit(&rules->codes);
	vec_deinit(&rules->runs);
	free(rules->bytes);
	*rules = (struct jit_rules){0};
}

/* ---- code in order ---- */

static int compare(uint64_t a, uint64_t b)
{
	return COMPARE(a, b);
}

static int compare_codes(const void *pa, const void *pb)
{
	const struct jit_rules_code *a = pa, *b = pb;

	if (a->low != b->low)
		return compare(a->low, b->low);
	if (a->time_ns != b->time_ns)
		return compare(a->time_ns, b->time_ns);
	return compare(a->record_off, b->record_off);
}

static void sort_run(struct jit_rules *rules, size_t begin)
{
	struct jit_rules_code *codes = rules->codes.data;
	uint64_t reach = 0;

	qsort(codes + begin, rules->codes.count - begin, sizeof(*codes), compare_codes);
	for (size_t i = begin; i < rules->codes.count; i++) {
		reach = codes[i].high > reach ? codes[i].high : reach;
		codes[i].reach = reach;
	}
}

/* Makes a run of the code added since the last call. */
static void settle(struct jit_rules *rules)
{
	size_t begin = rules->sorted, end = rules->codes.count;

	if (begin == end)
		return;
	while (rules->runs.count > 0) {
		size_t last = rules->runs.data[rules->runs.count - 1];

		if (begin - last > 2 * (end - begin))
			break;
		begin = last;
		rules->runs.count--;
	}
	vec_push(&rules->runs, begin);
	sort_run(rules, begin);
	rules->sorted = end;
}

/* Of two pieces of code at an address, whether a fits a time better than b. */
static bool fits_better(
	const struct jit_rules_code *a, const struct jit_rules_code *b, uint64_t time_ns)
{
	bool a_was = a->time_ns <= time_ns, b_was = b->time_ns <= time_ns;
	int order = a->time_ns != b->time_ns ? compare(a->time_ns, b->time_ns)
					     : compare(a->record_off, b->record_off);

	if (a_was != b_was)
		return a_was;
	return a_was ? order > 0 : order < 0;
}

static struct jit_rules_code *find_in_run(struct jit_rules *rules, size_t begin, size_t end,
	uint64_t va, uint64_t time_ns, struct jit_rules_code *best)
{
	struct jit_rules_code *codes = rules->codes.data;
	size_t next = partition_point(i, begin, end, codes[i].low <= va);
	size_t least = next - begin > STEPS_MAX ? next - STEPS_MAX : begin;

	for (size_t i = next; i-- > least && codes[i].reach > va;)
		if (va < codes[i].high && (!best || fits_better(&codes[i], best, time_ns)))
			best = &codes[i];
	return best;
}

static struct jit_rules_code *find_code(struct jit_rules *rules, uint64_t va, uint64_t time_ns)
{
	struct jit_rules_code *best = NULL;

	settle(rules);
	for (size_t i = 0; i < rules->runs.count; i++) {
		size_t end = i + 1 < rules->runs.count ? rules->runs.data[i + 1] : rules->sorted;

		best = find_in_run(rules, rules->runs.data[i], end, va, time_ns, best);
	}
	return best;
}

/* ---- records ---- */

static void add_code(struct jit_rules *rules, struct jit_rules_code code)
{
	if (rules->codes.count < JIT_RULES_CODES_MAX)
		vec_push(&rules->codes, code);
	else
		rules->left_out++;
}

/* Code without unwind information is kept too: it may replace code that has some. */
static void add_loaded(struct jit_rules *rules, const struct jitdump_record *record)
{
	struct jit_rules_code code = {.low = record->low,
		.high = record->low + record->size,
		.time_ns = record->time_ns,
		.record_off = record->record_off};

	if (rules->has_next && rules->next.body_size <= JIT_RULES_EH_FRAME_MAX) {
		code.eh_frame_off = rules->next.body_off;
		code.eh_frame_size = (uint32_t)rules->next.body_size;
	} else if (rules->has_next) {
		rules->bad++;
	}
	rules->has_next = false;
	add_code(rules, code);
}

static void add_moved(struct jit_rules *rules, const struct jitdump_record *record)
{
	const struct jit_rules_code *old = find_code(rules, record->old_low, UINT64_MAX);
	struct jit_rules_code code = {0};

	/* Its .eh_frame is relative to the code's end, so it must have the same size. */
	if (old && old->low == record->old_low && old->high - old->low == record->size)
		code = *old;
	code.low = record->low;
	code.high = record->low + record->size;
	code.time_ns = record->time_ns;
	code.record_off = record->record_off;
	add_code(rules, code);
}

void jit_rules_add(struct jit_rules *rules, const struct jitdump_record *record)
{
	if (record->kind == JITDUMP_UNWINDING) {
		rules->next = *record;
		rules->has_next = rules->is_used = true;
	} else if (rules->is_used && record->kind == JITDUMP_LOAD) {
		add_loaded(rules, record);
	} else if (rules->is_used && record->kind == JITDUMP_MOVE) {
		add_moved(rules, record);
	}
}

/* ---- rules ---- */

/* Makes it a rule that the unwinder checks; false: not possible. */
static bool take_rule(const struct cfi_rule *found, struct cfi_rule *rule)
{
	switch (found->kind) {
	case CFI_SP:
	case CFI_BP:
		*rule = *found;
		rule->kind = found->kind == CFI_SP ? CFI_CODE_SP : CFI_CODE_BP;
		return true;
	case CFI_END:
		*rule = *found;
		return true;
	case CFI_NONE:
	case CFI_PLT:
	case CFI_SIGNAL:
	case CFI_CODE_SP:
	case CFI_CODE_BP:
	case CFI_CODE_SAVED:
	case CFI_CODE_REGISTER:
	case CFI_SLOW:
	case CFI_GO:
		break;
	}
	return false;
}

static bool compile(
	struct jit_rules *rules, struct jit_rules_code *code, uint64_t va, struct cfi_rule *rule)
{
	struct cfi_source source = {
		.sections = {{.bytes = rules->bytes,
			.size = code->eh_frame_size,
			.obj_addr = code->low + ((code->high - code->low + 7) & ~UINT64_C(7)),
			.kind = CFI_EH_FRAME}},
		.section_count = 1,
		.object = {.name = "jitdump"},
	};
	struct cfi_table *table = cfi_table_open(&source);
	bool is_found = take_rule(cfi_table_find(table, va), rule);

	if (cfi_table_bad_entries(table) > 0) {
		is_found = false;
		code->eh_frame_size = 0;
		rules->bad++;
	}
	cfi_table_destroy(table);
	return is_found;
}

bool jit_rules_find(struct jit_rules *rules, const struct jitdump_reader *reader, uint64_t va,
	uint64_t time_ns, struct cfi_rule *rule)
{
	struct jit_rules_code *code = find_code(rules, va, time_ns);

	if (!code || code->eh_frame_size == 0)
		return false;
	if (!rules->bytes)
		rules->bytes = xalloc(JIT_RULES_EH_FRAME_MAX);
	return reader->read(
		       reader->context, code->eh_frame_off, rules->bytes, code->eh_frame_size) &&
	       compile(rules, code, va, rule);
}
