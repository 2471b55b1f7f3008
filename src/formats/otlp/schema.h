#ifndef SONDE_FORMATS_OTLP_SCHEMA_H
#define SONDE_FORMATS_OTLP_SCHEMA_H

/*
 * The messages of OTLP profiles, defined once for the reader, the writer and JSON: the field's
 * constant, its number, its name in the .proto, its kind, and, for a message, the list of its
 * fields.  The enum below uses the constants and numbers; json.c makes tables from everything.
 *
 * Source: profiles.proto, common.proto and resource.proto of opentelemetry-proto, version 1.11.
 */

enum otlp_kind {
	FIELD_MESSAGE,
	FIELD_STRING,
	FIELD_HEX, /* bytes; hexadecimal in JSON */
	FIELD_NUMBER,
	FIELD_FIXED64,
	FIELD_BOOL,
	FIELD_DOUBLE
};

/* An AnyValue; values within a list are OTLP_SCALAR. */
#define OTLP_SCALAR(F)                                                                             \
	F(VALUE_STRING, 1, "string_value", FIELD_STRING, NULL)                                     \
	F(VALUE_BOOL, 2, "bool_value", FIELD_BOOL, NULL)                                           \
	F(VALUE_INT, 3, "int_value", FIELD_NUMBER, NULL)                                           \
	F(VALUE_DOUBLE, 4, "double_value", FIELD_DOUBLE, NULL)                                     \
	F(VALUE_STRINDEX, 8, "string_value_strindex", FIELD_NUMBER, NULL)

#define OTLP_ARRAY(F) F(ARRAY_VALUE, 1, "values", FIELD_MESSAGE, element_fields)

#define OTLP_VALUE(F)                                                                              \
	OTLP_SCALAR(F)                                                                             \
	F(VALUE_ARRAY, 5, "array_value", FIELD_MESSAGE, array_fields)                              \
	F(VALUE_MAP, 6, "kvlist_value", FIELD_MESSAGE, none_fields)

/* Attributes of resources; those of the dictionary are OTLP_ATTRIBUTE, a KeyValueAndUnit. */
#define OTLP_KEY_VALUE(F)                                                                          \
	F(KEY_VALUE_KEY, 1, "key", FIELD_STRING, NULL)                                             \
	F(KEY_VALUE_VALUE, 2, "value", FIELD_MESSAGE, value_fields)                                \
	F(KEY_VALUE_STRINDEX, 3, "key_strindex", FIELD_NUMBER, NULL)

#define OTLP_ATTRIBUTE(F)                                                                          \
	F(ATTRIBUTE_KEY, 1, "key_strindex", FIELD_NUMBER, NULL)                                    \
	F(ATTRIBUTE_VALUE, 2, "value", FIELD_MESSAGE, value_fields)                                \
	F(ATTRIBUTE_UNIT, 3, "unit_strindex", FIELD_NUMBER, NULL)

#define OTLP_MAPPING(F)                                                                            \
	F(MAPPING_START, 1, "memory_start", FIELD_NUMBER, NULL)                                    \
	F(MAPPING_LIMIT, 2, "memory_limit", FIELD_NUMBER, NULL)                                    \
	F(MAPPING_OFFSET, 3, "file_offset", FIELD_NUMBER, NULL)                                    \
	F(MAPPING_FILE, 4, "filename_strindex", FIELD_NUMBER, NULL)                                \
	F(MAPPING_ATTRIBUTE, 5, "attribute_indices", FIELD_NUMBER, NULL)

#define OTLP_LINE(F)                                                                               \
	F(LINE_FUNCTION, 1, "function_index", FIELD_NUMBER, NULL)                                  \
	F(LINE_LINE, 2, "line", FIELD_NUMBER, NULL)

#define OTLP_LOCATION(F)                                                                           \
	F(LOCATION_MAPPING, 1, "mapping_index", FIELD_NUMBER, NULL)                                \
	F(LOCATION_ADDRESS, 2, "address", FIELD_NUMBER, NULL)                                      \
	F(LOCATION_LINE, 3, "lines", FIELD_MESSAGE, line_fields)                                   \
	F(LOCATION_ATTRIBUTE, 4, "attribute_indices", FIELD_NUMBER, NULL)

#define OTLP_FUNCTION(F)                                                                           \
	F(FUNCTION_NAME, 1, "name_strindex", FIELD_NUMBER, NULL)                                   \
	F(FUNCTION_SYSTEM_NAME, 2, "system_name_strindex", FIELD_NUMBER, NULL)                     \
	F(FUNCTION_FILE, 3, "filename_strindex", FIELD_NUMBER, NULL)                               \
	F(FUNCTION_START_LINE, 4, "start_line", FIELD_NUMBER, NULL)

#define OTLP_LINK(F)                                                                               \
	F(LINK_TRACE, 1, "trace_id", FIELD_HEX, NULL)                                              \
	F(LINK_SPAN, 2, "span_id", FIELD_HEX, NULL)

#define OTLP_STACK(F) F(STACK_LOCATION, 1, "location_indices", FIELD_NUMBER, NULL)

#define OTLP_DICTIONARY(F)                                                                         \
	F(TABLE_MAPPING, 1, "mapping_table", FIELD_MESSAGE, mapping_fields)                        \
	F(TABLE_LOCATION, 2, "location_table", FIELD_MESSAGE, location_fields)                     \
	F(TABLE_FUNCTION, 3, "function_table", FIELD_MESSAGE, function_fields)                     \
	F(TABLE_LINK, 4, "link_table", FIELD_MESSAGE, link_fields)                                 \
	F(TABLE_STRING, 5, "string_table", FIELD_STRING, NULL)                                     \
	F(TABLE_ATTRIBUTE, 6, "attribute_table", FIELD_MESSAGE, attribute_fields)                  \
	F(TABLE_STACK, 7, "stack_table", FIELD_MESSAGE, stack_fields)

#define OTLP_TYPE(F)                                                                               \
	F(TYPE_NAME, 1, "type_strindex", FIELD_NUMBER, NULL)                                       \
	F(TYPE_UNIT, 2, "unit_strindex", FIELD_NUMBER, NULL)

#define OTLP_SAMPLE(F)                                                                             \
	F(SAMPLE_STACK, 1, "stack_index", FIELD_NUMBER, NULL)                                      \
	F(SAMPLE_ATTRIBUTE, 2, "attribute_indices", FIELD_NUMBER, NULL)                            \
	F(SAMPLE_LINK, 3, "link_index", FIELD_NUMBER, NULL)                                        \
	F(SAMPLE_VALUE, 4, "values", FIELD_NUMBER, NULL)                                           \
	F(SAMPLE_TIMESTAMP, 5, "timestamps_unix_nano", FIELD_FIXED64, NULL)

#define OTLP_PROFILE(F)                                                                            \
	F(PROFILE_SAMPLE_TYPE, 1, "sample_type", FIELD_MESSAGE, type_fields)                       \
	F(PROFILE_SAMPLE, 2, "samples", FIELD_MESSAGE, sample_fields)                              \
	F(PROFILE_TIME, 3, "time_unix_nano", FIELD_FIXED64, NULL)                                  \
	F(PROFILE_DURATION, 4, "duration_nano", FIELD_NUMBER, NULL)                                \
	F(PROFILE_PERIOD_TYPE, 5, "period_type", FIELD_MESSAGE, type_fields)                       \
	F(PROFILE_PERIOD, 6, "period", FIELD_NUMBER, NULL)

#define OTLP_SCOPE_PROFILES(F)                                                                     \
	F(SCOPE_PROFILES_PROFILE, 2, "profiles", FIELD_MESSAGE, profile_fields)

#define OTLP_RESOURCE(F) F(RESOURCE_ATTRIBUTE, 1, "attributes", FIELD_MESSAGE, key_value_fields)

#define OTLP_RESOURCE_PROFILES(F)                                                                  \
	F(RESOURCE_PROFILES_RESOURCE, 1, "resource", FIELD_MESSAGE, resource_fields)               \
	F(RESOURCE_PROFILES_SCOPES, 2, "scope_profiles", FIELD_MESSAGE, scope_profiles_fields)

#define OTLP_DATA(F)                                                                               \
	F(DATA_RESOURCE_PROFILES, 1, "resource_profiles", FIELD_MESSAGE, resource_profiles_fields) \
	F(DATA_DICTIONARY, 2, "dictionary", FIELD_MESSAGE, dictionary_fields)

#define OTLP_CONSTANT(constant, number, name, kind, fields) constant = number,

/* clang-format off */
enum {
	OTLP_ARRAY(OTLP_CONSTANT)
	OTLP_VALUE(OTLP_CONSTANT)
	OTLP_KEY_VALUE(OTLP_CONSTANT)
	OTLP_ATTRIBUTE(OTLP_CONSTANT)
	OTLP_MAPPING(OTLP_CONSTANT)
	OTLP_LINE(OTLP_CONSTANT)
	OTLP_LOCATION(OTLP_CONSTANT)
	OTLP_FUNCTION(OTLP_CONSTANT)
	OTLP_LINK(OTLP_CONSTANT)
	OTLP_STACK(OTLP_CONSTANT)
	OTLP_DICTIONARY(OTLP_CONSTANT)
	OTLP_TYPE(OTLP_CONSTANT)
	OTLP_SAMPLE(OTLP_CONSTANT)
	OTLP_PROFILE(OTLP_CONSTANT)
	OTLP_SCOPE_PROFILES(OTLP_CONSTANT)
	OTLP_RESOURCE(OTLP_CONSTANT)
	OTLP_RESOURCE_PROFILES(OTLP_CONSTANT)
	OTLP_DATA(OTLP_CONSTANT)

	/* Ignored in JSON. */
	VALUE_BYTES = 7,
	SCOPE_PROFILES_SCOPE = 1,
	SCOPE_NAME = 1,

	TABLE_COUNT = TABLE_STACK + 1
};
/* clang-format on */

#endif
