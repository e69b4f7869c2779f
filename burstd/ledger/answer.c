/* burst-ledger answer: a report, or a job's cost, as JSON for who asked on the socket.
 *
 * It runs as a process of its own for each question, so that one that takes long, or takes all the
 * memory it may have, is nobody else's trouble.  Whose costs may be seen the desk has decided:
 * "whose" is a user, or true if it is everybody.  A question without it is refused. */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "ledger/command.h"
#include "ledger/desk.h"
#include "ledger/explain.h"
#include "ledger/reading.h"
#include "ledger/report_write.h"

enum {
	CPU_S = 40,         /* less than the desk waits */
	MEMORY = 384 << 20, /* bytes; DESK_WORKERS of these are well below MemoryMax of the unit */
	WARNING_MAX = 1024,
};

struct question {
	const json_t *args;
	struct settings s;
	const char *id, *form;
	const char *code; /* of a failure */
	bool everybody;   /* may be seen; else s.user, or nobody */
};

struct answer {
	struct question q;
	struct reading r;
	struct jsonw w; /* into r.out */
	struct err err;
};

/* --- the question -----------------------------------------------------------------------------
 */

static void limit_myself(void)
{
	const struct rlimit cpu = {CPU_S, CPU_S}, memory = {MEMORY, MEMORY};

	(void)setrlimit(RLIMIT_CPU, &cpu);
#ifndef __SANITIZE_ADDRESS__ /* which reserves far more than it uses */
	(void)setrlimit(RLIMIT_DATA, &memory);
#else
	(void)memory;
#endif
}

/* NULL: it cannot be read, or is too long. */
static json_t *read_input(void)
{
	char text[DESK_QUESTION_MAX + 1];
	size_t len = 0;
	ssize_t n;

	while ((n = read(STDIN_FILENO, text + len, sizeof(text) - len)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return NULL;
		len += (size_t)n;
	}
	return len <= DESK_QUESTION_MAX ? json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL)
					: NULL;
}

static int get_text(struct question *q, const char *key, const char **out, struct err *e)
{
	const json_t *v = json_object_get(q->args, key);

	*out = NULL;
	if (v == NULL)
		return 0;
	*out = json_string_value(v);
	if (*out != NULL && (*out)[0] != '\0')
		return 0;
	q->code = "invalid";
	return err_set(e, ERR_INVALID, "\"%s\": want a text", key);
}

static int get_whose(struct question *q, struct err *e)
{
	const json_t *v = json_object_get(q->args, "whose");

	if (!json_is_object(q->args))
		return err_set(e, ERR_INVALID, "the question cannot be read");
	q->everybody = json_is_true(v);
	if (q->everybody)
		return 0;
	if (v == NULL)
		return err_set(e, ERR_INVALID, "\"whose\": want a text, or true");
	return get_text(q, "whose", &q->s.user, e);
}

static int read_question(struct question *q, const struct settings *s, struct err *e)
{
	q->s.ledger = s->ledger;
	q->s.explain = json_is_true(json_object_get(q->args, "explain"));
	if (get_whose(q, e) < 0 || get_text(q, "by", &q->s.by, e) < 0 ||
	    get_text(q, "period", &q->s.period, e) < 0 || get_text(q, "from", &q->s.from, e) < 0 ||
	    get_text(q, "to", &q->s.to, e) < 0 || get_text(q, "job", &q->id, e) < 0 ||
	    get_text(q, "form", &q->form, e) < 0)
		return -1;
	if (q->form == NULL)
		q->form = "table";
	q->code = "invalid";
	if (q->s.period != NULL && (q->s.from != NULL || q->s.to != NULL))
		return err_set(e, ERR_INVALID, "want \"period\", or \"from\" and \"to\"");
	if (strcmp(q->form, "table") != 0 && strcmp(q->form, "csv") != 0 &&
	    strcmp(q->form, "json") != 0)
		return err_set(e, ERR_INVALID, "\"form\": want table, csv or json");
	q->code = "failed";
	return 0;
}

/* --- the answer -------------------------------------------------------------------------------
 */

static void put_days(struct answer *a, const struct reading_days *d)
{
	char day[DATE_STR_SIZE];

	jsonw_text(&a->w, "from", date_str(day, d->from_day));
	jsonw_text(&a->w, "to", date_str(day, d->to_day - 1));
	if (a->q.s.user != NULL)
		jsonw_text(&a->w, "user", a->q.s.user);
}

static int put_report(struct answer *a, const struct report_want *w)
{
	const enum report_form form = strcmp(a->q.form, "json") == 0  ? REPORT_JSON
				      : strcmp(a->q.form, "csv") == 0 ? REPORT_CSV
								      : REPORT_TABLE;
	struct str text;
	int rc;

	str_init(&text, DESK_ANSWER_MAX);
	rc = report_write(a->r.ledger, w, form, &a->w, &text, &a->err);
	if (rc == 0 && form != REPORT_JSON)
		jsonw_text(&a->w, "text", text.p);
	a->r.out.full |= text.full;
	str_fini(&text);
	return rc;
}

/* What there is no price for is of all machines: no user is told. */
static int put_warning(struct answer *a, int64_t to_day)
{
	struct str text;
	int rc;

	if (!a->q.everybody)
		return 0;
	str_init(&text, WARNING_MAX);
	rc = reading_lacks(&a->r, to_day, &text, &a->err);
	if (text.len > 0)
		jsonw_text(&a->w, "warning", text.p);
	str_fini(&text);
	return rc;
}

static int answer_report(struct answer *a)
{
	const struct settings *s = &a->q.s;
	struct report_want w = {.user = s->user};
	struct reading_days days;

	a->q.code = "invalid";
	if (report_parse(&w, s->by != NULL ? s->by : "account", &a->err) < 0 ||
	    reading_find_days(&a->r, s, &days, &a->err) < 0)
		return -1;
	a->q.code = "failed";
	w.from_day = days.from_day;
	w.to_day = days.to_day;
	put_days(a, &days);
	return put_report(a, &w) == 0 ? put_warning(a, days.to_day) : -1;
}

static int answer_job(struct answer *a)
{
	const struct book b = reading_book(&a->r);
	const bool json = strcmp(a->q.form, "json") == 0;
	const struct explain_want w = {.id = a->q.id,
				       .user = a->q.s.user,
				       .arithmetic = a->q.s.explain,
				       .json = json ? &a->w : NULL};
	struct str text;
	int rc;

	str_init(&text, DESK_ANSWER_MAX);
	rc = explain_job(&b, &w, &text, &a->err);
	if (rc == 0 && !json)
		jsonw_text(&a->w, "text", text.p);
	else if (rc < 0 && a->err.code == ERR_INVALID)
		a->q.code = "not-found";
	a->r.out.full |= text.full;
	str_fini(&text);
	return rc;
}

static int answer_it(struct answer *a)
{
	int rc;

	str_clear(&a->r.out);
	jsonw_open(&a->w, NULL, '{');
	jsonw_bool(&a->w, "ok", true);
	rc = a->q.id != NULL ? answer_job(a) : answer_report(a);
	jsonw_close(&a->w, '}');
	if (rc == 0 && (a->r.out.full || a->r.out.len > DESK_ANSWER_MAX)) {
		a->q.code = "failed";
		rc = err_set(&a->err, ERR_INVALID,
			     "the answer is longer than %d bytes: ask for fewer days, or by less",
			     DESK_ANSWER_MAX);
	}
	return rc;
}

/* A user is told what is wrong with the question.  What is wrong with the ledger may name what is
 * not theirs: that is for the log, by way of standard error. */
static void put_failure(struct answer *a)
{
	const bool told = a->err.code == ERR_INVALID || a->q.everybody;

	if (!told)
		(void)complain(&a->err);
	str_clear(&a->r.out);
	a->r.out.full = false;
	a->w = (struct jsonw){.out = &a->r.out, .first = true};
	jsonw_open(&a->w, NULL, '{');
	jsonw_bool(&a->w, "ok", false);
	jsonw_text(&a->w, "code", a->q.code);
	jsonw_text(&a->w, "error", told ? a->err.msg : "the ledger cannot be read now");
	jsonw_close(&a->w, '}');
}

int command_answer(const struct settings *s)
{
	struct answer a = {.q = {.code = "failed"}};
	struct err wrong = {0};
	json_t *args;
	int rc;

	limit_myself();
	args = read_input();
	a.q.args = args;
	rc = read_question(&a.q, s, &wrong);
	if (reading_begin(&a.r, s, &a.err) < 0) {
		a.q.code = "failed";
		rc = -1;
	} else if (rc < 0) {
		a.err = wrong;
	}
	a.w = (struct jsonw){.out = &a.r.out, .first = true};
	if (rc == 0)
		rc = answer_it(&a);
	if (rc < 0)
		put_failure(&a);
	rc = reading_end(&a.r, 0, &a.err);
	json_decref(args);
	return rc;
}
