/* nova_create.c - POST /servers: what Nova checks at once, and what comes of it later.
 *
 * The servers of one create get hosts together or not at all: the scheduler is asked once for all
 * of them, and min_count is for the quota alone. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "providers/simcloud/js.h"
#include "providers/simcloud/nova.h"

static const char no_host[] = "No valid host was found. There are not enough hosts available.";

struct making {
	const struct face_call *f;
	struct nova_call *x;
	struct nova_spec *spec;
	struct cloud *c;
	struct nova_book *b;
	const struct fault_rule *rule;
	int64_t now;
	struct face_reply *out;
	const struct cloud_pool *pool; /* of the flavor, in any zone */
	char first[OS_ID_SIZE];        /* id of the first server */
};

static bool fail(const struct making *m, unsigned status, const char *message)
{
	nova_fault(m->out, m->x, status, message);
	return false;
}

/* A shorter create of those that the quota allows, if they are enough. */
static bool fit_quota(const struct making *m)
{
	struct nova_spec *s = m->spec;
	int64_t used = m->c->live + (int64_t)nova_failed(m->b), most = (int64_t)m->f->n;
	int64_t quota = m->c->conf->quota;
	char text[NOVA_TEXT_SIZE], asked[48];

	if (quota >= 0 && quota - used < most)
		most = quota - used;
	s->count = s->max;
	if ((int64_t)s->max <= most)
		return true;
	if (most > 0 && (int64_t)s->min <= most) {
		s->count = (size_t)most;
		return true;
	}
	if (s->min == s->max)
		(void)snprintf(asked, sizeof(asked), "%zu", s->min);
	else
		(void)snprintf(asked, sizeof(asked), "%zu-%zu", s->min, s->max);
	(void)snprintf(text, sizeof(text),
		       "Quota exceeded for instances: Requested %s, but already used %lld of %lld "
		       "instances",
		       asked, (long long)used, (long long)(quota >= 0 ? quota : most));
	m->out->items[CODE_QUOTA] += s->min;
	return fail(m, 403, text);
}

static bool zone_is_there(const struct making *m)
{
	if (m->f->zone[0] == '\0')
		return true;
	for (size_t i = 0; i < m->c->npools; i++)
		if (m->c->pools[i]->offered && strcmp(m->c->pools[i]->zone, m->f->zone) == 0 &&
		    strcmp(m->c->pools[i]->region, m->f->region) == 0)
			return true;
	return fail(m, 400, "The requested availability zone is not available");
}

/* What is wrong and the schema could not know. */
static bool check(struct making *m)
{
	const struct nova_spec *s = m->spec;
	char text[NOVA_TEXT_SIZE];

	m->pool = nova_flavor_find(m->c, s->flavor, m->f->region);
	if (m->pool == NULL) {
		(void)snprintf(text, sizeof(text), "Flavor %s could not be found.", s->flavor);
		return fail(m, 400, text);
	}
	if (!zone_is_there(m))
		return false;
	if (s->group[0] != '\0' && nova_group_find(m->b, s->group, m->f->region) == NULL) {
		(void)snprintf(text, sizeof(text), "Instance group %s could not be found.",
			       s->group);
		return fail(m, 400, text);
	}
	return fit_quota(m);
}

/* Remember the i-th server; row < 0: it has no instance, and why. */
static void keep(struct making *m, size_t i, int32_t row, const char *fault)
{
	const struct settings *conf = m->c->conf;
	struct nova_kept k = {.spec = m->spec, .index = i, .created_ms = m->now, .fault = fault};
	struct nova_item it = {.k = &k};

	memcpy(k.region, m->f->region, sizeof(k.region));
	if (row >= 0) {
		k.row = (uint32_t)row;
		it.i = cloud_of_row(m->c, k.row);
	} else {
		k.row = m->c->meter->n;
		k.number = nova_number(m->b);
		k.visible_at = m->now + dist_sample(&conf->visible, &m->c->rng);
		k.failed_at = m->now + dist_sample(&conf->boot, &m->c->rng);
	}
	nova_keep(m->b, &k);
	if (m->first[0] == '\0')
		nova_id(m->first, &it);
	m->out->items[row >= 0 ? CODE_OK : CODE_CAPACITY]++;
}

/* Only a group of machines close to each other is a fabric of the cloud. */
static const char *fabric_of(const struct making *m)
{
	return fabric_find(m->c, m->spec->group) != NULL ? m->spec->group : "";
}

/* Ask the cloud for n instances, all in one zone. */
static enum code ask(const struct making *m, struct cloud_want *wants, size_t n, int32_t *rows)
{
	struct cloud_create rq = {.token = "",
				  .cluster = m->f->cluster,
				  .type = m->pool->type,
				  .region = m->f->region,
				  .zone = m->f->zone,
				  .fabric = fabric_of(m),
				  .market = m->pool->market,
				  .wants = wants,
				  .nwants = n};
	enum code code = n > 0 ? cloud_create(m->c, &rq, rows, m->now) : CODE_OK;

	if (code != CODE_OK || n == 0)
		return code;
	return rows[0] < 0 ? (enum code) - rows[0] : CODE_OK;
}

/* Make those that the rule does not leave out; no other one gets a host. */
static void make(struct making *m)
{
	size_t n = m->spec->count, made = 0;
	struct cloud_want *wants = mem_zalloc(n * sizeof(*wants));
	int32_t *rows = mem_zalloc(n * sizeof(*rows));
	enum code code;

	for (size_t i = 0; i < n; i++)
		if (!face_left_out(m->rule, m->f->wants[i].node, i, n)) {
			wants[made] = m->f->wants[i];
			wants[made++].group = 1;
		}
	code = ask(m, wants, made, rows);
	for (size_t i = 0, k = 0; i < n; i++) {
		bool out = face_left_out(m->rule, m->f->wants[i].node, i, n);

		keep(m, i, !out && code == CODE_OK ? rows[k++] : -1, no_host);
	}
	free(wants);
	free(rows);
}

static void put_server(struct str *s, const struct making *m)
{
	js_open(s, "server", '{');
	js_str(s, "id", m->first);
	nova_put_links(s, m->x, "servers", m->first);
	js_str(s, "OS-DCF:diskConfig", "MANUAL");
	if (json_object_get(m->spec->server, "security_groups") != NULL) {
		js_raw(s, "security_groups", json_object_get(m->spec->server, "security_groups"));
	} else {
		js_open(s, "security_groups", '[');
		js_open(s, NULL, '{');
		js_str(s, "name", "default");
		js_close(s, '}');
		js_close(s, ']');
	}
	js_str(s, "adminPass", "simcloudPass");
	js_close(s, '}');
}

static void answer(struct making *m)
{
	char url[2 * OS_URL_SIZE];
	struct str s;

	str_init(&s, OS_BODY_MAX);
	js_open(&s, NULL, '{');
	if (m->spec->by_reservation) {
		js_str(&s, "reservation_id", m->spec->reservation);
	} else {
		put_server(&s, m);
		(void)snprintf(url, sizeof(url), "%.200s/servers/%s", m->x->base, m->first);
		face_header(m->out, "Location", url);
	}
	js_close(&s, '}');
	nova_answer(m->out, m->x, 202, &s);
}

void nova_run_create(const struct face_call *f, struct cloud *c, const struct fault_rule *rule,
		     int64_t now, struct face_reply *out)
{
	struct nova_call *x = f->own;
	struct making m = {.f = f,
			   .x = x,
			   .spec = x->spec,
			   .c = c,
			   .b = nova_book(c),
			   .rule = rule,
			   .now = now,
			   .out = out};

	if (!check(&m))
		return;
	(void)snprintf(m.spec->reservation, sizeof(m.spec->reservation), "r-%08x",
		       nova_number(m.b));
	make(&m);
	answer(&m);
}
