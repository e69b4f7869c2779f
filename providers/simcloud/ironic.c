#include "providers/simcloud/ironic.h"

#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "providers/simcloud/js.h"
#include "providers/simcloud/openstack.h"

enum { CREDENTIAL_MAX = 4096 };

/* --- credential ------------------------------------------------------------------------------- */

static bool is_token(const char *text, const char *token)
{
	return text != NULL && strlen(text) == strlen(token) &&
	       CRYPTO_memcmp(text, token, strlen(token)) == 0;
}

/* "Basic BASE64", of any user whose password is the token. */
static bool is_basic(const char *header, const char *token)
{
	unsigned char text[CREDENTIAL_MAX];
	const char *colon;
	size_t n;

	if (header == NULL || strncmp(header, "Basic ", 6) != 0 ||
	    !base64_decode(BASE64_PLAIN, header + 6, strlen(header + 6), text, sizeof(text) - 1,
			   &n))
		return false;
	text[n] = '\0';
	colon = strchr((const char *)text, ':');
	return colon != NULL && colon != (const char *)text && is_token(colon + 1, token);
}

/* A token of Keystone's, for the project. */
static bool is_of_keystone(const struct face_visit *v, const char *text)
{
	struct os_token t;

	return os_token_read(&t, text, v) && t.scoped;
}

/* The versions are for everybody. */
static enum code authorize(struct face_visit *v, struct err *e)
{
	const struct http_request *rq = v->rq;
	const char *token = v->keys->token, *given = http_header(rq, "X-Auth-Token");

	if (token == NULL || strcmp(rq->path, "/") == 0 || strcmp(rq->path, "/v1") == 0 ||
	    strcmp(rq->path, "/v1/") == 0 || is_basic(rq->authorization, token) ||
	    is_token(given, token) || is_of_keystone(v, given))
		return CODE_OK;
	(void)err_set(e, ERR_AUTH, "401 %s",
		      rq->authorization == NULL ? "Authorization required"
						: "Incorrect username or password");
	return CODE_DENIED;
}

/* --- versions --------------------------------------------------------------------------------- */

static void put_version(struct str *s, const char *key, const struct ironic_run *r)
{
	js_open(s, key, '{');
	js_str(s, "id", "v1");
	js_open(s, "links", '[');
	js_open(s, NULL, '{');
	ironic_href(s, r, "v1/");
	js_str(s, "rel", "self");
	js_close(s, '}');
	js_close(s, ']');
	js_str(s, "status", "CURRENT");
	js_str(s, "min_version", "1.1");
	js_str(s, "version", "1.115");
	js_close(s, '}');
}

static void root(const struct ironic_run *r)
{
	struct str s;

	str_init(&s, IRONIC_BODY_MAX);
	js_open(&s, NULL, '{');
	js_str(&s, "name", "OpenStack Ironic API");
	js_str(&s, "description",
	       "Ironic is an OpenStack project which enables the provision and management of "
	       "baremetal machines.");
	put_version(&s, "default_version", r);
	js_open(&s, "versions", '[');
	put_version(&s, NULL, r);
	js_close(&s, ']');
	js_close(&s, '}');
	ironic_body(r, 200, &s);
}

static void v1(const struct ironic_run *r)
{
	struct str s;

	str_init(&s, IRONIC_BODY_MAX);
	js_open(&s, NULL, '{');
	js_str(&s, "id", "v1");
	js_open(&s, "media_types", '{');
	js_str(&s, "base", "application/json");
	js_str(&s, "type", "application/vnd.openstack.ironic.v1+json");
	js_close(&s, '}');
	ironic_links(&s, "links", r, "");
	ironic_links(&s, "nodes", r, "nodes/");
	if (r->q->minor >= 52)
		ironic_links(&s, "allocations", r, "allocations/");
	put_version(&s, "version", r);
	js_close(&s, '}');
	ironic_body(r, 200, &s);
}

/* --- the face --------------------------------------------------------------------------------- */

static void run_node(const struct ironic_run *r, struct ironic_node *n)
{
	switch (r->q->what) {
	case IRONIC_NODE:
		ironic_get(r, n);
		break;
	case IRONIC_NODE_PATCH:
		ironic_update(r, n);
		break;
	case IRONIC_STATES:
		ironic_states(r, n);
		break;
	case IRONIC_PROVISION:
		ironic_provision(r, n);
		break;
	case IRONIC_POWER:
		ironic_power(r, n);
		break;
	case IRONIC_MAINTENANCE:
	case IRONIC_MAINTENANCE_END:
		ironic_maintain(r, n, r->q->what == IRONIC_MAINTENANCE);
		break;
	default:
		ironic_traits(r, n);
		break;
	}
}

static void run(const struct face_call *f, struct cloud *c, const struct fault_rule *rule,
		int64_t now, struct face_reply *out)
{
	struct ironic_run r = {.f = f,
			       .q = f->own,
			       .c = c,
			       .h = ironic_open(c, now),
			       .rule = rule,
			       .now = now,
			       .out = out};
	enum ironic_what what = r.q->what;
	struct ironic_node *n;

	if (what == IRONIC_ROOT) {
		root(&r);
	} else if (what == IRONIC_V1) {
		v1(&r);
	} else if (what == IRONIC_NODES || what == IRONIC_DETAIL) {
		ironic_list(&r);
	} else if (what >= IRONIC_NODE_ALLOC) {
		ironic_alloc_run(&r);
	} else {
		n = ironic_node(r.h, r.q->ident);
		if (n != NULL)
			run_node(&r, n);
		else
			ironic_fail(&r, 404, "Node %s could not be found.", r.q->ident);
	}
	for (size_t i = 0; i < r.h->nnodes; i++)
		ironic_tenant(r.h->nodes[i], c);
}

/* Whom a call is about: of a node, its tenant; of an allocation, whom it is for. */
static const char *node(const struct face_call *f, const struct cloud *c, size_t i)
{
	const struct ironic_call *q = f->own;
	const struct ironic *h = ironic_look(c);
	const struct ironic_node *n;

	(void)i;
	if (q->what == IRONIC_ALLOC_MAKE)
		return q->who.node;
	if (h == NULL)
		return "";
	if (q->what >= IRONIC_ALLOCS) {
		const struct ironic_alloc *a = ironic_alloc(h, q->ident);

		return a != NULL ? a->who.node : "";
	}
	n = ironic_node(h, q->ident);
	return n != NULL ? n->who.node : "";
}

const struct face face_ironic = {
	.name = "Ironic",
	.type = "application/json",
	.is = ironic_is,
	.authorize = authorize,
	.parse = ironic_parse,
	.run = run,
	.error = ironic_error,
	.id_prefix = "req-5c000000-0000-4000-8000-",
	.node = node,
	.free_own = ironic_call_free,
};
