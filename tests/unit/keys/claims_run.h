/* claims_run.h - an engine whose machines claim, loaded from a real journal and never started: load
 * it, end its turns, and let machines be bought and boot.  The header that includes this one
 * says which parts the engine has, and how a create is sent: keys_engine.h for keys alone,
 * tests/unit/parts/whole_claims.h for all parts. */
#ifndef TESTS_CLAIMS_RUN_H
#define TESTS_CLAIMS_RUN_H

#include "claims_machine.h"

static const unsigned char claim_key[CLAIM_KEY_SIZE] = "0123456789abcdef0123456789abcde";

enum { NODES_MAX = 40 };

/* That header defines these four. */
static inline struct engine_parts the_parts(void);
static inline const struct provider_ops *fake(const char *name); /* the provider's driver */
/* Add a WANTED row of node c<i>. */
static inline struct fleet_node *want(int i, uint64_t gen);
/* Send one create of these rows, which is then on its way. */
static inline void launch(struct fleet_node **v, size_t n);

static inline char **words(const char *one)
{
	char **v = mem_zalloc(2 * sizeof(*v));

	v[0] = mem_strdup(one);
	return v;
}

static inline struct conf *make_conf(void)
{
	struct conf *c = one_pool("c[1-40]", 40);

	c->secrets.driver = mem_strdup("vault");
	c->secrets.address = F.store_at != NULL ? mem_strdup(F.store_at) : NULL;
	c->secrets.namespace = F.store_in != NULL ? mem_strdup(F.store_in) : NULL;
	c->secrets.release = F.release;
	c->secrets.poll_ms = 60000;
	c->secrets.timeout_ms = 30000;
	if (F.release != CONF_USER_DATA) {
		c->nodes.listen = mem_strdup("127.0.0.1:1");
		c->nodes.urls = words("https://burst.example:8443");
	}
	c->secrets.ca_file = mem_strdup("/ca");
	c->nodes.conf_servers = words("ctl:6817");
	c->nodes.deadman_ms = 600000;
	c->nodes.line = 1;
	c->providers[0].attest_as = F.attest;
	c->providers[0].check_address = 1;
	if (F.attest == CONF_ATTEST_AZURE)
		c->providers[0].attest_ca_file = mem_strdup("/ca");
	assert_int_equal(conf_finish(c, NULL), 0);
	return c;
}

static inline void take_answer(void *ctx, uint64_t ticket, const struct http_answer *an)
{
	(void)ctx;
	assert_false(F.e->staging.due); /* the state that the reply tells of must be durable */
	assert_true(ticket < ANSWERS_MAX);
	assert_int_equal(F.answers[ticket].status, 0);
	/* Secrets must be marked, so that whoever hands them on wipes them. */
	if (an->body != NULL && (strstr(an->body, "munge_key") || strstr(an->body, "wrap_token")))
		assert_true(an->secret);
	F.answers[ticket].status = an->status;
	F.answers[ticket].body = an->body != NULL ? an->body : mem_strdup("");
}

/* Replace the engine by one loaded from the journal.  -1: *err, and F.e is NULL. */
static inline int load(struct err *err)
{
	const struct engine_deps d = {.loop = F.loop,
				      .proc = F.proc,
				      .journal = F.journal,
				      .uuid = uuid,
				      .driver = fake,
				      .store = F.store,
				      .door = F.release != CONF_USER_DATA ? &F.door : NULL,
				      .store_ca = "-----BEGIN CERTIFICATE-----\n",
				      .fatal = on_fatal,
				      .parts = the_parts()};
	struct conf *c = make_conf();

	engine_free(F.e);
	F.e = NULL;
	node_claims_free(F.table);
	F.door.table = F.table = node_claims_new();
	F.keys_fn = NULL;
	F.look = NULL;
	if (engine_new(&F.e, &d, c, err) == 0)
		return 0;
	conf_free(c);
	return -1;
}

/* ... which must succeed. */
static inline void restart(void)
{
	struct err err;

	if (load(&err) != 0)
		fail_msg("%s", err.msg);
	engine_commit(F.e);
}

/* The end of a turn: commit what is staged, act on it, then send replies. */
static inline void turn(void)
{
	engine_commit(F.e);
	claims_turn_part.at[PART_RUN](F.e);
	engine_commit(F.e);
	engine_commit(F.e); /* and what followed from that */
	if (F.e->keys->door != NULL)
		door_part.at[PART_SEND](F.e);
}

static inline struct fleet_node *row(int i)
{
	char name[16];
	struct fleet_node *fn;

	(void)snprintf(name, sizeof(name), "c%d", i);
	fn = fleet_find(&F.e->fleet, name)->newest;
	assert_non_null(fn);
	return fn;
}

static inline struct claim_run *claim(int i)
{
	return claims_of(F.e, row(i)->n.name, row(i)->n.gen);
}

/* Let the provider report instance i-<i>, at 10.0.0.<i>; addr false: without an address yet. */
static inline void boots(int i, bool addr)
{
	struct provider_instance in = {.state = PROVIDER_RUNNING};
	struct node_event ev = {
		.type = NODE_EV_CREATED, .now_ms = engine_now(F.e), .instance = &in};

	(void)snprintf(in.id, sizeof(in.id), "i-%d", i);
	(void)snprintf(in.node, sizeof(in.node), "c%d", i);
	if (addr)
		(void)snprintf(in.addr, sizeof(in.addr), "10.0.0.%d", i);
	row(i)->busy = false;
	engine_post(F.e, row(i), &ev);
	turn();
}

/* Send one create of the nodes first to first + n - 1. */
static inline void buy(int first, int n)
{
	struct fleet_node *v[NODES_MAX];

	assert_true(n <= NODES_MAX);
	for (int i = 0; i < n; i++)
		v[i] = want(first + i, 1);
	launch(v, (size_t)n);
}

/* Make one machine that is up. */
static inline void one(void)
{
	buy(1, 1);
	boots(1, true);
}

/* Make two machines of one create that are up. */
static inline void two(void)
{
	buy(1, 2);
	boots(1, true);
	boots(2, true);
}

/* Is the machine being deleted, for this reason? */
static inline bool goes(int i, enum node_reason why)
{
	return row(i)->n.state == NODE_DELETING && row(i)->n.reason == why;
}

static inline int setup_with(int attest, int release)
{
	char path[96];
	bool existed;

	F = (struct fix){.attest = attest, .release = release, .address = "10.0.0.1"};
	F.accept = "text/plain";
	(void)snprintf(F.dir, sizeof(F.dir), "/tmp/claims-XXXXXX");
	assert_non_null(mkdtemp(F.dir));
	(void)snprintf(path, sizeof(path), "%s/journal.db", F.dir);
	assert_int_equal(loop_new(&F.loop, NULL), 0);
	assert_int_equal(journal_open(&F.journal, path, &existed, NULL), 0);
	assert_int_equal(node_ca_open(&F.ca, F.dir, "test", loop_now(F.loop), NULL), 0);
	F.proc = proc_new(F.loop);
	F.door.ca = F.ca;
	F.door.claim_key = claim_key;
	F.door.answer = take_answer;
	F.door.uid = 64030;
	for (int i = 0; i < KEYS; i++)
		F.keys[i].csr = make_csr(F.keys[i].spki);
	return 0;
}

/* Machines prove themselves by their address; burstd hands out the keys itself. */
static inline int setup_broker(void **state)
{
	(void)state;
	(void)setup_with(CONF_ATTEST_ADDRESS, CONF_BROKER);
	restart();
	return 0;
}

/* ... or hands out a token by which the machine fetches them. */
static inline int setup_wrap(void **state)
{
	(void)state;
	(void)setup_with(CONF_ATTEST_ADDRESS, CONF_WRAP);
	restart();
	return 0;
}

static inline int teardown(void **state)
{
	char command[128];

	(void)state;
	engine_free(F.e);
	for (size_t i = 0; i < F.nwire; i++) {
		assert_null(F.wire[i].done);
		free(F.wire[i].body);
	}
	for (size_t i = 0; i < ANSWERS_MAX; i++)
		free(F.answers[i].body);
	for (size_t i = 0; i < F.ncreates; i++)
		free(F.creates[i].user_data);
	for (int i = 0; i < KEYS; i++)
		free(F.keys[i].csr);
	node_claims_free(F.table);
	node_ca_close(F.ca);
	proc_close(F.proc);
	journal_close(F.journal);
	loop_free(F.loop);
	(void)snprintf(command, sizeof(command), "rm -r %s", F.dir);
	assert_int_equal(system(command), 0);
	return 0;
}

#endif
