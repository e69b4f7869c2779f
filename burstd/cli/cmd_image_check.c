/* Looks at a machine image.  Images have no burstctl, but the package of nodes: the checks are a
 * script of that, which runs on an image, too (scripts/node/image-check). */
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

enum { WORDS_MAX = 12 };

struct image_args {
	const char *root, *fabric; /* NULL: not said */
	bool gpu, containers;
};

static const struct image_args image_initial = {.root = NULL};

#define AT(field) offsetof(struct image_args, field)

static const struct opt image_opts[] = {
	{"root", 0, OPT_TEXT, "PATH", "an image that is mounted there (default: this machine)",
	 AT(root), 0, 0},
	{"gpu", 0, OPT_FLAG, NULL, "its machines have GPUs", AT(gpu), 0, 0},
	{"fabric", 0, OPT_TEXT, "FABRIC", "their fabric: ib, roce, efa or gib", AT(fabric), 0, 0},
	{"containers", 0, OPT_FLAG, NULL, "jobs run in containers, by Enroot and Pyxis",
	 AT(containers), 0, 0},
};

#undef AT

/* As `make install` has it, wherever that was to. */
static const char *find_script(char *out, size_t size)
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	self[n > 0 ? n : 0] = '\0';
	(void)snprintf(out, size, "%s/../libexec/burstd/image-check", n > 0 ? dirname(self) : "");
	return access(out, X_OK) == 0 ? out : "/usr/libexec/burstd/image-check";
}

static int run_image_check(const struct cli *c, const void *args, char **operands)
{
	const struct image_args *a = args;
	const char *argv[WORDS_MAX] = {"image-check"};
	char script[PATH_MAX + 64], text[160];
	size_t n = 1;

	(void)operands;
	if (c->json)
		argv[n++] = "--json";
	if (a->root != NULL) {
		argv[n++] = "--root";
		argv[n++] = a->root;
	}
	if (a->gpu)
		argv[n++] = "--gpu";
	if (a->fabric != NULL) {
		argv[n++] = "--fabric";
		argv[n++] = a->fabric;
	}
	if (a->containers)
		argv[n++] = "--containers";
	(void)execv(find_script(script, sizeof(script)), (char **)(uintptr_t)argv);
	(void)snprintf(text, sizeof(text),
		       "there is no image-check in ../libexec/burstd: the package burst-agent has "
		       "it: %s",
		       strerror(errno));
	return cli_complain(CLI_FAILED, text);
}

const struct cli_command cmd_image_check = {
	.name = "image check",
	.operands = "",
	.local = true,
	.summary = "look whether a machine image can become nodes",
	.about = "Says what the image lacks to boot as a node, for its GPUs, their fabric and "
		 "containers, and what must not be in it, such as keys; and how to mend each.  "
		 "burstd need not run.  Of an image that is mounted no program is run, and "
		 "nothing is written to it.  Run it as root.  In an image, where burstctl is "
		 "not: /usr/libexec/burstd/image-check.  docs/images.md.",
	.example = "burstctl image check --root /mnt/image --gpu --fabric ib",
	.opts = image_opts,
	.nopts = sizeof(image_opts) / sizeof(image_opts[0]),
	.initial = &image_initial,
	.size = sizeof(image_initial),
	.run = run_image_check,
};
