/* test_conf_nodes.c - how machines prove their identity, and what the sections nodes and secrets
 * must say for that. */
#include <stdio.h>

#include "core/secret_store.h"
#include "small_conf.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

enum { NODES_LINE = 40, SECRETS_LINE = 50, DRIVER_LINE = 51, RELEASE_LINE = 52 };

static void add(struct conf *c, const char *name, const char *text)
{
	assert_int_equal(conf_option_add_arg(conf_option_find("nodes", name), c, text, NULL), 0);
}

/* The line of an option of the section secrets. */
static void at_line(struct conf *c, const char *option, int line)
{
	size_t k = 0;

	for (size_t i = 0; i < conf_noptions; i++) {
		if (strcmp(conf_options[i].section, "secrets") != 0)
			continue;
		if (strcmp(conf_options[i].name, option) == 0)
			c->secrets.lines[k] = line;
		k++;
	}
}

/* Both sections, with all that they need for this release of the keys. */
static struct conf *with_nodes(const char *release)
{
	struct conf *c = small_conf();

	add(c, "conf_server", "ctl:6817");
	if (strcmp(release, "user-data") != 0) {
		set("nodes", "listen", c, "0.0.0.0:8443");
		add(c, "url", "https://burst:8443");
	}
	set("secrets", "driver", c, "vault");
	set("secrets", "ca_file", c, "/ca");
	set("secrets", "release", c, release);
	c->nodes.line = NODES_LINE;
	c->secrets.line = SECRETS_LINE;
	at_line(c, "driver", DRIVER_LINE);
	at_line(c, "release", RELEASE_LINE);
	for (size_t i = 0; i < c->nproviders; i++)
		set("provider", "attest", &c->providers[i], "auto");
	return c;
}

static void clear(struct conf *c, const char *section, const char *name)
{
	conf_option_fini(conf_option_find(section, name), c);
}

/* Consume c. */
static void check_refused(struct conf *c, const char *want)
{
	struct err e = {0};

	assert_int_equal(conf_nodes_finish(c, &e), -1);
	assert_int_equal(e.code, ERR_INVALID);
	if (strncmp(e.msg, want, strlen(want)) != 0)
		fail_msg("got: %s", e.msg);
	conf_free(c);
}

/* Consume c, of which provider "two" is asked about. */
static void check_taken(struct conf *c, enum conf_attest attest, bool vouchers)
{
	struct err e = {0};

	if (conf_nodes_finish(c, &e) != 0)
		fail_msg("%s", e.msg);
	if (c->nodes.line == 0) /* there is no such section */
		assert_int_equal(c->providers[0].attest, CONF_ATTEST_OFF);
	assert_int_equal(c->providers[1].attest, attest);
	assert_int_equal(c->providers[1].vouchers, vouchers);
	conf_free(c);
}

static void without_the_section_no_machine_proves_anything(void **state)
{
	struct conf *c = small_conf();

	(void)state;
	set("provider", "attest", &c->providers[1], "gcp");
	c->providers[0].attest = c->providers[1].attest = CONF_ATTEST_AWS;
	check_taken(c, CONF_ATTEST_OFF, false);
	/* A store of the keys alone is for rotations: nobody is given any. */
	c = small_conf();
	set("secrets", "driver", c, "vault");
	check_taken(c, CONF_ATTEST_OFF, false);
	c = small_conf(); /* and without a store no release of them matters */
	set("secrets", "release", c, "user-data");
	set("provider", "attest", &c->providers[1], "auto");
	check_taken(c, CONF_ATTEST_OFF, false);
}

static void half_a_section_is_refused(void **state)
{
	static const struct {
		const char *section, *name, *want;
	} rows[] = {
		{"nodes", "listen", "burstd.conf:40: nodes: listen is missing (ADDRESS:PORT)"},
		{"nodes", "url", "burstd.conf:40: nodes: url is missing"},
		{"nodes", "conf_server", "burstd.conf:40: nodes: conf_server is missing"},
		{"secrets", "driver",
		 "burstd.conf:40: nodes: machines get the cluster's keys from a secret store: "
		 "driver of section secrets is missing"},
		{"secrets", "ca_file",
		 "burstd.conf:51: secrets: ca_file is missing: with release = wrap machines"},
	};
	struct conf *c;

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		c = with_nodes("wrap");
		clear(c, rows[i].section, rows[i].name);
		check_refused(c, rows[i].want);
	}
	c = with_nodes("wrap");
	clear(c, "nodes", "listen");
	clear(c, "nodes", "conf_server");
	check_refused(c, "burstd.conf:40: nodes: listen is missing");
	c = with_nodes("wrap");
	clear(c, "nodes", "listen");
	clear(c, "nodes", "url");
	check_refused(c, "burstd.conf:40: nodes: listen is missing");
	c = with_nodes("wrap");
	set("nodes", "listen", c, "");
	check_refused(c, "burstd.conf:40: nodes: listen is missing");
}

/* Only a machine that asks Vault itself needs the certificate. */
static void the_stores_certificate_is_for_machines_that_ask_it(void **state)
{
	struct conf *c = with_nodes("broker");

	(void)state;
	clear(c, "secrets", "ca_file");
	check_taken(c, CONF_ATTEST_CALLBACK, false);
	c = with_nodes("wrap");
	set("secrets", "driver", c, "aws");
	clear(c, "secrets", "ca_file");
	check_taken(c, CONF_ATTEST_CALLBACK, false);
	check_taken(with_nodes("wrap"), CONF_ATTEST_CALLBACK, false);
}

/* As the loader does.  Other drivers have no options of their own. */
static void set_driver(struct conf_provider *p, const char *name)
{
	static const struct conf_driver aws = {.name = "aws", .attest = CONF_ATTEST_AWS},
					bare = {.name = "static", .attest = CONF_ATTEST_OFF};
	static const struct conf_driver *const drivers[] = {&aws, &bare, NULL};

	set("provider", "driver", p, name);
	p->own_options = conf_driver_find(drivers, name);
}

static void machines_prove_what_their_cloud_signs(void **state)
{
	static const struct {
		const char *attest, *driver;
		enum conf_attest want;
	} rows[] = {
		{"auto", "aws", CONF_ATTEST_AWS},      {"auto", "static", CONF_ATTEST_OFF},
		{"auto", "gcp", CONF_ATTEST_CALLBACK}, {"gcp", "sim", CONF_ATTEST_GCP},
		{"aws", "sim", CONF_ATTEST_AWS},       {"off", "aws", CONF_ATTEST_OFF},
		{"off", "static", CONF_ATTEST_OFF},    {"address", "aws", CONF_ATTEST_ADDRESS},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct conf *c = with_nodes("wrap");

		set("provider", "attest", &c->providers[1], rows[i].attest);
		set_driver(&c->providers[1], rows[i].driver);
		check_taken(c, rows[i].want, false);
	}
}

/* An option of a provider and its value, the provider's driver, and what burstd says. */
struct row {
	const char *name, *text, *driver, *want;
};

/* The first provider is asked about as well as the last. */
static void check_provider_refused(const char *release, const struct row *row)
{
	for (size_t i = 0; i < 2; i++) {
		struct conf *c = with_nodes(release);
		char want[256];

		set_driver(&c->providers[i], row->driver);
		set("provider", row->name, &c->providers[i], row->text);
		(void)snprintf(want, sizeof(want), "burstd.conf:%s: %s",
			       i == 0 ? "5: provider \"one\"" : "6: provider \"two\"", row->want);
		check_refused(c, want);
	}
}

static void a_proof_that_cannot_be_is_refused(void **state)
{
	static const struct row rows[] = {
		{"attest", "callback", "static",
		 "attest must be off: driver static has no user-data"},
		{"attest", "azure", "sim", "attest = azure: attest_ca_file is missing"},
		{"user_data_file", "/u", "sim",
		 "user_data_file: with section nodes burstd writes the user-data: remove it, or "
		 "set attest = off"},
	};
	struct conf *c;

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		check_provider_refused("wrap", &rows[i]);
	c = with_nodes("wrap");
	set("provider", "attest", &c->providers[1], "azure");
	set("provider", "attest_ca_file", &c->providers[1], "/azure");
	check_taken(c, CONF_ATTEST_AZURE, false);
	c = with_nodes("wrap"); /* its machines are not asked */
	set("provider", "attest", &c->providers[1], "off");
	set("provider", "user_data_file", &c->providers[1], "/u");
	check_taken(c, CONF_ATTEST_OFF, false);
	c = with_nodes("wrap"); /* as one that only the journal has */
	c->providers[1].driver[0] = '\0';
	check_refused(c, "burstd.conf:6: provider \"two\": attest must be off");
}

static void a_token_in_the_user_data_is_for_who_does_not_reach_burstd(void **state)
{
	static const char *const name[] = {"conf_server", "ca_file"};
	static const char *const want[] = {"burstd.conf:40: nodes: conf_server is missing",
					   "burstd.conf:52: secrets: ca_file is missing"};
	struct conf *c;

	(void)state;
	c = with_nodes("user-data");
	set("nodes", "listen", c, "0.0.0.0:8443");
	check_refused(c, "burstd.conf:40: nodes: release = user-data is for machines that do not "
			 "reach burstd: remove listen and url");
	c = with_nodes("user-data");
	add(c, "url", "https://burst:8443");
	check_refused(c, "burstd.conf:40: nodes: release = user-data is for machines");
	for (size_t i = 0; i < 2; i++) {
		c = with_nodes("user-data");
		clear(c, i == 0 ? "nodes" : "secrets", name[i]);
		check_refused(c, want[i]);
	}
	c = with_nodes("user-data"); /* without the section the option is at fault */
	c->nodes.line = 0;
	clear(c, "nodes", "conf_server");
	check_refused(c, "burstd.conf:52: nodes: conf_server is missing");
}

static void who_gets_a_token_proves_nothing(void **state)
{
	static const struct row rows[] = {
		{"attest", "aws", "aws",
		 "attest: with release = user-data burstd does not check identities: want auto or "
		 "off"},
		{"user_data_file", "/u", "sim",
		 "user_data_file: with release = user-data burstd writes the user-data: remove it, "
		 "or set attest = off"},
	};
	static const struct {
		const char *attest, *driver;
		bool vouchers;
	} takes[] = {
		{"auto", "sim", true},
		{"auto", "static", false},
		{"off", "sim", false},
		{"callback", "static", false},
	};
	struct conf *c;

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		check_provider_refused("user-data", &rows[i]);
	for (size_t i = 0; i < COUNT(takes); i++) {
		c = with_nodes("user-data");
		set("provider", "attest", &c->providers[1], takes[i].attest);
		set_driver(&c->providers[1], takes[i].driver);
		check_taken(c, CONF_ATTEST_OFF, takes[i].vouchers);
	}
	c = with_nodes("user-data");
	set("provider", "attest", &c->providers[1], "off");
	set("provider", "user_data_file", &c->providers[1], "/u");
	check_taken(c, CONF_ATTEST_OFF, false);
	c = with_nodes("user-data"); /* one that only the journal has buys nothing */
	c->providers[1].driver[0] = '\0';
	check_taken(c, CONF_ATTEST_OFF, false);
}

static void the_whole_configuration_is_refused_for_it(void **state)
{
	struct conf *c = with_nodes("wrap");
	struct err e = {0};

	(void)state;
	set_driver(&c->providers[1], "aws");
	assert_int_equal(conf_finish(c, &e), 0);
	assert_int_equal(c->providers[1].attest, CONF_ATTEST_AWS);
	conf_free(c);
	c = with_nodes("wrap");
	clear(c, "nodes", "url");
	assert_int_equal(conf_finish(c, &e), -1);
	assert_string_equal(e.msg, "burstd.conf:40: nodes: url is missing");
	conf_free(c);
}

static void a_release_needs_a_driver_that_can_do_it(void **state)
{
	struct conf *c = small_conf();
	struct err e = {0};

	(void)state;
	set("secrets", "driver", c, "file");
	set("secrets", "release", c, "broker");
	assert_int_equal(conf_check_release(&c->secrets, 0, &e), 0);
	set("secrets", "release", c, "wrap");
	assert_int_equal(conf_check_release(&c->secrets, SECRET_WRAPS | SECRET_PROBES, &e), 0);
	assert_int_equal(conf_check_release(&c->secrets, SECRET_PROBES, &e), -1);
	assert_string_equal(e.msg, "secrets: driver file cannot make wrapping tokens: want release "
				   "= \"broker\"");
	set("secrets", "release", c, "user-data");
	assert_int_equal(conf_check_release(&c->secrets, SECRET_PROBES, &e), -1);
	conf_free(c);
}

static void nodes_are_told_which_of_slurms_keys_they_get(void **state)
{
	struct conf *c = small_conf();

	(void)state;
	assert_null(conf_auth_type(c));
	add(c, "conf_server", "ctl:6817");
	assert_string_equal(conf_auth_type(c), "auth/munge");
	set("nodes", "auth", c, "slurm");
	assert_string_equal(conf_auth_type(c), "auth/slurm");
	conf_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_the_section_no_machine_proves_anything),
		cmocka_unit_test(half_a_section_is_refused),
		cmocka_unit_test(the_stores_certificate_is_for_machines_that_ask_it),
		cmocka_unit_test(machines_prove_what_their_cloud_signs),
		cmocka_unit_test(a_proof_that_cannot_be_is_refused),
		cmocka_unit_test(a_token_in_the_user_data_is_for_who_does_not_reach_burstd),
		cmocka_unit_test(who_gets_a_token_proves_nothing),
		cmocka_unit_test(the_whole_configuration_is_refused_for_it),
		cmocka_unit_test(a_release_needs_a_driver_that_can_do_it),
		cmocka_unit_test(nodes_are_told_which_of_slurms_keys_they_get),
	};

	return cmocka_run_group_tests_name("conf_nodes", tests, NULL, NULL);
}
