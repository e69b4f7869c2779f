/* loaded_engine.h - a real engine, loaded from a real journal and never started, for tests that
 * call into its files: its driver builds no request, and there is no scontrol or squeue. */
#ifndef TESTS_LOADED_ENGINE_H
#define TESTS_LOADED_ENGINE_H

#include "tests/unit/engine/loaded_parts.h"

#include <time.h>

#include "buy/buy.h"
#include "diff/diff.h"
#include "jobs/jobs.h"
#include "parts/parts.h"

/* --- a driver that cannot ask for anything -----------------------------------------------
 */

static unsigned fake_flags = PROVIDER_TOKENS | PROVIDER_TAGS; /* a test may add to them */

static const struct zone *fake_zone; /* of reports; NULL: there are no budgets */

static const struct provider_limit *fake_limits; /* the provider's own limits; NULL: unknown */

/* Reads the provider's files; NULL: it names none. */
static int (*fake_files)(void *ctx, struct conf_provider *p, size_t i, const char **credential,
			 struct err *e);

static struct provider_caps fake_caps(const void *self)
{
	(void)self;
	return (struct provider_caps){.flags = fake_flags,
				      .create_max = 1000,
				      .delete_max = 1000,
				      .token_ms = 86400000,
				      .limits = fake_limits};
}

static int fake_build(const void *self, const struct provider_op *op, struct provider_request *out,
		      struct err *e)
{
	(void)self;
	(void)op;
	(void)out;
	return err_set(e, ERR_INVALID, "not here");
}

static const struct provider_ops *fake(const char *name)
{
	static const struct provider_ops ops = {.name = "fake",
						.open = fake_open,
						.close = fake_close,
						.caps = fake_caps,
						.build = fake_build};

	(void)name;
	return &ops;
}

/* --- an engine that is loaded and never started ------------------------------------------------
 */

struct fix {
	char dir[64];
	struct loop *loop;
	struct proc *proc;
	struct journal *journal;
	struct engine *e;
	int64_t ahead;      /* the next lists are later than now by this */
	int64_t created_ms; /* creation time of the instances in them */
};

static inline struct conf *make_conf(void)
{
	struct conf *c = one_pool("c[1-3]", 3);

	assert_int_equal(conf_finish(c, NULL), 0);
	return c;
}

/* Leave p without a place of its own, so that its nodes are bought by its offers. */
static inline void sell_by_offers(struct conf_pool *p)
{
	free(p->provider);
	free(p->type);
	free(p->region);
	p->provider = mem_strdup("");
	p->type = mem_strdup("");
	p->region = mem_strdup("");
	p->price_nano_h = 0;
}

static int setup(void **state)
{
	struct fix *f = mem_zalloc(sizeof(*f));
	char path[96];
	bool existed;

	(void)snprintf(f->dir, sizeof(f->dir), "/tmp/engine-XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	(void)snprintf(path, sizeof(path), "%s/journal.db", f->dir);
	assert_int_equal(loop_new(&f->loop, NULL), 0);
	assert_int_equal(journal_open(&f->journal, path, &existed, NULL), 0);
	f->proc = proc_new(f->loop);
	fake_flags = PROVIDER_TOKENS | PROVIDER_TAGS;
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fix *f = *state;
	char command[128];

	engine_free(f->e);
	proc_close(f->proc);
	journal_close(f->journal);
	loop_free(f->loop);
	(void)snprintf(command, sizeof(command), "rm -r %s", f->dir);
	assert_int_equal(system(command), 0);
	free(f);
	return 0;
}

/* Make a row for the journal: node c<i> is up, as instance i-<i>. */
static inline void make_ready(const struct fix *f, int i, struct node *out)
{
	char name[16];

	(void)snprintf(name, sizeof(name), "c%d", i);
	node_init(out, name, 1, loop_now(f->loop) - 100000);
	out->state = NODE_READY;
	out->wake_ms = INT64_MAX;
	(void)snprintf(out->instance, sizeof(out->instance), "i-%d", i);
}

/* Replace the engine by one loaded from the journal; takes c, or frees it. */
static inline int load_conf(struct fix *f, struct conf *c, struct err *err)
{
	const struct engine_deps d = {.loop = f->loop,
				      .proc = f->proc,
				      .journal = f->journal,
				      .uuid = uuid,
				      .driver = fake,
				      .files = fake_files,
				      .report_zone = fake_zone,
				      .fatal = on_fatal,
				      .parts = parts_all()};

	engine_free(f->e);
	f->e = NULL;
	if (engine_new(&f->e, &d, c, err) == 0)
		return 0;
	conf_free(c);
	return -1;
}

/* slurmctld says that it is of this release. */
static inline void learn_release(struct fix *f, const char *version)
{
	char config[200];
	int n = snprintf(config, sizeof(config),
			 "Configuration data as of 2026-11-28T00:00:00\n"
			 "BOOT_TIME = 2026-11-28T00:00:00\nSLURM_VERSION = %s\n\n",
			 version);

	prereq_answer(f->e, SLURM_CONFIG, config, (size_t)n);
	prereq_answer(f->e, SLURM_PARTITIONS, "", 0);
	assert_string_equal(engine_prereq_error(f->e), "");
}

/* Call the resume hook as slurmctld does; file may be NULL. */
static inline void call(struct fix *f, const char *list, const char *file)
{
	const struct spool_call c = {.name = "1.call",
				     .kind = CALL_RESUME,
				     .list = list,
				     .list_len = strlen(list),
				     .file = file,
				     .file_len = file != NULL ? strlen(file) : 0};

	assert_true(intake_take(f->e, &c));
	intake_part.at[PART_RUN](f->e);
}

/* Show a snapshot of slurmctld that began after all that was done before: c1 in this state, with
 * these other fields. */
static inline void show(struct fix *f, const char *state, const char *fields)
{
	char text[400];
	int n = snprintf(text, sizeof(text), "NodeName=c1 NodeHostName=c1 State=%s %s\n", state,
			 fields);
	const struct timespec tick = {0, 2000000};

	(void)nanosleep(&tick, NULL);
	assert_true(slurm_parse_nodes(text, (size_t)n, observe_node, f->e, NULL) > 0);
	(void)observe_snapshot(f->e, loop_now(f->loop), NULL);
	while (f->e->diff->look != NULL)
		(void)observe_some(f->e);
}

#endif
