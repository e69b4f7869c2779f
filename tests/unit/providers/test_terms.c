/* test_terms.c - what each driver knows of its offers before any request, as its documentation
 * says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/terms.h"
#include "providers/aws.h"
#include "providers/ironic.h"
#include "providers/lambda.h"
#include "providers/lyceum.h"
#include "providers/openstack.h"
#include "providers/registry.h"
#include "providers/spheron.h"
#include "providers/static.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const struct aws_options aws = {.region = "r", .image = "ami-1"};
static const struct openstack_options openstack = {
	.application_credential = "a", .interface = "public", .image = "i"};
static const struct lambda_options lambda = {.ssh_key = "k"},
				   lambda_image = {.ssh_key = "k", .image = "f"};
static const struct spheron_options spheron = {
	.team = "t", .ssh_key = "k", .operating_system = "o"};
static const struct lyceum_options lyceum = {
	.ssh_public_key =
		"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f"};
static const char *const on[] = {"/bin/true", "%n", NULL};
static const struct static_options site = {
	.on = on, .off = on, .status = on, .records = "/r", .program = "/bin/true"};

#define ANY .data = PROVIDER_DATA_ANY

static const struct {
	const char *driver;
	const void *options;
	const char *zone;
	struct provider_terms want;
} rows[] = {
	{"aws",
	 &aws,
	 "",
	 {.quantum_ms = 1000, .minimum_ms = 60000, ANY, .data_max = 16384, .own_image = true}},
	{"openstack", &openstack, "", {ANY, .data_max = 49149, .own_image = true}},
	{"ironic", NULL, "", {ANY, .own_image = true}},
	{"lambda",
	 &lambda,
	 "",
	 {.quantum_ms = 60000, .minimum_ms = PROVIDER_NO_MINIMUM, ANY, .data_max = 1000000}},
	{"lambda",
	 &lambda_image,
	 "",
	 {.quantum_ms = 60000,
	  .minimum_ms = PROVIDER_NO_MINIMUM,
	  ANY,
	  .data_max = 1000000,
	  .own_image = true}},
	{"spheron", &spheron, "vp:8xH100", {.minimum_ms = 1200000, .data = PROVIDER_DATA_SCRIPT}},
	{"spheron",
	 &spheron,
	 "vp:8xH100:no-cloud-init",
	 {.minimum_ms = 1200000, .data = PROVIDER_DATA_NONE}},
	{"spheron", &spheron, "what?", {.minimum_ms = 1200000}},
	{"lyceum", &lyceum, "", {.quantum_ms = 1000, .data = PROVIDER_DATA_NONE}},
	{"sim", NULL, "", {ANY, .data_max = 65536, .own_image = true}},
	{"static", &site, "", {.data = PROVIDER_DATA_NONE, .own_image = true}},
};

static void assert_terms(const struct provider_terms *t, const struct provider_terms *want)
{
	assert_int_equal(t->quantum_ms, want->quantum_ms);
	assert_int_equal(t->minimum_ms, want->minimum_ms);
	assert_int_equal(t->data, want->data);
	assert_int_equal(t->data_max, want->data_max);
	assert_int_equal(t->own_image, want->own_image);
	assert_int_equal(t->stock, want->stock);
	assert_string_equal(t->interconnect, want->interconnect);
}

/* Clouds that have no tags, or where the name counts if those are gone. */
static void assert_names(const char *driver, const struct provider_names *names)
{
	static const struct {
		const char *driver;
		struct provider_names names;
	} named[] = {{"ironic", {.max = 255, .upper = true, .also = "_."}},
		     {"lambda", {.max = 64, .upper = true, .also = "_."}},
		     {"lyceum", {.max = 64}},
		     {"spheron", {.max = 63}}};
	size_t k = 0;

	while (k < COUNT(named) && strcmp(named[k].driver, driver) != 0)
		k++;
	assert_int_equal(names != NULL, k < COUNT(named));
	if (names == NULL)
		return;
	assert_int_equal(names->max, named[k].names.max);
	assert_int_equal(names->upper, named[k].names.upper);
	assert_int_equal(names->also != NULL, named[k].names.also != NULL);
}

static void test_each_driver_says_what_its_documentation_does(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct provider_ops *ops = provider_find(rows[i].driver);
		const bool plain =
			strcmp(rows[i].driver, "aws") == 0 || strcmp(rows[i].driver, "static") == 0;
		const struct provider_conf conf = {.name = "p",
						   .url = plain ? NULL : "https://cloud.example",
						   .credential = plain ? NULL : "user:secret",
						   .timeout_ms = 1000,
						   .concurrency = 1,
						   .options = rows[i].options};
		const struct provider_place place = {
			.type = "t", .region = "r", .zone = rows[i].zone};
		struct provider_terms t;
		struct err e = {0};
		void *self;

		print_message("# %s %s\n", rows[i].driver, rows[i].zone);
		if (ops->open(&self, &conf, &e) != 0)
			fail_msg("%s", e.msg);
		t = terms_known(ops, self, &place);
		assert_names(rows[i].driver, ops->caps(self).names);
		/* Without either a lost answer would be a machine that nobody knows. */
		assert_int_not_equal(ops->caps(self).flags & (PROVIDER_TOKENS | PROVIDER_TAGS), 0);
		assert_terms(&t, &rows[i].want);
		ops->close(self);
	}
}

/* None is left out: a new driver has a row here. */
static void test_each_driver_has_terms(void **state)
{
	(void)state;
	for (size_t i = 0; provider_drivers[i] != NULL; i++) {
		size_t k = 0;

		while (k < COUNT(rows) && strcmp(rows[k].driver, provider_drivers[i]->name) != 0)
			k++;
		assert_in_range(k, 0, COUNT(rows) - 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_driver_says_what_its_documentation_does),
		cmocka_unit_test(test_each_driver_has_terms),
	};

	return cmocka_run_group_tests_name("terms of drivers", tests, NULL, NULL);
}
