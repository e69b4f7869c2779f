#include "ledger/report.h"

#include <stdlib.h>
#include <string.h>

#include "base/date.h"
#include "base/fnv.h"
#include "base/mem.h"
#include "ledger/allocate.h"
#include "ledger/calendar.h"
#include "ledger/namesakes.h"
#include "store/ledger_attempts.h"
#include "store/ledger_facts.h"

enum { TEXT_MAX = 1 << 16 };

/* Rows are found by their keys: an open table of indices, at most half full. */
struct report_memory {
	struct report *r;
	struct ledger *l;
	size_t cap; /* of r->rows */
	struct report_slot {
		uint32_t row;  /* index + 1; 0: empty */
		uint32_t hash; /* of its key */
	} * slots;
	size_t nslots;
	int64_t (*dims)[LEDGER_NDIMS]; /* by their number */
	size_t ndims;
	char **texts;
	size_t ntexts, texts_cap;
	int64_t user; /* the number of want.user; 0: the ledger does not have that name */
	char *room;   /* in the last of the texts, for short ones */
	size_t nroom;
	const char **words; /* those that were looked up, by their number */
	size_t nwords;
	struct { /* those of many attempts, by their number less `first` */
		const char **v;
		int64_t first;
		size_t n;
	} jobs;
};

/* --- rows --------------------------------------------------------------------------------------
 */

/* Eight numbers in a row, such as of attempts, are neighbours, in one line of the processor's
 * cache: postings come about in their order. */
static uint32_t hash_of(const struct report_memory *m, const int64_t *key)
{
	enum { NEAR = 7 };
	uint64_t h = (FNV_BEGIN ^ (uint64_t)key[0] / (NEAR + 1)) * UINT64_C(0x9e3779b97f4a7c15);

	for (size_t i = 1; i < m->r->want.n; i++)
		h = (h ^ (uint64_t)key[i]) * UINT64_C(0x9e3779b97f4a7c15);
	return (uint32_t)(h >> 32 & ~(uint64_t)NEAR) | (uint32_t)((uint64_t)key[0] & NEAR);
}

/* Where this key is, or may be put. */
static struct report_slot *slot_of(const struct report_memory *m, const int64_t *key, uint32_t hash)
{
	const size_t size = m->r->want.n * sizeof(*key);
	size_t i = hash & (m->nslots - 1);

	while (m->slots[i].row != 0 &&
	       (m->slots[i].hash != hash ||
		memcmp(m->r->rows[m->slots[i].row - 1].key, key, size) != 0))
		i = (i + 1) & (m->nslots - 1);
	return &m->slots[i];
}

static void grow(struct report_memory *m)
{
	struct report_slot *had = m->slots;
	const size_t n = m->nslots;

	m->cap = m->cap == 0 ? 64 : 2 * m->cap;
	m->r->rows = mem_realloc(m->r->rows, m->cap * sizeof(*m->r->rows));
	m->nslots = 2 * m->cap;
	m->slots = mem_zalloc(m->nslots * sizeof(*m->slots));
	for (size_t i = 0; i < n; i++) {
		size_t to = had[i].hash & (m->nslots - 1);

		while (had[i].row != 0 && m->slots[to].row != 0)
			to = (to + 1) & (m->nslots - 1);
		if (had[i].row != 0)
			m->slots[to] = had[i];
	}
	free(had);
}

/* NULL: too many. */
static struct report_row *row_of(struct report_memory *m, const int64_t *key)
{
	const uint32_t hash = hash_of(m, key);
	struct report *r = m->r;
	struct report_slot *slot;

	if (r->n == m->cap)
		grow(m);
	slot = slot_of(m, key, hash);
	if (slot->row != 0)
		return &r->rows[slot->row - 1];
	if (r->n == REPORT_ROWS_MAX)
		return NULL;
	r->rows[r->n] = (struct report_row){0};
	memcpy(r->rows[r->n].key, key, r->want.n * sizeof(*key));
	*slot = (struct report_slot){(uint32_t)r->n + 1, hash};
	return &r->rows[r->n++];
}

static int add(struct report_row *to, const struct report_row *more, struct err *e)
{
	if (__builtin_add_overflow(to->nano, more->nano, &to->nano) ||
	    __builtin_add_overflow(to->gpu_s, more->gpu_s, &to->gpu_s) ||
	    __builtin_add_overflow(to->cpu_s, more->cpu_s, &to->cpu_s))
		return err_set(e, ERR_LIMIT, "a sum is more than can be counted");
	to->jobs_gpu_s += more->jobs_gpu_s;
	return 0;
}

static bool is_jobs(const struct ledger_posting *p)
{
	const unsigned class = p->kind & LEDGER_CLASS;

	return class == ALLOCATE_RUN || class == ALLOCATE_LOST;
}

/* What corrects, for whichever reason, is one class beside each. */
static int64_t class_of(unsigned kind)
{
	return (kind & (LEDGER_CLASS | LEDGER_CREDIT)) |
	       ((kind & (LEDGER_ADJUST | LEDGER_LATE)) != 0 ? LEDGER_ADJUST : 0);
}

/* Jobs and nodes are attempts and lifetimes at first: see resolve(). */
static int64_t part_of(const struct report_memory *m, enum report_key k,
		       const struct ledger_posting *p)
{
	if ((int)k < LEDGER_NDIMS)
		return p->dims > 0 && (size_t)p->dims < m->ndims ? m->dims[p->dims][k] : 0;
	switch (k) {
	case REPORT_CLASS:
		return class_of(p->kind);
	case REPORT_DAY:
		return p->day;
	case REPORT_MONTH:
		return date_month(p->day);
	case REPORT_JOB:
		return p->attempt;
	default:
		return p->lifetime;
	}
}

/* What no job caused is nobody's, and with it what others did. */
static bool is_wanted(const struct report_memory *m, const struct ledger_posting *p)
{
	return m->r->want.user == NULL ||
	       ((p->kind & LEDGER_OWNER) == LEDGER_OF_JOB && p->dims > 0 &&
		(size_t)p->dims < m->ndims && m->dims[p->dims][REPORT_USER] == m->user);
}

static int take_posting(void *ctx, const struct ledger_posting *p, struct err *e)
{
	struct report_memory *m = ctx;
	const struct report_want *w = &m->r->want;
	const struct report_row more = {.nano = p->nano,
					.gpu_s = p->gpu_s,
					.cpu_s = p->cpu_s,
					.jobs_gpu_s = is_jobs(p) ? (uint64_t)p->gpu_s : 0};
	int64_t key[REPORT_KEYS_MAX] = {0};
	struct report_row *row;

	if (!is_wanted(m, p))
		return 0;
	for (size_t i = 0; i < w->n; i++)
		key[i] = part_of(m, w->keys[i], p);
	row = row_of(m, key);
	if (row == NULL)
		return err_set(e, ERR_LIMIT, "more than %d rows: report by less", REPORT_ROWS_MAX);
	if (row->user == 0 && p->dims > 0 && (size_t)p->dims < m->ndims)
		row->user = m->dims[p->dims][REPORT_USER];
	return add(row, &more, e);
}

static int take_dims(void *ctx, int64_t id, const int64_t words[LEDGER_NDIMS], struct err *e)
{
	struct report_memory *m = ctx;
	size_t at = (size_t)id;

	(void)e;
	if (id <= 0)
		return 0;
	if (at >= m->ndims) {
		size_t n = at + 1 > 2 * m->ndims ? at + 1 : 2 * m->ndims;

		m->dims = mem_realloc(m->dims, n * sizeof(*m->dims));
		memset(&m->dims[m->ndims], 0, (n - m->ndims) * sizeof(*m->dims));
		m->ndims = n;
	}
	memcpy(m->dims[at], words, sizeof(m->dims[at]));
	return 0;
}

/* --- texts -------------------------------------------------------------------------------------
 */

/* Takes text. */
static const char *keep(struct report_memory *m, char *text)
{
	if (m->ntexts == m->texts_cap) {
		m->texts_cap = m->texts_cap == 0 ? 64 : 2 * m->texts_cap;
		m->texts = mem_realloc(m->texts, m->texts_cap * sizeof(*m->texts));
	}
	m->texts[m->ntexts++] = text;
	return text;
}

/* Likewise a copy; a text of its own for each of millions would take a third of the time. */
static const char *keep_copy(struct report_memory *m, const char *text)
{
	enum { ROOM = 1 << 16 };
	const size_t size = strlen(text) + 1;
	char *to;

	if (size > ROOM / 4)
		return keep(m, mem_strdup(text));
	if (size > m->nroom) {
		m->room = mem_zalloc(ROOM);
		m->nroom = ROOM;
		(void)keep(m, m->room);
	}
	to = memcpy(m->room, text, size);
	m->room += size;
	m->nroom -= size;
	return to;
}

static int take_node(void *ctx, const struct ledger_lifetime *t, struct err *e)
{
	(void)e;
	*(char **)ctx = mem_strdup(t->node);
	return 0;
}

static char *class_text(int64_t kind)
{
	struct str s;

	str_init(&s, 64);
	str_addf(&s, "%s%s%s", (kind & LEDGER_ADJUST) != 0 ? "adjust:" : "",
		 (kind & LEDGER_CREDIT) != 0 ? "credit:" : "",
		 (kind & LEDGER_CLASS) < ALLOCATE_NCLASSES
			 ? allocate_class_str((enum allocate_class)(kind & LEDGER_CLASS))
			 : "unknown");
	return str_take(&s);
}

/* Where the text of this word is, or will be. */
static const char **word_at(struct report_memory *m, int64_t id)
{
	size_t at = id > 0 ? (size_t)id : 0;

	if (at >= m->nwords) {
		size_t n = 2 * at + 64;

		m->words = mem_realloc(m->words, n * sizeof(*m->words));
		memset(&m->words[m->nwords], 0, (n - m->nwords) * sizeof(*m->words));
		m->nwords = n;
	}
	return &m->words[at];
}

static const char *known_text(struct report_memory *m, enum report_key k, int64_t v)
{
	if ((int)k < LEDGER_NDIMS)
		return *word_at(m, v);
	if (k == REPORT_JOB && v >= m->jobs.first && v - m->jobs.first < (int64_t)m->jobs.n)
		return m->jobs.v[v - m->jobs.first];
	return NULL;
}

static int find_text(struct report_memory *m, enum report_key k, int64_t v, const char **out,
		     struct err *e)
{
	char when[DATE_STR_SIZE], *text = NULL;

	if ((int)k < LEDGER_NDIMS && ledger_text(m->l, v, &text, e) < 0)
		return -1;
	if (k == REPORT_CLASS)
		text = class_text(v);
	else if (k == REPORT_DAY)
		text = mem_strdup(date_str(when, v));
	else if (k == REPORT_MONTH)
		text = mem_strdup(date_month_str(when, v));
	else if ((k == REPORT_JOB && v != 0 && ledger_job_id(m->l, v, &text, e) < 0) ||
		 (k == REPORT_NODE && ledger_lifetime(m->l, v, take_node, &text, e) < 0))
		return -1;
	*out = keep(m, text != NULL ? text : mem_strdup(""));
	if ((int)k < LEDGER_NDIMS)
		*word_at(m, v) = *out;
	return 0;
}

static int text_of(struct report_memory *m, enum report_key k, int64_t v, const char **out,
		   struct err *e)
{
	*out = known_text(m, k, v);
	return *out != NULL ? 0 : find_text(m, k, v, out, e);
}

static int take_job(void *ctx, int64_t attempt, const char *id, struct err *e)
{
	struct report_memory *m = ctx;

	(void)e;
	m->jobs.v[attempt - m->jobs.first] = keep_copy(m, id);
	return 0;
}

/* Attempts of a period have numbers in a row, mostly: one reading of them all is a third of the
 * time of as many look-ups. */
static int find_jobs(struct report_memory *m, size_t k, struct err *e)
{
	const struct report *r = m->r;
	int64_t first = INT64_MAX, last = 0;

	for (size_t i = 0; i < r->n; i++) {
		const int64_t id = r->rows[i].key[k];

		first = id > 0 && id < first ? id : first;
		last = id > last ? id : last;
	}
	if (last == 0 || (uint64_t)(last - first) / 4 > r->n)
		return 0;
	m->jobs.first = first;
	m->jobs.n = (size_t)(last - first) + 1;
	m->jobs.v = mem_zalloc(m->jobs.n * sizeof(*m->jobs.v));
	return ledger_job_ids(m->l, first, last, take_job, m, e);
}

static int find_texts(struct report_memory *m, struct err *e)
{
	struct report *r = m->r;

	for (size_t k = 0; k < r->want.n; k++)
		if (r->want.keys[k] == REPORT_JOB && find_jobs(m, k, e) < 0)
			return -1;
	for (size_t i = 0; i < r->n; i++)
		for (size_t k = 0; k < r->want.n; k++) {
			const char *text;

			if (text_of(m, r->want.keys[k], r->rows[i].key[k], &text, e) < 0)
				return -1;
			r->rows[i].text[k] = text;
			if (r->want.keys[k] == REPORT_JOB) /* for the order */
				r->rows[i].key[k] = strtoll(text, NULL, 10);
		}
	return 0;
}

/* "": not known, which is as if there were no other. */
static int user_of(struct report_memory *m, const struct report_row *row, const char **user,
		   struct err *e)
{
	*user = "";
	return row->user != 0 ? text_of(m, REPORT_USER, row->user, user, e) : 0;
}

static void name_user(struct report_memory *m, const char **job, const char *user)
{
	struct str s;

	str_init(&s, TEXT_MAX);
	str_addf(&s, "%s (%s)", *job, user);
	*job = keep(m, str_take(&s));
}

/* k: the key of jobs. */
static int tell_namesakes_apart(struct report_memory *m, size_t k, struct err *e)
{
	struct report_row *rows = m->r->rows;
	struct namesakes all = {0};
	const char *user;
	int rc = 0;

	for (size_t i = 0; i < m->r->n && rc == 0; i++) {
		rc = user_of(m, &rows[i], &user, e);
		if (rc == 0 && rows[i].text[k][0] != '\0' && user[0] != '\0')
			namesakes_add(&all, rows[i].text[k], rows[i].user);
	}
	for (size_t i = 0; i < m->r->n && rc == 0; i++) {
		if (!namesakes_has(&all, rows[i].text[k]))
			continue;
		rc = user_of(m, &rows[i], &user, e);
		if (rc == 0 && user[0] != '\0')
			name_user(m, &rows[i].text[k], user);
	}
	namesakes_fini(&all);
	return rc;
}

static bool is_by(const struct report_want *w, enum report_key k)
{
	for (size_t i = 0; i < w->n; i++)
		if (w->keys[i] == k)
			return true;
	return false;
}

static bool is_by_number(enum report_key k)
{
	return k == REPORT_CLASS || k == REPORT_JOB;
}

/* Numbers in their order; jobs by number. */
static int compare(const struct report_row *a, const struct report_row *b, size_t k,
		   enum report_key key)
{
	if (is_by_number(key) && a->key[k] != b->key[k])
		return a->key[k] < b->key[k] ? -1 : 1;
	return strcmp(a->text[k], b->text[k]);
}

static int by_texts(const struct report_row *a, const struct report_row *b,
		    const struct report_want *w)
{
	for (size_t k = 0; k < w->n; k++) {
		int order = compare(a, b, k, w->keys[k]);

		if (order != 0)
			return order;
	}
	return 0;
}

/* Such as what was booked, and later taken back. */
static bool is_nothing(const struct report_row *row)
{
	return row->nano == 0 && row->gpu_s == 0 && row->cpu_s == 0;
}

/* A row's place, and its first key if that is a number: most rows are told apart by this alone. */
struct turn {
	int64_t by;
	size_t at;
};

static int by_turn(const void *a, const void *b, void *report)
{
	const struct turn *x = a, *y = b;
	const struct report *r = report;

	if (x->by != y->by)
		return x->by < y->by ? -1 : 1;
	return by_texts(&r->rows[x->at], &r->rows[y->at], &r->want);
}

/* Row i becomes that at turn[i].at.  A copy of all rows would be as much memory again. */
static void move(struct report *r, struct turn *turn)
{
	for (size_t i = 0; i < r->n; i++) {
		const struct report_row first = r->rows[i];
		size_t to = i;

		while (turn[to].at != i) {
			const size_t from = turn[to].at;

			r->rows[to] = r->rows[from];
			turn[to].at = to;
			to = from;
		}
		if (to != i)
			r->rows[to] = first;
		turn[to].at = to;
	}
}

/* Their places are sorted, for a row is large. */
static void put_in_order(struct report *r)
{
	struct turn *turn = mem_zalloc((r->n + 1) * sizeof(*turn));
	const bool number = is_by_number(r->want.keys[0]);

	for (size_t i = 0; i < r->n; i++)
		turn[i] = (struct turn){number ? r->rows[i].key[0] : 0, i};
	qsort_r(turn, r->n, sizeof(*turn), by_turn, r);
	move(r, turn);
	free(turn);
}

/* Several attempts are one job, and several lifetimes one node: rows of equal texts are one. */
static int sort(struct report *r, struct err *e)
{
	size_t n = 0;

	put_in_order(r);
	for (size_t i = 0, k; i < r->n; i = k) {
		struct report_row *row = &r->rows[i];

		for (k = i + 1; k < r->n && by_texts(row, &r->rows[k], &r->want) == 0; k++)
			if (add(row, &r->rows[k], e) < 0)
				return -1;
		if (is_nothing(row))
			continue;
		if (n < i)
			r->rows[n] = *row;
		n++;
	}
	r->n = n;
	return 0;
}

static int sum_up(struct report *r, struct err *e)
{
	const size_t currency = r->want.n - 1;

	r->total_is_one = r->n > 0;
	for (size_t i = 0; i < r->n; i++) {
		if (strcmp(r->rows[i].text[currency], r->rows[0].text[currency]) != 0)
			r->total_is_one = false;
		if (r->total_is_one && add(&r->total, &r->rows[i], e) < 0)
			return -1;
	}
	if (r->total_is_one)
		r->total.text[currency] = r->rows[0].text[currency];
	return 0;
}

int report_make(struct report *r, struct ledger *l, const struct report_want *w, struct err *e)
{
	struct report_memory *m = mem_zalloc(sizeof(*m));
	const bool each = is_by(w, REPORT_JOB) || is_by(w, REPORT_NODE);
	int rc;

	*r = (struct report){.want = *w, .memory = m};
	m->r = r;
	m->l = l;
	rc = w->user != NULL ? ledger_word(l, w->user, &m->user, e) : 0;
	if (rc == 0)
		rc = ledger_all_dims(l, take_dims, m, e);
	if (rc == 0 && each)
		rc = ledger_amounts(l, w->from_day, w->to_day, take_posting, m, e);
	else if (rc == 0)
		rc = ledger_rollup(l, w->from_day, w->to_day, take_posting, m, e);
	if (rc == 0)
		rc = find_texts(m, e);
	for (size_t k = 0; k < w->n && rc == 0; k++)
		if (w->keys[k] == REPORT_JOB)
			rc = tell_namesakes_apart(m, k, e);
	if (rc == 0)
		rc = sort(r, e);
	return rc == 0 ? sum_up(r, e) : -1;
}

void report_fini(struct report *r)
{
	struct report_memory *m = r->memory;

	for (size_t i = 0; i < m->ntexts; i++)
		free(m->texts[i]);
	free(m->texts);
	free(m->words);
	free(m->jobs.v);
	free(m->slots);
	free(m->dims);
	free(m);
	free(r->rows);
	*r = (struct report){0};
}
