/* js.h - JSON text written straight into a struct str, and checked reading of jansson objects.
 *
 * A page of a thousand instances is twelve thousand values: building a tree of them first would be
 * most of what simcloud does.  Commas are placed by looking at the last byte written. */
#ifndef SIMCLOUD_JS_H
#define SIMCLOUD_JS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

/* key is NULL inside an array and at the top. */
void js_open(struct str *s, const char *key, char bracket);     /* '{' or '[' */
void js_close(struct str *s, char bracket);                     /* '}' or ']' */
void js_str(struct str *s, const char *key, const char *value); /* bytes that are not UTF-8: '?' */
void js_int(struct str *s, const char *key, int64_t value);
void js_seconds(struct str *s, const char *key, int64_t ms); /* 1234 as 1.234 */
void js_money(struct str *s, const char *key, int64_t nano); /* a number, such as 29.52 */
void js_bool(struct str *s, const char *key, bool value);
void js_null(struct str *s, const char *key);
void js_raw(struct str *s, const char *key, const json_t *value);

/* Read o[key] into *out, which keeps its value when the key is absent or null.
 * -1: there, but not what is wanted; *e names the key. */
int js_get_str(const json_t *o, const char *key, char *out, size_t size, struct err *e);
int js_get_int(const json_t *o, const char *key, int64_t *out, struct err *e); /* >= 0 */
int js_get_real(const json_t *o, const char *key, double *out, struct err *e); /* 0 to 1 */
int js_get_bool(const json_t *o, const char *key, bool *out, struct err *e);
int js_get_ms(const json_t *o, const char *key, int64_t *out, struct err *e); /* "30s" */

/* -1 unless o is an object whose keys are all in known (NULL-terminated). */
int js_only(const json_t *o, const char *const *known, struct err *e);

#endif
