#include "engine/slurm/job.h"

#include <string.h>

enum { FIELDS = 6 };

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

/* "7", "7_2", "7+1": what may be handed to scontrol as it is.  "7_[3-9]" is many jobs, so not. */
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

/* The last field takes the rest. */
static bool split(struct slurm_text line, struct slurm_text f[FIELDS])
{
	for (int i = 0; i < FIELDS; i++) {
		const char *bar = memchr(line.p, '|', line.n);

		if (bar == NULL && i < FIELDS - 1)
			return false;
		f[i] = line;
		if (i == FIELDS - 1)
			return true;
		f[i].n = (size_t)(bar - line.p);
		line.p += f[i].n + 1;
		line.n -= f[i].n + 1;
	}
	return true;
}

void slurm_job_parse(const char *text, size_t len, slurm_job_row_fn fn, void *ctx)
{
	const char *end = text + len;

	while (text < end) {
		struct slurm_text f[FIELDS];
		struct slurm_job j = {0};

		if (!split(next_line(&text, end), f))
			continue;
		j.number = number(f[0]);
		if (j.number == 0)
			continue;
		if (is_id(f[1])) {
			memcpy(j.id, f[1].p, f[1].n);
			j.id[f[1].n] = '\0';
		}
		j.state = f[2];
		j.partition = f[3];
		j.reason = f[4];
		j.nodes = f[5];
		fn(ctx, &j);
	}
}

bool slurm_job_configuring(const struct slurm_job *j)
{
	return slurm_text_is(j->state, "CONFIGURING") && j->nodes.n > 0;
}

bool slurm_job_running(const struct slurm_job *j)
{
	return slurm_text_is(j->state, "RUNNING") && j->nodes.n > 0;
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

/* The value of the first key= that stands alone in the line, up to the next space. */
static struct slurm_text value(struct slurm_text line, const char *key)
{
	size_t n = strlen(key);

	for (size_t i = 0; i + n <= line.n; i++) {
		const char *p = line.p + i, *space;

		if ((i > 0 && p[-1] != ' ') || memcmp(p, key, n) != 0)
			continue;
		p += n;
		space = memchr(p, ' ', (size_t)(line.p + line.n - p));
		return (struct slurm_text){p,
					   (size_t)((space != NULL ? space : line.p + line.n) - p)};
	}
	return (struct slurm_text){NULL, 0};
}

/* Users write some of this line (job name, comment), so there may be several that look like
 * AdminComment: one that is not ours is enough to keep our hands off. */
static bool comment_free(struct slurm_text line)
{
	static const char key[] = " AdminComment=";
	const size_t nkey = sizeof(key) - 1;

	for (size_t i = 0; i + nkey <= line.n; i++) {
		struct slurm_text v = {line.p + i + nkey, line.n - i - nkey};

		if (memcmp(line.p + i, key, nkey) == 0 && v.n > 0 && v.p[0] != ' ' &&
		    !starts(v, "burstd:") && !starts(v, "(null)"))
			return false;
	}
	return true;
}

/* Users choose the job's name, which comes before these; numbers and states in it would mislead.
 * What Slurm writes comes after Priority=, of which a name may hold another: then the line is not
 * understood, and left alone. */
static bool parse_detail(struct slurm_text line, struct slurm_job_detail *d)
{
	struct slurm_text priority = value(line, "Priority="), rest, begin;

	*d = (struct slurm_job_detail){.number = number(value(line, "JobId="))};
	if (d->number == 0 || priority.p == NULL)
		return false;
	rest.p = priority.p;
	rest.n = (size_t)(line.p + line.n - priority.p);
	if (value(rest, "Priority=").p != NULL)
		return false;
	d->held = slurm_text_is(priority, "0");
	d->pending = slurm_text_is(value(rest, "JobState="), "PENDING");
	begin = value(rest, "StartTime=");
	d->begin_ms = (int64_t)number(begin) * 1000;
	d->comment_free = comment_free(line);
	return true;
}

void slurm_job_parse_detail(const char *text, size_t len, slurm_job_detail_fn fn, void *ctx)
{
	const char *end = text + len;

	while (text < end) {
		struct slurm_text line = next_line(&text, end);
		struct slurm_job_detail d;

		if (starts(line, "JobId=") && parse_detail(line, &d))
			fn(ctx, &d);
	}
}
