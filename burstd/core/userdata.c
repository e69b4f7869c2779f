#include "core/userdata.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/hostlist.h"
#include "base/mem.h"
#include "core/claim.h"

/* The templates are in the program, so that no file can be changed or missing. */
extern const char userdata_template[], userdata_template_token[];
__asm__(".pushsection .rodata\n"
	".global userdata_template\n"
	"userdata_template:\n"
	".incbin \"scripts/node/stage0.sh.in\"\n"
	".byte 0\n"
	".global userdata_template_token\n"
	"userdata_template_token:\n"
	".incbin \"scripts/node/stage0-token.sh.in\"\n"
	".byte 0\n"
	".popsection\n");

enum { FIELD_NAME_MAX = 15, NUMBER_SIZE = 12 };

#define ALNUM "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

struct field {
	const char *name; /* in the template, between two @ */
	const char *text;
	const char *chars; /* that text may have */
	size_t min, max;   /* bytes */
};

/* Check the length and the characters of a field. */
static int check_field(const struct field *f, struct err *e)
{
	size_t n;

	if (f->text == NULL)
		return err_set(e, ERR_INVALID, "user-data: %s is missing", f->name);
	n = strnlen(f->text, f->max + 1);
	if (n < f->min || n > f->max)
		return err_set(e, ERR_INVALID, "user-data: %s has %s than %zu bytes", f->name,
			       n < f->min ? "fewer" : "more", n < f->min ? f->min : f->max);
	if (f->text[strspn(f->text, f->chars)] != '\0')
		return err_set(e, ERR_INVALID, "user-data: %s has a character that is not allowed",
			       f->name);
	return 0;
}

static int check_urls(const char *urls, struct err *e)
{
	static const char scheme[] = "https://";
	size_t n = 0;

	for (const char *p = urls; *p != '\0'; n++) {
		size_t len = strcspn(p, " ");

		if (strncmp(p, scheme, strlen(scheme)) != 0 || len == strlen(scheme) ||
		    memchr(p + strlen(scheme), '/', len - strlen(scheme)) != NULL)
			return err_set(e, ERR_INVALID,
				       "user-data: URLS: each must be https://HOST[:PORT], without "
				       "a path");
		p += len;
		p += strspn(p, " ");
	}
	if (n == 0 || n > USERDATA_URLS_MAX)
		return err_set(e, ERR_INVALID, "user-data: URLS: want 1 to %d", USERDATA_URLS_MAX);
	return 0;
}

/* Accept nothing but certificates, so that no line ends the here-document or is a comment. */
static int check_ca(const char *pem, struct err *e)
{
	static const char begin[] = "-----BEGIN CERTIFICATE-----\n",
			  end[] = "-----END CERTIFICATE-----";
	const char *p = pem;

	while (strncmp(p, begin, strlen(begin)) == 0) {
		p += strlen(begin);
		p += strspn(p, ALNUM "+/=\n");
		if (p[-1] != '\n' || strncmp(p, end, strlen(end)) != 0)
			break;
		p += strlen(end);
		if (*p == '\n')
			p++;
		if (*p == '\0')
			return strstr(pem, "\nPEM\n") == NULL
				       ? 0
				       : err_set(e, ERR_INVALID,
						 "user-data: CA_PEM: malformed line");
	}
	return err_set(e, ERR_INVALID, "user-data: CA_PEM is not certificates in PEM");
}

static int check(const struct userdata *u, const struct field *fields, size_t n, struct err *e)
{
	static const char *const identities[] = {"aws", "gcp", "azure", "none"};
	bool known = false;

	for (size_t i = 0; i < n; i++)
		if (check_field(&fields[i], e) < 0)
			return -1;
	for (size_t i = 0; i < sizeof(identities) / sizeof(identities[0]); i++)
		known = known || strcmp(u->identity, identities[i]) == 0;
	if (!known)
		return err_set(e, ERR_INVALID,
			       "user-data: PROVIDER must be aws, gcp, azure or none");
	if (u->node[0] != '\0' && !hostlist_is_name(u->node))
		return err_set(e, ERR_INVALID, "user-data: NODE is not a node name");
	if (u->node_init[0] != '\0' && u->node_init[0] != '/')
		return err_set(e, ERR_INVALID, "user-data: NODE_INIT is not an absolute path");
	if (u->timeout_s == 0 || u->timeout_s > USERDATA_TIMEOUT_MAX)
		return err_set(e, ERR_INVALID, "user-data: TIMEOUT must be 1 to %d s",
			       USERDATA_TIMEOUT_MAX);
	return check_urls(u->urls, e) < 0 ? -1 : check_ca(u->ca_pem, e);
}

/* The field whose "@NAME@" stands at p, or NULL. */
static const struct field *field_at(const struct field *fields, size_t n, const char *p)
{
	for (size_t i = 0; i < n; i++) {
		size_t len = strlen(fields[i].name);

		if (strncmp(p + 1, fields[i].name, len) == 0 && p[len + 1] == '@')
			return &fields[i];
	}
	return NULL;
}

static size_t put(char *to, size_t at, const char *text, size_t len)
{
	if (to != NULL)
		memcpy(to + at, text, len);
	return at + len;
}

/* Without a final newline, which the template has. */
static size_t text_len(const char *text)
{
	size_t len = strlen(text);

	return len > 0 && text[len - 1] == '\n' ? len - 1 : len;
}

/* Write the result to `to`, or only count its bytes.  Comments and indentation are for readers of
 * the template: leave them out, as providers limit the size. */
static size_t render(char *to, const char *template, const struct field *fields, size_t n)
{
	const char *p = template;
	size_t at = 0;

	while (*p != '\0') {
		const char *end = p + strcspn(p, "\n"), *word = p + strspn(p, " \t");

		end += *end == '\n';
		if (*word == '#' && p != template) {
			p = end;
			continue;
		}
		for (p = word; p < end;) {
			const struct field *f = *p == '@' ? field_at(fields, n, p) : NULL;

			if (f == NULL) {
				at = put(to, at, p++, 1);
				continue;
			}
			at = put(to, at, f->text, text_len(f->text));
			p += strlen(f->name) + 2;
		}
	}
	return at;
}

static int fill(char **out, const char *template, const struct field *fields, size_t n, size_t max,
		struct err *e)
{
	size_t len = render(NULL, template, fields, n);

	if (len > max)
		return err_set(e, ERR_LIMIT, "user-data: %zu bytes, more than %zu", len, max);
	*out = mem_zalloc(len + 1);
	render(*out, template, fields, n);
	return 0;
}

int userdata_fill(char **out, const struct userdata *u, size_t max, struct err *e)
{
	char timeout[NUMBER_SIZE], ports[2 * NUMBER_SIZE] = "";
	const struct field fields[] = {
		{"URLS", u->urls, ALNUM ".:-_[]/ ", 1, USERDATA_TEXT_MAX},
		{"CLAIM_ID", u->claim_id, ALNUM "._-", 1, USERDATA_ID_MAX},
		{"CLAIM_SECRET", u->claim_secret, ALNUM "_-", USERDATA_SECRET_MIN,
		 USERDATA_SECRET_MAX},
		{"PROVIDER", u->identity, ALNUM, 1, FIELD_NAME_MAX},
		{"NODE", u->node, ALNUM "._-", 0, HOSTLIST_NAME_MAX},
		{"NODE_INIT", u->node_init, ALNUM "._-/", 0, USERDATA_TEXT_MAX},
		{"CA_PEM", u->ca_pem, ALNUM "+/=- \n", 1, USERDATA_CA_MAX},
		{"TIMEOUT", timeout, ALNUM, 1, NUMBER_SIZE},
		{"PORTS", ports, ALNUM "-", 0, sizeof(ports)},
	};
	const size_t n = sizeof(fields) / sizeof(fields[0]);

	*out = NULL;
	snprintf(timeout, sizeof(timeout), "%u", u->timeout_s);
	if (u->roots_port)
		snprintf(ports, sizeof(ports), "%d-%d", CLAIM_PORT_MIN, CLAIM_PORT_MAX);
	if (check(u, fields, n, e) < 0)
		return -1;
	return fill(out, userdata_template, fields, n, max, e);
}

/* Each line must be KEY=VALUE as node-init takes it: nothing that a shell would act on, and no line
 * that ends the here-document. */
static int check_lines(const char *lines, struct err *e)
{
	static const char key[] = "abcdefghijklmnopqrstuvwxyz0123456789_",
			  value[] = ALNUM "._:/,@+=~ []-";

	for (const char *p = lines; *p != '\0';) {
		size_t n = strspn(p, key);

		if (n == 0 || p[n] != '=')
			break;
		p += n + 1;
		p += strspn(p, value);
		if (*p != '\n')
			break;
		if (*++p == '\0')
			return 0;
	}
	return err_set(e, ERR_INVALID, "user-data: a line for the node is malformed");
}

int userdata_fill_token(char **out, const struct userdata_token *u, size_t max, struct err *e)
{
	const struct field fields[] = {
		{"LINES", u->lines, ALNUM "._:/,@+=~ []-\n", 1, USERDATA_LINES_MAX},
		{"NODE_INIT", u->node_init, ALNUM "._-/", 1, USERDATA_TEXT_MAX},
		{"SHA256", u->sha256, "0123456789abcdef", 0, USERDATA_SHA256_LEN},
	};
	const size_t n = sizeof(fields) / sizeof(fields[0]);

	*out = NULL;
	for (size_t i = 0; i < n; i++)
		if (check_field(&fields[i], e) < 0)
			return -1;
	if (u->node_init[0] != '/')
		return err_set(e, ERR_INVALID, "user-data: NODE_INIT is not an absolute path");
	if (u->sha256[0] != '\0' && strlen(u->sha256) != USERDATA_SHA256_LEN)
		return err_set(e, ERR_INVALID, "user-data: SHA256 is not 64 hex digits");
	if (check_lines(u->lines, e) < 0)
		return -1;
	return fill(out, userdata_template_token, fields, n, max, e);
}
