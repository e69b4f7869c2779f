/* sim_life.c - starts burstd from the durable store as main.c does, and ends it as a crash does. */
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/mem.h"
#include "buy/buy_api.h"
#include "core/conf.h"
#include "parts/parts.h"
#include "providers/registry.h"
#include "sim_journal.h"
#include "sim_rotate.h"
#include "sim_slurm.h"
#include "sim_spool.h"
#include "world.h"

static const char uuid[] = SIM_UUID;

/* --- the driver under other capabilities --------------------------------------------------------
 *
 * A driver cannot be told per instance what it can do, so there is one table for each kind of
 * provider. */

#define CAPS_OF(NAME, FLAGS, MAX, TOKEN_MS, PATHS_MAX)                                             \
	static struct provider_caps NAME(const void *self) {                                       \
		(void)self;                                                                        \
		return (struct provider_caps){.flags = PROVIDER_TAGS | PROVIDER_FABRICS | (FLAGS), \
					      .create_max = (MAX),                                 \
					      .delete_max = (MAX),                                 \
					      .paths_max = (PATHS_MAX),                            \
					      .token_ms = (TOKEN_MS)};                             \
	}
#define CAPS(NAME, FLAGS, MAX, TOKEN_MS)                                                           \
	CAPS_OF(NAME, FLAGS, MAX, TOKEN_MS, 0)                                                     \
	CAPS_OF(NAME##_paths, (FLAGS) | PROVIDER_PATHS, MAX, TOKEN_MS, SIM_PATHS_MAX)              \
	CAPS_OF(NAME##_images, (FLAGS) | PROVIDER_IMAGES, MAX, TOKEN_MS, 0)                        \
	CAPS_OF(NAME##_both, (FLAGS) | PROVIDER_PATHS | PROVIDER_IMAGES, MAX, TOKEN_MS,            \
		SIM_PATHS_MAX)
CAPS(caps_0, 0, 1000, 86400000)
CAPS(caps_1, PROVIDER_TOKENS, 1000, 86400000)
CAPS(caps_2, PROVIDER_GANGS, 1000, 86400000)
CAPS(caps_3, PROVIDER_TOKENS | PROVIDER_GANGS, 1000, 86400000)
CAPS(caps_4, 0, SIM_CREATE_FEW, 86400000)
CAPS(caps_5, PROVIDER_TOKENS, SIM_CREATE_FEW, 86400000)
CAPS(caps_6, PROVIDER_GANGS | PROVIDER_CONSOLES, SIM_CREATE_FEW, 86400000)
CAPS(caps_7, PROVIDER_TOKENS | PROVIDER_GANGS | PROVIDER_CONSOLES, SIM_CREATE_FEW, 86400000)
CAPS(caps_8, PROVIDER_TOKENS, 1000, SIM_TOKEN_MS)
CAPS(caps_9, PROVIDER_TOKENS | PROVIDER_GANGS | PROVIDER_CONSOLES, 1000, SIM_TOKEN_MS)
CAPS(caps_10, 0, 1, 86400000)
CAPS(caps_11, PROVIDER_TOKENS, 1, 86400000)
#undef CAPS
#undef CAPS_OF

static struct provider_caps (*const caps[])(const void *) = {
	caps_0,        caps_1,        caps_2,        caps_3,        caps_4,         caps_5,
	caps_6,        caps_7,        caps_8,        caps_9,        caps_10,        caps_11,
	caps_0_paths,  caps_1_paths,  caps_2_paths,  caps_3_paths,  caps_4_paths,   caps_5_paths,
	caps_6_paths,  caps_7_paths,  caps_8_paths,  caps_9_paths,  caps_10_paths,  caps_11_paths,
	caps_0_images, caps_1_images, caps_2_images, caps_3_images, caps_4_images,  caps_5_images,
	caps_6_images, caps_7_images, caps_8_images, caps_9_images, caps_10_images, caps_11_images,
	caps_0_both,   caps_1_both,   caps_2_both,   caps_3_both,   caps_4_both,    caps_5_both,
	caps_6_both,   caps_7_both,   caps_8_both,   caps_9_both,   caps_10_both,   caps_11_both};
enum { NCAPS = sizeof(caps) / sizeof(caps[0]) };

/* "0" ... "9", "a", "b": the driver `sim` with these caps; "0p" ...: one that says where machines
 * are, too; "0i", "0pi" ...: one that takes images.  Not const only because the driver is not known
 * before it is looked up: every look-up writes the same. */
static struct provider_ops drivers[NCAPS];

static const struct provider_ops *driver(const char *name)
{
	size_t i = (size_t)(name[0] <= '9' ? name[0] - '0' : name[0] - 'a' + 10);

	i += strchr(name, 'p') != NULL ? NCAPS / 4 : 0;
	i += strchr(name, 'i') != NULL ? NCAPS / 2 : 0;
	drivers[i] = *provider_find("sim");
	drivers[i].caps = caps[i];
	return &drivers[i];
}

/* --- configuration -----------------------------------------------------------------------------
 */

static void set_provider(const struct world *w, struct conf_provider *p, const char *of)
{
	const struct sim_setting *s = &w->set;
	char name[4] = {(char)('0' + (s->tokens ? 1 : 0) + (s->gangs ? 2 : 0) +
			       (s->create_max < 1000 ? 4 : 0))};

	if (s->tokens && s->token_ms == SIM_TOKEN_MS)
		name[0] = s->gangs ? '9' : '8';
	if (s->single)
		name[0] = s->tokens ? 'b' : 'a';
	if (s->paths)
		name[1] = 'p';
	if (sim_image_world(w))
		name[strlen(name)] = 'i';

	*p = (struct conf_provider){
		.name = mem_strdup(of),
		.driver = mem_strdup(name),
		.url = mem_strdup(strcmp(of, "twin") == 0 ? w->twin_url : w->url),
		.unreachable_ms = s->unreachable_ms,
		.settle_ms = s->settle_ms,
		.list_ms = s->list_ms,
		.cooldown_ms = SIM_COOLDOWN_MS, /* of quota, at most eight minutes */
		.timeout_ms = s->timeout_ms,
		.concurrency = s->concurrency,
		.rate = s->rate};
}

/* Three ways to buy one machine; a restart may find them in another order. */
static void set_ladder(const struct world *w, struct conf_pool *p, const struct sim_pool *sp)
{
	static const char *const names[] = {"home", "spot", "away"};

	p->noffers = w->set.twins && sim_absent_section(w) ? 1 : SIM_RUNGS;
	p->offers = mem_zalloc(SIM_RUNGS * sizeof(*p->offers));
	for (size_t k = 0; k < p->noffers; k++) {
		size_t of = w->turned ? p->noffers - 1 - k : k;

		p->offers[k] = (struct conf_offer){
			.name = mem_strdup(names[of]),
			.provider = mem_strdup(w->set.twins && of > 0 ? "twin" : "cloud"),
			.type = mem_strdup(sp->type),
			.region = mem_strdup(of == 2 ? "r2" : "r"),
			.zone = mem_strdup(""),
			.market = of == 1 ? PROVIDER_SPOT : PROVIDER_ON_DEMAND,
			.fabric = mem_strdup(sim_fabric_is_none(w, of) ? CONF_FABRIC_NONE : ""),
			.jurisdiction = mem_strdup("")};
	}
}

/* Not by dice: all other seeds stay the worlds that they were. */
int64_t sim_life_unmount_ms(const struct world *w)
{
	return w->seed % 5 == 0 ? 10 * SIM_SECOND : 0;
}

static void set_pool(const struct world *w, struct conf_pool *p, size_t i)
{
	const struct sim_pool *sp = &w->set.pools[i];

	*p = (struct conf_pool){.name = mem_strdup(sp->name),
				.nodes_text = mem_strdup(sp->nodes),
				.provider = mem_strdup(sp->ladder ? "" : "cloud"),
				.type = mem_strdup(sp->ladder ? "" : sp->type),
				.region = mem_strdup(sp->ladder ? "" : "r"),
				.zone = mem_strdup(w->zoned[i] && !sp->ladder ? "z" : ""),
				.fabric = mem_strdup(w->set.units    ? CONF_FABRIC_UNIT
						     : w->set.fabric ? CONF_FABRIC_JOB
								     : ""),
				.unit = w->set.units ? sp->unit : 0,
				.dynamic = sp->dynamic,
				.node = mem_strdup(sp->dynamic ? "CPUs=8 RealMemory=1000" : ""),
				.gres = mem_strdup(sp->dynamic ? "gpu:h100:8" : ""),
				.image = sim_image_name(w, i),
				.image_canaries = SIM_CANARIES,
				.image_trial_ms = 2 * SIM_MINUTE,
				.image_at_once = (uint32_t)sim_image_at_once(w),
				.spot_share = 100,
				.max_nodes = sp->max_nodes,
				.max_rate_nano_h = sp->max_rate,
				.checkpoint_signal = mem_strdup(w->set.checkpoint ? "USR1" : ""),
				.rebalance = w->set.rebalance ? CONF_REBALANCE_DRAIN
							      : CONF_REBALANCE_IGNORE,
				.rebalance_wait_ms = w->set.wait_ms,
				.unmount_wait_ms = sim_life_unmount_ms(w),
				.warm = sp->warm,
				.quantum_ms = sp->quantum_ms,
				.boot_ms = w->set.boot_ms};
	if (sp->ladder)
		set_ladder(w, p, sp);
}

static char **one_word(const char *word)
{
	char **v = mem_zalloc(2 * sizeof(*v));

	v[0] = mem_strdup(word);
	return v;
}

/* Machines are given a claim.  Where nobody makes it, it is good for ever: of claims that are
 * issued and end. */
static void set_nodes(const struct world *w, struct conf *c)
{
	c->secrets.driver = mem_strdup(w->set.bootstrap ? "keys" : "none");
	c->secrets.release = w->set.wrap ? CONF_WRAP : CONF_BROKER;
	c->secrets.wrap_ms = 2 * SIM_MINUTE;
	c->secrets.poll_ms = 5 * SIM_MINUTE;
	c->secrets.timeout_ms = 5 * SIM_SECOND;
	c->secrets.line = 1;
	if (w->set.rotates) {
		c->secrets.rotate_role_id = mem_strdup("r");
		c->secrets.rotate_role_name = mem_strdup("burst-rotate");
	}
	if (w->set.switch_command)
		c->secrets.switch_command = one_word("/usr/local/sbin/burst-switch");
	c->nodes.listen = mem_strdup("127.0.0.1:8443");
	c->nodes.urls = one_word("https://burst.example:8443");
	c->nodes.conf_servers = one_word("ctl:6817");
	c->nodes.claim_ms = w->set.bootstrap ? w->set.claim_ms : INT64_C(100) * 365 * 86400 * 1000;
	c->nodes.munge_socket = mem_strdup("");
	c->nodes.line = w->set.bootstrap ? 1 : 0;
	for (size_t i = 0; i < c->nproviders; i++) {
		c->providers[i].attest_as = w->set.bootstrap ? w->set.attest : CONF_ATTEST_ADDRESS;
		c->providers[i].check_address = w->set.check_address;
	}
}

/* They have a token instead. */
static void set_vouchers(struct conf *c)
{
	c->secrets.driver = mem_strdup("keys");
	c->secrets.release = CONF_USER_DATA;
	c->secrets.address = mem_strdup("two");
	c->secrets.ca_file = mem_strdup("/etc/burstd/store-ca.pem");
	c->secrets.poll_ms = 5 * SIM_MINUTE;
	c->secrets.timeout_ms = 5 * SIM_SECOND;
	c->secrets.line = 1;
	c->nodes.conf_servers = one_word("ctl:6817");
	for (size_t i = 0; i < c->nproviders; i++)
		c->providers[i].attest_as = CONF_ATTEST_AUTO;
}

static struct conf_budget budget(const char *name)
{
	return (struct conf_budget){.name = mem_strdup(name),
				    .market = CONF_MARKET_ANY,
				    .amount_nano = INT64_MAX / 4,
				    .period = mem_strdup("month"),
				    .stop_at = 100,
				    .contact = mem_strdup("")};
}

/* One that refuses nothing, and tells. */
static void set_alerts(struct conf *c)
{
	c->budgets[2] = budget("told");
	c->budgets[2].amount_nano = 50 * FMT_NANO;
	c->budgets[2].stop_at = 0;
	c->budgets[2].notify_at = (struct conf_percents){{1, 10, 50, 100, 200, 500, 1000}, 7};
	c->nalerts = 1;
	c->alerts = mem_zalloc(sizeof(*c->alerts));
	c->alerts[0] = (struct conf_alert){.name = mem_strdup("ops"),
					   .kind = CONF_ALERT_SMTP,
					   .url = mem_strdup("smtp://127.0.0.1"),
					   .from = mem_strdup("burstd@sim.test"),
					   .to = one_word("ops@sim.test")};
}

/* They never run out: what is judged is that they count. */
static void set_budgets(const struct world *w, struct conf *c)
{
	/* What was told is not judged where it may be forgotten. */
	c->nbudgets = w->set.chance[SIM_RESTORED] == 0 ? 3 : 2;
	c->budgets = mem_zalloc(c->nbudgets * sizeof(*c->budgets));
	c->budgets[0] = budget("all");
	c->budgets[1] = budget("accounts");
	c->budgets[1].each = CONF_EACH_ACCOUNT;
	c->budgets[1].reserve = w->seed % 2 == 0 ? CONF_RESERVE_FULL : CONF_RESERVE_LEASE;
	c->budgets[1].lease_ms = 5 * SIM_MINUTE;
	if (w->set.ladder) {
		/* Each account may have a machine for some minutes; then its jobs are ended. */
		c->budgets[1].reserve = CONF_RESERVE_LEASE;
		c->budgets[1].lease_ms = SIM_MINUTE;
		c->budgets[1].amount_nano = (int64_t)(1 + w->seed / 12 % 5) *
					    (w->seed / 12 % 4 == 3 ? 1 : 3) * FMT_NANO;
		c->budgets[1].grace_ms = (int64_t)(w->seed / 12 % 3) * 20 * SIM_SECOND;
	}
	if (c->nbudgets > 2)
		set_alerts(c);
}

/* Earlier than burstd.conf may say: jobs still start, so that there is something to end. */
static void end_jobs_at(const struct world *w, struct conf_budget *b)
{
	bool requeues = w->seed / 12 % 3 != 0;

	b->requeue_at = requeues ? 3 : 0;
	b->kill_at = !requeues || w->seed / 12 % 2 == 0 ? 5 : 0;
}

static struct conf *make_conf(struct world *w)
{
	struct conf *c = conf_new("burstd.conf");
	struct err e;

	c->cluster = mem_strdup("sim");
	memcpy(c->currency, "USD", 4);
	c->state_dir = mem_strdup("/var/lib/burstd");
	c->listen = mem_strdup("");
	c->slurm_bin = mem_strdup("/usr/bin");
	c->nproviders = w->set.twins && !sim_absent_section(w) ? 2 : 1;
	c->providers = mem_zalloc(c->nproviders * sizeof(*c->providers));
	set_provider(w, c->providers, "cloud");
	if (c->nproviders > 1)
		set_provider(w, c->providers + 1, "twin");
	c->npools = w->set.npools;
	c->pools = mem_zalloc(c->npools * sizeof(*c->pools));
	for (size_t i = 0; i < c->npools; i++)
		set_pool(w, &c->pools[i], i);
	if (w->set.claims)
		set_nodes(w, c);
	if (w->set.vouchers)
		set_vouchers(c);
	if (w->set.budgets)
		set_budgets(w, c);
	if (conf_finish(c, &e) != 0)
		world_fail(w, "configuration: %s", e.msg);
	if (w->set.ladder)
		end_jobs_at(w, &c->budgets[1]);
	if (w->set.claims && !w->set.bootstrap) /* there is no store in this world either */
		c->secrets.driver[0] = '\0';
	return c;
}

/* --- lives ------------------------------------------------------------------------------------ */

static void on_fatal(void *ctx, const struct err *e)
{
	struct world *w = ctx;

	SIM_TRACE(w, "*** burstd ends itself: %s", e->msg);
	w->crashed = true;
}

/* Over a restart anything may change.  The zone is in every create: what was sent before cannot be
 * sent again (I4). */
static void change_conf(struct world *w)
{
	if (!world_fault(w, SIM_CONF_CHANGED))
		return;
	sim_journal_met_all(w->journal, SIM_CONF_CHANGED);
	for (size_t i = 0; i < w->set.npools; i++)
		w->zoned[i] = world_one_in(w, 2) ? !w->zoned[i] : w->zoned[i];
	w->turned = world_one_in(w, 2);
	sim_image_change(w);
}

int sim_life_reload(struct world *w, struct err *e)
{
	struct conf *c = make_conf(w);
	int64_t before = w->reloaded;
	int rc;

	w->reloaded = w->now; /* what it sends at once is by the new one */
	rc = engine_reload(w->engine, c, e);
	if (rc == 0)
		return 0;
	w->reloaded = before;
	conf_free(c);
	return rc;
}

/* With another zone in every create of the first pool: that would make other bytes of a create in
 * doubt (I4), so it is refused, whole. */
static void reload_refused(struct world *w)
{
	if (w->set.pools[0].ladder || !world_fault(w, SIM_RELOAD_REFUSED))
		return;
	sim_journal_met_all(w->journal, SIM_RELOAD_REFUSED);
	w->zoned[0] = !w->zoned[0];
	if (sim_life_reload(w, NULL) == 0)
		world_fail(w, "I4: a reload changes what is in a create");
	w->zoned[0] = !w->zoned[0];
}

/* SIGHUP.  Under requests that are on the wire. */
static void on_reload(struct world *w, void *ctx, uint64_t life)
{
	struct err e;

	(void)ctx;
	if (w->engine == NULL || w->crashed || w->life != life)
		return; /* a later life has a task of its own */
	if (sim_freeze_holds(w, on_reload, NULL, life))
		return;
	world_at(w, w->now + world_between(w, 1, 600) * SIM_SECOND, on_reload, NULL, life);
	reload_refused(w);
	if (!world_fault(w, SIM_RELOADED))
		return;
	sim_journal_met_all(w->journal, SIM_RELOADED);
	SIM_TRACE(w, "*** reload");
	if (!w->set.limits.slow)
		w->set.concurrency = (uint32_t)world_between(w, 2, 16);
	w->turned = world_one_in(w, 2);
	sim_image_change(w);
	w->set.boot_ms = (w->set.resume_timeout_s - world_between(w, 10, 60)) * SIM_SECOND;
	if (sim_life_reload(w, &e) != 0)
		world_fail(w, "a reload is refused: %s", e.msg);
}

void sim_life_cool(struct world *w)
{
	struct err e;

	for (size_t i = 0; i < w->set.npools; i++) {
		w->set.pools[i].warm = 0;
		w->set.pools[i].quantum_ms = 0;
	}
	if (w->engine == NULL || w->crashed)
		return; /* the next life knows */
	if (sim_life_reload(w, &e) != 0)
		world_fail(w, "a reload is refused: %s", e.msg);
}

/* --- the disk --------------------------------------------------------------------------------- */

/* As house.c does every few seconds. */
static void on_disk(struct world *w, void *ctx, uint64_t arg)
{
	(void)ctx;
	(void)arg;
	world_at(w, w->now + 5 * SIM_SECOND, on_disk, NULL, 0);
	if (w->now >= w->disk_until && world_fault(w, SIM_DISK_FULL)) {
		SIM_TRACE(w, "*** the disk is full");
		sim_journal_met_all(w->journal, SIM_DISK_FULL);
		w->disk_until = w->now + world_between(w, 5, 300) * SIM_SECOND;
	}
	if (w->engine != NULL && !w->crashed && !sim_frozen(w))
		engine_look_at_disk(w->engine);
}

/* An admin sets the clock, or NTP does: that of burstd and slurmctld, not that of the provider. */
static void on_clock(struct world *w, void *ctx, uint64_t arg)
{
	int64_t by = world_between(w, 0, 600);

	(void)ctx;
	(void)arg;
	world_at(w, w->now + SIM_MINUTE, on_clock, NULL, 0);
	if (!world_fault(w, SIM_CLOCK_SET))
		return;
	w->totals->met[SIM_CLOCK_SET][NODE_NSTATES]++;
	if (world_one_in(w, 5))
		by *= 24 * 60; /* by months: forward, for slurmctld's jobs would wait as long */
	else if (world_one_in(w, 2))
		by = -by;
	SIM_TRACE(w, "*** the clock is set by %lld s", (long long)by);
	w->wall += by * SIM_SECOND;
	w->set_at = w->now;
	sim_ctld_clock_set(w->ctld, by * SIM_SECOND);
}

void sim_life_init(struct world *w)
{
	world_at(w, w->now + SIM_MINUTE, on_clock, NULL, 0);
	world_at(w, w->now + SIM_SECOND, on_disk, NULL, 0);
}

/* The same story wherever it is told. */
static int64_t utc(int64_t wall_ms)
{
	(void)wall_ms;
	return 0;
}

void life_start(struct world *w)
{
	const struct engine_deps d = {.loop = w->loop,
				      .http = w->http,
				      .proc = w->proc,
				      .journal = w->journal,
				      .spool = w->spool,
				      .uuid = uuid,
				      .driver = driver,
				      .files = sim_absent_files,
				      .fatal = on_fatal,
				      .door = &w->door,
				      .store = sim_store,
				      .store_ca = "-----BEGIN CERTIFICATE-----\n",
				      .ctx = w,
				      .zone = utc,
				      .report_zone = w->report_zone,
				      .slice = {w->set.slice, w->set.slice, w->set.slice},
				      .parts = parts_all()};
	struct conf *c = make_conf(w);
	struct err e;

	w->crashed = w->listed = w->told = w->told_full = false;
	w->life_began = w->now;
	SIM_TRACE(w, "*** life %u begins", w->life);
	sim_boot_start(w);
	sim_spool_life(w->spool);
	sim_absent_life(w);
	if (engine_new(&w->engine, &d, c, &e) != 0) {
		world_fail(w, "I23: burstd does not start: %s", e.msg);
		conf_free(c);
		return;
	}
	engine_start(w->engine);
	world_at(w, w->now + world_between(w, 1, 600) * SIM_SECOND, on_reload, NULL, w->life);
}

static void on_start(struct world *w, void *ctx, uint64_t arg)
{
	(void)ctx;
	(void)arg;
	if (w->gives_up)
		world_at(w, w->now + SIM_SECOND, on_start, NULL, 0);
	else
		life_start(w);
}

void life_end(struct world *w)
{
	static const int64_t year = INT64_C(365) * 86400 * 1000;

	w->crashed = true;
	engine_free(w->engine);
	w->engine = NULL;
	sim_boot_end(w);
	sim_http_cancel_all(w->http);
	sim_proc_cancel_all(w->proc);
	sim_gate_crashed(w->ctld);
	sim_rotate_crashed(w);
	w->totals->crashes++;
	w->life++;
	sim_ctld_trouble(w->ctld, w->now);
	sim_pool_crashed(w);
	if (world_fault(w, SIM_CLOCK_JUMP)) {
		w->totals->met[SIM_CLOCK_JUMP][NODE_NSTATES]++;
		for (uint32_t p = 0; p < w->set.npools; p++)
			sim_pool_forgive(w, p); /* what "until" was is not known any more */
		w->boot->jumped_at = w->now;
		w->skew = world_between(w, -10, 10) * (world_one_in(w, 2) ? year / 10 : SIM_MINUTE);
		w->wall = w->skew;
		w->set_at = w->now; /* orders may be on their way, as in on_clock() */
		SIM_TRACE(w, "*** the clock jumps to %lld s", (long long)(w->wall / SIM_SECOND));
	}
	sim_journal_restore(w->journal);
	change_conf(w);
	world_at(w, w->now + (world_one_in(w, 3) ? world_between(w, 1, 200) * SIM_SECOND : 100),
		 on_start, NULL, 0);
}
