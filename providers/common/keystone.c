#include "providers/common/keystone.h"

#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/ipaddr.h"
#include "base/mem.h"
#include "base/secret.h"
#include "providers/common/words.h"

enum {
	SERVICES_MAX = 1000,
	ENDPOINTS_MAX = 10000,
};

static const struct rest_row errors[] = {
	/* It says 404 to an application credential that it does not know. */
	{.ops = REST_OP(PROVIDER_LOGIN), .status = 404, .means = PROVIDER_DENIED},
};

const struct rest_api keystone_api = {
	.auth = REST_HEADER,
	.auth_header = "X-Auth-Token",
	.open = true,
	.error_message = "error.message",
	.request_id = "x-openstack-request-id",
	.rows = errors,
	.nrows = sizeof(errors) / sizeof(errors[0]),
};

bool keystone_is_secure(const char *url)
{
	return strncmp(url, "https://", 8) == 0 ||
	       (strncmp(url, "http://", 7) == 0 && ipaddr_host_is_loopback(url + 7));
}

int keystone_check(const struct keystone_who *w, const char *url, const char *credential,
		   struct err *e)
{
	bool by_name = w->application_credential[0] == '\0';

	if (!keystone_is_secure(url))
		return err_set(e, ERR_INVALID, "url: want https://: %.100s is not this machine",
			       url);
	if (credential == NULL)
		return err_set(e, ERR_INVALID,
			       "want credential_file, with the password or the secret");
	if (by_name && (w->user[0] == '\0' || w->project[0] == '\0'))
		return err_set(e, ERR_INVALID, "want application_credential, or user and project");
	if (!by_name && w->project[0] != '\0')
		return err_set(e, ERR_INVALID, "project: an application_credential has its own");
	return 0;
}

/* --- the request -------------------------------------------------------------------------------
 */

/* Ids are 32 hexadecimal digits, or 64 of a user in a directory; that of the first domain is
 * "default". */
static bool is_id(const char *text)
{
	size_t n = strlen(text);

	return strcmp(text, "default") == 0 ||
	       ((n == 32 || n == 64) && strspn(text, "0123456789abcdef") == n);
}

static void put_named(struct rest_call *c, const char *text)
{
	rest_text(c, is_id(text) ? "id" : "name", text);
}

/* The members of a user or project: only a name needs a domain. */
static void put_in_domain(struct rest_call *c, const char *text, const char *domain)
{
	put_named(c, text);
	if (is_id(text))
		return;
	rest_open(c, "domain", '{');
	put_named(c, domain);
	rest_close(c, '}');
}

static void put_application(struct rest_call *c, const struct keystone_who *w, const char *secret)
{
	rest_open(c, "application_credential", '{');
	put_named(c, w->application_credential);
	rest_text(c, "secret", secret);
	if (!is_id(w->application_credential)) {
		rest_open(c, "user", '{');
		put_in_domain(c, w->user, w->user_domain);
		rest_close(c, '}');
	}
	rest_close(c, '}');
}

static void put_password(struct rest_call *c, const struct keystone_who *w, const char *secret)
{
	rest_open(c, "password", '{');
	rest_open(c, "user", '{');
	put_in_domain(c, w->user, w->user_domain);
	rest_text(c, "password", secret);
	rest_close(c, '}');
	rest_close(c, '}');
}

static void put_identity(struct rest_call *c, const struct keystone_who *w, const char *secret)
{
	bool application = w->application_credential[0] != '\0';

	rest_open(c, "identity", '{');
	rest_open(c, "methods", '[');
	rest_text(c, NULL, application ? "application_credential" : "password");
	rest_close(c, ']');
	if (application)
		put_application(c, w, secret);
	else
		put_password(c, w, secret);
	rest_close(c, '}');
}

static void put_scope(struct rest_call *c, const struct keystone_who *w)
{
	if (w->application_credential[0] != '\0')
		return;
	rest_open(c, "scope", '{');
	rest_open(c, "project", '{');
	put_in_domain(c, w->project, w->project_domain);
	rest_close(c, '}');
	rest_close(c, '}');
}

void keystone_build(struct rest_call *c, const struct rest *r, const struct keystone_who *w,
		    const char *credential)
{
	size_t n = strlen(r->base);
	bool has_version = n >= 3 && strcmp(r->base + n - 3, "/v3") == 0;

	rest_begin(c, r, "POST", has_version ? "/auth/tokens" : "/v3/auth/tokens");
	rest_open(c, NULL, '{');
	rest_open(c, "auth", '{');
	put_identity(c, w, credential);
	put_scope(c, w);
	rest_close(c, '}');
	rest_close(c, '}');
}

/* --- the answer --------------------------------------------------------------------------------
 */

struct found { /* the service's endpoints that fit the options; one of them */
	size_t n;
	const char *url, *region;
};

static void find_endpoints(const struct keystone_who *w, const struct doc_at *service,
			   struct found *out)
{
	struct doc_at list = doc_list(service, "endpoints", ENDPOINTS_MAX);

	for (size_t i = 0; i < list.n; i++) {
		struct doc_at o = doc_item(&list, i);
		const char *region = doc_word(&o, "region_id");

		if (region[0] == '\0')
			region = doc_word(&o, "region");
		if (strcmp(doc_word(&o, "interface"), w->interface) != 0 ||
		    (w->region[0] != '\0' && strcmp(region, w->region) != 0))
			continue;
		out->url = doc_word(&o, "url");
		out->region = region;
		out->n++;
	}
}

static struct found find_service(const struct keystone_who *w, const char *type,
				 const struct doc *d)
{
	struct doc_at list = doc_list(&d->top, "token.catalog", SERVICES_MAX);
	struct found it = {.url = "", .region = ""};
	char want[120];

	for (size_t i = 0; i < list.n; i++) {
		struct doc_at o = doc_item(&list, i);

		if (strcmp(doc_word(&o, "type"), type) == 0)
			find_endpoints(w, &o, &it);
	}
	(void)snprintf(want, sizeof(want), "%s %.16s endpoint of %.16s%s%.40s",
		       it.n > 1 ? "one" : "a", w->interface, type,
		       w->region[0] != '\0' ? " in region " : "; see option region", w->region);
	if (it.n != 1)
		doc_wrong(&d->top, "token.catalog", want);
	return it;
}

/* Four lines: the token, its end, the region, the endpoint. */
void keystone_read(const struct keystone_who *w, const struct keystone_service *service,
		   struct doc *d, const struct provider_reply *reply, struct str *out)
{
	const char *token = headers_get(&reply->headers, "X-Subject-Token");
	int64_t until = doc_time(&d->top, "token.expires_at");
	struct found it = find_service(w, service->type, d);
	char number[FMT_U64_SIZE];

	if (token == NULL || !words_is_plain(token, REST_CREDENTIAL_MAX))
		doc_wrong(&d->top, NULL, "a header X-Subject-Token");
	if (until <= 0)
		doc_wrong(&d->top, "token.expires_at", "a time");
	if (!words_is_plain(it.url, REST_BASE_MAX) || !words_is_plain(it.region, PROVIDER_WORD_MAX))
		doc_wrong(&d->top, "token.catalog", "an endpoint with a URL and a region");
	if (doc_good(d))
		str_addf(out, "%s\n%s\n%s\n%s", token, fmt_i64(number, until), it.region, it.url);
}

/* --- the token ---------------------------------------------------------------------------------
 */

/* Copy the line at *p and move *p past it; false: it is too long, or the last. */
static bool next_line(const char **p, char *out, size_t size)
{
	size_t n = strcspn(*p, "\n");
	bool good = (*p)[n] == '\n' && n < size;

	if (good) {
		memcpy(out, *p, n);
		out[n] = '\0';
		*p += n + 1;
	}
	return good;
}

static bool is_here(const char *url)
{
	const char *host = strstr(url, "://");

	return host != NULL && ipaddr_host_is_loopback(host + 3);
}

int keystone_take(struct keystone_token *t, const struct keystone_service *service, const char *own,
		  const char *session, struct err *e)
{
	char until[FMT_U64_SIZE] = "";

	*t = (struct keystone_token){.text = mem_zalloc(REST_CREDENTIAL_MAX + 1)};
	if (!next_line(&session, t->text, REST_CREDENTIAL_MAX + 1) ||
	    !next_line(&session, until, sizeof(until)) ||
	    !next_line(&session, t->region, sizeof(t->region))) {
		keystone_token_fini(t);
		return err_set(e, ERR_INVALID, "malformed session");
	}
	if (!keystone_is_secure(session)) {
		keystone_token_fini(t);
		return err_set(e, ERR_INVALID,
			       "%s's endpoint: want https://: %.100s is not this machine",
			       service->name, session);
	}
	if (is_here(session) && !is_here(own)) {
		keystone_token_fini(t);
		return err_set(e, ERR_INVALID,
			       "%s's endpoint: %.100s is this machine, and %.100s is not",
			       service->name, session, own);
	}
	t->until_ms = strtoll(until, NULL, 10);
	t->url = mem_strdup(session);
	return 0;
}

void keystone_token_fini(struct keystone_token *t)
{
	secret_wipe(&t->text);
	free(t->url);
	*t = (struct keystone_token){0};
}
