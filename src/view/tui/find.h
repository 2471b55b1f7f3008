#ifndef SONDE_VIEW_TUI_FIND_H
#define SONDE_VIEW_TUI_FIND_H

/* Finds what the user searches for. */

#include "base/str.h"

/* The offset of the first `needle` in the escaped text, ignoring case; -1: none. */
long tui_find(struct str text, const char *needle);

#endif
