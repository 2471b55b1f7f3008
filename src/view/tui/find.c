/*
 * Finding text: letters are compared without their case if they are ASCII's, which is what names in
 * programs are made of.
 */
#include "view/tui/find.h"

#include <ctype.h>
#include <string.h>

static bool is_here(struct str text, size_t at, const char *needle, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (tolower((unsigned char)text.data[at + i]) != tolower((unsigned char)needle[i]))
			return false;
	return true;
}

long tui_find(struct str text, const char *needle)
{
	size_t size = strlen(needle);

	for (size_t at = 0; at + size <= text.size; at++)
		if (is_here(text, at, needle, size))
			return (long)at;
	return -1;
}
