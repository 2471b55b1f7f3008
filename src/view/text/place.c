/*
 * A row's place in its function.  At the levels of lines and instructions, rows of one function
 * differ only in their place, so it is shown after every name.
 */
#include "view/text/place.h"

#include <inttypes.h>

#include "base/escape.h"

void place_put(struct strbuf *out, enum level level, const struct entity *entity)
{
	if (level != LEVEL_LINE && level != LEVEL_INSTRUCTION)
		return;
	if (entity->address)
		strbuf_printf(out, " 0x%" PRIx64, entity->address);
	if (entity->file.size == 0)
		return;
	strbuf_add_char(out, ' ');
	escape_text(out, str_base_name(entity->file));
	if (entity->line)
		strbuf_printf(out, ":%" PRIu32, entity->line);
}
