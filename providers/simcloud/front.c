#include "providers/simcloud/front.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "providers/simcloud/faces.h"
#include "providers/simcloud/js.h"

/* A request between its arrival and its answer. */
struct front_job {
	uint64_t ticket; /* 0: nobody waits for the answer (FAULT_LATE) */
	uint32_t index;  /* in f->jobs */
	int64_t due;     /* when it goes on; 0: when it is released */
	bool waits;      /* waits for notices, until due */
	struct face_call *call;
	bool run; /* the call has not run yet */
	bool drop;
	struct face_reply reply;
	unsigned hold; /* not 0: held under this number */
	int64_t since;
	uint64_t number; /* of the request */
	enum op op;
	char node[SETTINGS_WORD_SIZE];
};

struct front_slot {
	struct front_job *job; /* NULL: free */
	uint32_t next_free;
};

static const char garbage[] = "<!DOCTYPE html><html><head><title>502 Bad Gateway</title></head>"
			      "<body><center><h1>502 Bad Gateway</h1></center></body></html>\n";

void front_init(struct front *f, struct cloud *c, struct settings *conf, uint64_t seed)
{
	*f = (struct front){.cloud = c, .conf = conf, .faults.seed = seed};
	rng_init(&f->rng, seed, UINT32_MAX);
}

static void job_free(struct front_job *j)
{
	face_call_free(j->call);
	free(j->reply.body);
	free(j);
}

void front_fini(struct front *f)
{
	for (uint32_t i = 0; i < f->cap; i++)
		if (f->jobs[i].job != NULL)
			job_free(f->jobs[i].job);
	free(f->jobs);
	heap_fini(&f->due);
}

/* --- waiting ---------------------------------------------------------------------------------- */

static void keep(struct front *f, struct front_job *j)
{
	uint32_t i = f->free_slot;

	if (i == f->cap) {
		f->cap = i == 0 ? 64 : 2 * i;
		f->jobs = mem_realloc(f->jobs, f->cap * sizeof(*f->jobs));
		for (uint32_t k = i; k < f->cap; k++)
			f->jobs[k] = (struct front_slot){.next_free = k + 1};
	}
	f->free_slot = f->jobs[i].next_free;
	f->jobs[i].job = j;
	j->index = i;
	f->njobs++;
}

static void count(struct front *f, const struct front_job *j, int64_t now)
{
	struct front_stats *s = &f->stats;
	const uint64_t *items = j->reply.items;
	enum code code = j->reply.code;

	if (j->ticket != 0 && j->drop)
		s->dropped++;
	else if (j->ticket != 0)
		s->count[j->op][j->reply.code]++;
	for (int i = 0; i < CODE_COUNT; i++)
		s->items[j->op][i] += items[i];
	if (code != CODE_CAPACITY && code != CODE_QUOTA &&
	    items[CODE_CAPACITY] + items[CODE_QUOTA] == 0)
		return;
	if (s->refused[j->op]++ == 0)
		s->refused_ms[j->op] = now;
}

static const char *type_of(const struct face_reply *r)
{
	return r->type != NULL ? r->type : r->face->type;
}

/* Turn the reply into an answer, and free the job. */
static struct http_answer answer_of(struct front *f, struct front_job *j, int64_t now)
{
	struct http_answer an = {.status = j->reply.status,
				 .type = type_of(&j->reply),
				 .body = j->reply.body,
				 .len = j->reply.len,
				 .drop = j->drop,
				 .retry_after_s = (uint32_t)((j->reply.retry_ms + 999) / 1000)};

	face_number(&j->reply, j->number);
	memcpy(an.more, j->reply.more, sizeof(an.more));
	count(f, j, now);
	j->reply.body = NULL;
	job_free(j);
	return an;
}

static void finish(struct front *f, struct front_job *j, int64_t now)
{
	uint64_t ticket = j->ticket;
	struct http_answer an;

	f->jobs[j->index] = (struct front_slot){.next_free = f->free_slot};
	f->free_slot = j->index;
	f->njobs--;
	an = answer_of(f, j, now);
	if (ticket != 0 && f->server != NULL)
		http_server_answer(f->server, ticket, &an);
	else
		free(an.body);
}

static void run(struct front *f, struct front_job *j, const struct fault_rule *rule, int64_t now)
{
	face_run(j->call, f->cloud, rule, now, &j->reply);
	j->run = false;
}

static void wait_until(struct front *f, struct front_job *j, int64_t due)
{
	j->due = due;
	heap_push(&f->due, due, 0, j->index);
}

static void wake(struct front *f, struct front_job *j, int64_t now)
{
	int64_t wait = dist_sample(&f->conf->latency[j->op], &f->rng);

	j->waits = false;
	f->nwaiting--;
	run(f, j, NULL, now);
	if (wait == 0)
		finish(f, j, now);
	else
		wait_until(f, j, now + wait);
}

/* If there are new notices, wake the requests that wait for them. */
static void tell(struct front *f, int64_t now)
{
	if (f->heard == f->cloud->notices.n)
		return;
	f->heard = f->cloud->notices.n;
	for (uint32_t i = 0; f->nwaiting > 0 && i < f->cap; i++) {
		struct front_job *j = f->jobs[i].job;

		if (j != NULL && j->waits && !face_waits(j->call, f->cloud, now))
			wake(f, j, now);
	}
}

void front_tick(struct front *f, int64_t now)
{
	struct heap_item it;

	tell(f, now);

	while (heap_pop(&f->due, now, &it)) {
		struct front_job *j = f->jobs[it.row].job;

		if (j == NULL || j->due != it.at)
			continue; /* it was woken before, and is answered */
		f->nwaiting -= j->waits;
		if (j->run)
			run(f, j, NULL, now);
		finish(f, j, now);
	}
}

int64_t front_next(const struct front *f)
{
	return f->nwaiting > 0 && f->heard != f->cloud->notices.n ? 0 : heap_next(&f->due);
}

unsigned front_release(struct front *f, unsigned id, int64_t now)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < f->cap; i++) {
		struct front_job *j = f->jobs[i].job;

		if (j == NULL || j->hold == 0 || (id != 0 && j->hold != id))
			continue;
		n++;
		if (j->run)
			run(f, j, NULL, now);
		finish(f, j, now);
	}
	return n;
}

/* --- faults ----------------------------------------------------------------------------------- */

static void fail(struct front_job *j, const struct fault_rule *r)
{
	j->reply.retry_ms = r->retry_after_s * 1000; /* a face may tell it in the body instead */
	face_error(&j->reply, r->code, r->message);
	memset(j->reply.items, 0, sizeof(j->reply.items)); /* the client is not told of them */
	if (r->status != 0)
		j->reply.status = (unsigned)r->status;
}

static void spoil(struct front_job *j)
{
	free(j->reply.body);
	j->reply.body = mem_strdup(garbage);
	j->reply.len = sizeof(garbage) - 1;
	j->reply.status = 200;
}

/* FAULT_LATE: the request fails, but takes effect later, when nobody listens any more. */
static void run_later(struct front *f, struct front_job *j, int64_t at)
{
	struct front_job *ghost = mem_zalloc(sizeof(*ghost));

	ghost->call = j->call;
	ghost->op = j->op;
	ghost->run = ghost->drop = true;
	j->call = NULL;
	keep(f, ghost);
	wait_until(f, ghost, at);
}

/* Apply the rule to j.  Returns how much later than usual the answer leaves; -1: held. */
static int64_t apply(struct front *f, struct front_job *j, const struct fault_rule *r, int64_t now)
{
	bool untouched = r->action == FAULT_DROP_REQUEST || r->action == FAULT_LATE ||
			 ((r->action == FAULT_ERROR || r->action == FAULT_HOLD) && !r->after);
	bool inside = r->action == FAULT_PARTIAL || r->action == FAULT_EMPTY;

	if (!untouched)
		run(f, j, inside ? r : NULL, now);
	switch (r->action) {
	case FAULT_LATE:
		run_later(f, j, now + r->ms);
		fail(j, r);
		break;
	case FAULT_ERROR:
		fail(j, r);
		break;
	case FAULT_DROP_REQUEST:
	case FAULT_DROP_REPLY:
		j->drop = true;
		break;
	case FAULT_TRUNCATE:
		j->reply.len /= 2;
		break;
	case FAULT_GARBAGE:
		spoil(j);
		break;
	case FAULT_HOLD:
		j->run = !r->after;
		j->hold = ++f->last_hold;
		f->stats.held++;
		return -1;
	case FAULT_DELAY:
		return r->ms;
	case FAULT_PARTIAL:
	case FAULT_EMPTY:
	case FAULT_ACTIONS:
		break;
	}
	return 0;
}

/* --- arrival ---------------------------------------------------------------------------------- */

struct about {
	const struct face_call *call;
	const struct cloud *cloud;
};

static const char *node_about(const void *ctx, size_t i)
{
	const struct about *a = ctx;

	return face_node(a->call, a->cloud, i);
}

struct refusal {
	enum code code;
	const char *message; /* NULL: the code's */
	int64_t retry_ms;    /* 0: no time to ask again */
};

static void refuse(const struct front *f, struct http_answer *an, const struct face *face,
		   const struct refusal *why)
{
	struct face_reply r = {.face = face, .retry_ms = why->retry_ms};

	face_error(&r, why->code, why->message);
	face_number(&r, f->stats.requests);
	an->status = r.status;
	an->type = type_of(&r);
	an->body = r.body;
	an->len = r.len;
	memcpy(an->more, r.more, sizeof(an->more));
	an->retry_after_s = (uint32_t)((r.retry_ms + 999) / 1000);
}

static void tally(struct front *f, int64_t now)
{
	struct front_stats *s = &f->stats;

	s->requests++;
	if (now / 1000 != s->second) {
		s->last_n = now / 1000 == s->second + 1 ? s->now_n : 0;
		s->now_n = 0;
		s->second = now / 1000;
	}
	s->now_n++;
}

static bool throttled(struct front *f, const struct face_call *call, struct http_answer *an,
		      int64_t now)
{
	const struct settings_bucket *b = &f->conf->bucket[call->op];
	int64_t wait = throttle_take(&f->any, &f->conf->bucket_any, 1, now);

	if (wait == 0)
		wait = throttle_take(&f->buckets[call->op], b,
				     b->per_instance && call->n > 0 ? (int64_t)call->n : 1, now);
	if (wait == 0 && call->n > 0)
		wait = throttle_take(&f->items[call->op], &f->conf->bucket_items[call->op],
				     (int64_t)call->n, now);
	if (wait == 0)
		return false;
	f->stats.count[call->op][CODE_RATE]++;
	refuse(f, an, call->face, &(const struct refusal){CODE_RATE, NULL, wait});
	return true;
}

static struct front_job *job_new(const struct http_request *rq, struct face_call *call,
				 const char *node, int64_t now)
{
	struct front_job *j = mem_zalloc(sizeof(*j));

	j->ticket = rq->ticket;
	j->call = call;
	j->op = call->op;
	j->reply.face = call->face;
	j->since = now;
	memcpy(j->node, node, strnlen(node, sizeof(j->node) - 1));
	return j;
}

static void accept_call(struct front *f, const struct http_request *rq, struct face_call *call,
			struct http_answer *an, int64_t now)
{
	struct about about = {.call = call, .cloud = f->cloud};
	struct fault_nodes nodes = {.get = node_about, .ctx = &about, .n = call->n};
	const struct fault_rule *rule = faults_pick(&f->faults, call->op, &nodes);
	struct front_job *j =
		job_new(rq, call, call->n > 0 ? face_node(call, f->cloud, 0) : "", now);
	int64_t more = 0, wait;

	j->number = f->stats.requests;
	wait = dist_sample(&f->conf->latency[call->op], &f->rng);

	if (f->stats.first_ms[j->op] == 0)
		f->stats.first_ms[j->op] = now;
	f->stats.last_ms[j->op] = now;
	if (rule == NULL && face_waits(call, f->cloud, now)) {
		j->run = j->waits = true;
		wait = call->wait_ms;
		if (f->nwaiting++ == 0)
			f->heard = f->cloud->notices.n;
	} else if (rule == NULL) {
		run(f, j, NULL, now);
	} else {
		more = apply(f, j, rule, now);
	}
	if (more == 0 && wait == 0) {
		*an = answer_of(f, j, now);
		return;
	}
	keep(f, j);
	if (more >= 0)
		wait_until(f, j, now + wait + more);
	an->later = true;
}

/* Authorize and parse a request; NULL: *an has the refusal. */
static struct face_call *read_call(struct front *f, const struct http_request *rq,
				   struct http_answer *an, int64_t now)
{
	struct face_visit v = {.rq = rq, .keys = &f->keys, .conf = f->conf, .now = now};
	struct face_call *call = NULL;
	struct err e = {0};
	enum code code;

	faces_find(&v);
	code = v.face->authorize(&v, &e);
	if (code != CODE_OK) {
		f->stats.unauthorized++;
		refuse(f, an, v.face, &(const struct refusal){code, e.msg, 0});
		an->status = 401;
		return NULL;
	}
	code = v.face->parse(&call, &v, &e);
	if (code != CODE_OK) {
		f->stats.unreadable++;
		refuse(f, an, v.face, &(const struct refusal){code, e.msg, 0});
	}
	return call;
}

void front_handle(struct front *f, const struct http_request *rq, struct http_answer *an,
		  int64_t now)
{
	struct face_call *call;

	tally(f, now);
	call = read_call(f, rq, an, now);
	if (call == NULL)
		return;
	if (f->njobs >= FRONT_JOBS_MAX) {
		refuse(f, an, call->face,
		       &(const struct refusal){CODE_INTERNAL, "too many requests wait", 0});
		face_call_free(call);
	} else if (throttled(f, call, an, now)) {
		face_call_free(call);
	} else {
		accept_call(f, rq, call, an, now);
	}
}

/* --- telling ---------------------------------------------------------------------------------- */

void front_write_held(const struct front *f, struct str *s, int64_t now)
{
	js_open(s, NULL, '{');
	js_open(s, "held", '[');
	for (uint32_t i = 0; i < f->cap; i++) {
		const struct front_job *j = f->jobs[i].job;

		if (j == NULL || j->hold == 0)
			continue;
		js_open(s, NULL, '{');
		js_int(s, "id", j->hold);
		js_str(s, "op", op_word(j->op));
		js_str(s, "node", j->node);
		js_str(s, "when", j->run ? "before" : "after");
		js_int(s, "held_ms", now - j->since);
		js_close(s, '}');
	}
	js_close(s, ']');
	js_close(s, '}');
}

static void write_codes(struct str *s, const char *key, const uint64_t n[CODE_COUNT])
{
	js_open(s, key, '{');
	for (int i = 0; i < CODE_COUNT; i++)
		if (n[i] > 0)
			js_int(s, code_word((enum code)i), (int64_t)n[i]);
	js_close(s, '}');
}

void front_write_stats(const struct front *f, struct str *s, int64_t now)
{
	const struct front_stats *t = &f->stats;
	bool fresh = now / 1000 - t->second <= 1;

	js_open(s, NULL, '{');
	js_int(s, "requests", (int64_t)t->requests);
	js_int(s, "requests_per_s",
	       !fresh ? 0 : (int64_t)(now / 1000 == t->second ? t->last_n : t->now_n));
	js_int(s, "unauthorized", (int64_t)t->unauthorized);
	js_int(s, "unreadable", (int64_t)t->unreadable);
	js_int(s, "dropped", (int64_t)t->dropped);
	js_int(s, "held", (int64_t)t->held);
	js_int(s, "waiting", f->njobs);
	js_int(s, "live", f->cloud->live);
	js_int(s, "created", f->cloud->meter->n);
	js_open(s, "ops", '{');
	for (int i = 0; i < OP_COUNT; i++) {
		js_open(s, op_word((enum op)i), '{');
		write_codes(s, "answers", t->count[i]);
		write_codes(s, "instances", t->items[i]);
		js_int(s, "refused", (int64_t)t->refused[i]);
		js_int(s, "refused_ms", t->refused_ms[i]);
		js_int(s, "first_ms", t->first_ms[i]);
		js_int(s, "last_ms", t->last_ms[i]);
		js_close(s, '}');
	}
	js_close(s, '}');
	js_close(s, '}');
}
