/* test_conf_lookup.c - what is read off a configuration: for the secret store, for a message, for a
 * decision. */
#include "core/secret_store.h"
#include "small_conf.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static void a_store_is_told_its_section(void **state)
{
	char t[][16] = {"address", "namespace", "mount", "name",    "auth", "id",
			"role",    "region",    "arn",   "sts-url", "meta", "dir"};
	const struct conf_secrets s = {.address = t[0],
				       .namespace = t[1],
				       .mount = t[2],
				       .name = t[3],
				       .auth_mount = t[4],
				       .role_id = t[5],
				       .role_name = t[6],
				       .region = t[7],
				       .role = t[8],
				       .sts_url = t[9],
				       .metadata_url = t[10],
				       .dir = t[11]};
	const struct secret_store_conf d = conf_for_store(&s, "secret");
	const char *const got[] = {d.address,    d.namespace, d.mount,        d.name,
				   d.auth_mount, d.role_id,   d.role_name,    d.region,
				   d.role,       d.sts_url,   d.metadata_url, d.dir};

	(void)state;
	for (size_t i = 0; i < COUNT(got); i++)
		assert_ptr_equal(got[i], t[i]);
	assert_string_equal(d.credential, "secret");
}

static void a_message_has_the_line_of_the_option_or_of_its_section(void **state)
{
	struct conf *c = small_conf();
	int line = 100;

	(void)state;
	assert_int_equal(conf_secrets_line(c, "driver"), 0);
	c->secrets.line = 99;
	for (size_t i = 0; i < conf_noptions; i++)
		if (strcmp(conf_options[i].section, "secrets") == 0)
			assert_int_equal(conf_secrets_line(c, conf_options[i].name), 99);
	for (size_t i = 0; i < CONF_SECRETS_MAX; i++)
		c->secrets.lines[i] = 100 + (int)i;
	for (size_t i = 0; i < conf_noptions; i++)
		if (strcmp(conf_options[i].section, "secrets") == 0)
			assert_int_equal(conf_secrets_line(c, conf_options[i].name), line++);
	/* Other sections have options of the same name; only this one counts. */
	assert_int_equal(conf_secrets_line(c, "listen"), 99);
	conf_free(c);
}

static void the_smaller_limit_is_the_most_that_a_node_may_cost(void **state)
{
	static const struct {
		int64_t rate, price, want;
		const char *option;
	} rows[] = {
		{9, 0, 9, "max_rate"},  {9, 10, 9, "max_rate"}, {9, 9, 9, "max_price"},
		{9, 8, 8, "max_price"}, {0, 1, 0, "max_rate"},  {9, 1, 1, "max_price"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct conf_pool p = {.max_rate_nano_h = rows[i].rate,
					    .max_price_nano_h = rows[i].price};
		const char *option = NULL;

		assert_int_equal(conf_pool_dearest(&p, &option), rows[i].want);
		assert_string_equal(option, rows[i].option);
	}
}

static void an_offers_network_overrides_the_pools(void **state)
{
	char ib[] = "ib", none[] = "none", empty[] = "";
	struct conf_pool p = {.interconnect = ib};
	struct conf_offer o = {.interconnect = none};

	(void)state;
	assert_string_equal(conf_interconnect(&p, &o), "none");
	assert_string_equal(conf_interconnect(&p, NULL), "ib");
	o.interconnect = empty;
	assert_string_equal(conf_interconnect(&p, &o), "ib");
	o.interconnect = NULL;
	assert_string_equal(conf_interconnect(&p, &o), "ib");
	p.interconnect = NULL;
	assert_string_equal(conf_interconnect(&p, &o), "");
}

static void a_name_that_nobody_has_is_not_found(void **state)
{
	struct conf *c = small_conf();

	(void)state;
	assert_int_equal(conf_provider_named(c, "one"), 0);
	assert_int_equal(conf_provider_named(c, "two"), 1);
	assert_int_equal(conf_provider_named(c, "three"), c->nproviders);
	add_pool(c, "a", "one", "a1", 100);
	assert_int_equal(conf_finish(c, NULL), 0);
	assert_ptr_equal(conf_rung_named(c->pools, ""), &c->pools->own);
	assert_null(conf_rung_named(c->pools, "a"));
	assert_ptr_equal(conf_rungs(c->pools, NULL), &c->pools->own);
	conf_free(c);
}

/* The contents of files that the configuration names are its own: ASan looks. */
static void what_was_loaded_goes_with_the_configuration(void **state)
{
	struct conf *c = small_conf();

	(void)state;
	for (size_t i = 0; i < c->nproviders; i++) {
		c->providers[i].user_data = mem_strdup("#!/bin/sh\n");
		c->providers[i].attest_ca = mem_strdup("-----BEGIN CERTIFICATE-----\n");
	}
	conf_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_store_is_told_its_section),
		cmocka_unit_test(a_message_has_the_line_of_the_option_or_of_its_section),
		cmocka_unit_test(the_smaller_limit_is_the_most_that_a_node_may_cost),
		cmocka_unit_test(an_offers_network_overrides_the_pools),
		cmocka_unit_test(a_name_that_nobody_has_is_not_found),
		cmocka_unit_test(what_was_loaded_goes_with_the_configuration),
	};

	return cmocka_run_group_tests_name("conf_lookup", tests, NULL, NULL);
}
