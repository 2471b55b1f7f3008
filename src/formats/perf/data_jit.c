/* Code generated at run time.  See data_jit.h. */
#include "formats/perf/data_jit.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>

#include "obj/perfmap.h"

void perf_data_jit_init(struct perf_data_jit *j, const struct perf_data_file *file)
{
	*j = (struct perf_data_jit){.file = file, .demangler = demangler_create()};
	perf_data_maps_init(&j->maps, file);
}

void perf_data_jit_deinit(struct perf_data_jit *j)
{
	for (size_t i = 0; i < j->codes.count; i++) {
		jitdump_close(j->codes.data[i].dump);
		perfmap_close(j->codes.data[i].map);
		perfstream_jit_deinit(&j->codes.data[i].epochs);
	}
	vec_deinit(&j->codes);
	map_deinit(&j->by_pid);
	perf_data_maps_deinit(&j->maps);
	demangler_destroy(j->demangler);
}

uint32_t perf_data_jit_code(struct perf_data_jit *j, int64_t pid)
{
	bool added;
	uint32_t code = *map_at(&j->by_pid, (uint64_t)pid, 0, (uint32_t)j->codes.count, &added);

	if (added) {
		vec_push(&j->codes, (struct perf_data_jit_code){.pid = pid});
		perfstream_jit_init(&j->codes.data[code].epochs);
	}
	return code;
}

/* ---- the dump ---- */

static void read_epochs(struct perf_data_jit_code *code, const char *path)
{
	if (perfstream_jit_open(&code->epochs, path, 0))
		perfstream_jit_read(&code->epochs, SIZE_MAX);
	perfstream_jit_finish(&code->epochs);
}

/* Tries a path, and frees it. */
static void try_dump(struct perf_data_jit_code *code, char *path)
{
	if (path && code->dump == NULL) {
		struct error *err = jitdump_open(path, &code->dump);

		if (err)
			code->dump = NULL;
		else
			read_epochs(code, path);
		error_destroy(err);
	}
	free(path);
}

/* The last two components of a path: perf keeps the dumps of some agents in separate folders. */
static struct str last_two(struct str path)
{
	struct str base = str_base_name(path);
	struct str folder = {path.data, path.size - base.size};

	if (folder.size < 2)
		return base;
	folder.size--;
	folder = str_base_name(folder);
	return (struct str){folder.data, folder.size + 1 + base.size};
}

void perf_data_jit_dump(struct perf_data_jit *j, uint32_t code, struct str path)
{
	struct perf_data_jit_code *c = &j->codes.data[code];

	try_dump(c, perf_data_beside(j->file, str_base_name(path)));
	try_dump(c, perf_data_beside(j->file, last_two(path)));
	if (path.size && path.data[0] == '/')
		try_dump(c, xstrndup(path.data, path.size));
}

uint32_t perf_data_jit_epoch(const struct perf_data_jit *j, uint32_t code, uint64_t time_ns)
{
	return (uint32_t)perfstream_jit_epoch(&j->codes.data[code].epochs, time_ns);
}

/* ---- names ---- */

/* A map next to the perf.data file may belong to the owner of that file. */
static void try_map(struct perf_data_jit *j, struct perf_data_jit_code *code, const char *path,
	enum perf_data_map_place place)
{
	struct stat st;
	uint32_t uid = j->file->input.path && stat(j->file->input.path, &st) == 0 ? st.st_uid : 0;

	if (lstat(path, &st) != 0 || !S_ISREG(st.st_mode) ||
		!perf_data_maps_believe(&j->maps, code->pid, place, &st))
		return;
	struct error *err = perfmap_open_file(path, uid, &code->map);

	if (err)
		code->map = NULL;
	error_destroy(err);
}

static bool is_same_file(const char *a, const char *b)
{
	struct stat x, y;

	return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static void find_map(struct perf_data_jit *j, struct perf_data_jit_code *code)
{
	char name[64], in_tmp[80];

	code->is_map_tried = true;
	snprintf(name, sizeof(name), "perf-%" PRId64 ".map", code->pid);
	snprintf(in_tmp, sizeof(in_tmp), "/tmp/%s", name);
	char *beside = perf_data_beside(j->file, str_from(name));

	if (beside && !is_same_file(beside, in_tmp))
		try_map(j, code, beside, PERF_DATA_MAP_BESIDE);
	if (code->map == NULL)
		try_map(j, code, in_tmp, PERF_DATA_MAP_IN_TMP);
	free(beside);
}

bool perf_data_jit_find(struct perf_data_jit *j, uint32_t code, uint64_t va, uint64_t time_ns,
	struct arena *arena, struct perf_data_jit_place *place)
{
	struct perf_data_jit_code *c = &j->codes.data[code];
	struct jitdump_place found;
	struct str name;

	if (c->dump && jitdump_find(c->dump, va, time_ns, arena, &found)) {
		*place = (struct perf_data_jit_place){
			demangle(j->demangler, found.function), found.file, found.line};
		return true;
	}
	if (!c->is_map_tried)
		find_map(j, c);
	if (c->map == NULL || !perfmap_find(c->map, va, &name))
		return false;
	*place = (struct perf_data_jit_place){demangle(j->demangler, name), STR(""), 0};
	return true;
}

bool perf_data_jit_bytes(const struct perf_data_jit *j, uint32_t code, uint64_t va,
	uint64_t time_ns, uint8_t *bytes, size_t size)
{
	struct jitdump *dump = j->codes.data[code].dump;

	return dump && jitdump_code(dump, va, time_ns, bytes, size);
}

bool perf_data_jit_rule(struct perf_data_jit *j, uint32_t code, uint64_t va, uint64_t time_ns,
	struct cfi_rule *rule)
{
	return perfstream_jit_rule(&j->codes.data[code].epochs, va, time_ns, rule);
}

bool perf_data_jit_has_turned(struct perf_data_jit *j, uint32_t code, uint64_t time_ns)
{
	uint32_t epoch = perf_data_jit_epoch(j, code, time_ns),
		 *walked = &j->codes.data[code].walked;
	bool has_turned = epoch != *walked;

	*walked = epoch;
	return has_turned;
}

uint64_t perf_data_jit_bad_records(const struct perf_data_jit *j)
{
	uint64_t bad = 0;

	for (size_t i = 0; i < j->codes.count; i++)
		bad += perfstream_jit_bad_records(&j->codes.data[i].epochs);
	return bad;
}
