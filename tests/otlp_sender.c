/*
 * Sends a profile by OTLP, for tests, and prints what came of it as a line of JSON.
 *
 *	otlp_sender URL FILE [KEY.OF.ATTRIBUTE=VALUE...] [token=TOKEN]
 *		[wait-ms=N] [give-up-ms=N] [body-max=BYTES]
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/json_writer.h"
#include "formats/readers.h"
#include "store/otlp_send.h"

static const char *const error_kinds[] = {[ERROR_INPUT] = "input",
	[ERROR_SYSTEM] = "system",
	[ERROR_USAGE] = "usage",
	[ERROR_UNSUPPORTED] = "unsupported"};

/* What an option adds to the resource. */
#define ATTRIBUTES_MAX 8
static struct writer_attribute attributes[ATTRIBUTES_MAX];

static bool take_option(struct otlp_send_options *options, const char *option)
{
	const char *value = strchr(option, '=');
	struct str name = {option, value ? (size_t)(value - option) : 0};

	if (value++ == NULL)
		return false;
	if (memchr(name.data, '.', name.size) && options->attribute_count < ATTRIBUTES_MAX)
		attributes[options->attribute_count++] =
			(struct writer_attribute){name, str_from(value)};
	else if (str_equal(name, STR("token")))
		options->token = value;
	else if (str_equal(name, STR("wait-ms")))
		options->wait_ns = strtoul(value, NULL, 10) * SECOND_NS / 1000;
	else if (str_equal(name, STR("give-up-ms")))
		options->give_up_ns = strtoul(value, NULL, 10) * SECOND_NS / 1000;
	else if (str_equal(name, STR("body-max")))
		options->body_max = strtoul(value, NULL, 10);
	else
		return false;
	return true;
}

static void print(const struct otlp_sent *sent, const struct error *err)
{
	struct strbuf line = {0};
	struct json_writer w = json_writer(&line);

	json_put_object(&w);
	json_put_key(&w, "error"), json_put_string(&w, str_from(err ? err->message : ""));
	json_put_key(&w, "kind");
	json_put_string(&w, str_from(err ? error_kinds[err->kind] : ""));
	json_put_key(&w, "tries"), json_put_unsigned(&w, sent->tries);
	json_put_key(&w, "bytes"), json_put_unsigned(&w, sent->bytes);
	json_put_key(&w, "rejected"), json_put_unsigned(&w, sent->rejected);
	json_put_key(&w, "message"), json_put_string(&w, strbuf_str(&sent->message));
	json_put_end(&w);
	printf("%.*s\n", STR_ARG(strbuf_str(&line)));
	strbuf_deinit(&line);
}

int main(int argc, char **argv)
{
	struct otlp_send_options options = {.attributes = attributes};
	struct otlp_sent sent;
	struct profile *profile;

	if (argc < 3)
		return 2;
	for (int i = 3; i < argc; i++)
		if (!take_option(&options, argv[i]))
			return 2;
	struct error *err = profile_read(argv[2], NULL, &profile);

	if (err) {
		fprintf(stderr, "%s\n", err->message);
		error_destroy(err);
		return 2;
	}
	err = otlp_send(profile, argv[1], &options, &sent);
	print(&sent, err);
	otlp_sent_deinit(&sent);
	profile_destroy(profile);
	int status = err != NULL;

	error_destroy(err);
	return status;
}
