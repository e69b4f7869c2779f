#include "providers/simcloud/cloud.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum due { DUE_BOOT, DUE_STOP, DUE_NOTICE, DUE_RECLAIM, DUE_REPAIR, DUE_PRICE, DUE_FORGET };

static const char *const words[] = {
	[CLOUD_PENDING] = "pending",       [CLOUD_RUNNING] = "running",
	[CLOUD_RECLAIMING] = "reclaiming", [CLOUD_STOPPING] = "stopping",
	[CLOUD_ENDED] = "ended",
};

const char *cloud_state_word(enum cloud_state s)
{
	return words[s];
}

int cloud_init(struct cloud *c, const struct cloud_opts *o, struct err *e)
{
	*c = (struct cloud){.conf = o->conf,
			    .meter = o->meter,
			    .events = o->events,
			    .first = o->meter->n,
			    .start_ms = o->start_ms};
	if (addr_init(&c->addrs, o->subnet, e) != 0)
		return -1;
	tokens_init(&c->tokens);
	notices_init(&c->notices);
	rng_init(&c->rng, o->seed, 0);
	cloud_reconf(c);
	return 0;
}

static void free_instance(struct cloud_instance *i)
{
	if (i != NULL) {
		order_unref(i->order);
		free(i->fabric);
		userdata_unref(i->user_data);
	}
	free(i);
}

void cloud_fini(struct cloud *c)
{
	for (uint32_t i = 0; i < c->cap; i++)
		free_instance(c->by_row[i]);
	free(c->by_row);
	for (size_t i = 0; i < c->npools; i++) {
		free(c->pools[i]->blocks);
		free(c->pools[i]);
	}
	free(c->pools);
	free(c->fabrics);
	annex_free(c->annex);
	addr_fini(&c->addrs);
	tokens_fini(&c->tokens);
	notices_fini(&c->notices);
	sshkeys_fini(&c->sshkeys);
	heap_fini(&c->due);
	*c = (struct cloud){0};
}

static void tell(struct cloud *c, const struct cloud_instance *i, enum notice_kind kind,
		 int64_t at_ms, int64_t now)
{
	notices_add(&c->notices,
		    &(struct notice){.told_ms = now, .at_ms = at_ms, .row = i->row, .kind = kind});
}

static void note(struct cloud *c, const struct cloud_instance *i, const char *kind,
		 const char *detail, int64_t now)
{
	char id[METER_ID_SIZE];

	events_add(
		c->events, now, kind,
		(const char *const[]){meter_id(id, i->row), c->meter->rows[i->row].node, detail});
}

enum cloud_state cloud_shown(const struct cloud_instance *i, int64_t now)
{
	return now < i->shown_until ? i->shown : i->state;
}

static void enter(struct cloud *c, struct cloud_instance *i, enum cloud_state to, int64_t now)
{
	i->shown = cloud_shown(i, now);
	i->shown_until = now + dist_sample(&c->conf->state_lag, &c->rng);
	i->state = to;
}

/* --- create ----------------------------------------------------------------------------------- */

static bool is_broken(const struct settings *conf, const char *image)
{
	return image != NULL && settings_glob(&conf->image_broken, image, image);
}

static int32_t make(struct cloud *c, const struct cloud_create *rq, const struct cloud_want *w,
		    struct cloud_pool *p, int64_t now)
{
	const struct settings *conf = c->conf;
	struct cloud_instance *i = mem_zalloc(sizeof(*i));

	i->addr = addr_take(&c->addrs, now, conf->addr_reuse_ms);
	assert(i->addr != 0); /* addresses_left() said so */
	i->row = meter_start(c->meter, &(struct meter_row){.node = w->node,
							   .cluster = rq->cluster,
							   .type = p->type,
							   .region = p->region,
							   .zone = p->zone,
							   .currency = p->currency,
							   .gen = (uint64_t)w->gen,
							   .price_nano_h = cloud_price(c, p, now),
							   .market = p->market,
							   .start_ms = now});
	i->pool = p;
	fabric_take(c, i, rq->fabric);
	i->order = order_ref(rq->order);
	i->user_data = userdata_ref(w->user_data);
	i->index = (uint32_t)(w - rq->wants);
	i->visible_at = now + dist_sample(&conf->visible, &c->rng);
	i->address_at = now + dist_sample(&conf->address_after, &c->rng);
	i->stop_at = i->reclaim_at = i->repair_at = i->warned_at = -1;
	if (i->row >= c->cap) {
		uint32_t cap = i->row < 256 ? 256 : 2 * i->row;

		c->by_row = mem_realloc(c->by_row, cap * sizeof(struct cloud_instance *));
		memset(c->by_row + c->cap, 0, (cap - c->cap) * sizeof(struct cloud_instance *));
		c->cap = cap;
	}
	c->by_row[i->row] = i;
	p->used++;
	c->live++;
	if (!settings_glob(&conf->boot_never, w->node, p->type) && !is_broken(conf, rq->image))
		heap_push(&c->due, now + dist_sample(&conf->boot, &c->rng), DUE_BOOT, i->row);
	if (p->curve.n > 0)
		heap_push(&c->due, now + conf->spot_hour_ms, DUE_PRICE, i->row);
	if (p->market == MARKET_SPOT && conf->spot_dies)
		heap_push(&c->due, now + dist_sample(&conf->spot_life, &c->rng), DUE_NOTICE,
			  i->row);
	if (c->host.named != NULL)
		c->host.named(c->host.ctx, i, true);
	note(c, i, "created", p->zone, now);
	return (int32_t)i->row;
}

static bool matches(const struct cloud_pool *p, const struct cloud_create *rq)
{
	return p->offered && p->market == rq->market && strcmp(p->type, rq->type) == 0 &&
	       strcmp(p->region, rq->region) == 0 &&
	       (rq->zone[0] == '\0' || strcmp(p->zone, rq->zone) == 0);
}

static bool sold(const struct cloud *c, const struct cloud_create *rq)
{
	for (size_t k = 0; k < c->npools; k++)
		if (matches(c->pools[k], rq))
			return true;
	return false;
}

/* A pool of the request's type, region and zone with room for n; NULL: none. */
static struct cloud_pool *room(struct cloud *c, const struct cloud_create *rq, int64_t n)
{
	for (size_t k = 0; k < c->npools; k++) {
		struct cloud_pool *p = c->pools[k];

		if (matches(p, rq) && (p->capacity < 0 || p->capacity - p->used >= n) &&
		    fabric_room(c, p, rq->fabric, n) >= n)
			return p;
	}
	return NULL;
}

static int64_t addresses_left(const struct cloud *c, int64_t now)
{
	const struct addr_pool *a = &c->addrs;
	int64_t n = a->fresh <= a->last ? (int64_t)a->last - a->fresh + 1 : 0;

	for (size_t k = 0; k < a->n && n < SETTINGS_BATCH_MAX; k++, n++)
		if (now - a->freed[(a->head + k) % a->cap].at < c->conf->addr_reuse_ms)
			break; /* and so are all the later ones */
	return n;
}

int64_t cloud_room(struct cloud *c, const struct cloud_create *rq, int64_t max, int64_t now)
{
	int64_t best = 0, addresses = addresses_left(c, now);

	if (!sold(c, rq))
		return -1;
	for (size_t k = 0; k < c->npools; k++) {
		const struct cloud_pool *p = c->pools[k];
		int64_t room = p->capacity < 0 ? max : p->capacity - p->used;

		room = fabric_room(c, p, rq->fabric, room);
		if (matches(p, rq) && room > best)
			best = room;
	}
	best = best < max ? best : max;
	return best < addresses ? best : addresses;
}

/* Place all members of a group (or one instance without a group), or refuse all with one code. */
static void place_group(struct cloud *c, const struct cloud_create *rq, size_t first,
			int32_t *results, int64_t now)
{
	int64_t group = rq->wants[first].group, n = 0;
	size_t end = group != 0 ? rq->nwants : first + 1;
	enum code refusal = CODE_OK;
	struct cloud_pool *p;

	for (size_t k = first; k < end; k++) {
		if (rq->wants[k].group != group)
			continue;
		n++;
		if (rq->wants[k].refuse != CODE_OK)
			refusal = rq->wants[k].refuse;
	}
	p = room(c, rq, n);
	if (c->closing || c->meter->n + n > METER_ROWS_MAX)
		refusal = CODE_INTERNAL;
	else if (c->conf->quota >= 0 && c->live + n > c->conf->quota)
		refusal = CODE_QUOTA;
	else if (refusal == CODE_OK && (p == NULL || addresses_left(c, now) < n))
		refusal = CODE_CAPACITY;
	for (size_t k = first; k < end; k++)
		if (rq->wants[k].group == group)
			results[k] = refusal == CODE_OK ? make(c, rq, &rq->wants[k], p, now)
							: -(int32_t)refusal;
}

enum { UNPLACED = INT32_MIN };

enum code cloud_create(struct cloud *c, const struct cloud_create *rq, int32_t *results,
		       int64_t now)
{
	struct token head = {.hash = rq->body_hash, .len = rq->body_len, .nitems = rq->nwants};
	const struct token *seen;
	bool made = false;

	if (c->conf->tokens && rq->token[0] != '\0') {
		seen = tokens_find(&c->tokens, rq->token, now);
		if (seen != NULL && (seen->hash != head.hash || seen->len != head.len ||
				     seen->nitems != rq->nwants))
			return CODE_TOKEN_MISMATCH;
		if (seen != NULL) {
			memcpy(results, seen->items, rq->nwants * sizeof(*results));
			return CODE_OK;
		}
	}
	if (!sold(c, rq))
		return CODE_INVALID;
	if (rq->fabric != NULL && rq->fabric[0] != '\0' && fabric_find(c, rq->fabric) == NULL)
		return CODE_NOT_FOUND;
	for (size_t k = 0; k < rq->nwants; k++)
		results[k] = UNPLACED;
	for (size_t k = 0; k < rq->nwants; k++) {
		if (results[k] == UNPLACED)
			place_group(c, rq, k, results, now);
		made |= results[k] >= 0;
	}
	if (made && c->conf->tokens && rq->token[0] != '\0') {
		memcpy(head.text, rq->token, strnlen(rq->token, TOKEN_TEXT_MAX));
		head.expires = now + c->conf->token_life_ms;
		tokens_put(&c->tokens, &head, results);
	}
	return CODE_OK;
}

/* --- the end of one --------------------------------------------------------------------------- */

static void finish(struct cloud *c, struct cloud_instance *i, int64_t now)
{
	enter(c, i, CLOUD_ENDED, now);
	meter_ended(c->meter, i->row, now, i->why);
	addr_give(&c->addrs, i->addr, now);
	i->pool->used--;
	fabric_leave(i);
	c->live--;
	if (c->host.named != NULL)
		c->host.named(c->host.ctx, i, false);
	heap_push(&c->due, now + c->conf->ended_keep_ms, DUE_FORGET, i->row);
	note(c, i, "ended", i->why, now);
	tell(c, i, NOTICE_ENDED, 0, now);
}

/* End an instance.  It is billed until its process is gone, which the host tells by
 * cloud_exited(). */
static void end(struct cloud *c, struct cloud_instance *i, const char *why, int64_t now)
{
	i->why = why;
	if (i->process)
		c->host.kill(c->host.ctx, i);
	else
		finish(c, i, now);
}

void cloud_kill(struct cloud *c, struct cloud_instance *i, const char *why, int64_t now)
{
	if (i->state != CLOUD_ENDED)
		end(c, i, why, now);
}

/* An instance that powers itself off is shown as stopping first, and billed, as a deleted one
 * is. */
static void switch_off(struct cloud *c, struct cloud_instance *i, int64_t now)
{
	i->why = "exited";
	i->stop_at = now + dist_sample(&c->conf->stop, &c->rng);
	if (i->stop_at <= now) {
		finish(c, i, now);
		return;
	}
	enter(c, i, CLOUD_STOPPING, now);
	heap_push(&c->due, i->stop_at, DUE_STOP, i->row);
}

void cloud_exited(struct cloud *c, uint32_t row, int64_t now)
{
	struct cloud_instance *i = cloud_of_row(c, row);

	if (i == NULL || !i->process)
		return;
	i->process = false;
	if (i->why == NULL && i->state != CLOUD_STOPPING) {
		switch_off(c, i, now);
		return;
	}
	if (i->why == NULL)
		i->why = "exited";
	finish(c, i, now);
}

void cloud_end_all(struct cloud *c, int64_t now)
{
	c->closing = true;
	for (uint32_t k = c->first; k < c->cap; k++)
		if (c->by_row[k] != NULL)
			cloud_kill(c, c->by_row[k], "simcloud stopped", now);
}

bool cloud_reclaim(struct cloud *c, struct cloud_instance *i, int64_t notice_ms, int64_t now)
{
	if (i->state != CLOUD_PENDING && i->state != CLOUD_RUNNING && i->state != CLOUD_RECLAIMING)
		return false;
	i->reclaim_at = now + notice_ms;
	enter(c, i, CLOUD_RECLAIMING, now);
	heap_push(&c->due, i->reclaim_at, DUE_RECLAIM, i->row);
	note(c, i, "reclaiming", NULL, now);
	tell(c, i, NOTICE_RECLAIM, i->reclaim_at, now);
	return true;
}

bool cloud_warn(struct cloud *c, struct cloud_instance *i, enum notice_kind kind, int64_t notice_ms,
		int64_t now)
{
	if (i->state == CLOUD_STOPPING || i->state == CLOUD_ENDED)
		return false;
	if (kind == NOTICE_MAINTENANCE) {
		i->repair_at = now + notice_ms;
		heap_push(&c->due, i->repair_at, DUE_REPAIR, i->row);
	}
	if (kind == NOTICE_REBALANCE)
		i->warned_at = now;
	i->faulty |= kind == NOTICE_FAULTY;
	note(c, i, notice_word(kind), NULL, now);
	tell(c, i, kind, kind == NOTICE_MAINTENANCE ? i->repair_at : 0, now);
	return true;
}

bool cloud_hasten(struct cloud *c, struct cloud_instance *i, enum notice_kind kind, int64_t now)
{
	bool reclaim = kind == NOTICE_RECLAIM;
	int64_t *at = reclaim ? &i->reclaim_at : &i->repair_at;

	if (i->state == CLOUD_ENDED || *at < 0)
		return false;
	note(c, i, "hastened", NULL, now);
	if (*at > now) {
		*at = now; /* the heap entry of the old time no longer counts */
		heap_push(&c->due, now, reclaim ? DUE_RECLAIM : DUE_REPAIR, i->row);
	}
	return true;
}

/* --- delete, list ----------------------------------------------------------------------------- */

struct cloud_instance *cloud_of_row(const struct cloud *c, uint32_t row)
{
	return row < c->cap ? c->by_row[row] : NULL;
}

struct cloud_instance *cloud_find(const struct cloud *c, const char *id, int64_t now)
{
	struct cloud_instance *i;
	uint32_t row;

	if (!meter_row_of(c->meter, id, &row))
		return NULL;
	i = cloud_of_row(c, row);
	return i != NULL && now >= i->visible_at ? i : NULL;
}

enum code cloud_delete(struct cloud *c, const char *id, int64_t now, int64_t *retry_ms)
{
	struct cloud_instance *i = cloud_find(c, id, now);
	const struct meter_row *row;

	if (i == NULL)
		return CODE_NOT_FOUND;
	row = &c->meter->rows[i->row];
	if (i->state == CLOUD_ENDED || i->stop_at >= 0)
		return CODE_OK;
	if (now - row->start_ms < c->conf->min_rental_ms) {
		*retry_ms = row->start_ms + c->conf->min_rental_ms - now;
		return CODE_NOT_YET;
	}
	meter_deleted(c->meter, i->row, now);
	note(c, i, "deleted", NULL, now);
	enter(c, i, CLOUD_STOPPING, now);
	i->stop_at = INT64_MAX;
	if (settings_glob(&c->conf->end_never, row->node, row->type))
		return CODE_OK;
	i->stop_at = now + dist_sample(&c->conf->stop, &c->rng);
	if (i->stop_at > now)
		heap_push(&c->due, i->stop_at, DUE_STOP, i->row);
	else
		end(c, i, "deleted", now);
	return CODE_OK;
}

enum code cloud_report(struct cloud *c, const char *id, const char *why, int64_t now)
{
	const struct cloud_instance *i = cloud_find(c, id, now);

	if (i == NULL)
		return CODE_NOT_FOUND;
	if (i->state == CLOUD_STOPPING || i->state == CLOUD_ENDED)
		return CODE_INVALID;
	note(c, i, "reported", why, now);
	return CODE_OK;
}

int64_t cloud_list(struct cloud *c, const struct cloud_query *q, cloud_visit_fn fn, void *ctx)
{
	bool all = q->cluster[0] == '\0' || !c->conf->tags || !c->conf->filter;
	uint32_t k = q->after >= c->first ? (uint32_t)q->after + 1 : c->first;
	int64_t n = 0;

	for (; k < c->cap && k < c->meter->n; k++) {
		const struct cloud_instance *i = c->by_row[k];

		if (i == NULL || q->now < i->visible_at ||
		    (!all && strcmp(c->meter->rows[k].cluster, q->cluster) != 0) ||
		    (q->region != NULL && strcmp(c->meter->rows[k].region, q->region) != 0))
			continue;
		if (n++ == q->limit)
			return (int64_t)k - 1;
		if (c->conf->flap == 0 || rng_unit(&c->rng) >= c->conf->flap)
			fn(ctx, i);
	}
	return -1;
}

/* --- time ------------------------------------------------------------------------------------- */

static void boot(struct cloud *c, struct cloud_instance *i, int64_t now)
{
	const struct meter_row *row = &c->meter->rows[i->row];
	bool real = c->host.start != NULL;

	if (i->process || (i->state != CLOUD_PENDING && i->state != CLOUD_RECLAIMING))
		return;
	if (settings_glob(&c->conf->boot_fails, row->node, row->type) ||
	    (real && !c->host.start(c->host.ctx, i))) {
		end(c, i, "cannot boot", now);
		return;
	}
	i->process = real;
	if (i->state == CLOUD_PENDING)
		enter(c, i, CLOUD_RUNNING, now);
	note(c, i, "running", NULL, now);
}

/* As on EC2, the price at the beginning of each hour of the instance holds for that hour. */
static void reprice(struct cloud *c, struct cloud_instance *i, int64_t at)
{
	int64_t price = cloud_price(c, i->pool, at);

	if (i->state == CLOUD_ENDED)
		return;
	if (price != meter_price_now(&c->meter->rows[i->row]))
		meter_price(c->meter, i->row, at, price);
	heap_push(&c->due, at + c->conf->spot_hour_ms, DUE_PRICE, i->row);
}

static void forget(struct cloud *c, struct cloud_instance *i)
{
	c->by_row[i->row] = NULL;
	free_instance(i);
	while (c->first < c->cap && c->first < c->meter->n && c->by_row[c->first] == NULL)
		c->first++;
}

void cloud_tick(struct cloud *c, int64_t now)
{
	struct heap_item it;

	while (heap_pop(&c->due, now, &it)) {
		struct cloud_instance *i = cloud_of_row(c, it.row);

		if (i == NULL)
			continue; /* ended and forgotten before it was due */
		switch ((enum due)it.what) {
		case DUE_BOOT:
			boot(c, i, now);
			break;
		case DUE_STOP:
			if (i->state == CLOUD_STOPPING)
				end(c, i, i->why != NULL ? i->why : "deleted", now);
			break;
		case DUE_NOTICE:
			(void)cloud_reclaim(c, i, c->conf->spot_notice_ms, now);
			break;
		case DUE_RECLAIM:
			if (i->state != CLOUD_ENDED && i->reclaim_at == it.at)
				end(c, i, "reclaimed", now);
			break;
		case DUE_REPAIR:
			if (i->state != CLOUD_ENDED && i->repair_at == it.at)
				end(c, i, "taken for repair", now);
			break;
		case DUE_PRICE:
			reprice(c, i, it.at);
			break;
		case DUE_FORGET:
			forget(c, i);
			break;
		}
	}
}

int64_t cloud_next(const struct cloud *c)
{
	return heap_next(&c->due);
}
