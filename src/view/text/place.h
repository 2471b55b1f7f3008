#ifndef SONDE_VIEW_TEXT_PLACE_H
#define SONDE_VIEW_TEXT_PLACE_H

/* Where in a function a row is. */

#include "analysis/entity_tree.h"

/*
 * Adds " lvm.c:1130", and at the level of instructions " 0x1f3a0 lvm.c:1130", as far as known;
 * nothing at other levels.  Only JSON and CSV have the file's whole path.
 */
void place_put(struct strbuf *out, enum level level, const struct entity *entity);

#endif
