/* The files that are served.  Each is read when it is first asked for, and kept. */
#include "serve/served.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/escape.h"
#include "base/json_writer.h"
#include "base/nearest.h"
#include "view/brief.h"
#include "view/text/units.h"

/* Characters of a command that are listed. */
#define COMMAND_SHOWN 160u

static bool is_taken(const struct served *s, size_t before, struct str name)
{
	for (size_t i = 0; i < before; i++)
		if (str_equal(str_from(s->files[i].name), name))
			return true;
	return false;
}

static bool is_named(const struct served *s, size_t before, const char *path)
{
	for (size_t i = 0; i < before; i++)
		if (strcmp(s->files[i].path, path) == 0)
			return true;
	return false;
}

struct error *served_init(
	struct served *s, const char *const *paths, size_t count, const char *root_path)
{
	*s = (struct served){.files = xcalloc(count + 1, sizeof(*s->files)), .count = count};
	for (size_t i = 0; i < count; i++) {
		struct str base = str_base_name(str_from(paths[i]));

		if (base.size == 0 || is_taken(s, i, base))
			base = str_from(paths[i]);
		s->files[i] = (struct served_file){.path = paths[i],
			.name = xasprintf(
				"%s%.*s", is_taken(s, i, base) ? "./" : "", STR_ARG(base))};
		if (strcmp(paths[i], "-") == 0)
			return error_new(ERROR_USAGE, "name files, not standard input");
		if (is_named(s, i, paths[i]))
			return error_new(ERROR_USAGE, "'%s' is named twice", paths[i]);
	}
	return source_root_open(root_path ? root_path : ".", &s->root);
}

void served_deinit(struct served *s)
{
	for (size_t i = 0; i < s->count; i++) {
		session_close(s->files[i].session);
		free(s->files[i].name);
	}
	free(s->files);
	source_root_close(s->root);
}

static struct error *no_file(const struct served *s, const char *name)
{
	struct nearest n;

	nearest_init(&n, str_from(name));
	for (size_t i = 0; i < s->count; i++)
		nearest_offer(&n, str_from(s->files[i].name));
	if (n.best.size)
		return error_new(ERROR_USAGE, "profile: no '%s' here; did you mean '%.*s'?", name,
			STR_ARG(n.best));
	return error_new(ERROR_USAGE, "profile: no '%s' here; profiles lists them", name);
}

struct error *served_find(const struct served *s, const char *name, struct served_file **file)
{
	if (name == NULL || *name == '\0') {
		if (s->count != 1)
			return error_new(ERROR_USAGE,
				"profile: which one? there are %zu; profiles lists them", s->count);
		*file = &s->files[0];
		return NULL;
	}
	for (size_t i = 0; i < s->count; i++) {
		if (strcmp(s->files[i].name, name) != 0)
			continue;
		*file = &s->files[i];
		return NULL;
	}
	return no_file(s, name);
}

struct error *served_open(const struct served *s, struct served_file *file)
{
	return file->session ? NULL : session_open(file->path, &s->input, &file->session);
}

/* ---- lists ---- */

static struct str command_of(const struct profile *p)
{
	struct str command = profile_string(p, p->command);

	if (command.size > COMMAND_SHOWN)
		command.size = COMMAND_SHOWN;
	return command;
}

static void put_profile(const struct profile *p, struct strbuf *out)
{
	struct arena *arena = arena_create();

	for (size_t m = 0; m < p->metric_count; m++) {
		int64_t total = p->total[m];
		struct str unit = profile_string(p, p->metrics[m].unit);

		strbuf_add(out, m ? STR(", ") : STR("  metrics: "));
		escape_text(out, profile_string(p, p->metrics[m].name));
		strbuf_add_char(out, ' ');
		scale_put(out, scale_for(unit, total < 0 ? -(uint64_t)total : (uint64_t)total),
			total);
		if (m == p->default_metric.i)
			strbuf_add(out, STR(" (default)"));
	}
	strbuf_printf(out, "\n  recording: %s\n", brief_recording_of(p, arena));
	arena_destroy(arena);
}

void served_put_text(const struct served *s, struct strbuf *out)
{
	for (size_t i = 0; i < s->count; i++) {
		struct error *err = served_open(s, &s->files[i]);

		escape_text(out, str_from(s->files[i].name));
		strbuf_add(out, STR(": "));
		if (err) {
			escape_text(out, str_from(err->message));
			strbuf_add_char(out, '\n');
			error_destroy(err);
			continue;
		}
		const struct profile *p = session_profile(s->files[i].session);

		escape_text(out, command_of(p));
		strbuf_add_char(out, '\n');
		put_profile(p, out);
	}
}

static void put_json_profile(struct json_writer *w, const struct profile *p)
{
	struct arena *arena = arena_create();

	json_put_key(w, "command"), json_put_string(w, command_of(p));
	json_put_key(w, "metrics"), json_put_array(w);
	for (size_t m = 0; m < p->metric_count; m++) {
		json_put_object(w);
		json_put_key(w, "name"), json_put_string(w, profile_string(p, p->metrics[m].name));
		json_put_key(w, "unit"), json_put_string(w, profile_string(p, p->metrics[m].unit));
		json_put_key(w, "total"), json_put_int(w, p->total[m]);
		json_put_end(w);
	}
	json_put_end(w);
	json_put_key(w, "default"),
		json_put_string(w, profile_string(p, p->metrics[p->default_metric.i].name));
	json_put_key(w, "recording"), json_put_string(w, str_from(brief_recording_of(p, arena)));
	arena_destroy(arena);
}

void served_put_json(const struct served *s, struct strbuf *out)
{
	struct json_writer w = json_writer(out);

	json_put_array(&w);
	for (size_t i = 0; i < s->count; i++) {
		struct error *err = served_open(s, &s->files[i]);

		json_put_object(&w);
		json_put_key(&w, "profile"), json_put_string(&w, str_from(s->files[i].name));
		if (err)
			json_put_key(&w, "error"), json_put_string(&w, str_from(err->message));
		else
			put_json_profile(&w, session_profile(s->files[i].session));
		json_put_end(&w);
		error_destroy(err);
	}
	json_put_end(&w);
}
