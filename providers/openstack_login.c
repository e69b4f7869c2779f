/* openstack_login.c - a session: a token of Keystone's, Nova's endpoint in the catalog that comes
 * with it, the microversion that both sides know, and the flavors, whose ids a create names. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/ipaddr.h"
#include "base/mem.h"
#include "base/secret.h"
#include "providers/common/words.h"
#include "providers/openstack_private.h"

enum {
	SERVICES_MAX = 1000,
	ENDPOINTS_MAX = 10000,
	LINES_MAX = 1 << 20, /* bytes of one page of flavors */
};

enum secret_of { PASSWORD, TOKEN, NEXT_TOKEN }; /* in keystone.secrets */

static void session_free(struct openstack_session *n)
{
	if (n == NULL)
		return;
	rest_fini(&n->rest);
	free(n->path);
	free(n->flavors);
	free(n);
}

static void set_secret(struct openstack *s, enum secret_of which, const char *text)
{
	secret_wipe(&s->keystone.secrets[which]);
	s->keystone.secrets[which] = text != NULL ? mem_strdup(text) : NULL;
}

int openstack_login_open(struct openstack *s, const char *credential, struct err *e)
{
	bool by_name = s->o.application_credential[0] == '\0';

	if (by_name && (s->o.user[0] == '\0' || s->o.project[0] == '\0'))
		return err_set(e, ERR_INVALID, "want application_credential, or user and project");
	if (!by_name && s->o.project[0] != '\0')
		return err_set(e, ERR_INVALID, "project: an application_credential has its own");
	set_secret(s, PASSWORD, credential);
	return 0;
}

static void restart(struct openstack *s)
{
	session_free(s->next);
	s->next = NULL;
	set_secret(s, NEXT_TOKEN, NULL);
	s->step = OPENSTACK_TOKEN;
	s->marker[0] = '\0';
}

void openstack_login_close(struct openstack *s)
{
	restart(s);
	session_free(s->now);
	s->now = NULL;
}

int64_t openstack_good_until(const void *self)
{
	const struct openstack *s = self;

	return s->now != NULL ? s->now->until_ms : 0;
}

/* --- requests ----------------------------------------------------------------------------------
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

static void put_application(const struct openstack *s, struct rest_call *c)
{
	rest_open(c, "application_credential", '{');
	put_named(c, s->o.application_credential);
	rest_text(c, "secret", s->keystone.secrets[PASSWORD]);
	if (!is_id(s->o.application_credential)) {
		rest_open(c, "user", '{');
		put_in_domain(c, s->o.user, s->o.user_domain);
		rest_close(c, '}');
	}
	rest_close(c, '}');
}

static void put_password(const struct openstack *s, struct rest_call *c)
{
	rest_open(c, "password", '{');
	rest_open(c, "user", '{');
	put_in_domain(c, s->o.user, s->o.user_domain);
	rest_text(c, "password", s->keystone.secrets[PASSWORD]);
	rest_close(c, '}');
	rest_close(c, '}');
}

static void put_identity(const struct openstack *s, struct rest_call *c)
{
	bool application = s->o.application_credential[0] != '\0';

	rest_open(c, "identity", '{');
	rest_open(c, "methods", '[');
	rest_text(c, NULL, application ? "application_credential" : "password");
	rest_close(c, ']');
	if (application)
		put_application(s, c);
	else
		put_password(s, c);
	rest_close(c, '}');
}

static void put_scope(const struct openstack *s, struct rest_call *c)
{
	if (s->o.application_credential[0] != '\0')
		return;
	rest_open(c, "scope", '{');
	rest_open(c, "project", '{');
	put_in_domain(c, s->o.project, s->o.project_domain);
	rest_close(c, '}');
	rest_close(c, '}');
}

static void build_token(const struct openstack *s, struct rest_call *c)
{
	size_t n = strlen(s->keystone.base);
	bool has_version = n >= 3 && strcmp(s->keystone.base + n - 3, "/v3") == 0;

	rest_begin(c, &s->keystone, "POST", has_version ? "/auth/tokens" : "/v3/auth/tokens");
	rest_open(c, NULL, '{');
	rest_open(c, "auth", '{');
	put_identity(s, c);
	put_scope(s, c);
	rest_close(c, '}');
	rest_close(c, '}');
}

int openstack_login_build(const struct openstack *s, struct provider_request *out, struct err *e)
{
	struct rest_call c;

	if (s->step == OPENSTACK_TOKEN)
		build_token(s, &c);
	else if (s->step == OPENSTACK_VERSION)
		rest_begin(&c, &s->next->rest, "GET", "/v2.1/");
	else
		openstack_flavors_build(&c, s->next, s->marker);
	return rest_end(&c, out, "login", e);
}

/* --- replies: what renew() takes, as one text --------------------------------------------------
 */

struct found { /* Nova's endpoints that fit the options; one of them */
	size_t n;
	const char *url, *region;
};

static void find_endpoints(const struct openstack *s, const struct doc_at *service,
			   struct found *out)
{
	struct doc_at list = doc_list(service, "endpoints", ENDPOINTS_MAX);

	for (size_t i = 0; i < list.n; i++) {
		struct doc_at o = doc_item(&list, i);
		const char *region = doc_word(&o, "region_id");

		if (region[0] == '\0')
			region = doc_word(&o, "region");
		if (strcmp(doc_word(&o, "interface"), s->o.interface) != 0 ||
		    (s->o.region[0] != '\0' && strcmp(region, s->o.region) != 0))
			continue;
		out->url = doc_word(&o, "url");
		out->region = region;
		out->n++;
	}
}

static struct found find_nova(const struct openstack *s, const struct doc *d)
{
	struct doc_at list = doc_list(&d->top, "token.catalog", SERVICES_MAX);
	struct found nova = {.url = "", .region = ""};
	char want[120];

	for (size_t i = 0; i < list.n; i++) {
		struct doc_at o = doc_item(&list, i);

		if (strcmp(doc_word(&o, "type"), "compute") == 0)
			find_endpoints(s, &o, &nova);
	}
	(void)snprintf(want, sizeof(want), "%s %.16s endpoint of compute%s%.40s",
		       nova.n > 1 ? "one" : "a", s->o.interface,
		       s->o.region[0] != '\0' ? " in region " : "; see option region", s->o.region);
	if (nova.n != 1)
		doc_wrong(&d->top, "token.catalog", want);
	return nova;
}

static char *copy(const struct str *text)
{
	char *p = mem_zalloc(text->len + 1);

	memcpy(p, text->p, text->len);
	return p;
}

/* Four lines: the token, its end, the region, Nova's endpoint. */
static void read_token(const struct openstack *s, struct doc *d, const struct provider_reply *reply,
		       struct str *out)
{
	const char *token = headers_get(&reply->headers, "X-Subject-Token");
	int64_t until = doc_time(&d->top, "token.expires_at");
	struct found nova = find_nova(s, d);
	char number[FMT_U64_SIZE];

	if (token == NULL || !words_is_plain(token, REST_CREDENTIAL_MAX))
		doc_wrong(&d->top, NULL, "a header X-Subject-Token");
	if (until <= 0)
		doc_wrong(&d->top, "token.expires_at", "a time");
	if (!words_is_plain(nova.url, REST_BASE_MAX) ||
	    !words_is_plain(nova.region, PROVIDER_WORD_MAX))
		doc_wrong(&d->top, "token.catalog", "an endpoint with a URL and a region");
	if (doc_good(d))
		str_addf(out, "%s\n%s\n%s\n%s", token, fmt_i64(number, until), nova.region,
			 nova.url);
}

/* The minor number of 2.N. */
static void read_version(struct doc *d, struct str *out)
{
	const char *text = doc_word(&d->top, "version.version");
	unsigned long n = strncmp(text, "2.", 2) == 0 && text[2] >= '0' && text[2] <= '9'
				  ? strtoul(text + 2, NULL, 10)
				  : 0;

	if (n < OPENSTACK_VERSION_MIN)
		doc_wrong(&d->top, "version.version", "2.52 or later: Nova of Pike, 2017");
	str_addf(out, "%lu", n < OPENSTACK_VERSION_MAX ? n : OPENSTACK_VERSION_MAX);
}

static void read_step(const struct openstack *s, struct doc *d, const struct provider_reply *reply,
		      struct str *out)
{
	if (s->step == OPENSTACK_TOKEN)
		read_token(s, d, reply, out);
	else if (s->step == OPENSTACK_VERSION)
		read_version(d, out);
	else if (openstack_flavors_lines(s, d, s->marker, out) != 0)
		doc_wrong(&d->top, "flavors", "pages that end");
}

void openstack_login_parse(const struct openstack *s, const struct provider_op *op,
			   const struct provider_reply *reply, struct provider_result *out)
{
	struct str text;
	struct doc d;

	if (!rest_succeeded(reply)) {
		rest_refused(&s->keystone, op, reply, out);
		return;
	}
	str_init(&text, LINES_MAX);
	text.secret = true;
	if (doc_load(&d, reply->body, reply->len))
		read_step(s, &d, reply, &text);
	if (doc_good(&d) && !text.full)
		out->session = copy(&text);
	else
		rest_unreadable(&s->keystone, op, reply, d.wrong, out);
	str_fini(&text);
	doc_fini(&d);
}

/* --- the session -------------------------------------------------------------------------------
 */

/* Split "ROOT/v2.1/PROJECT", or an older or no version, into ROOT and "/v2.1/PROJECT"; both are the
 * caller's. */
static void split_endpoint(const char *url, char **root, char **path)
{
	const char *at = strstr(url, "/v2"), *rest = "";
	struct str s;

	while (at != NULL && at[3] != '\0' && at[3] != '/' && strncmp(at + 3, ".1", 2) != 0)
		at = strstr(at + 1, "/v2");
	if (at != NULL)
		rest = at + 3 + (at[3] == '.' ? 2 : 0);
	*root = mem_strdup(url);
	if (at != NULL)
		(*root)[at - url] = '\0';
	str_init(&s, REST_BASE_MAX);
	str_addf(&s, "/v2.1%s", rest);
	while (s.len > 0 && s.p[s.len - 1] == '/')
		s.p[--s.len] = '\0';
	*path = str_take(&s);
}

/* A token is as good as a password for an hour: it goes where only Nova can read it. */
static int open_session(struct openstack_session *n, const char *token, const char *url,
			struct err *e)
{
	struct provider_conf conf = {.name = "Nova's endpoint", .credential = token};
	char *root;
	int rc;

	if (strncmp(url, "https://", 8) != 0 &&
	    (strncmp(url, "http://", 7) != 0 || !ipaddr_host_is_loopback(url + 7)))
		return err_set(e, ERR_INVALID,
			       "Nova's endpoint: want https://: %.100s is not this machine", url);
	n->api = openstack_api;
	n->api.headers = n->headers;
	split_endpoint(url, &root, &n->path);
	conf.url = root;
	rc = rest_init(&n->rest, &n->api, &conf, e);
	free(root);
	return rc;
}

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

static int take_token(struct openstack *s, const char *session, struct err *e)
{
	char *token = mem_zalloc(REST_CREDENTIAL_MAX + 1), until[FMT_U64_SIZE] = "";
	int rc = -1;

	session_free(s->next);
	s->next = mem_zalloc(sizeof(*s->next));
	if (next_line(&session, token, REST_CREDENTIAL_MAX + 1) &&
	    next_line(&session, until, sizeof(until)) &&
	    next_line(&session, s->next->region, sizeof(s->next->region)))
		rc = open_session(s->next, token, session, e);
	else
		(void)err_set(e, ERR_INVALID, "malformed session");
	s->next->until_ms = strtoll(until, NULL, 10);
	if (rc == 0)
		set_secret(s, NEXT_TOKEN, token);
	secret_wipe(&token);
	return rc;
}

static int take_version(struct openstack_session *n, const char *session, struct err *e)
{
	unsigned long minor = strtoul(session, NULL, 10);

	if (minor < OPENSTACK_VERSION_MIN || minor > OPENSTACK_VERSION_MAX)
		return err_set(e, ERR_INVALID, "malformed version");
	(void)snprintf(n->version, sizeof(n->version), "OpenStack-API-Version: compute 2.%lu",
		       minor);
	n->headers[0] = n->version;
	return 0;
}

/* Take a page of flavors; 0: it was the last, and the session is whole. */
static int take_flavors(struct openstack *s, const char *session, struct err *e)
{
	size_t n = strcspn(session, "\n");

	if (n >= sizeof(s->marker) || session[n] != '\n' ||
	    openstack_flavors_take(s->next, session + n + 1) != 0)
		return err_set(e, ERR_INVALID, "malformed flavors");
	memcpy(s->marker, session, n);
	s->marker[n] = '\0';
	if (n > 0)
		return 1;
	session_free(s->now);
	s->now = s->next;
	s->next = NULL;
	set_secret(s, TOKEN, s->keystone.secrets[NEXT_TOKEN]);
	restart(s);
	return 0;
}

static int take(struct openstack *s, const char *session, struct err *e)
{
	int rc;

	if (s->step == OPENSTACK_FLAVORS)
		return take_flavors(s, session, e);
	rc = s->step == OPENSTACK_TOKEN ? take_token(s, session, e)
					: take_version(s->next, session, e);
	if (rc == 0)
		s->step++;
	return rc == 0 ? 1 : -1;
}

int openstack_renew(void *self, const char *session, struct err *e)
{
	struct openstack *s = self;
	int rc;

	if (session == NULL) {
		restart(s);
		return 1;
	}
	rc = take(s, session, e);
	if (rc < 0)
		restart(s);
	return rc;
}
