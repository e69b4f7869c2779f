/* static_site.h - a site with files for machines, and the driver static for it. */
#ifndef TESTS_STATIC_SITE_H
#define TESTS_STATIC_SITE_H

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "providers/static.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const char cluster[] = "0b1c2d3e-0000-4000-8000-000000000001";

/* The program "site VERB NODE": a machine is the file NODE.power; NODE.VERB says what goes
 * wrong. */
static const char site[] = "#!/bin/sh\n"
			   "cd \"${0%/*}\" || exit 9\n"
			   "mode=$(cat \"$2.$1\" 2>/dev/null)\n"
			   "echo \"$*\" >>log\n"
			   "case $mode in\n"
			   "fail) echo \"no answer from $2\" >&2; exit 3 ;;\n"
			   "broken) echo Power is off; exit 1 ;;\n"
			   "hang) sleep 60 ;;\n"
			   "slow) sleep 1 ;;\n"
			   "late) (sleep 60 & echo $! >$2.pid) ;;\n"
			   "esac\n"
			   "case $1 in\n"
			   "status) if [ -n \"$mode\" ]; then echo \"$mode\"; else echo \"Chassis "
			   "Power is $(cat $2.power)\"; fi ;;\n"
			   "*) [ \"$mode\" = deaf ] || echo $1 >$2.power ;;\n"
			   "esac\n"
			   "echo \"did $1 $2\" >>log\n"
			   "[ \"$mode\" != lies ]\n";

struct fix {
	char dir[64], records[96], program[PATH_MAX], command[96];
	void *self;
	struct provider_result r;
};

static inline const char *path(const struct fix *f, const char *name)
{
	static char out[200];

	(void)snprintf(out, sizeof(out), "%s/%s", f->dir, name);
	return out;
}

static inline void put(const struct fix *f, const char *name, const char *text)
{
	FILE *out = fopen(path(f, name), "w");

	assert_non_null(out);
	assert_true(fputs(text, out) >= 0);
	assert_int_equal(fclose(out), 0);
}

static inline const char *get(const struct fix *f, const char *name)
{
	static char out[4096];
	FILE *in = fopen(path(f, name), "r");
	size_t n = 0;

	if (in != NULL) {
		n = fread(out, 1, sizeof(out) - 1, in);
		(void)fclose(in);
	}
	out[n] = '\0';
	return out;
}

static inline void machine(const struct fix *f, const char *node, const char *power)
{
	char name[64];

	(void)snprintf(name, sizeof(name), "%s.power", node);
	put(f, name, power);
}

static inline bool is_power(const struct fix *f, const char *node, const char *power)
{
	char name[64];

	(void)snprintf(name, sizeof(name), "%s.power", node);
	return strncmp(get(f, name), power, strlen(power)) == 0;
}

static inline void open_driver(struct fix *f, uint32_t timeout_ms)
{
	const char *on[] = {f->command, "on", "%n", "`id` $HOME; %% %a", NULL};
	const char *off[] = {f->command, "off", "%n", NULL};
	const char *status[] = {f->command, "status", "%n", NULL};
	const struct static_options own = {.on = on,
					   .off = off,
					   .status = status,
					   .records = f->records,
					   .program = f->program};
	const struct provider_conf conf = {.name = "own",
					   .url = "",
					   .timeout_ms = timeout_ms,
					   .concurrency = 4,
					   .options = &own};
	struct err e = {0};

	provider_static.close(f->self);
	if (provider_static.open(&f->self, &conf, &e) != 0)
		fail_msg("%s", e.msg);
}

static inline void start(struct fix *f)
{
	memset(f, 0, sizeof(*f));
	(void)snprintf(f->dir, sizeof(f->dir), "/tmp/static-XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	assert_non_null(realpath("scripts/node/burst-static", f->program));
	(void)snprintf(f->records, sizeof(f->records), "%s/records", f->dir);
	(void)snprintf(f->command, sizeof(f->command), "%s/site", f->dir);
	put(f, "site", site);
	assert_int_equal(chmod(f->command, 0755), 0);
	machine(f, "n1", "off");
	machine(f, "n2", "off");
	open_driver(f, 10000);
}

static inline void stop(struct fix *f)
{
	char command[128];

	provider_result_fini(&f->r);
	provider_static.close(f->self);
	(void)snprintf(command, sizeof(command), "rm -rf %s", f->dir);
	assert_int_equal(system(command), 0);
}

static struct provider_want one_want;
static struct provider_place own_place = {.type = "own", .region = "here", .zone = ""};

static inline struct provider_op create_op(const char *node, uint64_t gen, const char *uuid)
{
	struct provider_op op = {.kind = PROVIDER_CREATE};

	one_want = (struct provider_want){.node = node, .gen = gen};
	op.u.create = (struct provider_create){.cluster = uuid,
					       .token = "t",
					       .place = &own_place,
					       .wants = &one_want,
					       .nwants = 1};
	return op;
}

#endif
