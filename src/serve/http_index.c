/* The page of links.  Everything that a profile could choose is escaped once, in add_text. */
#include "serve/http_index.h"

#include <stdio.h>

#include "base/escape.h"
#include "page/page.h"
#include "view/brief.h"
#include "view/views.h"

/* For elements and attributes in double quotes. */
static void add_text(struct strbuf *out, struct str text)
{
	struct strbuf plain = {0};

	escape_text(&plain, text);
	for (size_t i = 0; i < plain.size; i++)
		switch (plain.data[i]) {
		case '&':
			strbuf_add(out, STR("&amp;"));
			break;
		case '<':
			strbuf_add(out, STR("&lt;"));
			break;
		case '>':
			strbuf_add(out, STR("&gt;"));
			break;
		case '"':
			strbuf_add(out, STR("&quot;"));
			break;
		default:
			strbuf_add_char(out, plain.data[i]);
		}
	strbuf_deinit(&plain);
}

/* A value in a URL's query (RFC 3986 section 2). */
static void add_value(struct strbuf *out, struct str text)
{
	for (size_t i = 0; i < text.size; i++) {
		unsigned char c = (unsigned char)text.data[i];

		if (char_is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
			c == '-' || c == '.' || c == '_' || c == '~')
			strbuf_add_char(out, (char)c);
		else
			strbuf_printf(out, "%%%02X", c);
	}
}

static void add_link(struct strbuf *out, const char *what, struct str file, const char *options,
	const char *text)
{
	strbuf_printf(out, "<a href=\"%s?profile=", what);
	add_value(out, file);
	strbuf_printf(out, "%s\">%s</a>\n", options, text);
}

/* Whether the profile has what the view needs. */
static bool has_view(const struct profile *p, const struct view *view)
{
	bool has_stacks =
		!view->needs_stacks || p->has_stacks || (view->takes_costs && p->arc_cost);
	struct error *err = view->has_levels ? NULL : level_check(view->level, p);

	if (err == NULL && view->needs_times)
		err = profile_needs_times(p);
	bool has = err == NULL && has_stacks;

	error_destroy(err);
	return has;
}

static void add_views(struct strbuf *out, struct str file, const struct profile *p)
{
	if (page_is_built())
		add_link(out, "page", file, "", "page");
	for (const struct view *const *view = views; *view; view++) {
		char options[96];

		if (!has_view(p, *view))
			continue;
		snprintf(options, sizeof(options), "&amp;format=text&amp;view=%s", (*view)->name);
		add_link(out, "ask", file, options, (*view)->name);
	}
	if (p->has_stacks)
		add_link(out, "ask", file, "&amp;format=svg", "flame graph");
	add_link(out, "recording", file, "", "recording");
}

static void add_form(struct strbuf *out, struct str file)
{
	strbuf_add(out, STR("<form action=\"ask\" method=\"get\">"
			    "<input type=\"hidden\" name=\"format\" value=\"text\">"
			    "<input type=\"hidden\" name=\"profile\" value=\""));
	add_text(out, file);
	strbuf_add(out, STR("\"><label>view <select name=\"view\">"));
	for (const struct view *const *view = views; *view; view++)
		strbuf_printf(out, "<option>%s</option>", (*view)->name);
	strbuf_add(out, STR("</select></label> <label>only stacks with <input name=\"focus\" "
			    "placeholder=\"regular expression\"></label> "
			    "<label>rows <input name=\"limit\" value=\"50\" size=\"4\"></label> "
			    "<button>show</button></form>\n"
			    "<form action=\"annotate\" method=\"get\">"
			    "<input type=\"hidden\" name=\"format\" value=\"text\">"
			    "<input type=\"hidden\" name=\"profile\" value=\""));
	add_text(out, file);
	strbuf_add(out, STR("\"><label>lines of <input name=\"function\" "
			    "placeholder=\"function\"></label> <button>show</button></form>\n"));
}

static void add_profile(struct strbuf *out, struct str file, const struct profile *p)
{
	struct arena *arena = arena_create();

	strbuf_add(out, STR("<p>"));
	add_text(out, profile_string(p, p->command));
	strbuf_add(out, STR("</p>\n<p>recording: "));
	add_text(out, str_from(brief_recording_of(p, arena)));
	strbuf_add(out, STR("</p>\n<p>"));
	add_views(out, file, p);
	strbuf_add(out, STR("</p>\n"));
	add_form(out, file);
	arena_destroy(arena);
}

static void add_file(struct strbuf *out, const struct served *served, struct served_file *file)
{
	struct error *err = served_open(served, file);
	struct str name = str_from(file->name);

	strbuf_add(out, STR("<h2>"));
	add_text(out, name);
	strbuf_add(out, STR("</h2>\n"));
	if (err) {
		strbuf_add(out, STR("<p>"));
		add_text(out, str_from(err->message));
		strbuf_add(out, STR("</p>\n"));
		error_destroy(err);
	} else {
		add_profile(out, name, session_profile(file->session));
	}
}

static void add_comparison(
	struct strbuf *out, const struct served_file *old, const struct served_file *new)
{
	strbuf_add(out, STR("<li><a href=\"diff?format=text&amp;old="));
	add_value(out, str_from(old->name));
	strbuf_add(out, STR("&amp;new="));
	add_value(out, str_from(new->name));
	strbuf_add(out, STR("\">"));
	add_text(out, str_from(old->name));
	strbuf_add(out, STR(" → "));
	add_text(out, str_from(new->name));
	strbuf_add(out, STR("</a></li>\n"));
}

void http_index_put(const struct served *served, struct strbuf *out)
{
	strbuf_add(out, STR("<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"
			    "<meta name=\"viewport\" content=\"width=device-width\">\n"
			    "<title>sonde</title>\n<h1>sonde</h1>\n"));
	for (size_t i = 0; i < served->count; i++)
		add_file(out, served, &served->files[i]);
	if (served->count < 2)
		return;
	strbuf_add(out, STR("<h2>What changed</h2>\n<ul>\n"));
	for (size_t i = 1; i < served->count; i++)
		add_comparison(out, &served->files[i - 1], &served->files[i]);
	strbuf_add(out, STR("</ul>\n"));
}
