/* test_reload.c - a configuration that takes the place of another while burstd runs: what it names
 * must be there and can be done, or it is refused as a whole and the old one goes on. */
#include "whole_claims.h"

#include "keys/keys.h"
#include "keys/vouchers.h"

/* --- a store that is open, and that is all ----------------------------------------------------
 */

static unsigned store_flags;

static int st_open(void **self, const struct secret_store_conf *conf, struct err *e)
{
	(void)conf;
	(void)e;
	*self = &store_flags;
	return 0;
}

static void st_close(void *self)
{
	(void)self;
}

static unsigned st_flags(const void *self)
{
	(void)self;
	return store_flags;
}

static const char *st_address(const void *self, uint32_t i)
{
	(void)self;
	(void)i;
	return NULL;
}

static const struct secret_store_ops *the_store(const char *name)
{
	static const struct secret_store_ops ops = {.name = "fake",
						    .open = st_open,
						    .close = st_close,
						    .flags = st_flags,
						    .address = st_address};

	(void)name;
	return &ops;
}

static int setup_release(int release, unsigned flags)
{
	(void)setup_with(CONF_ATTEST_AUTO, release);
	store_flags = flags;
	F.store = the_store;
	restart();
	return 0;
}

static int setup_bare(void **state)
{
	(void)state;
	return setup_release(CONF_BROKER, 0);
}

/* --- what the driver can do -------------------------------------------------------------------
 */

static void to_wrap_with_a_driver_that_wraps_nothing_is_refused(void **state)
{
	const struct conf *before = F.e->conf;
	struct conf *next;
	struct err err = {0};

	(void)state;
	assert_false(secrets_wraps(F.e));
	F.release = CONF_WRAP;
	next = make_conf();
	next->nodes.deadman_ms = 1234567; /* nothing of it is taken */
	next->secrets.line = 7;
	assert_int_equal(engine_reload(F.e, next, &err), -1);
	assert_string_equal(
		err.msg, "burstd.conf:7: secrets: driver vault cannot make wrapping tokens: want "
			 "release = \"broker\"");
	assert_ptr_equal(F.e->conf, before);
	assert_int_equal(F.e->conf->secrets.release, CONF_BROKER);
	conf_free(next);
	assert_int_equal(events("reloaded"), 0);
}

static int setup_wraps(void **state)
{
	(void)state;
	return setup_release(CONF_BROKER, SECRET_WRAPS);
}

static void to_wrap_with_one_that_wraps_is_taken(void **state)
{
	(void)state;
	assert_true(secrets_wraps(F.e));
	fleet_find(&F.e->fleet, "c1")->tried = 1; /* a place in the old file */
	F.release = CONF_WRAP;
	assert_int_equal(engine_reload(F.e, make_conf(), NULL), 0);
	assert_int_equal(F.e->conf->secrets.release, CONF_WRAP);
	assert_int_equal(fleet_find(&F.e->fleet, "c1")->tried, 0);
}

/* --- files that machines need -----------------------------------------------------------------
 */

static struct conf *with_node_init(const char *name)
{
	struct conf *c = make_conf();
	char path[96];

	(void)snprintf(path, sizeof(path), "%s/%s", F.dir, name);
	free(c->nodes.node_init);
	c->nodes.node_init = mem_strdup(path);
	return c;
}

static void write_node_init(const char *name, const char *text)
{
	char path[96];
	FILE *f;

	(void)snprintf(path, sizeof(path), "%s/%s", F.dir, name);
	f = fopen(path, "w");
	assert_non_null(f);
	(void)fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

/* A new image came with it; also where the file has the same name. */
static void tokens_name_the_node_init_of_the_new_one(void **state)
{
	static const char empty[] =
		"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
	char first[65];

	(void)state;
	assert_string_equal(F.e->keys->vouchers->sha256, "");
	write_node_init("node-init", "new\n");
	assert_int_equal(engine_reload(F.e, with_node_init("node-init"), NULL), 0);
	(void)snprintf(first, sizeof(first), "%s", F.e->keys->vouchers->sha256);
	assert_int_equal(strlen(first), 64);
	write_node_init("node-init", "");
	assert_int_equal(engine_reload(F.e, with_node_init("node-init"), NULL), 0);
	assert_string_equal(F.e->keys->vouchers->sha256, empty);
	assert_int_equal(engine_reload(F.e, make_conf(), NULL), 0); /* any will do */
	assert_string_equal(F.e->keys->vouchers->sha256, "");
}

static void a_node_init_that_cannot_be_read_is_refused(void **state)
{
	struct err err = {0};
	struct conf *next;
	const struct conf *before;
	char hash[65];

	(void)state;
	write_node_init("node-init", "new\n");
	assert_int_equal(engine_reload(F.e, with_node_init("node-init"), NULL), 0);
	before = F.e->conf;
	(void)snprintf(hash, sizeof(hash), "%s", F.e->keys->vouchers->sha256);
	next = with_node_init("none");
	assert_int_equal(engine_reload(F.e, next, &err), -1);
	assert_non_null(strstr(err.msg, "nodes: node_init: "));
	assert_ptr_equal(F.e->conf, before);
	assert_string_equal(F.e->keys->vouchers->sha256, hash);
	conf_free(next);
}

/* Unless it could not be read before: what else is new must not wait for it. */
static void a_node_init_that_was_away_already_keeps_nothing_from_being_reloaded(void **state)
{
	(void)state;
	write_node_init("node-init", "new\n");
	assert_int_equal(engine_reload(F.e, with_node_init("node-init"), NULL), 0);
	node_init_off(F.e, &(struct err){.code = ERR_IO, .msg = "away"});
	assert_int_equal(engine_reload(F.e, with_node_init("none"), NULL), 0);
	assert_non_null(strstr(engine_init_off(F.e), "nodes: node_init: "));
	write_node_init("none", "there\n");
	F.e->keys->init_next = 0;
	vouchers_turn_part.at[PART_RUN](F.e);
	assert_null(engine_init_off(F.e));
}

static int setup_user_data(void **state)
{
	(void)state;
	return setup_release(CONF_USER_DATA, SECRET_WRAPS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(to_wrap_with_a_driver_that_wraps_nothing_is_refused,
						setup_bare, teardown),
		cmocka_unit_test_setup_teardown(to_wrap_with_one_that_wraps_is_taken, setup_wraps,
						teardown),
		cmocka_unit_test_setup_teardown(tokens_name_the_node_init_of_the_new_one,
						setup_user_data, teardown),
		cmocka_unit_test_setup_teardown(a_node_init_that_cannot_be_read_is_refused,
						setup_user_data, teardown),
		cmocka_unit_test_setup_teardown(
			a_node_init_that_was_away_already_keeps_nothing_from_being_reloaded,
			setup_user_data, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
