#include "api/job_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/jsonw.h"
#include "base/mem.h"
#include "base/str.h"
#include "jobs/jobs_api.h"

enum {
	ANY_STATE = -1,
	AGAIN_S = 60,       /* until slurmctld's settings are surely known */
	TEXT_MAX = 1 << 20, /* bytes: JOB_TABLE_MAX rows with long names make half of it */
};

static const char *const states[ENGINE_JOBLIST_STATES] = {"waits", "boots", "runs", "ends"};

struct table {
	const struct api *api;
	struct jsonw w;
	size_t limit, shown, all;
	int state; /* ANY_STATE, or enum engine_joblist_state */
};

static void put_time(const struct table *t, struct jsonw *w, const char *key, int64_t ms)
{
	jsonw_int(w, key, ms == INT64_MAX ? 0 : engine_wall(t->api->engine, ms));
}

static void put(void *ctx, const struct engine_joblist_job *j)
{
	struct table *t = ctx;
	struct jsonw *w = &t->w;
	const bool refused = j->reason != NODE_BECAUSE_NONE;

	if (t->state != ANY_STATE && t->state != (int)j->state)
		return;
	if (t->all++ >= t->limit)
		return;
	t->shown++;
	jsonw_open(w, NULL, '{');
	jsonw_int(w, "number", (int64_t)j->number);
	jsonw_text(w, "job", j->id);
	jsonw_text(w, "state", states[j->state]);
	jsonw_text(w, "reason", refused ? node_reason_str(j->reason) : "");
	jsonw_text(w, "pool", engine_conf(t->api->engine)->pools[j->pool].name);
	jsonw_text(w, "partition", j->partition);
	jsonw_int(w, "nodes", j->nodes);
	jsonw_int(w, "refusals", j->refusals);
	jsonw_bool(w, "losing_node", j->loses);
	put_time(t, w, "since_ms", j->since_ms);
	put_time(t, w, "until_ms", j->until_ms);
	jsonw_close(w, '}');
}

/* Jobs with nodes beyond those that are remembered: their state is not known. */
static size_t beyond(const struct table *t)
{
	return t->state == ENGINE_JOBLIST_WAITS ? 0 : engine_joblist_more(t->api->engine);
}

static void write_table(struct table *t)
{
	jsonw_open(&t->w, NULL, '{');
	jsonw_int(&t->w, "schema", 1);
	jsonw_text(&t->w, "cluster", engine_conf(t->api->engine)->cluster);
	put_time(t, &t->w, "now_ms", engine_now(t->api->engine));
	put_time(t, &t->w, "squeue_ms", engine_joblist_ms(t->api->engine));
	jsonw_open(&t->w, "jobs", '[');
	engine_joblist(t->api->engine, put, t);
	jsonw_close(&t->w, ']');
	t->all += beyond(t);
	jsonw_int(&t->w, "total", (int64_t)t->all);
	jsonw_bool(&t->w, "truncated", t->all > t->shown);
	jsonw_close(&t->w, '}');
	str_adds(t->w.out, "\n");
}

/* --- the question ------------------------------------------------------------------------------
 */

static void say(struct http_answer *an, unsigned status, const char *text)
{
	an->status = status;
	an->body = mem_strdup(text);
	an->len = strlen(text);
}

/* 0: it is "", or a number from 1 to JOB_TABLE_MAX. */
static int read_limit(const char *text, size_t *out)
{
	if (text[0] == '\0')
		return 0;
	if (strlen(text) > 4 || strspn(text, "0123456789") != strlen(text))
		return -1;
	*out = (size_t)strtoul(text, NULL, 10);
	return *out >= 1 && *out <= JOB_TABLE_MAX ? 0 : -1;
}

static int read_state(const char *text, int *out)
{
	for (int i = 0; i < ENGINE_JOBLIST_STATES; i++)
		if (strcmp(text, states[i]) == 0)
			*out = i;
	return text[0] == '\0' || *out != ANY_STATE ? 0 : -1;
}

/* Has the query only the words that we know?  Another one might have been meant to restrict it. */
static bool is_known(const char *query)
{
	static const char *const words[] = {"limit=", "state="};

	while (*query != '\0') {
		bool known = false;

		for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
			known = known || strncmp(query, words[i], strlen(words[i])) == 0;
		if (!known)
			return false;
		query += strcspn(query, "&");
		query += *query == '&';
	}
	return true;
}

static int read_query(const char *query, struct table *t)
{
	char limit[16], state[16];

	if (!is_known(query) || http_query(query, "limit", limit, sizeof(limit)) < 0 ||
	    http_query(query, "state", state, sizeof(state)) < 0)
		return -1;
	return read_limit(limit, &t->limit) == 0 && read_state(state, &t->state) == 0 ? 0 : -1;
}

/* Whether the table may be shown at all. */
static bool may_show(const struct api *a, struct http_answer *an)
{
	const char *hidden = engine_joblist_private(a->engine);

	if (!engine_conf(a->engine)->listen_jobs) {
		say(an, 404, "there is no table of jobs: listen_jobs of burstd.conf is off\n");
		return false;
	}
	if (hidden == NULL)
		return true;
	if (hidden[0] != '\0') {
		say(an, 403, hidden);
		return false;
	}
	say(an, 503, "slurmctld has not said yet whom it shows jobs\n");
	an->retry_after_s = AGAIN_S;
	return false;
}

void job_table_answer(const struct api *a, const struct http_request *rq, struct http_answer *an)
{
	struct table t = {.api = a, .limit = JOB_TABLE_ROWS, .state = ANY_STATE};
	struct str text;

	if (!may_show(a, an))
		return;
	if (read_query(rq->query, &t) != 0) {
		say(an, 400, "limit is 1 to 1000, state is waits, boots, runs or ends\n");
		return;
	}
	str_init(&text, TEXT_MAX);
	t.w = (struct jsonw){.out = &text, .first = true};
	write_table(&t);
	if (!text.full) {
		an->status = 200;
		an->type = "application/json";
		an->len = text.len;
		an->body = str_take(&text);
		return;
	}
	str_fini(&text); /* 500 */
}
