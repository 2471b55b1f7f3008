#ifndef SONDE_PAGE_MODULE_H
#define SONDE_PAGE_MODULE_H

/* What a page calls; see module.c for requests and answers. */

#include <stddef.h>
#include <stdint.h>

/* Memory for bytes and requests; NULL: there is no more. */
void *page_alloc(size_t size);
void page_free(void *memory);
/*
 * Opens a file of any format that is read from bytes alone, perhaps compressed, and frees the
 * bytes, which are page_alloc's.  name: of the file, ended by NUL.  place: the number of the
 * profile: the next one, or that of one which it replaces.
 */
void page_open(uint8_t *data, size_t size, const char *name, size_t place);
/* The code of that profile (code/carried_code.h), perhaps compressed; frees the bytes. */
void page_code(uint8_t *data, size_t size, size_t profile);
void page_ask(const char *text, size_t size);
/* The answer to the last call. */
const char *page_reply(void);
size_t page_reply_size(void);

#endif
