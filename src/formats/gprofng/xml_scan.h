#ifndef SONDE_FORMATS_GPROFNG_XML_SCAN_H
#define SONDE_FORMATS_GPROFNG_XML_SCAN_H

/*
 * Scans XML logs: elements with attributes, one after the other, regardless of nesting.  Reads up
 * to the first invalid XML; builds no tree.
 */

#include "base/str.h"

struct xml_scan {
	struct str rest;
};

struct xml_element {
	struct str name;
	struct str attributes; /* unprocessed */
	struct str text;       /* from here to the next '<', unprocessed */
};

/* Finds the next start tag; skips end tags, comments and declarations. */
bool xml_scan_next(struct xml_scan *scan, struct xml_element *element);
/* True if the element has the attribute; its value replaces the contents of `value`. */
bool xml_attribute(const struct xml_element *element, const char *name, struct strbuf *value);
/*
 * An attribute with a number, decimal or, after 0x or +0x, hexadecimal; `otherwise` if there is
 * none.
 */
uint64_t xml_number(const struct xml_element *element, const char *name, uint64_t otherwise);
/* An attribute in seconds, converted to ns. */
uint64_t xml_seconds(const struct xml_element *element, const char *name, uint64_t otherwise);

#endif
