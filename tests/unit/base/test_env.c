/* test_env.c - what is left of the environment. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/env.h"

static void test_orders_to_libraries_are_gone(void **state)
{
	static const char *const gone[] = {
		"LD_PRELOAD",      "LD_LIBRARY_PATH", "LD_AUDIT",      "OPENSSL_CONF",
		"OPENSSL_MODULES", "OPENSSL_ENGINES", "SSLKEYLOGFILE", "SSL_CERT_FILE",
		"SSL_CERT_DIR",    "VAULT_TOKEN",     "VAULT_ADDR",    "VAULT_SKIP_VERIFY",
		"VAULT_NAMESPACE", "BAO_TOKEN",       "BAO_ADDR",      "http_proxy",
		"HTTPS_PROXY",     "ALL_PROXY",       "https_proxy",   "OPENSSL_CONF_INCLUDE"};
	static const char *const kept[] = {
		"PATH_OF_TEST", "CREDENTIALS_DIRECTORY", "NOTIFY_SOCKET", "SLURM_CONF",
		"LDX",          "OPENSSL_CONFX",         "MY_VAULT_X",    "SSL_CERT"};

	char *output;

	(void)state;
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		assert_int_equal(setenv(kept[i], "/x", 1), 0);
	for (size_t i = 0; i < sizeof(gone) / sizeof(gone[0]); i++)
		assert_int_equal(setenv(gone[i], "/x", 1), 0);
	env_clean();
	for (size_t i = 0; i < sizeof(gone) / sizeof(gone[0]); i++)
		if (getenv(gone[i]) != NULL)
			fail_msg("%s", gone[i]);
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		assert_string_equal(getenv(kept[i]), "/x");
	output = getenv("CMOCKA_MESSAGE_OUTPUT"); /* how the result of this is to be told */
	if (output != NULL)
		output = strdup(output);
	assert_int_equal(clearenv(), 0);
	env_clean();
	if (output != NULL)
		assert_int_equal(setenv("CMOCKA_MESSAGE_OUTPUT", output, 1), 0);
	free(output);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_orders_to_libraries_are_gone)};

	return cmocka_run_group_tests_name("env", tests, NULL, NULL);
}
