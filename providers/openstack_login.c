/* openstack_login.c - a session: a token of Keystone's (keystone.h) and Nova's endpoint with it,
 * the microversion that both sides know, and the flavors, whose ids a create names. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/secret.h"
#include "providers/common/keystone.h"
#include "providers/openstack_private.h"

enum { LINES_MAX = 1 << 20 }; /* bytes of one page of flavors */

static const struct keystone_service nova = {.name = "Nova", .type = "compute"};

enum secret_of { PASSWORD, TOKEN, NEXT_TOKEN, FORMER_TOKEN }; /* in keystone.secrets */

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

static struct keystone_who who(const struct openstack *s)
{
	return (struct keystone_who){.application_credential = s->o.application_credential,
				     .user = s->o.user,
				     .user_domain = s->o.user_domain,
				     .project = s->o.project,
				     .project_domain = s->o.project_domain,
				     .region = s->o.region,
				     .interface = s->o.interface};
}

int openstack_login_open(struct openstack *s, const char *credential, struct err *e)
{
	const struct keystone_who w = who(s);

	if (keystone_check(&w, s->keystone.base, credential, e) != 0)
		return -1;
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

int openstack_login_build(const struct openstack *s, struct provider_request *out, struct err *e)
{
	const struct keystone_who w = who(s);
	struct rest_call c;

	if (s->step == OPENSTACK_TOKEN)
		keystone_build(&c, &s->keystone, &w, s->keystone.secrets[PASSWORD]);
	else if (s->step == OPENSTACK_VERSION)
		rest_begin(&c, &s->next->rest, "GET", "/v2.1/");
	else
		openstack_flavors_build(&c, s->next, s->marker);
	return rest_end(&c, out, "login", e);
}

/* --- replies: what renew() takes, as one text --------------------------------------------------
 */

static char *copy(const struct str *text)
{
	char *p = mem_zalloc(text->len + 1);

	memcpy(p, text->p, text->len);
	return p;
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
	const struct keystone_who w = who(s);

	if (s->step == OPENSTACK_TOKEN)
		keystone_read(&w, &nova, d, reply, out);
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

static int open_session(struct openstack_session *n, const struct keystone_token *t, struct err *e)
{
	struct provider_conf conf = {.name = "Nova's endpoint", .credential = t->text};
	char *root;
	int rc;

	n->api = openstack_api;
	n->api.headers = n->headers;
	split_endpoint(t->url, &root, &n->path);
	conf.url = root;
	rc = rest_init(&n->rest, &n->api, &conf, e);
	free(root);
	return rc;
}

static int take_token(struct openstack *s, const char *session, struct err *e)
{
	struct keystone_token t;
	int rc;

	session_free(s->next);
	s->next = mem_zalloc(sizeof(*s->next));
	if (keystone_take(&t, &nova, s->keystone.base, session, e) != 0)
		return -1;
	rc = open_session(s->next, &t, e);
	memcpy(s->next->region, t.region, sizeof(t.region));
	s->next->until_ms = t.until_ms;
	if (rc == 0)
		set_secret(s, NEXT_TOKEN, t.text);
	keystone_token_fini(&t);
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
	/* A request with the former one may still be on the wire: no answer may show it. */
	set_secret(s, FORMER_TOKEN, s->keystone.secrets[TOKEN]);
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
