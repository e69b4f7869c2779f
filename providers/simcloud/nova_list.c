/* nova_list.c - GET /servers and /servers/detail: pages of all servers of a region, the youngest
 * first.  As at Nova a page that is full has a link to the next, even if that will be empty. */
#include <string.h>
#include <strings.h>

#include "providers/simcloud/js.h"
#include "providers/simcloud/nova.h"

static const char *const statuses[] = {"ACTIVE", "BUILD",     "REBUILD", "STOPPED", "MIGRATING",
				       "PAUSED", "SUSPENDED", "RESCUE",  "ERROR",   "DELETED",
				       "REBOOT", "SHUTOFF",   "RESIZE",  "SHELVED", "PASSWORD"};

struct page {
	const struct face_call *f;
	const struct nova_call *x;
	const struct nova_query *q;
	const struct cloud *c;
	const struct fault_rule *rule;
	int64_t now, limit;
	size_t n;
	struct str s;
	char last[OS_ID_SIZE];
};

/* Has the server all, or any, of the tags in a list with commas? */
static bool has_tags(const struct nova_spec *spec, const char *list, bool all)
{
	while (*list != '\0') {
		size_t n = strcspn(list, ",");
		char tag[NOVA_TEXT_SIZE] = "";

		memcpy(tag, list, n < sizeof(tag) ? n : sizeof(tag) - 1);
		if (nova_spec_has_tag(spec, tag) != all)
			return !all;
		list += n + (list[n] == ',');
	}
	return all;
}

static const char *name_of(const struct page *p, const struct nova_item *it,
			   char out[NOVA_TEXT_SIZE])
{
	if (it->k == NULL)
		return p->c->meter->rows[it->i->row].node;
	nova_spec_name(out, it->k->spec, it->k->index);
	return out;
}

static bool matches_tags(const struct page *p, const struct nova_spec *spec)
{
	const struct nova_query *q = p->q;

	if (!p->c->conf->filter || !p->c->conf->tags)
		return true;
	return (q->tags[0] == '\0' || has_tags(spec, q->tags, true)) &&
	       (q->tags_any[0] == '\0' || has_tags(spec, q->tags_any, false)) &&
	       (q->not_tags[0] == '\0' || !has_tags(spec, q->not_tags, true));
}

static bool matches(const struct page *p, const struct nova_item *it)
{
	const struct nova_spec *spec = it->k != NULL ? it->k->spec : NULL;
	const struct nova_query *q = p->q;
	char name[NOVA_TEXT_SIZE];

	if (!nova_is_there(it, p->f->region, p->now) || !matches_tags(p, spec))
		return false;
	if (q->status[0] != '\0' && strcasecmp(q->status, nova_status(it, p->now)) != 0)
		return false;
	if (q->reservation[0] != '\0' &&
	    (spec == NULL || strcmp(spec->reservation, q->reservation) != 0))
		return false;
	/* Nova takes a regular expression, of which this is the simplest. */
	return q->name[0] == '\0' || strstr(name_of(p, it, name), q->name) != NULL;
}

static const char *node_of(const struct page *p, const struct nova_item *it)
{
	return it->i != NULL ? p->c->meter->rows[it->i->row].node : "";
}

static bool flaps(struct cloud *c)
{
	return c->conf->flap != 0 && rng_unit(&c->rng) < c->conf->flap;
}

static void put_page(struct page *p, struct cloud *c)
{
	bool on = p->q->marker[0] == '\0';
	struct nova_item it;
	struct nova_walk w;

	nova_walk(&w, c);
	while ((int64_t)p->n < p->limit && nova_next(&w, &it)) {
		char id[OS_ID_SIZE];

		if (it.i == NULL && it.k == NULL)
			continue; /* forgotten */
		nova_id(id, &it);
		if (on && matches(p, &it)) {
			memcpy(p->last, id, sizeof(id));
			if (face_hides(p->rule, node_of(p, &it), p->n++, (size_t)p->limit) ||
			    flaps(c))
				continue;
			js_open(&p->s, NULL, '{');
			nova_put_server(&p->s, p->f, c, &it, p->now);
			js_close(&p->s, '}');
		}
		on |= strcmp(id, p->q->marker) == 0;
	}
}

static void put_next(struct page *p)
{
	struct str href;

	if ((int64_t)p->n < p->limit || p->n == 0 ||
	    (p->rule != NULL && p->rule->action == FAULT_EMPTY))
		return;
	str_init(&href, OS_BODY_MAX);
	str_addf(&href, "%s/servers%s?%s%smarker=%s", p->x->base, p->x->detail ? "/detail" : "",
		 p->q->text, p->q->text[0] != '\0' ? "&" : "", p->last);
	js_open(&p->s, "servers_links", '[');
	js_open(&p->s, NULL, '{');
	js_str(&p->s, "rel", "next");
	js_str(&p->s, "href", href.p);
	js_close(&p->s, '}');
	js_close(&p->s, ']');
	str_fini(&href);
}

static bool is_status(const char *word)
{
	for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++)
		if (strcasecmp(statuses[i], word) == 0)
			return true;
	return word[0] == '\0';
}

/* A marker may be a server that was deleted meanwhile only while it can still be found. */
static bool check(const struct page *p, struct cloud *c, struct face_reply *out)
{
	struct nova_item it;
	struct str s;

	if (!is_status(p->q->status)) {
		nova_fault(out, p->x, 400, "Invalid status value");
		return false;
	}
	if (p->q->marker[0] == '\0' || nova_find(c, p->q->marker, p->f->region, p->now, &it))
		return true;
	str_init(&s, OS_BODY_MAX);
	str_addf(&s, "marker [%s] not found", p->q->marker);
	nova_fault(out, p->x, 400, s.p);
	str_fini(&s);
	return false;
}

void nova_run_list(const struct face_call *f, struct cloud *c, const struct fault_rule *rule,
		   int64_t now, struct face_reply *out)
{
	struct page p = {.f = f, .x = f->own, .c = c, .rule = rule, .now = now};

	p.q = &p.x->query;
	p.limit =
		p.q->limit >= 0 && p.q->limit < c->conf->page_max ? p.q->limit : c->conf->page_max;
	if (!check(&p, c, out))
		return;
	str_init(&p.s, OS_BODY_MAX);
	js_open(&p.s, NULL, '{');
	js_open(&p.s, "servers", '[');
	put_page(&p, c);
	js_close(&p.s, ']');
	put_next(&p);
	js_close(&p.s, '}');
	nova_answer(out, p.x, 200, &p.s);
}
