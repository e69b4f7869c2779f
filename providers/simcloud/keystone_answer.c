/* keystone_answer.c - what Keystone says: its versions, a token, and the catalog in it. */
#include <stdio.h>
#include <string.h>

#include "providers/simcloud/js.h"
#include "providers/simcloud/keystone.h"

static void put_media(struct str *s)
{
	js_open(s, "media-types", '[');
	js_open(s, NULL, '{');
	js_str(s, "base", "application/json");
	js_str(s, "type", "application/vnd.openstack.identity-v3+json");
	js_close(s, '}');
	js_close(s, ']');
}

static void put_version(struct str *s, const char *key, const struct keystone_call *x)
{
	char url[OS_URL_SIZE];

	(void)snprintf(url, sizeof(url), "%.200s/identity/v3/", x->origin);
	js_open(s, key, '{');
	js_str(s, "id", "v3.14");
	js_str(s, "status", "stable");
	js_str(s, "updated", "2020-04-07T00:00:00Z");
	js_open(s, "links", '[');
	js_open(s, NULL, '{');
	js_str(s, "rel", "self");
	js_str(s, "href", url);
	js_close(s, '}');
	js_close(s, ']');
	put_media(s);
	js_close(s, '}');
}

void keystone_versions(struct str *s, const struct keystone_call *x)
{
	js_open(s, NULL, '{');
	if (x->what == KEYSTONE_VERSION) {
		put_version(s, "version", x);
	} else {
		js_open(s, "versions", '{');
		js_open(s, "values", '[');
		put_version(s, NULL, x);
		js_close(s, ']');
		js_close(s, '}');
	}
	js_close(s, '}');
}

/* --- the catalog ------------------------------------------------------------------------------ */

static void put_endpoint(struct str *s, const char *interface, const char *region, const char *url)
{
	js_open(s, NULL, '{');
	js_str(s, "id", "5c0000000000400080000000000000dd");
	js_str(s, "interface", interface);
	js_str(s, "region_id", region);
	js_str(s, "url", url);
	js_str(s, "region", region);
	js_close(s, '}');
}

/* The other interfaces come first and lead nowhere, as they do outside of most clouds. */
static void put_endpoints(struct str *s, const char *region, const char *url)
{
	put_endpoint(s, "admin", region, "http://admin.invalid:1");
	put_endpoint(s, "internal", region, "http://internal.invalid:1");
	put_endpoint(s, "public", region, url);
}

static bool is_first_of_region(const struct cloud *c, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (c->pools[i]->offered && strcmp(c->pools[i]->region, c->pools[at]->region) == 0)
			return false;
	return c->pools[at]->offered;
}

static const struct service {
	const char *id, *type, *name;
	const char *path; /* of its endpoint in a region; with %s for that, or none */
} services[] = {
	{"5c0000000000400080000000000000ff", "identity", "keystone", "/identity"},
	{"5c0000000000400080000000000000ee", "compute", "nova", "/compute/%s/v2.1"},
	{"5c0000000000400080000000000000ed", "baremetal", "ironic", ""},
};

static void put_service(struct str *s, const struct service *what, const struct keystone_call *x,
			const struct cloud *c)
{
	char url[OS_URL_SIZE];

	js_open(s, NULL, '{');
	js_open(s, "endpoints", '[');
	for (size_t i = 0; i < c->npools; i++) {
		const char *region = c->pools[i]->region, *rest = strstr(what->path, "%s");
		int n = rest != NULL ? (int)(rest - what->path) : (int)strlen(what->path);

		if (!is_first_of_region(c, i))
			continue;
		(void)snprintf(url, sizeof(url), "%.160s%.*s%s%s", x->origin, n, what->path,
			       rest != NULL ? region : "", rest != NULL ? rest + 2 : "");
		put_endpoints(s, region, url);
	}
	js_close(s, ']');
	js_str(s, "id", what->id);
	js_str(s, "type", what->type);
	js_str(s, "name", what->name);
	js_close(s, '}');
}

/* --- the token -------------------------------------------------------------------------------- */

static void put_domain(struct str *s)
{
	js_open(s, "domain", '{');
	js_str(s, "id", "default");
	js_str(s, "name", "Default");
	js_close(s, '}');
}

static void put_role(struct str *s, const char *id, const char *name)
{
	js_open(s, NULL, '{');
	js_str(s, "id", id);
	js_str(s, "name", name);
	js_close(s, '}');
}

static void put_who(struct str *s, const struct keystone_call *x)
{
	js_open(s, "methods", '[');
	js_str(s, NULL, x->token.by_application ? "application_credential" : "password");
	js_close(s, ']');
	js_open(s, "user", '{');
	put_domain(s);
	js_str(s, "id", OS_USER);
	js_str(s, "name", x->user[0] != '\0' ? x->user : "simcloud");
	js_null(s, "password_expires_at");
	js_close(s, '}');
}

static void put_when(struct str *s, const struct os_token *t)
{
	char at[OS_TIME_SIZE];

	js_open(s, "audit_ids", '[');
	js_str(s, NULL, "5c00AAAAAAAAAAAAAAAAAA");
	js_close(s, ']');
	js_str(s, "expires_at", os_time(at, t->expires_ms, ".000000Z"));
	js_str(s, "issued_at", os_time(at, t->issued_ms, ".000000Z"));
}

static void put_project(struct str *s)
{
	js_open(s, "project", '{');
	put_domain(s);
	js_str(s, "id", OS_PROJECT);
	js_str(s, "name", "simcloud");
	js_close(s, '}');
	js_bool(s, "is_domain", false);
	js_open(s, "roles", '[');
	put_role(s, "5c000000000040008000000000000001", "member");
	put_role(s, "5c000000000040008000000000000002", "reader");
	js_close(s, ']');
}

static void put_credential(struct str *s, const struct keystone_call *x)
{
	js_open(s, "application_credential", '{');
	js_str(s, "id", "5c000000000040008000000000000003");
	js_str(s, "name", x->credential[0] != '\0' ? x->credential : "simcloud");
	js_bool(s, "restricted", true);
	js_close(s, '}');
}

void keystone_token(struct str *s, const struct keystone_call *x, const struct cloud *c)
{
	js_open(s, NULL, '{');
	js_open(s, "token", '{');
	put_who(s, x);
	put_when(s, &x->token);
	if (x->token.scoped) {
		put_project(s);
		js_open(s, "catalog", '[');
		for (size_t i = 0; i < sizeof(services) / sizeof(services[0]); i++)
			put_service(s, &services[i], x, c);
		js_close(s, ']');
	}
	if (x->token.by_application)
		put_credential(s, x);
	js_close(s, '}');
	js_close(s, '}');
}
