/* ironic_query.c - the query of a request, which may have known keys only, and pages of lists. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "providers/simcloud/ironic.h"
#include "providers/simcloud/js.h"

bool ironic_only(const struct ironic_run *r, const char *const *known)
{
	const char *p = r->q->query;

	while (*p != '\0') {
		size_t n = strcspn(p, "=&"), i = 0;

		while (known[i] != NULL && (strlen(known[i]) != n || memcmp(known[i], p, n) != 0))
			i++;
		if (known[i] == NULL) {
			ironic_fail(r, 400, "Unexpected arguments: %.*s", (int)n, p);
			return false;
		}
		p += strcspn(p, "&");
		p += *p == '&';
	}
	return true;
}

bool ironic_value(const struct ironic_run *r, const char *key, char *out, size_t size)
{
	if (http_query(r->q->query, key, out, size) >= 0)
		return true;
	ironic_fail(r, 400, "Invalid input for query parameters %s.", key);
	return false;
}

bool ironic_has(const char *list, const char *word)
{
	size_t len = strlen(word);

	for (const char *p = list; *p != '\0'; p += *p == ',') {
		size_t n = strcspn(p, ",");

		if (n == len && memcmp(p, word, n) == 0)
			return true;
		p += n;
	}
	return false;
}

static bool read_limit(const struct ironic_run *r, struct ironic_page *p)
{
	char text[24], *end;
	long n;

	p->limit = r->c->conf->page_max; /* F16: the cap may be smaller than what was asked */
	if (!ironic_value(r, "limit", text, sizeof(text)) || text[0] == '\0')
		return r->out->code == CODE_OK;
	n = strtol(text, &end, 10);
	if (*end != '\0') {
		ironic_fail(r, 400, "Expected an integer for limit: %s", text);
		return false;
	}
	if (n < 1) {
		ironic_fail(r, 400, "Limit must be positive");
		return false;
	}
	p->limit = n < p->limit ? n : p->limit;
	return true;
}

/* Order is the one of creation, or `by`: another is refused, so that nobody believes to have it. */
bool ironic_page(const struct ironic_run *r, struct ironic_page *p, const char *by)
{
	char key[32], dir[16];

	*p = (struct ironic_page){0};
	if (!read_limit(r, p) || !ironic_value(r, "marker", p->marker, sizeof(p->marker)) ||
	    !ironic_value(r, "fields", p->fields, sizeof(p->fields)) ||
	    !ironic_value(r, "sort_key", key, sizeof(key)) ||
	    !ironic_value(r, "sort_dir", dir, sizeof(dir)))
		return false;
	p->by = by;
	p->sorted = strcmp(key, by) == 0;
	if ((key[0] != '\0' && !p->sorted && strcmp(key, "id") != 0) ||
	    (dir[0] != '\0' && strcmp(dir, "asc") != 0)) {
		ironic_fail(r, 400, "The sort_key value \"%s\" is an invalid field for sorting",
			    key);
		return false;
	}
	return true;
}

/* As at Ironic, a full page has a next one, and that may be empty. */
void ironic_next(struct str *s, const struct ironic_run *r, const struct ironic_page *p,
		 const char *path)
{
	struct str url;

	if (p->n < p->limit || (r->rule != NULL && r->rule->action == FAULT_EMPTY))
		return;
	str_init(&url, 2 * IRONIC_FIELDS_SIZE);
	str_addf(&url, "http://%s/v1/%s?sort_key=%s&sort_dir=asc", r->q->host, path,
		 p->sorted ? p->by : "id");
	for (const char *q = r->q->query; *q != '\0'; q += *q == '&') {
		size_t n = strcspn(q, "&");

		if (strncmp(q, "limit=", 6) != 0 && strncmp(q, "marker=", 7) != 0 &&
		    strncmp(q, "sort_", 5) != 0)
			str_addf(&url, "&%.*s", (int)n, q);
		q += n;
	}
	str_addf(&url, "&limit=%lld&marker=%s", (long long)p->limit, p->last);
	js_str(s, "next", url.p);
	str_fini(&url);
}

bool ironic_hides(const struct ironic_run *r, const struct ironic_page *p, const char *node)
{
	double flap = r->c->conf->flap;

	return face_hides(r->rule, node, (size_t)p->n, (size_t)p->limit) ||
	       (flap > 0 && rng_unit(&r->c->rng) < flap);
}
