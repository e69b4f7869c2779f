/* ironic_login.c - where Ironic wants a token of Keystone's: the login, in one step, and the
 * endpoint that the catalog has for it.  Without Keystone there is no login. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/secret.h"
#include "providers/ironic_private.h"

enum { SESSION_MAX = 3 * REST_CREDENTIAL_MAX };

enum secret_of { TOKEN, FORMER_TOKEN, PASSWORD }; /* in the secrets of ironic.rest */

static const struct keystone_service ironic = {.name = "Ironic", .type = "baremetal"};

static const char *copy(const char *given, const char *initial)
{
	return mem_strdup(given != NULL ? given : initial);
}

void ironic_who_copy(struct keystone_who *w, const struct ironic_options *o)
{
	*w = (struct keystone_who){
		.application_credential = copy(o->application_credential, ""),
		.user = copy(o->user, ""),
		.user_domain = copy(o->user_domain, "default"),
		.project = copy(o->project, ""),
		.project_domain = copy(o->project_domain, "default"),
		.region = copy(o->region, ""),
		.interface = copy(o->interface, "public"),
	};
}

static void who_free(const struct keystone_who *w)
{
	const char *const texts[] = {
		w->application_credential, w->user,   w->user_domain, w->project,
		w->project_domain,         w->region, w->interface};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		free((char *)(uintptr_t)texts[i]);
}

bool ironic_wants_login(const struct ironic_options *o)
{
	const char *const texts[] = {o->application_credential, o->user, o->project};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (texts[i] != NULL && texts[i][0] != '\0')
			return true;
	return false;
}

/* Until the first login, when nothing is sent, Ironic's requests have Keystone's address. */
int ironic_login_open(struct ironic *i, const struct provider_conf *conf, struct err *e)
{
	struct provider_conf open = *conf;

	open.credential = NULL; /* goes into a body, not into a header */
	if (rest_init(&i->keystone, &keystone_api, &open, e) != 0 ||
	    rest_init(&i->rest, &ironic_token_api, &open, e) != 0 ||
	    keystone_check(&i->who, i->keystone.base, conf->credential, e) != 0)
		return -1;
	i->keystone.secrets[PASSWORD] = mem_strdup(conf->credential);
	return 0;
}

void ironic_login_close(struct ironic *i)
{
	rest_fini(&i->keystone);
	who_free(&i->who);
}

int64_t ironic_good_until(const void *self)
{
	const struct ironic *i = self;

	return i->by_keystone ? i->until_ms : INT64_MAX;
}

int ironic_login_build(const struct ironic *i, struct provider_request *out, struct err *e)
{
	struct rest_call c;

	keystone_build(&c, &i->keystone, &i->who, i->keystone.secrets[PASSWORD]);
	return rest_end(&c, out, "login", e);
}

void ironic_login_parse(const struct ironic *i, const struct provider_op *op,
			const struct provider_reply *reply, struct provider_result *out)
{
	struct str text;
	struct doc d;

	if (!rest_succeeded(reply)) {
		rest_refused(&i->keystone, op, reply, out);
		return;
	}
	str_init(&text, SESSION_MAX);
	text.secret = true;
	if (doc_load(&d, reply->body, reply->len))
		keystone_read(&i->who, &ironic, &d, reply, &text);
	if (doc_good(&d) && !text.full) {
		out->session = mem_zalloc(text.len + 1);
		memcpy(out->session, text.p, text.len);
	} else {
		rest_unreadable(&i->keystone, op, reply, d.wrong, out);
	}
	str_fini(&text);
	doc_fini(&d);
}

/* The endpoint without the version that some catalogs have at its end. */
static char *root_of(const char *url)
{
	char *root = mem_strdup(url);
	size_t n = strlen(root);

	while (n > 0 && root[n - 1] == '/')
		root[--n] = '\0';
	if (n > 3 && strcmp(root + n - 3, "/v1") == 0)
		root[n - 3] = '\0';
	return root;
}

static int take(struct ironic *i, const struct keystone_token *t, struct err *e)
{
	struct provider_conf conf = {.name = "Ironic's endpoint", .credential = t->text};
	char *root = root_of(t->url);
	struct rest next;
	int rc;

	conf.url = root;
	rc = rest_init(&next, &ironic_token_api, &conf, e);
	free(root);
	if (rc != 0)
		return -1;
	/* No answer may show them: a request with the former token may still be on the wire. */
	next.secrets[PASSWORD] = mem_strdup(i->keystone.secrets[PASSWORD]);
	if (i->rest.secrets[TOKEN] != NULL)
		next.secrets[FORMER_TOKEN] = mem_strdup(i->rest.secrets[TOKEN]);
	rest_fini(&i->rest);
	i->rest = next;
	i->until_ms = t->until_ms;
	return 0;
}

int ironic_renew(void *self, const char *session, struct err *e)
{
	struct ironic *i = self;
	struct keystone_token t;
	int rc;

	if (session == NULL)
		return 1;
	if (keystone_take(&t, &ironic, i->keystone.base, session, e) != 0)
		return -1;
	rc = take(i, &t, e);
	keystone_token_fini(&t);
	return rc;
}
