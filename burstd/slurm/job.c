#include "slurm/job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Columns of SLURM_JOB_FORMAT, SLURM_WORDS_FORMAT and SLURM_DETAIL_ARGS. */
enum {
	FIELDS = 6,
	WORDS_FIELDS = 11,
	PAYER_FIELDS = 9, /* between the account and the other texts of a fixed width */
	DETAIL_WIDTH = 24,
	COMMENT_WIDTH = 300,
	COUNTS_WIDTH = 3 * DETAIL_WIDTH
};

static bool starts(struct slurm_text t, const char *s)
{
	size_t n = strlen(s);

	return t.n >= n && memcmp(t.p, s, n) == 0;
}

/* Digits only, from 1; 0: not a number. */
static uint64_t number(struct slurm_text t)
{
	uint64_t v = 0;

	for (size_t i = 0; i < t.n; i++) {
		if (t.p[i] < '0' || t.p[i] > '9' || v > UINT32_MAX)
			return 0;
		v = v * 10 + (uint64_t)(t.p[i] - '0');
	}
	return v;
}

/* Likewise from 0 on: root's uid, or never; -1: not a number. */
static int64_t count(struct slurm_text t)
{
	uint64_t n = number(t);

	return n > 0 || slurm_text_is(t, "0") ? (int64_t)n : -1;
}

/* "7", "7_2", "7+1": may be handed to scontrol as it is.  "7_[3-9]" is many jobs, so it may not. */
static bool is_id(struct slurm_text t)
{
	if (t.n == 0 || t.n > SLURM_JOB_ID_MAX)
		return false;
	for (size_t i = 0; i < t.n; i++)
		if ((t.p[i] < '0' || t.p[i] > '9') && t.p[i] != '_' && t.p[i] != '+')
			return false;
	return true;
}

static struct slurm_text next_line(const char **text, const char *end)
{
	const char *nl = memchr(*text, '\n', (size_t)(end - *text));
	struct slurm_text line = {*text, (size_t)((nl != NULL ? nl : end) - *text)};

	*text = nl != NULL ? nl + 1 : end;
	return line;
}

/* Split a line into fields and the rest behind them.  false: there are fewer. */
static bool split(struct slurm_text line, int fields, struct slurm_text f[WORDS_FIELDS + 1])
{
	for (int i = 0; i < fields; i++) {
		const char *bar = memchr(line.p, '|', line.n);

		if (bar == NULL && i < fields - 1)
			return false;
		f[i] = line;
		if (bar == NULL)
			return true;
		f[i].n = (size_t)(bar - line.p);
		line.p += f[i].n + 1;
		line.n -= f[i].n + 1;
	}
	f[fields] = line;
	return true;
}

/* Take the comment behind a constraint, which may contain newlines; *text moves behind the line
 * that it ends.  false: it does not end there. */
static bool take_comment(const char **text, const char *end, const char *blank,
			 struct slurm_text *comment)
{
	struct slurm_text c = {blank + 1, SLURM_COMMENT_WIDTH};

	if (end - c.p <= SLURM_COMMENT_WIDTH || c.p[c.n] != '\n')
		return false;
	*text = c.p + c.n + 1;
	while (c.n > 0 && c.p[c.n - 1] == ' ')
		c.n--;
	*comment = c;
	return true;
}

enum row { ROW_GOOD, ROW_SKIPPED, ROW_BROKEN };

static bool take_wishes(const char **text, const char *end, struct slurm_text rest,
			struct slurm_job *j)
{
	const char *blank = rest.p != NULL && rest.n > 0 ? memchr(rest.p, ' ', rest.n) : NULL;

	j->constraint = rest;
	if (blank == NULL)
		return true;
	j->constraint.n = (size_t)(blank - rest.p);
	return take_comment(text, end, blank, &j->comment);
}

/* Take a column of this width from *at, which may contain newlines; *at moves behind the bar that
 * follows it.  false: none does. */
static bool take_wide(const char **at, const char *end, size_t width, struct slurm_text *out)
{
	struct slurm_text t = {*at, width};

	if ((size_t)(end - t.p) <= width || t.p[t.n] != '|')
		return false;
	*at = t.p + t.n + 1;
	while (t.n > 0 && t.p[t.n - 1] == ' ')
		t.n--;
	*out = t;
	return true;
}

/* Take the columns of SLURM_PAYER_COLUMNS from *rest, which becomes what stands behind them; a
 * newline in a user's text ends no line.  false: such a text does not end at its width. */
static bool take_payer(const char **text, const char *end, struct slurm_text *rest,
		       struct slurm_payer *p)
{
	struct slurm_text f[WORDS_FIELDS + 1] = {{NULL, 0}}, account;
	struct slurm_payer out;

	if (rest->n < 2 || rest->p[0] != ' ' || rest->p[1] != '|')
		return true;
	*text = rest->p + 2;
	if (!take_wide(text, end, SLURM_ACCOUNT_WIDTH, &account) ||
	    !split(next_line(text, end), PAYER_FIELDS, f) || f[PAYER_FIELDS].p == NULL)
		return false;
	*text = f[PAYER_FIELDS].p;
	out = (struct slurm_payer){.account = account,
				   .user = f[0],
				   .qos = f[1],
				   .limit = f[2],
				   .nodes = f[3],
				   .cpus = f[4],
				   .shares = f[5],
				   .allocated = f[6],
				   .tasks = f[7],
				   .sockets = f[8]};
	if (!take_wide(text, end, SLURM_PAYER_WIDTH, &out.by_job) ||
	    !take_wide(text, end, SLURM_PAYER_WIDTH, &out.by_node) ||
	    !take_wide(text, end, SLURM_PAYER_WIDTH, &out.by_socket) ||
	    !take_wide(text, end, SLURM_PAYER_WIDTH, &out.by_task) ||
	    !take_wide(text, end, SLURM_PAYER_WIDTH, &out.wckey))
		return false;
	*rest = next_line(text, end);
	if (rest->n == 0)
		rest->p = NULL; /* no wishes in the format: squeue prints a word even for none */
	*p = out;
	return true;
}

/* Read the next job, which has so many fields before its wishes. */
static enum row next_fields(const char **text, const char *end, int fields,
			    struct slurm_text f[WORDS_FIELDS + 1], struct slurm_job *j)
{
	*j = (struct slurm_job){0};
	if (!split(next_line(text, end), fields, f))
		return ROW_SKIPPED;
	if (!take_payer(text, end, &f[fields], &j->payer) || !take_wishes(text, end, f[fields], j))
		return ROW_BROKEN;
	j->number = number(f[0]);
	if (j->number == 0)
		return ROW_SKIPPED;
	if (is_id(f[1])) {
		memcpy(j->id, f[1].p, f[1].n);
		j->id[f[1].n] = '\0';
	}
	j->state = f[2];
	j->partition = f[3];
	j->reason = f[4];
	j->nodes = f[5];
	return ROW_GOOD;
}

static enum row next_row(const char **text, const char *end, struct slurm_job *j)
{
	struct slurm_text f[WORDS_FIELDS + 1] = {{NULL, 0}};

	return next_fields(text, end, FIELDS, f, j);
}

void slurm_job_parse(const char *text, size_t len, slurm_job_row_fn fn, void *ctx)
{
	const char *end = text + len;
	struct slurm_job j;

	while (text < end) {
		enum row row = next_row(&text, end, &j);

		if (row == ROW_BROKEN)
			return;
		if (row == ROW_GOOD)
			fn(ctx, &j);
	}
}

bool slurm_job_whole(const char *text, size_t len)
{
	const char *end = text + len;
	struct slurm_job j;

	while (text < end)
		if (next_row(&text, end, &j) == ROW_BROKEN)
			return false;
	return true;
}

/* An empty list is printed as "(null)". */
static struct slurm_text list_of(struct slurm_text t)
{
	return slurm_text_is(t, "(null)") ? (struct slurm_text){NULL, 0} : t;
}

bool slurm_job_parse_words(const char *text, size_t len, slurm_job_words_fn fn, void *ctx)
{
	const char *end = text + len;

	while (text < end) {
		struct slurm_text f[WORDS_FIELDS + 1] = {{NULL, 0}};
		struct slurm_job_words w;
		enum row row = next_fields(&text, end, WORDS_FIELDS, f, &w.job);

		if (row == ROW_BROKEN)
			return false;
		if (row == ROW_SKIPPED)
			continue;
		w.uid = count(f[6]); /* one above 2^31 is printed with a sign, and is not read */
		w.count = number(f[7]);
		w.required = list_of(f[8]);
		w.planned = list_of(f[9]);
		w.excluded = list_of(f[10]);
		fn(ctx, &w);
	}
	return true;
}

bool slurm_job_is_id(const char *text)
{
	size_t n = strspn(text, "0123456789");

	return text[0] >= '1' && text[0] <= '9' && is_id((struct slurm_text){text, strlen(text)}) &&
	       (text[n] == '\0' || (text[n + 1] != '\0' &&
				    strspn(text + n + 1, "0123456789") == strlen(text + n + 1)));
}

/* Does the job have nodes, and has it not ended?  squeue shows a state, or a flag that hides it. */
static bool is_placed(struct slurm_text state)
{
	static const char *const placed[] = {"RUNNING", "CONFIGURING", "SUSPENDED",
					     "STOPPED", "SIGNALING",   "RESIZING"};

	for (size_t i = 0; i < sizeof(placed) / sizeof(placed[0]); i++)
		if (slurm_text_is(state, placed[i]))
			return true;
	return false;
}

/* Would the job's processes get a signal? */
static bool is_running(struct slurm_text state)
{
	return is_placed(state) && !slurm_text_is(state, "CONFIGURING") &&
	       !slurm_text_is(state, "SUSPENDED") && !slurm_text_is(state, "STOPPED");
}

bool slurm_job_configuring(const struct slurm_job *j)
{
	return slurm_text_is(j->state, "CONFIGURING") && j->nodes.n > 0;
}

bool slurm_job_running(const struct slurm_job *j)
{
	return is_running(j->state) && j->nodes.n > 0;
}

bool slurm_job_placed(const struct slurm_job *j)
{
	return is_placed(j->state) && j->nodes.n > 0;
}

bool slurm_job_leaving(const struct slurm_job *j)
{
	return slurm_text_is(j->state, "COMPLETING") && j->nodes.n > 0;
}

bool slurm_job_may_start(const struct slurm_job *j)
{
	static const char *const waits[] = {"JobHeld", "Dependency", "BeginTime", "Partition"};

	if (!slurm_text_is(j->state, "PENDING"))
		return false;
	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++)
		if (starts(j->reason, waits[i]))
			return false;
	return true;
}

static bool has_name(struct slurm_text list, struct slurm_text name)
{
	while (list.n > 0) {
		const char *comma = memchr(list.p, ',', list.n);
		size_t n = comma != NULL ? (size_t)(comma - list.p) : list.n;

		if (n == name.n && memcmp(list.p, name.p, n) == 0)
			return true;
		list.p += n + (comma != NULL);
		list.n -= n + (comma != NULL);
	}
	return false;
}

bool slurm_names_meet(struct slurm_text a, struct slurm_text b)
{
	while (a.n > 0) {
		const char *comma = memchr(a.p, ',', a.n);
		struct slurm_text one = {a.p, comma != NULL ? (size_t)(comma - a.p) : a.n};

		if (one.n > 0 && has_name(b, one))
			return true;
		a.p += one.n + (comma != NULL);
		a.n -= one.n + (comma != NULL);
	}
	return false;
}

static bool has_ended(struct slurm_text state)
{
	static const char *const ended[] = {
		"COMPLETED",     "FAILED",    "CANCELLED", "NODE_FAIL", "TIMEOUT",
		"OUT_OF_MEMORY", "BOOT_FAIL", "PREEMPTED", "DEADLINE",  "REVOKED",
	};

	for (size_t i = 0; i < sizeof(ended) / sizeof(ended[0]); i++)
		if (slurm_text_is(state, ended[i]))
			return true;
	return false;
}

bool slurm_job_ended(const struct slurm_job *j)
{
	return has_ended(j->state);
}

bool slurm_job_among(const char *ids, const char *id)
{
	size_t n = strlen(id);

	for (const char *p = ids; p != NULL; p = strchr(p, ',')) {
		p += *p == ',';
		if (strncmp(p, id, n) == 0 && (p[n] == ',' || p[n] == '\0'))
			return true;
	}
	return false;
}

static int by_text(const void *a, const void *b)
{
	const struct slurm_text *x = a, *y = b;
	const int order = memcmp(x->p, y->p, x->n < y->n ? x->n : y->n);

	return order != 0 ? order : (x->n > y->n) - (x->n < y->n);
}

void slurm_job_ids_init(struct slurm_job_ids *x, const char *ids)
{
	size_t cap = 1;

	for (const char *p = ids; *p != '\0'; p++)
		cap += *p == ',';
	*x = (struct slurm_job_ids){.v = mem_zalloc(cap * sizeof(*x->v))};
	for (const char *p = ids; x->n < cap; p += x->v[x->n++].n + 1)
		x->v[x->n] = (struct slurm_text){p, strcspn(p, ",")};
	qsort(x->v, x->n, sizeof(*x->v), by_text);
}

void slurm_job_ids_fini(struct slurm_job_ids *x)
{
	free(x->v);
	*x = (struct slurm_job_ids){.v = NULL};
}

bool slurm_job_ids_have(const struct slurm_job_ids *x, const char *id)
{
	const struct slurm_text key = {id, strlen(id)};

	return bsearch(&key, x->v, x->n, sizeof(*x->v), by_text) != NULL;
}

void slurm_job_to_requeue(char out[SLURM_JOB_ID_MAX + 1], const char *id)
{
	(void)snprintf(out, SLURM_JOB_ID_MAX + 1, "%.*s", (int)strcspn(id, "+"), id);
}

bool slurm_job_requeued_by(const char *ids, const char *id)
{
	char whole[SLURM_JOB_ID_MAX + 1];

	slurm_job_to_requeue(whole, id);
	return slurm_job_among(ids, whole);
}

const char *slurm_job_name(char out[SLURM_JOB_NAME_SIZE], const char *id, uint64_t number)
{
	char n[FMT_U64_SIZE];

	if (strcmp(fmt_u64(n, number), id) == 0)
		(void)snprintf(out, SLURM_JOB_NAME_SIZE, "%.*s", SLURM_JOB_ID_MAX, id);
	else
		(void)snprintf(out, SLURM_JOB_NAME_SIZE, "%.*s (job %s)", SLURM_JOB_ID_MAX, id, n);
	return out;
}

static struct slurm_text take(struct slurm_text *line, size_t width)
{
	struct slurm_text t = {line->p, line->n < width ? line->n : width};

	line->p += t.n;
	line->n -= t.n;
	return t;
}

/* The next column, without the blanks that fill it. */
static struct slurm_text column(struct slurm_text *line)
{
	struct slurm_text t = take(line, DETAIL_WIDTH);

	while (t.n > 0 && t.p[t.n - 1] == ' ')
		t.n--;
	return t;
}

static void parse_detail(struct slurm_text line, struct slurm_job_detail *d)
{
	*d = (struct slurm_job_detail){.number = number(column(&line)), .state = column(&line)};
	d->held = slurm_text_is(column(&line), "0");
	d->begin_ms = (int64_t)number(column(&line)) * 1000;
	d->pending = slurm_text_is(d->state, "PENDING");
	d->ended = has_ended(d->state);
	d->placed = is_placed(d->state);
	d->running = is_running(d->state);
	d->comment = take(&line, COMMENT_WIDTH);
	d->counts = take(&line, COUNTS_WIDTH);
	d->het = number(column(&line));
	d->requeues = count(column(&line));
	while (d->comment.n > 0 && d->comment.p[d->comment.n - 1] == ' ')
		d->comment.n--;
	if (slurm_text_is(d->comment, "(null)"))
		d->comment.n = 0;
}

bool slurm_job_failed(const struct slurm_job_detail *d)
{
	return slurm_text_is(d->state, "FAILED") || slurm_text_is(d->state, "OUT_OF_MEMORY");
}

void slurm_job_parse_detail(const char *text, size_t len, slurm_job_detail_fn fn, void *ctx)
{
	const char *end = text + len;

	while (text < end) {
		struct slurm_text line = next_line(&text, end);
		struct slurm_job_detail d;

		if (line.n < 4 * DETAIL_WIDTH)
			continue;
		parse_detail(line, &d);
		if (d.number != 0)
			fn(ctx, &d);
	}
}

void slurm_job_parse_who(const char *text, size_t len, slurm_job_who_fn fn, void *ctx)
{
	const char *end = text + len;

	while (text < end) {
		struct slurm_text line = next_line(&text, end);
		uint64_t job = number(column(&line));
		struct slurm_text batch = column(&line);

		if (job != 0 && (slurm_text_is(batch, "0") || slurm_text_is(batch, "1")))
			fn(ctx, job, slurm_text_is(batch, "1"));
	}
}
