#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/paths.h"
#include "cli/cli.h"

const char *cli_find_burstd(char *out, size_t size)
{
	static const char *const beside[] = {"burstd", "../sbin/burstd"};
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	self[n > 0 ? n : 0] = '\0';
	for (size_t i = 0; n > 0 && i < sizeof(beside) / sizeof(beside[0]); i++) {
		char dir[PATH_MAX];

		(void)snprintf(dir, sizeof(dir), "%s", self);
		if ((size_t)snprintf(out, size, "%s/%s", dirname(dir), beside[i]) < size &&
		    access(out, X_OK) == 0)
			return out;
	}
	return "burstd";
}

/* burstd itself has drivers and credentials, and need not run: become a `burstd --check`, which
 * prints what it finds and exits as burstctl would. */
static int run_provider_check(const struct cli *c, const void *args, char **operands)
{
	const char *path = operands[1] != NULL ? operands[1] : PATHS_CONF;
	const char *argv[] = {"burstd", "--check", "--provider", operands[0], "--", path, NULL};
	const char *json[] = {"burstd",    "--check", "--json", "--provider",
			      operands[0], "--",      path,     NULL};
	char found[PATH_MAX], text[160];

	(void)args;
	(void)execvp(cli_find_burstd(found, sizeof(found)),
		     (char **)(uintptr_t)(c->json ? json : argv));
	(void)snprintf(text, sizeof(text),
		       "there is no burstd beside burstctl, in ../sbin or in PATH, and only that "
		       "can ask providers: %s",
		       strerror(errno));
	return cli_complain(CLI_FAILED, text);
}

const struct cli_command cmd_provider_check = {
	.name = "provider check",
	.operands = "PROVIDER [FILE]",
	.min = 1,
	.max = 2,
	.local = true,
	.summary = "ask a provider whether it would serve burstd",
	.about = "Asks the provider of that name in FILE (" PATHS_CONF ") by requests that only "
		 "look: a login, if it has one, a list and the quotes; burstd need not run.  "
		 "Prints whether it takes the "
		 "credential, how many instances are this cluster's, and for each offer its price, "
		 "whether any is free, or what the provider does not know.  Nothing is bought, so "
		 "the right to buy is not tried.  Run it as root or as burstd's user.  Each "
		 "request has the provider's \"timeout\".",
	.example = "burstctl provider check aws",
	.run = run_provider_check,
};
