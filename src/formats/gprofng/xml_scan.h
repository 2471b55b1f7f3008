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
	struct str attributes; /* as they stand there */
	struct str text;       /* from here to the next '<', as it stands there */
};

/* The next element's beginning; ends, comments and declarations are passed over. */
bool xml_scan_next(struct xml_scan *scan, struct xml_element *element);
/* True if the element has that attribute; its value replaces what is in `value`. */
bool xml_attribute(const struct xml_element *element, const char *name, struct strbuf *value);
/* An attribute that is a number, decimal or after 0x (or +0x) hexadecimal; else `otherwise`. */
uint64_t xml_number(const struct xml_element *element, const char *name, uint64_t otherwise);
/* One of seconds, in ns. */
uint64_t xml_seconds(const struct xml_element *element, const char *name, uint64_t otherwise);

#endif
