#include "ledger/sacct.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/plain.h"

enum {
	TEXT_MAX = 2048,      /* bytes of an argument */
	NODES_MAX = 16 << 20, /* nodes, CPUs or GPUs of a job */
};
#define TIME_MAX   INT64_C(253402300799) /* the year 9999 */
#define MEMORY_MAX (INT64_C(1) << 40)    /* MiB of a job */

/* The users' texts last. */
enum field {
	JOB,
	DBINDEX,
	ID,
	SUBMIT,
	START,
	END,
	STATE,
	NNODES,
	NODES,
	CPUS,   /* squeue: on all nodes; sacct: unused */
	GRES,   /* squeue: asked for by node; sacct: AllocTRES */
	ASKED,  /* sacct: ReqTRES */
	BY_JOB, /* squeue: GPUs, asked for in all, by socket and by task */
	BY_SOCKET,
	BY_TASK,
	SOCKETS, /* of each node; "*": not said */
	TASKS,
	USER,
	PARTITION,
	QOS,
	ACCOUNT,
	WCKEY,
	NAME,
	NFIELDS
};

/* In that order; NULL: it has none. */
static const char *const sacct_fields[NFIELDS] = {
	"jobidraw", "dbindex",   "jobid",     "submit",  "start",   "end",   "state",  "nnodes",
	"nodelist", "alloccpus", "alloctres", "reqtres", NULL,      NULL,    NULL,     NULL,
	NULL,       "user",      "partition", "qos",     "account", "wckey", "jobname"};
/* Without slurmdbd slurmctld refuses to count GPUs, so tres-alloc has none of them. */
static const char *const squeue_fields[NFIELDS] = {
	"JobID",         NULL,       "JobArrayID",   "SubmitTime",      "StartTime",
	"EndTime",       "State",    "NumNodes",     "NodeList",        "NumCPUs",
	"tres-per-node", NULL,       "tres-per-job", "tres-per-socket", "tres-per-task",
	"Sockets",       "NumTasks", "UserName",     "Partition",       "QOS",
	"Account",       "WCKey",    "Name"};

static void init(struct sacct_args *a)
{
	*a = (struct sacct_args){0};
	for (size_t i = 0; i < sizeof(a->text) / sizeof(a->text[0]); i++)
		str_init(&a->text[i], TEXT_MAX);
}

void sacct_args_fini(struct sacct_args *a)
{
	for (size_t i = 0; i < sizeof(a->text) / sizeof(a->text[0]); i++)
		str_fini(&a->text[i]);
}

/* "uts" is seconds since 1970, whatever the time zone. */
void sacct_args(struct sacct_args *a, const char *program, const char *delimiter, int64_t from_s,
		int64_t to_s)
{
	struct str *t = a->text;
	size_t n = 0;

	init(a);
	str_adds(&t[0], "--format=");
	for (int i = 0; i < NFIELDS; i++)
		if (sacct_fields[i] != NULL)
			str_addf(&t[0], "%s%s", i > 0 ? "," : "", sacct_fields[i]);
	str_addf(&t[1], "--delimiter=%s", delimiter);
	str_addf(&t[2], "--starttime=uts%" PRId64, from_s);
	str_addf(&t[3], "--endtime=uts%" PRId64, to_s);
	a->argv[n++] = program;
	a->argv[n++] = "--local"; /* in a federation: nodes of other clusters may have our names */
	a->argv[n++] = "--allusers";
	a->argv[n++] = "--duplicates"; /* those that were requeued, too */
	a->argv[n++] = "--allocations";
	a->argv[n++] = "--parsable";
	a->argv[n++] = "--noheader";
	a->argv[n++] = "--noconvert";
	a->argv[n++] = t[1].p;
	a->argv[n++] = t[0].p;
	a->argv[n++] = t[2].p;
	a->argv[n++] = t[3].p;
}

void sacct_args_of_squeue(struct sacct_args *a, const char *program, const char *delimiter)
{
	size_t n = 0;

	init(a);
	for (int i = 0; i < NFIELDS; i++)
		if (squeue_fields[i] != NULL)
			str_addf(&a->text[0], "%s%s:0%s", i > 0 ? "," : "", squeue_fields[i],
				 delimiter);
	a->argv[n++] = program;
	a->argv[n++] = "--noheader";
	a->argv[n++] = "--local";
	a->argv[n++] = "--all";
	a->argv[n++] = "--states=all";
	a->argv[n++] = "-O";
	a->argv[n++] = a->text[0].p;
}

/* --- fields ------------------------------------------------------------------------------------
 */

struct record {
	char *f[NFIELDS];
	const struct sacct_text *t;
	struct sacct_count *n;
};

static bool bad(struct record *r, const char *what, const char *text)
{
	r->n->bad++;
	if (r->n->why[0] == '\0') {
		(void)snprintf(r->n->why, sizeof(r->n->why), "%s \"%.60s\"", what, text);
		plain_make(r->n->why, '?');
	}
	return false;
}

/* Digits alone, of a number up to max. */
static bool number(const char *text, uint64_t max, uint64_t *out)
{
	*out = 0;
	if (*text == '\0')
		return false;
	for (; *text >= '0' && *text <= '9'; text++)
		if (__builtin_mul_overflow(*out, 10, out) ||
		    __builtin_add_overflow(*out, (uint64_t)(*text - '0'), out) || *out > max)
			return false;
	return *text == '\0';
}

/* 0: there was none yet: "Unknown", "None", "N/A". */
static bool time_of(const char *text, int64_t *out)
{
	uint64_t v = 0;

	*out = 0;
	if (strcmp(text, "Unknown") == 0 || strcmp(text, "None") == 0 || strcmp(text, "N/A") == 0 ||
	    text[0] == '\0')
		return true;
	if (!number(text, TIME_MAX, &v))
		return false;
	*out = (int64_t)v;
	return true;
}

const char *sacct_wckey(const char *wckey)
{
	return wckey[0] == '*' ? wckey + 1 : wckey;
}

/* For a terminal and a table: one line, without what controls either. */
static char *shown(char *text)
{
	size_t len = strlen(text);

	if (strcmp(text, "(null)") == 0)
		text[0] = '\0';
	if (len > SACCT_TEXT_MAX) {
		len = SACCT_TEXT_MAX;
		while (len > 0 && ((unsigned char)text[len] & 0xc0) == 0x80)
			len--;
		text[len] = '\0';
	}
	plain_make(text, '?');
	return text;
}

/* The first word: "CANCELLED by 1000". */
static char *word(char *text)
{
	text[strcspn(text, " +")] = '\0';
	return shown(text);
}

/* "64G", "1000M", "62.50G", "512": in MiB, rounded up. */
static bool memory(const char *text, size_t len, int64_t *mb)
{
	static const char units[] = "KMGTP";
	uint64_t whole = 0, thousandths = 0, each = 100, kb;
	const char *end = text + len, *unit;

	for (; text < end && *text >= '0' && *text <= '9'; text++)
		if ((whole = whole * 10 + (uint64_t)(*text - '0')) > UINT64_C(1) << 40)
			return false;
	if (text < end && *text == '.')
		for (text++; text < end && *text >= '0' && *text <= '9'; text++, each /= 10)
			thousandths += each * (uint64_t)(*text - '0');
	unit = text < end ? strchr(units, *text) : &units[1];
	if (unit == NULL || *unit == '\0' || text + 1 < end)
		return false;
	kb = whole * 1000 + thousandths;
	for (const char *u = units; u < unit; u++)
		if (__builtin_mul_overflow(kb, 1024, &kb))
			return false;
	kb = (kb + 999) / 1000;
	*mb = (int64_t)((kb + 1023) / 1024);
	return *mb <= MEMORY_MAX;
}

struct tres {
	int64_t cpus, gpus, typed_gpus, memory_mb, nodes;
};

static bool one_tres(const char *name, size_t len, const char *value, size_t value_len,
		     struct tres *out)
{
	char text[24];
	uint64_t v = 0;

	if (len == 3 && memcmp(name, "mem", 3) == 0)
		return memory(value, value_len, &out->memory_mb);
	if (value_len >= sizeof(text))
		return false;
	memcpy(text, value, value_len);
	text[value_len] = '\0';
	if (len == 3 && memcmp(name, "cpu", 3) == 0) {
		out->cpus = number(text, NODES_MAX, &v) ? (int64_t)v : -1;
		return out->cpus >= 0;
	}
	if (len == 4 && memcmp(name, "node", 4) == 0) {
		out->nodes = number(text, NODES_MAX, &v) ? (int64_t)v : -1;
		return out->nodes >= 0;
	}
	if (len < 8 || memcmp(name, "gres/gpu", 8) != 0 || (len > 8 && name[8] != ':'))
		return true;
	if (!number(text, NODES_MAX, &v))
		return false;
	if (len == 8)
		out->gpus = (int64_t)v;
	else
		out->typed_gpus += (int64_t)v; /* "gres/gpu:h100" */
	return out->typed_gpus <= NODES_MAX;
}

/* "billing=8,cpu=8,gres/gpu:h100=8,gres/gpu=8,mem=64G,node=1"; unknown ones are ignored. */
static bool read_tres(const char *text, struct tres *out)
{
	*out = (struct tres){0};
	while (*text != '\0') {
		size_t len = strcspn(text, "=,"), value;

		if (text[len] != '=')
			return false;
		value = strcspn(text + len + 1, ",");
		if (!one_tres(text, len, text + len + 1, value, out))
			return false;
		text += len + 1 + value;
		text += *text == ',';
	}
	if (out->gpus == 0)
		out->gpus = out->typed_gpus;
	return true;
}

static int64_t share(int64_t all, int64_t nodes)
{
	return nodes > 0 ? (all + nodes - 1) / nodes : all;
}

static bool runs(const char *state)
{
	static const char *const states[] = {"RUNNING",  "SUSPENDED", "COMPLETING", "CONFIGURING",
					     "RESIZING", "SIGNALING", "STAGE_OUT",  "STOPPED"};

	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
		if (strcmp(state, states[i]) == 0)
			return true;
	return false;
}

/* --- records -----------------------------------------------------------------------------------
 */

/* What both programs print alike.  false: it is left out. */
static bool read_common(struct record *r, struct ledger_attempt *a)
{
	uint64_t job = 0, nodes = 0;

	*a = (struct ledger_attempt){.seen_ms = r->t->seen_ms};
	if (!number(r->f[JOB], UINT32_MAX, &job))
		return bad(r, "no number of a job:", r->f[JOB]);
	a->job = job;
	if (!time_of(r->f[SUBMIT], &a->submit_s))
		return bad(r, "no time:", r->f[SUBMIT]);
	if (!time_of(r->f[START], &a->start_s))
		return bad(r, "no time:", r->f[START]);
	if (!time_of(r->f[END], &a->end_s))
		return bad(r, "no time:", r->f[END]);
	if (!number(r->f[NNODES], NODES_MAX, &nodes))
		return bad(r, "no number of nodes:", r->f[NNODES]);
	a->nnodes = (int64_t)nodes;
	a->job_id = shown(r->f[ID]);
	a->state = word(r->f[STATE]);
	a->user = shown(r->f[USER]);
	a->partition = shown(r->f[PARTITION]);
	a->qos = shown(r->f[QOS]);
	a->account = shown(r->f[ACCOUNT]);
	a->wckey = sacct_wckey(shown(r->f[WCKEY]));
	a->name = shown(r->f[NAME]);
	return true;
}

/* end_s of an attempt that runs is its begin. */
static void set_running(struct ledger_attempt *a, bool running)
{
	a->running = running;
	if (running)
		a->end_s = a->start_s;
}

/* It waits, or never had nodes. */
static bool is_without_nodes(const struct record *r, const struct ledger_attempt *a)
{
	return a->start_s == 0 || r->f[NODES][0] == '\0' ||
	       strcmp(r->f[NODES], "None assigned") == 0 || strcmp(r->f[NODES], "(null)") == 0 ||
	       strcmp(a->state, "PENDING") == 0;
}

static bool read_sacct(struct record *r, struct ledger_attempt *a)
{
	struct tres has, asked;
	int64_t nodes;

	if (!read_common(r, a))
		return false;
	a->source = SACCT;
	/* After a job was resized it has a record more, with the begin of the first; when it was
	 * submitted is when that was. */
	if (a->start_s != 0 && a->submit_s > a->start_s &&
	    (a->end_s == 0 || a->submit_s <= a->end_s))
		a->start_s = a->submit_s;
	/* After slurmdbd was away its record of a begin has the state of the end, and no end yet.
	 * The record of a job that was resized ends then, and keeps that state: what the job had
	 * from then on is in the next. */
	set_running(a, a->end_s == 0 || (runs(a->state) && strcmp(a->state, "RESIZING") != 0));
	if (!number(r->f[DBINDEX], UINT64_MAX, &a->dbindex))
		return bad(r, "no index:", r->f[DBINDEX]);
	if (is_without_nodes(r, a))
		return false;
	if (!read_tres(r->f[GRES], &has))
		return bad(r, "no resources:", r->f[GRES]);
	if (!read_tres(r->f[ASKED], &asked))
		return bad(r, "no resources:", r->f[ASKED]);
	if (has.cpus == 0) /* a record that slurmctld could not complete */
		has = asked;
	nodes = has.nodes > 0 ? has.nodes : a->nnodes;
	a->cpus = share(has.cpus, nodes);
	a->gpus = share(has.gpus, nodes);
	a->memory_mb = share(has.memory_mb, nodes);
	return true;
}

/* "gres:gpu:h100:8", "cpu=1,gres/gpu=8", "gpu:2,shard:1"; "N/A". */
static int64_t gpus_of(const char *text)
{
	int64_t sum = 0;

	for (const char *p = text; (p = strstr(p, "gpu")) != NULL;) {
		const char *end = p + strcspn(p, ",("), *digits = end;
		int64_t v = 0;

		while (digits > p && digits[-1] >= '0' && digits[-1] <= '9')
			digits--;
		for (const char *d = digits; d < end && v <= NODES_MAX; d++)
			v = v * 10 + (*d - '0');
		if (digits > p && (digits[-1] == ':' || digits[-1] == '='))
			sum += v;
		else if (p + 3 == end) /* "gpu" alone is one */
			sum++;
		p = end;
	}
	return sum <= NODES_MAX ? sum : 0;
}

/* The GPUs of the job on each node: the most that it asks for by node, job, socket or task. */
static int64_t gpus_asked(const struct record *r, int64_t nodes)
{
	uint64_t sockets = 0, tasks = 0;
	int64_t all, n = gpus_of(r->f[GRES]), by_socket = gpus_of(r->f[BY_SOCKET]);

	if (!number(r->f[TASKS], NODES_MAX, &tasks))
		tasks = 1;
	if (number(r->f[SOCKETS], NODES_MAX, &sockets) && sockets > 0)
		by_socket *= (int64_t)sockets;
	all = gpus_of(r->f[BY_TASK]) * (int64_t)tasks;
	if (all < gpus_of(r->f[BY_JOB]))
		all = gpus_of(r->f[BY_JOB]);
	if (n < share(all, nodes))
		n = share(all, nodes);
	if (n < by_socket)
		n = by_socket;
	return n <= NODES_MAX ? n : NODES_MAX;
}

static bool read_squeue(struct record *r, struct ledger_attempt *a)
{
	uint64_t cpus = 0;

	if (!read_common(r, a))
		return false;
	a->source = SQUEUE;
	if (strcmp(a->user, "nobody") == 0) /* whom squeue finds no name for */
		a->user = "";
	set_running(a, a->end_s == 0 || runs(a->state));
	if (is_without_nodes(r, a))
		return false;
	if (!number(r->f[CPUS], NODES_MAX, &cpus))
		return bad(r, "no number of CPUs:", r->f[CPUS]);
	a->cpus = share((int64_t)cpus, a->nnodes);
	a->gpus = gpus_asked(r, a->nnodes);
	return true;
}

/* Cut one record at *p into its fields; false: it is not whole. */
static bool cut(char **p, const char *end, const char *const *names, struct record *r)
{
	static char none[] = "";
	const size_t len = strlen(r->t->delimiter);

	for (int i = 0; i < NFIELDS; i++) {
		char *stop;

		r->f[i] = none;
		if (names[i] == NULL)
			continue;
		stop = memmem(*p, (size_t)(end - *p), r->t->delimiter, len);
		if (stop == NULL)
			return false;
		r->f[i] = *p;
		*stop = '\0';
		*p = stop + len;
	}
	if (*p == end || **p != '\n')
		return false;
	++*p;
	return true;
}

static int parse(const struct sacct_text *t, const char *const *names,
		 bool (*read)(struct record *r, struct ledger_attempt *a), sacct_fn fn, void *ctx,
		 struct sacct_count *n, struct err *e)
{
	char *p = t->p;

	*n = (struct sacct_count){0};
	while (p < t->p + t->len) {
		struct record r = {.t = t, .n = n};
		struct ledger_attempt a;

		if (!cut(&p, t->p + t->len, names, &r))
			return err_set(e, ERR_INVALID, "record %zu is not whole", n->records + 1);
		n->records++;
		if (read(&r, &a) && fn(ctx, &a, r.f[NODES], e) < 0)
			return -1;
	}
	return 0;
}

int sacct_parse(const struct sacct_text *t, sacct_fn fn, void *ctx, struct sacct_count *n,
		struct err *e)
{
	return parse(t, sacct_fields, read_sacct, fn, ctx, n, e);
}

int sacct_parse_squeue(const struct sacct_text *t, sacct_fn fn, void *ctx, struct sacct_count *n,
		       struct err *e)
{
	return parse(t, squeue_fields, read_squeue, fn, ctx, n, e);
}

bool sacct_is_disabled(const char *errors)
{
	return strstr(errors, "accounting storage is disabled") != NULL;
}
