#include "tests/unit/ledger/charges.h"

#include <stdlib.h>

#include "base/mem.h"

enum { DAY_S = 86400, HOUR_S = 3600, NODES = 40 };

#define LENGTH(a) (sizeof(a) / sizeof((a)[0]))

/* What somebody has called a job somewhere, or will. */
static const char *const nasty[] = {
	"train",
	"=cmd|' /C calc'!A0",
	"+1+1",
	"-2",
	"@SUM(A1:A9)",
	"\t=1",
	"\r=1",
	"a,b;\"c\"",
	"two\nlines",
	"<script>alert(1)</script>",
	"&amp;]]>--><!--",
	"J\xc3\xbcrgens Lauf",
	"\xe5\x90\x8d\xe5\x89\x8d",
	"\xf0\x9f\x9a\x80 launch",
	"\xff\xfe broken \xc3",
	"\xef\xbc\x9d"
	"1",
	"   ",
	"12345",
	"1e5",
	"true",
	"2026-01-01",
	"NULL",
	"",
	"\x1b[31mred\x1b[0m",
	"%s%n%d\\u0041",
	"\xe2\x80\xae"
	"gpj.exe",
};

static const char *const users[] = {"alice", "bob", "J\xc3\xb6rg", "1001", "=evil", "o'brien"};
static const char *const accounts[] = {"physics", "chem/mol", "bio-1", "4711", "-x", "M\xc3\xbc"};
static const char *const accounts2[] = {"M\xc3\xb6"};
static const char *const nodes[] = {"gpu-1", "gpu-2", "h100-17", "node007"};

struct charge charges_one(void)
{
	return (struct charge){
		.start_s = CHARGES_START + HOUR_S,
		.end_s = CHARGES_START + 2 * HOUR_S,
		.nano = 12000000000,
		.list_nano = 30000000000,
		.billed_s = HOUR_S,
		.share_part = 1,
		.share_whole = 1,
		.gpu_s = 8 * HOUR_S,
		.cpu_s = 96 * HOUR_S,
		.class = ALLOCATE_RUN,
		.owner = ALLOCATE_JOB,
		.job = 401,
		.attempt = 1,
		.job_id = "401",
		.job_name = "train",
		.account = "physics",
		.user = "alice",
		.partition = "gpu",
		.qos = "normal",
		.wckey = "",
		.cluster = "hpc1",
		.node = "gpu-1",
		.instance = "i-0abc",
		.gen = 1,
		.pool = "h100",
		.provider = "aws-eu",
		.offer = "p5",
		.type = "p5.48xlarge",
		.region = "eu-central-1",
		.zone = "eu-central-1a",
		.market = PROVIDER_SPOT,
		.currency = "EUR",
		.gpus = 8,
		.cpus = 96,
		.memory_mb = 2097152,
		.rate_nano_h = 12000000000,
		.list_rate_nano_h = 30000000000,
	};
}

static size_t pick(size_t n)
{
	return (size_t)random() % n;
}

#define ANY(a) (a)[pick(LENGTH(a))]

static void owner(struct charge *c)
{
	static const char *const wckeys[] = {"", "grant-7", "=w", "\xc3\xa9"};

	c->job = 400 + pick(60);
	c->attempt = 1 + pick(3);
	c->job_id = pick(2) ? "401" : "401_7";
	c->job_name = ANY(nasty);
	c->user = ANY(users);
	c->account = pick(9) ? ANY(accounts) : accounts2[0];
	c->wckey = ANY(wckeys);
	if (c->class == ALLOCATE_RUN || c->class == ALLOCATE_LOST || c->class == ALLOCATE_BOOT)
		return;
	c->owner = c->class == ALLOCATE_ORPHAN ? ALLOCATE_CLUSTER : ALLOCATE_POOL;
	c->job = c->attempt = 0;
	c->job_id = c->job_name = c->user = c->account = c->wckey = "";
}

static void machine(struct charge *c)
{
	static const struct {
		const char *provider, *type, *region, *zone;
		uint32_t gpus, cpus;
		int64_t list;
	} all[] = {
		{"aws-eu", "p5.48xlarge", "eu-central-1", "eu-central-1a", 8, 96, 98320000000},
		{"aws-eu", "g6.xlarge", "eu-central-1", "eu-central-1b", 1, 4, 1006000000},
		{"lambda", "gpu_8x_h100", "us-west-1", "", 8, 208, 23920000000},
		{"own", "", "", "", 0, 64, -1},
		{"nowhere", "12345", "1", "1", 2, 8, 3000000001},
	};
	const size_t i = pick(LENGTH(all));

	c->provider = all[i].provider;
	c->type = all[i].type;
	c->region = all[i].region;
	c->zone = all[i].zone;
	c->gpus = all[i].gpus;
	c->cpus = all[i].cpus;
	c->list_rate_nano_h = all[i].list;
	c->market = all[i].list == 98320000000 ? (enum provider_market)pick(3) : PROVIDER_ON_DEMAND;
}

static void amounts(struct charge *c)
{
	static const int64_t wholes[] = {1, 3, 8, 96, 1000003};

	c->billed_s = c->end_s - c->start_s;
	c->share_whole = ANY(wholes);
	c->share_part = (int64_t)pick((size_t)c->share_whole + 1);
	c->rate_nano_h =
		c->list_rate_nano_h < 0 ? 2000000000 : c->list_rate_nano_h / (1 + random() % 4);
	c->nano = (int64_t)((double)c->rate_nano_h * (double)c->billed_s / HOUR_S *
			    (double)c->share_part / (double)c->share_whole);
	c->list_nano = c->list_rate_nano_h < 0 ? -1 : 2 * c->nano;
	c->gpu_s = c->gpus * c->billed_s * c->share_part / c->share_whole;
	c->cpu_s = c->cpus * c->billed_s * c->share_part / c->share_whole;
	c->credit = pick(40) == 0;
	if (c->credit)
		c->nano = -c->nano;
}

/* What an invoice has for no machine. */
static void shared(struct charge *c)
{
	*c = charges_one();
	c->class = pick(3) ? ALLOCATE_SHARED : ALLOCATE_TAX;
	c->owner = ALLOCATE_CLUSTER;
	c->job = c->attempt = 0;
	c->job_id = c->job_name = c->user = c->wckey = c->partition = c->qos = "";
	c->account = pick(2) ? ANY(accounts) : "";
	c->node = c->instance = c->pool = c->offer = c->region = c->zone = "";
	c->type = ANY(nasty);
	c->invoiced = true;
	c->late = c->adjust = pick(5) == 0;
	c->start_s = CHARGES_START - (c->late ? 10 * (int64_t)DAY_S : 0);
	c->end_s = c->start_s + 5 * DAY_S;
	c->market = PROVIDER_ON_DEMAND;
	c->nano = random() % 2000000000 - 500000000;
	c->list_nano = c->list_rate_nano_h = -1;
	c->billed_s = c->share_part = c->gpu_s = c->cpu_s = 0;
	c->gpus = c->cpus = 0;
	c->memory_mb = 0;
}

static void one(struct charge *c)
{
	if (pick(40) == 0) {
		shared(c);
		return;
	}
	*c = charges_one();
	c->class = (enum allocate_class)pick(ALLOCATE_SHARED); /* of machines */
	c->node = ANY(nodes);
	c->instance = pick(30) ? "i-0abc" : "i-77";
	c->gen = 1 + pick(3);
	c->start_s = CHARGES_START + (int64_t)pick(CHARGES_DAYS) * DAY_S + (int64_t)pick(DAY_S / 2);
	c->end_s = c->start_s + (int64_t)pick(pick(2) ? 7 : DAY_S / 2);
	c->estimated = pick(10) == 0;
	owner(c);
	machine(c);
	amounts(c);
	if (pick(50) == 0) { /* the invoice says otherwise, perhaps of last month */
		c->adjust = c->invoiced = true;
		c->start_s -= pick(2) ? 0 : (CHARGES_DAYS + 1) * (int64_t)DAY_S;
		c->end_s = c->start_s + HOUR_S;
		c->nano = random() % 2000000000 - 1000000000;
		c->instance = pick(2) ? c->instance : "";
	}
}

void charges_make(struct charges *c, unsigned seed, size_t n)
{
	*c = (struct charges){.v = mem_zalloc((n + 1) * sizeof(*c->v)),
			      .all = mem_zalloc((n + 1) * sizeof(void *)),
			      .n = n};
	srandom(seed);
	for (size_t i = 0; i < n; i++) {
		one(&c->v[i]);
		c->all[i] = &c->v[i];
	}
}

void charges_fini(struct charges *c)
{
	free(c->v);
	free(c->all);
	*c = (struct charges){0};
}

int64_t charges_sum(const struct charges *c)
{
	int64_t sum = 0;

	for (size_t i = 0; i < c->n; i++)
		sum += c->v[i].nano;
	return sum;
}

const struct zone *charges_zone(void)
{
	static struct zone *berlin;
	struct err e = {0};

	if (berlin == NULL)
		berlin = zone_new("Europe/Berlin", &e);
	return berlin;
}

struct focus_options charges_options(enum focus_version version, enum focus_view view)
{
	static const struct focus_provider providers[] = {
		{"aws-eu", "aws", "123456789012", "Research AWS", ""},
		{"lambda", "lambda", "", "", ""},
		{"own", "static", "", "", ""},
	};

	return (struct focus_options){
		.version = version,
		.view = view,
		.grain = FOCUS_DAY,
		.cluster = "hpc1",
		.currency = "EUR",
		.start_s = CHARGES_START,
		.end_s = CHARGES_START + CHARGES_DAYS * (int64_t)DAY_S,
		.invoice = "",
		.method = "dominant-share",
		.providers = providers,
		.nproviders = LENGTH(providers),
		.zone = charges_zone(),
	};
}
