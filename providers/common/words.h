/* words.h - texts of vendors: which are safe to use, and how the others are shown to people. */
#ifndef PROVIDERS_COMMON_WORDS_H
#define PROVIDERS_COMMON_WORDS_H

#include <stdbool.h>
#include <stddef.h>

/* Copy text to out, at most size - 1 bytes: one line, only characters that may be shown (plain.h),
 * '?' for all others, and "***" for each of the n secrets, also where the text ends in one after
 * 8 bytes of it or more; those that are NULL or "" are none.  A cut leaves whole characters and no
 * part of a secret. */
void words_show(char *out, size_t size, const char *text, const char *const *secrets, size_t n);

/* Append " (ID)" to a text of words_show(), cut by as much as it takes; id "": nothing.  size is
 * that of out, larger than what is appended. */
void words_add_id(char *out, size_t size, const char *id);

/* Printable ASCII without blank, quote or backslash, 1 to max bytes: may stand in JSON and in a
 * header as it is. */
bool words_is_plain(const char *text, size_t max);

/* Text in base64, padded; the caller's (free(), or secret_wipe()). */
char *words_base64(const char *text);

#endif
