/*
 * Line tables: the header with its files, and the program.
 *
 * The rows are never stored. As the program runs through a sequence in address order, an index
 * advances along the requested addresses: those between two rows belong to the first of the two.
 */
#include "obj/dwarf_line.h"

#include <dwarf.h>

#include "obj/addrs.h"
#include "obj/dwarf_abbrev.h"
#include "obj/dwarf_file.h"
#include "obj/dwarf_form.h"
#include "obj/dwarf_unit.h"
#include "obj/source_path.h"

struct line_file {
	struct str name, path; /* path: built on first use */
	uint64_t directory;
};

struct line_files {
	struct cursor program; /* from its first opcode */
	uint16_t version;
	uint8_t address_size, offset_size;
	uint8_t instruction_bytes_min, operations_max;
	int8_t line_base;
	uint8_t line_range, opcode_base;
	const uint8_t *opcode_lengths; /* [opcode_base - 1] */
	struct str compilation_directory;
	struct str *directories;
	struct line_file *files;
	size_t directory_count, file_count;
};

/* The two lists during reading. */
struct name_lists {
	VEC(struct str) directories;
	VEC(struct line_file) files;
};

/* DWARF 2 to 4: one name after the other; an empty name ends each list. */
static void read_old_names(struct cursor *c, struct name_lists *lists)
{
	struct str name;

	while ((name = cursor_string(c)).size && cursor_ok(c))
		vec_push(&lists->directories, name);
	while ((name = cursor_string(c)).size && cursor_ok(c)) {
		struct line_file file = {.name = name, .directory = cursor_uleb(c)};
		cursor_uleb(c); /* time of modification */
		cursor_uleb(c); /* size */
		vec_push(&lists->files, file);
	}
}

/* DWARF 5: the contents of a list's entries. */
struct entry_format {
	size_t count;
	struct {
		uint64_t content; /* DW_LNCT_… */
		struct attr_spec form;
	} fields[256];
};

static void read_entry_format(struct cursor *c, struct entry_format *format)
{
	format->count = cursor_u8(c);
	for (size_t i = 0; i < format->count; i++) {
		format->fields[i].content = cursor_uleb(c);
		format->fields[i].form =
			(struct attr_spec){.form = (uint16_t)cursor_uleb_to(c, UINT16_MAX)};
	}
}

static struct line_file read_entry(
	struct cursor *c, struct dwarf_unit *unit, const struct entry_format *format)
{
	struct line_file file = {0};
	struct form_value value;

	for (size_t i = 0; i < format->count && cursor_ok(c); i++) {
		form_read(c, unit, &format->fields[i].form, &value);
		if (format->fields[i].content == DW_LNCT_path)
			file.name = form_string(unit, &value);
		else if (format->fields[i].content == DW_LNCT_directory_index)
			form_number(&value, &file.directory);
	}
	return file;
}

/* Reads a list's entries; false if they are invalid. */
static bool read_entries(
	struct cursor *c, struct dwarf_unit *unit, struct name_lists *lists, bool are_files)
{
	struct entry_format *format = xalloc(sizeof(*format));

	read_entry_format(c, format);
	for (uint64_t left = cursor_uleb(c); left && cursor_ok(c); left--) {
		const uint8_t *before = c->at;
		struct line_file file = read_entry(c, unit, format);
		if (c->at == before || !dwarf_spend(unit->file, 1))
			cursor_fail(c, "a list of files without end");
		if (!cursor_ok(c))
			break;
		if (are_files)
			vec_push(&lists->files, file);
		else
			vec_push(&lists->directories, file.name);
	}
	free(format);
	return cursor_ok(c);
}

static void keep_names(struct line_files *t, struct dwarf_unit *unit, struct name_lists *lists)
{
	struct arena *arena = unit->file->context->arena;

	t->directory_count = lists->directories.count;
	t->directories = ARENA_ARRAY(arena, struct str, t->directory_count + 1);
	if (t->directory_count)
		memcpy(t->directories, lists->directories.data,
			t->directory_count * sizeof(*t->directories));
	t->file_count = lists->files.count;
	t->files = ARENA_ARRAY(arena, struct line_file, t->file_count + 1);
	if (t->file_count)
		memcpy(t->files, lists->files.data, t->file_count * sizeof(*t->files));
	vec_deinit(&lists->directories);
	vec_deinit(&lists->files);
}

static void read_names(struct line_files *t, struct dwarf_unit *unit, struct cursor *c)
{
	/* Forms have the sizes given by this table's header, which may differ from the unit's. */
	struct dwarf_unit sizes = *unit;
	struct name_lists lists = {0};

	sizes.offset_size = t->offset_size;
	if (t->version < 5)
		read_old_names(c, &lists);
	else if (read_entries(c, &sizes, &lists, false))
		read_entries(c, &sizes, &lists, true);
	keep_names(t, unit, &lists);
}

/* Reads the header up to the names; *program is the rest, from the first opcode. */
static bool read_header(struct line_files *t, struct cursor *c, struct cursor *program)
{
	t->version = cursor_u16(c);
	if (t->version < 2 || t->version > 5)
		return false;
	if (t->version >= 5) {
		t->address_size = cursor_u8(c);
		cursor_skip(c, 1); /* size of segment selectors */
	}
	uint64_t size = t->offset_size == 8 ? cursor_u64(c) : cursor_u32(c);
	*program = *c;
	cursor_skip(program, size);
	t->instruction_bytes_min = cursor_u8(c);
	t->operations_max = t->version >= 4 ? cursor_u8(c) : 1;
	cursor_skip(c, 1); /* DWARF's default_is_stmt */
	t->line_base = (int8_t)cursor_u8(c);
	t->line_range = cursor_u8(c);
	t->opcode_base = cursor_u8(c);
	t->opcode_lengths = t->opcode_base ? cursor_bytes(c, t->opcode_base - 1u) : NULL;
	if (t->operations_max == 0)
		t->operations_max = 1;
	return cursor_ok(c) && cursor_ok(program) && t->opcode_base && t->line_range;
}

static void line_files_read(struct line_files *t, struct dwarf_unit *unit)
{
	uint64_t offset;

	dwarf_unit_read_root(unit);
	t->compilation_directory = form_string(unit, &unit->comp_dir);
	if (!form_number(&unit->stmt_list, &offset) || !dwarf_spend(unit->file, 1))
		return;
	struct cursor c = dwarf_file_cursor(unit->file, DWARF_LINE, offset);
	uint64_t length = cursor_u32(&c);
	t->offset_size = length == 0xffffffff ? 8 : 4;
	t->address_size = unit->address_size;
	if (t->offset_size == 8)
		length = cursor_u64(&c);
	if (length > cursor_left(&c)) /* truncated: use what is there */
		length = cursor_left(&c);
	struct cursor table = cursor_sub(&c, length), program;
	if (!read_header(t, &table, &program))
		return;
	read_names(t, unit, &table);
	t->program = program;
	dwarf_spend(unit->file, (uint64_t)(table.at - table.start) + 16 * (uint64_t)t->file_count);
}

static struct line_files *line_files_of_unit(struct dwarf_unit *unit)
{
	struct dwarf_unit *home = unit->skeleton ? unit->skeleton : unit;

	if (home->files == NULL) {
		home->files = ARENA_NEW(home->file->context->arena, struct line_files);
		cursor_init(&home->files->program, NULL, 0, home->file->name, 0);
		line_files_read(home->files, home);
	}
	return home->files;
}

/*
 * Before version 5, files and directories count from 1, and directory 0 is the compilation
 * directory.  From version 5 on they count from 0, and entry 0 repeats the compilation directory.
 */
static struct str make_path(struct dwarf_unit *unit, struct line_files *t, struct line_file *file)
{
	uint64_t first = t->version >= 5 ? 0 : 1;
	struct str base = t->compilation_directory, directory = STR("");

	if (file->directory >= first && file->directory - first < t->directory_count)
		directory = t->directories[file->directory - first];
	if (t->version >= 5 && file->directory == 0 && directory.size)
		base = STR("");
	return source_path_join(unit->file->context->arena, base, directory, file->name);
}

struct str line_file_path(struct dwarf_unit *unit, uint64_t number)
{
	struct line_files *t = line_files_of_unit(unit);
	uint64_t first = t->version >= 5 ? 0 : 1;

	if (number < first || number - first >= t->file_count)
		return STR("");
	struct line_file *file = &t->files[number - first];
	if (file->path.data == NULL && file->name.size) {
		file->path = make_path(unit, t, file);
		dwarf_spend(unit->file, file->path.size);
	}
	return file->path;
}

/* The state machine, and the position among the wanted addresses. */
struct line_run {
	struct line_files *table;
	struct dwarf_unit *unit;
	struct cursor c;
	const uint64_t *addrs;
	size_t count;
	struct line_row *rows;
	size_t found;

	uint64_t address, operation; /* the state machine's registers */
	uint64_t file;
	uint64_t line; /* modulo 2^64: programs may set it to anything */

	bool in_sequence, is_text;
	uint64_t last_address; /* of the last row of this sequence */
	struct line_row last;
	size_t next; /* the first wanted address at or after the last row */
};

/* The last row extends to the machine's address. */
static void run_close_row(struct line_run *r)
{
	if (r->address < r->last_address) {
		r->next = addrs_first_from(r->addrs, r->count, r->address);
		return;
	}
	for (; r->next < r->count && r->addrs[r->next] < r->address; r->next++) {
		if (!dwarf_spend(r->unit->file, 1))
			return;
		if (r->rows[r->next].is_known || !r->is_text)
			continue;
		r->rows[r->next] = r->last;
		r->found++;
	}
}

static void run_add_row(struct line_run *r)
{
	if (r->in_sequence) {
		run_close_row(r);
	} else {
		r->in_sequence = true;
		r->is_text = dwarf_is_text(r->unit->file->context, r->address);
		r->next = addrs_first_from(r->addrs, r->count, r->address);
	}
	r->last_address = r->address;
	r->last = (struct line_row){.is_known = true,
		.file = r->file <= UINT32_MAX ? (uint32_t)r->file : UINT32_MAX,
		.line = r->line <= UINT32_MAX ? (uint32_t)r->line : 0};
}

static void run_reset(struct line_run *r)
{
	r->address = r->operation = 0;
	r->file = 1;
	r->line = 1;
	r->in_sequence = false;
}

static void run_advance(struct line_run *r, uint64_t operations)
{
	const struct line_files *t = r->table;

	if (t->operations_max == 1) {
		r->address += t->instruction_bytes_min * operations;
		return;
	}
	uint64_t total = r->operation + operations;
	r->address += t->instruction_bytes_min * (total / t->operations_max);
	r->operation = total % t->operations_max;
}

static void run_extended(struct line_run *r)
{
	uint64_t size = cursor_uleb(&r->c);
	struct cursor c = cursor_sub(&r->c, size);

	switch (cursor_u8(&c)) {
	case DW_LNE_end_sequence:
		if (r->in_sequence)
			run_close_row(r);
		run_reset(r);
		break;
	case DW_LNE_set_address:
		r->address = size == 5 ? cursor_u32(&c) : cursor_u64(&c);
		r->operation = 0;
		break;
	default: /* no compiler emits DW_LNE_define_file; DW_LNE_set_discriminator is not needed */
		break;
	}
}

static void run_standard(struct line_run *r, uint8_t opcode)
{
	switch (opcode) {
	case DW_LNS_copy:
		run_add_row(r);
		break;
	case DW_LNS_advance_pc:
		run_advance(r, cursor_uleb(&r->c));
		break;
	case DW_LNS_advance_line:
		r->line += (uint64_t)cursor_sleb(&r->c);
		break;
	case DW_LNS_set_file:
		r->file = cursor_uleb(&r->c);
		break;
	case DW_LNS_const_add_pc:
		run_advance(r, (uint64_t)(255 - r->table->opcode_base) / r->table->line_range);
		break;
	case DW_LNS_fixed_advance_pc:
		r->address += cursor_u16(&r->c);
		r->operation = 0;
		break;
	default: /* columns, statements, prologues: not needed; operand counts are in the header */
		for (uint8_t i = 0; i < r->table->opcode_lengths[opcode - 1]; i++)
			cursor_uleb(&r->c);
		break;
	}
}

static void run_special(struct line_run *r, uint8_t opcode)
{
	uint8_t adjusted = (uint8_t)(opcode - r->table->opcode_base);

	run_advance(r, adjusted / r->table->line_range);
	r->line += (uint64_t)(int64_t)(r->table->line_base + adjusted % r->table->line_range);
	run_add_row(r);
}

void line_rows_find(
	struct dwarf_unit *unit, const uint64_t *addrs, size_t count, struct line_row *rows)
{
	struct line_run r = {.table = line_files_of_unit(unit),
		.unit = unit,
		.addrs = addrs,
		.count = count,
		.rows = rows};

	r.c = r.table->program;
	run_reset(&r);
	if (!dwarf_spend(unit->file, cursor_left(&r.c)))
		return;
	while (!cursor_at_end(&r.c) && cursor_ok(&r.c) && r.found < count) {
		uint8_t opcode = cursor_u8(&r.c);
		if (opcode >= r.table->opcode_base)
			run_special(&r, opcode);
		else if (opcode == 0)
			run_extended(&r);
		else
			run_standard(&r, opcode);
	}
}
