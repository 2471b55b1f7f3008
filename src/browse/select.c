/*
 * The one selected function.  Views find their rows by its name and module, as their entities have
 * no numbers in common.
 */
#include "browse/state.h"

bool browser_is_selected(const struct browser *b, const struct entity *entity)
{
	return b->name.size > 0 && str_equal(entity->name, strbuf_str(&b->name)) &&
	       str_equal(entity->module, strbuf_str(&b->module));
}

static void set(struct strbuf *to, struct str text)
{
	strbuf_clear(to);
	strbuf_add(to, text);
}

void browser_select(struct browser *b, const struct entity *entity)
{
	set(&b->name, entity->name);
	set(&b->module, entity->module);
}

void browser_enter(struct browser *b, const struct entity *entity)
{
	if (browser_is_selected(b, entity))
		return;
	if (b->name.size) {
		struct strbuf both = {0};

		strbuf_add(&both, strbuf_str(&b->module));
		strbuf_add_char(&both, '\0');
		strbuf_add(&both, strbuf_str(&b->name));
		vec_push(&b->before, both.data);
	}
	browser_select(b, entity);
}

void browser_return(struct browser *b)
{
	if (b->before.count == 0)
		return;
	char *both = b->before.data[--b->before.count];

	set(&b->module, str_from(both));
	set(&b->name, str_from(both + strlen(both) + 1));
	free(both);
}
