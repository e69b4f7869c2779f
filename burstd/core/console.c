#include "core/console.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/plain.h"
#include "base/redact.h"
#include "base/str.h"
#include "core/provider.h"

#define ALNUM  "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#define BASE64 ALNUM "+/=_-"
#define HEX    "0123456789abcdefABCDEF"
#define MARK   "[redacted]"

enum {
	WORD_LEAST = 32, /* characters of base64: 24 bytes */
	HEX_LEAST = 40,  /* an id of 32 digits is no secret */
	GROWTH = 4,      /* the mark is longer than the shortest secret, "token=x" */
};

char *console_end(const char *log, size_t len)
{
	size_t n = len < PROVIDER_CONSOLE_MAX ? len : PROVIDER_CONSOLE_MAX;
	char *end;

	if (n == 0)
		return NULL;
	end = mem_zalloc(n + 1);
	memcpy(end, log + len - n, n);
	for (size_t i = 0; i < n; i++)
		if (end[i] == '\0')
			end[i] = '?';
	return end;
}

/* --- characters --------------------------------------------------------------------------------
 */

/* What follows the sequence that begins with the ESC at p (ECMA-48). */
static const char *after_escape(const char *p)
{
	p++;
	if (*p == '[') { /* parameters, then a letter */
		p++;
		p += strspn(p, "0123456789;:<=>?!\"#$%&'()*+,-./ ");
		return *p >= '@' && *p <= '~' ? p + 1 : p;
	}
	if (*p == ']') { /* a text, as a title, to BEL or ESC \ */
		p += strcspn(p, "\a\n\033");
		return *p == '\a' ? p + 1 : *p == '\033' && p[1] == '\\' ? p + 2 : p;
	}
	return *p > ' ' && *p <= '~' ? p + 1 : p;
}

static void end_line(struct str *s)
{
	if (s->len > 0 && s->p[s->len - 1] != '\n')
		str_adds(s, "\n");
}

static void make_plain(struct str *s, const char *log)
{
	for (const char *p = log; *p != '\0';) {
		size_t n = plain_shown(p);

		if (*p == '\033') {
			p = after_escape(p);
			continue;
		}
		if (*p == '\n' || *p == '\r')
			end_line(s);
		else if (n > 0)
			str_add(s, p, n);
		else if (*p == '\t')
			str_adds(s, " ");
		else if ((unsigned char)*p >= 0x80)
			str_adds(s, "?");
		p += n > 0 ? n : 1;
	}
	end_line(s);
}

/* --- secrets -----------------------------------------------------------------------------------
 */

static bool has(const char *p, size_t n, char low, char high)
{
	for (size_t i = 0; i < n; i++)
		if (p[i] >= low && p[i] <= high)
			return true;
	return false;
}

/* Is the word of n characters at p a secret, by its look? */
static bool looks_secret(const char *p, size_t n)
{
	if (n >= HEX_LEAST && strspn(p, HEX) >= n)
		return true;
	return n >= WORD_LEAST && has(p, n, '0', '9') && has(p, n, 'A', 'Z') && has(p, n, 'a', 'z');
}

/* Length of "password=", "X-Vault-Token: " or the like at p, to where the secret begins; 0: none.
 */
static size_t names_secret(const char *p)
{
	static const char *const names[] = {"password",   "passwd",     "passphrase",
					    "secret",     "token",      "authorization",
					    "credential", "private_key"};
	size_t n = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && n == 0; i++)
		if (strncasecmp(p, names[i], strlen(names[i])) == 0)
			n = strlen(names[i]);
	if (n == 0)
		return 0;
	n += strspn(p + n, ALNUM "_-");
	n += strspn(p + n, "\"'");
	n += strspn(p + n, " ");
	if (p[n] != ':' && p[n] != '=')
		return 0;
	n++;
	return n + strspn(p + n, " ");
}

/* Append the word of n characters at p, or the mark in its place. */
static void add_word(struct str *s, const char *p, size_t n)
{
	if (looks_secret(p, n))
		str_adds(s, MARK);
	else
		str_add(s, p, n);
}

/* Append the line at p, without its end, and return that. */
static const char *add_line(struct str *s, const char *p)
{
	const char *end = p + strcspn(p, "\n");

	while (p < end) {
		size_t word = strspn(p, BASE64), name = 0, at = 0;

		word = word > 0 ? word : 1;
		while (at < word && (name = names_secret(p + at)) == 0)
			at++;
		add_word(s, p, at);
		p += at;
		if (name == 0)
			continue;
		str_add(s, p, name);
		if (p + name < end)
			str_adds(s, MARK);
		return end;
	}
	return end;
}

/* --- the last lines ----------------------------------------------------------------------------
 */

static char *last_lines(const char *text)
{
	size_t len = strlen(text);
	const char *from = text, *line;

	if (len > CONSOLE_SHOWN_MAX) {
		from = text + len - CONSOLE_SHOWN_MAX;
		line = from[-1] == '\n' ? from : strchr(from, '\n') + 1;
		if (*line != '\0')
			from = line;
		while (((unsigned char)*from & 0xC0) == 0x80) /* a line longer than that */
			from++;
	}
	return *from != '\0' ? mem_strdup(from) : NULL;
}

char *console_show(const char *log)
{
	size_t len = strlen(log);
	struct str plain, clean;
	char *tokens, *out;

	str_init(&plain, len + 1);
	plain.secret = true;
	/* What was cut off begins with a part of a line, perhaps of a secret. */
	if (len >= PROVIDER_CONSOLE_MAX)
		log += strcspn(log, "\n");
	make_plain(&plain, log);
	str_init(&clean, GROWTH * (plain.len + 1));
	for (const char *p = plain.p; *p != '\0'; p++) {
		p = add_line(&clean, p);
		str_adds(&clean, "\n");
	}
	tokens = redact(clean.p);
	out = last_lines(tokens != NULL ? tokens : clean.p);
	free(tokens);
	str_fini(&clean);
	str_fini(&plain);
	return out;
}
