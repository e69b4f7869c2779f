#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/secret.h"
#include "providers/simcloud/app.h"
#include "providers/simcloud/audit.h"
#include "providers/simcloud/fetch.h"

static const char help[] =
	"usage: simcloud audit --meter FILE|URL --wanted FILE [options]\n"
	"\n"
	"Judge from the billing meter and from what slurmctld wanted whether there were\n"
	"duplicate or leaked instances.  Exit status 0: none; 1: some; 2: cannot tell.\n"
	"\n"
	"  --meter FILE|URL         what simcloud --state wrote, a saved answer of GET\n"
	"                           /admin/meter, or the URL of a running simcloud,\n"
	"                           http://ADDR:PORT/admin/meter\n"
	"  --wanted FILE            lines \"node start_ms end_ms\"; end \"-\": still wanted\n"
	"  --cluster UUID           judge only instances with this cluster tag\n"
	"  --grace DURATION         how long an unwanted instance may live (default 150s)\n"
	"  --now MS                 count open rows up to this time (default: the meter's\n"
	"                           last)\n"
	"  --admin-token-file FILE  credential for the URL\n"
	"  --json                   print JSON\n"
	"  --help                   print this\n";

struct args {
	const char *meter, *wanted, *token_file;
	struct audit_opts opts;
	bool json, help;
};

static int parse(struct args *a, int argc, char **argv, struct err *e)
{
	static const struct option options[] = {
		{"meter", 1, NULL, 'm'},
		{"wanted", 1, NULL, 'w'},
		{"cluster", 1, NULL, 'c'},
		{"grace", 1, NULL, 'g'},
		{"now", 1, NULL, 'n'},
		{"admin-token-file", 1, NULL, 't'},
		{"json", 0, NULL, 'j'},
		{"help", 0, NULL, 'h'},
		{0},
	};
	int c, rc = 0;

	*a = (struct args){.opts = {.cluster = "", .grace_ms = AUDIT_GRACE_MS, .now_ms = -1}};
	while (rc == 0 && (c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 'm')
			a->meter = optarg;
		else if (c == 'w')
			a->wanted = optarg;
		else if (c == 'c')
			a->opts.cluster = optarg;
		else if (c == 'g')
			rc = fmt_duration_parse(optarg, &a->opts.grace_ms, e);
		else if (c == 'n')
			a->opts.now_ms = strtoll(optarg, NULL, 10);
		else if (c == 't')
			a->token_file = optarg;
		else if (c == 'j')
			a->json = true;
		else if (c == 'h')
			a->help = true;
		else
			rc = err_set(e, ERR_INVALID, "see simcloud audit --help");
	}
	if (rc != 0 || a->help)
		return rc;
	if (optind != argc || a->meter == NULL || a->wanted == NULL)
		return err_set(e, ERR_INVALID,
			       "want --meter and --wanted; see simcloud audit --help");
	return 0;
}

static int load(const struct args *a, struct meter *m, struct audit_wanted **wanted, size_t *n,
		struct err *e)
{
	struct secret *token = NULL;
	char *text = NULL, *list = NULL;
	size_t len;
	int rc = -1;

	if (a->token_file != NULL && secret_load(&token, a->token_file, e) != 0)
		return -1;
	if (fetch(&text, &len, a->meter, token != NULL ? secret_text(token) : NULL, e) != 0)
		goto out;
	if (meter_load(m, text, len, e) != 0) {
		(void)err_wrap(e, "%s", a->meter);
		goto out;
	}
	if (fetch(&list, &len, a->wanted, NULL, e) != 0)
		goto out;
	rc = audit_read_wanted(wanted, n, list, e);
	if (rc != 0)
		(void)err_wrap(e, "%s", a->wanted);
out:
	secret_free(token);
	free(text);
	free(list);
	return rc;
}

int app_audit(int argc, char **argv)
{
	struct audit_wanted *wanted = NULL;
	struct audit_result r;
	struct meter *m;
	struct err e = {0};
	struct args a;
	struct str s;
	size_t n = 0;
	int status = 2;

	if (parse(&a, argc, argv, &e) != 0) {
		(void)fprintf(stderr, "simcloud audit: %s\n", e.msg);
		return 2;
	}
	if (a.help) {
		(void)fputs(help, stdout);
		return 0;
	}
	m = meter_new();
	if (load(&a, m, &wanted, &n, &e) != 0) {
		(void)fprintf(stderr, "simcloud audit: %s\n", e.msg);
	} else {
		audit_run(&r, m, wanted, n, &a.opts);
		str_init(&s, 1 << 20);
		audit_write(&r, m, a.json, &s);
		(void)fputs(s.p, stdout);
		str_fini(&s);
		status = r.duplicate_ms == 0 && r.leaked_ms == 0 ? 0 : 1;
		audit_result_fini(&r);
	}
	free(wanted);
	meter_free(m);
	return status;
}
