/* Finds a skeleton's contents: by its id in the package, then in the .dwo file that it names. */
#include "obj/dwarf_split.h"

#include <dwarf.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "obj/debugfile.h"
#include "obj/dwarf_unit.h"
#include "obj/objfile.h"

/* Columns of .debug_cu_index; GNU's version 2 has loclists as 5, macros as 7 and 8, no rnglists. */
enum package_column {
	COLUMN_INFO = 1,
	COLUMN_ABBREV = 3,
	COLUMN_STR_OFFSETS = 6,
	COLUMN_RNGLISTS = 8,
	COLUMN_MAX = 8,
};

struct package_row {
	uint32_t offset[COLUMN_MAX + 1]; /* of the unit's part of each section */
};

/* Opens path (which is freed) if it is a regular ELF file. */
static struct objfile *open_path(char *path)
{
	struct objfile *file = NULL;
	struct stat st;

	if (stat(path, &st) == 0 && S_ISREG(st.st_mode)) {
		struct error *err = objfile_open(path, &file);
		error_destroy(err);
	}
	free(path);
	return file;
}

static struct dwarf_file *dwarf_file_of(struct dwarf_splits *s, struct objfile *object)
{
	struct dwarf_file *file = ARENA_NEW(s->context->arena, struct dwarf_file);

	dwarf_file_init(file, object, objfile_name(object), true, s->context);
	return file;
}

static void close_dwo(struct dwarf_splits *s)
{
	if (s->dwo == NULL)
		return;
	dwarf_file_deinit(s->dwo_file);
	objfile_close(s->dwo);
	s->dwo = NULL;
	s->dwo_file = NULL;
}

void dwarf_splits_deinit(struct dwarf_splits *s)
{
	close_dwo(s);
	if (s->package) {
		dwarf_file_deinit(s->package_file);
		objfile_close(s->package);
	}
}

/* Links the unit with the contents to its skeleton, and adds its offsets within the package. */
static void adopt(
	struct dwarf_unit *unit, struct dwarf_unit *skeleton, const struct package_row *row)
{
	unit->skeleton = skeleton;
	unit->abbrev_offset += row->offset[COLUMN_ABBREV];
	unit->str_offsets_base = row->offset[COLUMN_STR_OFFSETS];
	if (unit->version >= 5)
		unit->rnglists_base = row->offset[COLUMN_RNGLISTS];
	dwarf_unit_read_root(unit);
}

static void open_package(struct dwarf_splits *s)
{
	if (s->package_is_looked_for)
		return;
	s->package_is_looked_for = true;
	s->package = open_path(xasprintf("%.*s.dwp", STR_ARG(s->object_path)));
	if (s->package == NULL && s->debug_path.size)
		s->package = open_path(xasprintf("%.*s.dwp", STR_ARG(s->debug_path)));
	if (s->package)
		s->package_file = dwarf_file_of(s, s->package);
}

/* The header of .debug_cu_index, and the offsets of its four tables. */
struct package_index {
	struct dwarf_file *file;
	uint32_t columns, units, slots;
	uint64_t ids, rows, names, offsets;
};

static bool package_index_read(struct package_index *x, struct dwarf_file *file)
{
	struct cursor c = dwarf_file_cursor(file, DWARF_CU_INDEX, 0);
	uint16_t version = cursor_u16(&c);

	cursor_skip(&c, 2); /* version 2 has a version of 4 bytes, 5 has padding */
	*x = (struct package_index){.file = file};
	x->columns = cursor_u32(&c);
	x->units = cursor_u32(&c);
	x->slots = cursor_u32(&c);
	x->ids = cursor_offset(&c);
	x->rows = x->ids + 8 * (uint64_t)x->slots;
	x->names = x->rows + 4 * (uint64_t)x->slots;
	x->offsets = x->names + 4 * (uint64_t)x->columns;
	return cursor_ok(&c) && (version == 2 || version == 5) && x->columns <= 64 && x->slots &&
	       (x->slots & (x->slots - 1)) == 0;
}

static uint64_t package_number(const struct package_index *x, uint64_t at, unsigned int size)
{
	struct cursor c = dwarf_file_cursor(x->file, DWARF_CU_INDEX, at);

	return size == 8 ? cursor_u64(&c) : cursor_u32(&c);
}

/* The row (from 1) of an id, by the hash lookup of section 7.3.5.3; 0: none. */
static uint32_t package_find(const struct package_index *x, uint64_t id)
{
	uint64_t mask = x->slots - 1;
	uint64_t slot = id & mask, step = ((id >> 32) & mask) | 1;

	for (uint64_t probes = 0; probes < x->slots && dwarf_spend(x->file, 1); probes++) {
		uint32_t row = (uint32_t)package_number(x, x->rows + 4 * slot, 4);
		if (row == 0)
			return 0;
		if (package_number(x, x->ids + 8 * slot, 8) == id)
			return row <= x->units ? row : 0;
		slot = (slot + step) & mask;
	}
	return 0;
}

static void package_read_row(
	const struct package_index *x, uint32_t number, struct package_row *row)
{
	*row = (struct package_row){0};
	for (uint32_t i = 0; i < x->columns; i++) {
		uint64_t column = package_number(x, x->names + 4 * (uint64_t)i, 4);
		uint64_t at = x->offsets + 4 * ((uint64_t)(number - 1) * x->columns + i);
		if (column <= COLUMN_MAX)
			row->offset[column] = (uint32_t)package_number(x, at, 4);
	}
}

static struct dwarf_unit *open_in_package(struct dwarf_splits *s, struct dwarf_unit *skeleton)
{
	struct package_index index;
	struct package_row row;
	struct dwarf_unit header;
	uint64_t next;

	open_package(s);
	if (s->package == NULL || !package_index_read(&index, s->package_file))
		return NULL;
	uint32_t number = package_find(&index, skeleton->dwo_id);
	if (number == 0)
		return NULL;
	package_read_row(&index, number, &row);
	if (!dwarf_unit_read_header(s->package_file, row.offset[COLUMN_INFO], &header, &next))
		return NULL;
	struct dwarf_unit *unit = ARENA_NEW(s->context->arena, struct dwarf_unit);
	*unit = header;
	adopt(unit, skeleton, &row);
	return unit->dwo_id == skeleton->dwo_id ? unit : NULL;
}

/* The unit with the skeleton's id in a newly opened .dwo file. */
static struct dwarf_unit *find_in_dwo(struct dwarf_splits *s, struct dwarf_unit *skeleton)
{
	static const struct package_row whole_sections;

	dwarf_units_read(s->dwo_file);
	for (size_t i = 0; i < s->dwo_file->units.count; i++) {
		struct dwarf_unit *unit = s->dwo_file->units.data[i];
		if (unit->type != DW_UT_compile && unit->type != DW_UT_split_compile)
			continue;
		adopt(unit, skeleton, &whole_sections);
		if (unit->dwo_id == skeleton->dwo_id)
			return unit;
	}
	return NULL;
}

static struct dwarf_unit *try_dwo(struct dwarf_splits *s, struct dwarf_unit *skeleton, char *path)
{
	s->dwo = open_path(path);
	if (s->dwo == NULL)
		return NULL;
	s->dwo_file = dwarf_file_of(s, s->dwo);
	struct dwarf_unit *unit = find_in_dwo(s, skeleton);
	if (unit == NULL)
		close_dwo(s);
	return unit;
}

/* Opens the .dwo file where it was written, or next to the program, in case both were moved. */
static struct dwarf_unit *open_dwo(struct dwarf_splits *s, struct dwarf_unit *skeleton)
{
	struct str name = form_string(skeleton, &skeleton->dwo_name);
	struct str written_in = form_string(skeleton, &skeleton->comp_dir);
	struct str directory = path_directory(s->object_path);
	struct str base = str_base_name(name);
	struct dwarf_unit *unit;

	if (base.size == 0)
		return NULL;
	if (name.data[0] == '/')
		unit = try_dwo(s, skeleton, xstrndup(name.data, name.size));
	else
		unit = try_dwo(
			s, skeleton, xasprintf("%.*s/%.*s", STR_ARG(written_in), STR_ARG(name)));
	if (unit == NULL && name.data[0] != '/' && base.size != name.size)
		unit = try_dwo(
			s, skeleton, xasprintf("%.*s/%.*s", STR_ARG(directory), STR_ARG(name)));
	if (unit == NULL)
		unit = try_dwo(
			s, skeleton, xasprintf("%.*s/%.*s", STR_ARG(directory), STR_ARG(base)));
	return unit;
}

struct dwarf_unit *dwarf_split_open(struct dwarf_splits *s, struct dwarf_unit *skeleton)
{
	close_dwo(s);
	dwarf_unit_read_root(skeleton);
	if (skeleton->dwo_id == 0 || !dwarf_spend(skeleton->file, 1000))
		return NULL;
	struct dwarf_unit *unit = open_in_package(s, skeleton);
	if (unit == NULL)
		unit = open_dwo(s, skeleton);
	if (unit == NULL)
		s->missing++;
	return unit;
}
