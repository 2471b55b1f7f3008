/*
 * Writes a page: the template that src/page/build has made, with the profile as sonde's own format
 * in base64 (RFC 4648), and the code that goes with it, packed with gzip.  The template has places
 * for them, which the reader of the page finds by their ids.
 */
#include "page/page.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/compress.h"
#include "base/escape.h"
#include "code/carried_code.h"
#include "formats/writers.h"
#include "view/views.h"

#ifdef HAVE_PAGE
extern const char page_template[];
extern const size_t page_template_size;
#endif

/* Empty if this program was built without pages. */
static struct str template_text(void)
{
#ifdef HAVE_PAGE
	return (struct str){page_template, page_template_size};
#else
	return STR("");
#endif
}

/* Of the template, in this order: whom the page may ask; attributes of the data's element, and the
 * data; the code. */
static const struct str place_connect = STR("@CONNECT@"), place_data = STR("@NAME@>@DATA@"),
			place_code = STR("@CODE@");

static struct error *no_page(void)
{
	return error_new(ERROR_UNSUPPORTED,
		"this sonde was built without pages, which need clang for WebAssembly and node: "
		"'make' in its source says what is missing");
}

/*
 * Bytes in one element; a multiple of 3.  Chromium reads eight megabytes in elements of this size
 * in two thirds of the time that one long text takes.
 */
#define ELEMENT_BYTES 49152u

static void put_base64(struct sink *sink, const uint8_t *bytes, size_t size)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < size; i += 3) {
		if (i > 0 && i % ELEMENT_BYTES == 0)
			strbuf_add(&sink->text,
				STR("</script><script type=\"text/plain\" class=\"more\">"));
		size_t left = size - i;
		uint32_t word = (uint32_t)bytes[i] << 16 |
				(uint32_t)(left > 1 ? bytes[i + 1] : 0) << 8 |
				(left > 2 ? bytes[i + 2] : 0);
		const char four[] = {digits[word >> 18], digits[word >> 12 & 63],
			left > 1 ? digits[word >> 6 & 63] : '=',
			left > 2 ? digits[word & 63] : '='};

		strbuf_add(&sink->text, (struct str){four, sizeof(four)});
		if (i % 3072 == 0 && !sink_settle(sink))
			return;
	}
}

static void put_attribute(struct sink *sink, const char *name, struct str value)
{
	strbuf_printf(&sink->text, " %s=\"", name);
	escape_xml(&sink->text, value);
	strbuf_add_char(&sink->text, '"');
}

/* ---- the first view, as in the page's address (ui/state.ts) ---- */

static void put_encoded(struct strbuf *out, const char *text)
{
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (char_is_digit(*text) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') ||
			strchr("-_.~:", c))
			strbuf_add_char(out, *text);
		else
			strbuf_printf(out, "%%%02X", c);
	}
}

static void put_state(struct strbuf *out, const char *key, const char *value)
{
	if (value == NULL)
		return;
	strbuf_add(out, out->size ? STR("&") : STR(""));
	put_encoded(out, key);
	strbuf_add_char(out, '=');
	put_encoded(out, value);
}

/* A page has the flame graph first, unless a view is named that it has, too. */
static const char *view_of(const struct question *question)
{
	static const char *const same[] = {"tree", "functions", "callers", "graph", "zones", NULL};

	if (question->view_count == 0)
		return NULL;
	for (size_t i = 0; same[i]; i++)
		if (strcmp(question->views[0]->name, same[i]) == 0)
			return same[i];
	return question->views[0] == &view_stats ? "statistics" : NULL;
}

static void put_question(struct strbuf *out, const struct question *question)
{
	put_state(out, "view", view_of(question));
	put_state(out, "metric", question->metric);
	if (question->level >= 0)
		put_state(out, "level", level_names[question->level]);
	if (question->collapse >= 0)
		put_state(out, "collapse", collapse_names[question->collapse]);
	put_state(out, "invert", question->invert ? "1" : NULL);
	for (size_t i = 0; i < question->filters.requests.count; i++) {
		const struct filter_request *request = &question->filters.requests.data[i];
		char *key = xasprintf("f.%s", filter_names[request->kind]);

		put_state(out, key, request->text);
		free(key);
	}
}

/* Adds the template up to the place, and goes behind it; false: there is no such place. */
static bool put_until(struct sink *sink, struct str *rest, struct str place)
{
	const char *at = rest->size ? memmem(rest->data, rest->size, place.data, place.size) : NULL;

	if (at == NULL)
		return false;
	size_t size = (size_t)(at - rest->data);

	strbuf_add(&sink->text, (struct str){rest->data, size});
	*rest = (struct str){at + place.size, rest->size - size - place.size};
	return true;
}

static void put_data(struct sink *sink, const struct profile *profile,
	const struct question *question, const struct page_options *options, struct str bytes)
{
	struct strbuf state = {0};

	put_question(&state, question);
	put_attribute(sink, "data-name", str_base_name(profile_string(profile, profile->source)));
	put_attribute(sink, "data-state", strbuf_str(&state));
	if (options->served)
		put_attribute(sink, "data-served", str_from(options->served));
	if (options->selection)
		put_attribute(sink, "data-selection", str_from(options->selection));
	strbuf_add_char(&sink->text, '>');
	put_base64(sink, (const uint8_t *)bytes.data, bytes.size);
	strbuf_deinit(&state);
}

static void put_code(
	struct sink *sink, const struct profile *profile, const struct annotate_wanted *code)
{
	struct compressor *compressor = compressor_create(PACKING_GZIP);
	struct carried_counts counts;
	struct strbuf text = {0}, packed = {0};

	carried_code_put(&text, profile, code, &counts);
	compressor_add(compressor, strbuf_str(&text), true, &packed);
	put_base64(sink, (const uint8_t *)packed.data, packed.size);
	compressor_destroy(compressor);
	strbuf_deinit(&text);
	strbuf_deinit(&packed);
}

bool page_is_built(void)
{
	return template_text().size > 0;
}

struct error *page_write(struct sink *sink, const struct profile *profile,
	const struct question *question, const struct page_options *options)
{
	const struct writer_options all = {.metric = profile->default_metric};
	struct str rest = template_text();
	struct sink bytes;

	if (!page_is_built())
		return no_page();
	sink_init_memory(&bytes);
	struct error *err = writer_sonde.write(&bytes, profile, &all);

	if (err == NULL && put_until(sink, &rest, place_connect))
		strbuf_add(&sink->text, options->served ? STR("'self'") : STR("'none'"));
	if (err == NULL && put_until(sink, &rest, place_data))
		put_data(sink, profile, question, options, strbuf_str(&bytes.text));
	if (err == NULL && put_until(sink, &rest, place_code) && options->code)
		put_code(sink, profile, options->code);
	if (err == NULL)
		strbuf_add(&sink->text, rest);
	strbuf_deinit(&bytes.text);
	return err;
}
