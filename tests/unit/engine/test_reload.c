/* test_reload.c - a configuration that takes the place of another while burstd runs: what it names
 * must be there and can be done, or it is refused as a whole and the old one goes on. */
#define BARE_REAL_STORE
#include "bare_claims.h"

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
	F.release = CONF_WRAP;
	next = make_conf();
	next->nodes.deadman_ms = 1234567; /* nothing of it is taken */
	next->secrets.line = 7;
	assert_int_equal(engine_reload(F.e, next, &err), -1);
	assert_string_equal(err.msg, "burstd.conf:7: secrets: driver vault wraps nothing: want "
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
	F.release = CONF_WRAP;
	assert_int_equal(engine_reload(F.e, make_conf(), NULL), 0);
	assert_int_equal(F.e->conf->secrets.release, CONF_WRAP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(to_wrap_with_a_driver_that_wraps_nothing_is_refused,
						setup_bare, teardown),
		cmocka_unit_test_setup_teardown(to_wrap_with_one_that_wraps_is_taken, setup_wraps,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
