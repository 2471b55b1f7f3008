/*
 * Joining and folding source paths, as text.
 */
#include "obj/source_path.h"

static bool is_absolute(struct str path)
{
	return path.size && path.data[0] == '/';
}

/* Adds one component; ".." removes the last one, if any. */
static void add_component(struct strbuf *path, struct str component)
{
	if (component.size == 0 || str_equal(component, STR(".")))
		return;
	struct str base = str_base_name(strbuf_str(path));
	if (str_equal(component, STR("..")) && !str_equal(base, STR(".."))) {
		if (base.size) {
			path->size -= base.size;
			if (path->size > 1)
				path->size--;
			return;
		}
		if (path->size) /* the root's parent is the root */
			return;
	}
	if (path->size && path->data[path->size - 1] != '/')
		strbuf_add_char(path, '/');
	strbuf_add(path, component);
}

static void add_path(struct strbuf *path, struct str part)
{
	if (is_absolute(part)) {
		strbuf_clear(path);
		strbuf_add_char(path, '/');
	}
	while (part.size) {
		const char *slash = memchr(part.data, '/', part.size);
		size_t size = slash ? (size_t)(slash - part.data) : part.size;
		add_component(path, (struct str){part.data, size});
		size += slash != NULL;
		part.data += size;
		part.size -= size;
	}
}

struct str source_path_join(struct arena *arena, struct str compilation_directory,
	struct str directory, struct str name)
{
	struct strbuf path = {0};

	if (!is_absolute(name) && !is_absolute(directory))
		add_path(&path, compilation_directory);
	if (!is_absolute(name))
		add_path(&path, directory);
	add_path(&path, name);
	struct str result = arena_str(arena, strbuf_str(&path));
	strbuf_deinit(&path);
	return result;
}
