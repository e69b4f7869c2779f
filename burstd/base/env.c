#include "base/env.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

extern char **environ;

static bool is_order(const char *at)
{
	static const char *const names[] = {
		"SSLKEYLOGFILE",   "SSL_CERT_FILE",   "SSL_CERT_DIR",         "OPENSSL_CONF",
		"OPENSSL_MODULES", "OPENSSL_ENGINES", "OPENSSL_CONF_INCLUDE", "http_proxy",
		"HTTP_PROXY",      "https_proxy",     "HTTPS_PROXY",          "all_proxy",
		"ALL_PROXY"};
	static const char *const prefixes[] = {"LD_", "VAULT_", "BAO_"};
	size_t len = strcspn(at, "=");

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (strncmp(at, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strlen(names[i]) == len && strncmp(at, names[i], len) == 0)
			return true;
	return false;
}

void env_clean(void)
{
	size_t n = 0;

	for (size_t i = 0; environ != NULL && environ[i] != NULL; i++)
		if (!is_order(environ[i]))
			environ[n++] = environ[i];
	if (environ != NULL)
		environ[n] = NULL;
}
