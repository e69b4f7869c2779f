/* The images of pools: shows how far a new one is, stops it, and tries it once more. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "cli/cli.h"

enum { TEXT_MAX = 1024, PAGES_MAX = 1000 };

static const char *name(const json_t *i, const char *key)
{
	return cli_text(i, key)[0] != '\0' ? cli_text(i, key) : "the provider's image";
}

static void line(const struct cli *c, const char *text)
{
	char *clean = out_people(text);

	(void)fputs("  ", c->out.f);
	out_text(&c->out, OUT_PLAIN, clean);
	(void)fputc('\n', c->out.f);
	free(clean);
}

/* What happens now, in a sentence. */
static void add_stage(struct str *s, const json_t *i, const char *stage)
{
	if (strcmp(stage, "none") == 0)
		str_addf(s, "provider %s takes no image with a purchase: none is rolled out",
			 cli_text(i, "provider"));
	else if (strcmp(stage, "settled") == 0)
		str_addf(s, "%s", name(i, "image"));
	else if (strcmp(stage, "canary") == 0)
		str_addf(s,
			 "%s is tried: %" PRId64 " of %" PRId64 " canaries work, %" PRId64
			 " are on trial; all others get %s",
			 name(i, "image"), cli_int(i, "passed"), cli_int(i, "canaries"),
			 cli_int(i, "untried"), name(i, "old"));
	else if (strcmp(stage, "rolling") == 0)
		str_addf(s, "all new machines get %s; %" PRId64 " with another image are left",
			 name(i, "image"), cli_int(i, "with_others"));
	else
		str_addf(s, "%s was stopped; all get %s, and %" PRId64 " with %s are left",
			 name(i, "image"), name(i, "old"), cli_int(i, "with_image"),
			 name(i, "image"));
}

static void show_one(const struct cli *c, const json_t *i)
{
	const char *stage = cli_text(i, "stage");
	char when[OUT_TIME_SIZE];
	struct str s;

	out_text(&c->out, OUT_BOLD, cli_text(i, "pool"));
	if (cli_text(i, "offer")[0] != '\0') {
		(void)fputs(", offer ", c->out.f);
		out_text(&c->out, OUT_BOLD, cli_text(i, "offer"));
	}
	(void)fputs("  ", c->out.f);
	out_text(&c->out, strcmp(stage, "stopped") == 0 ? OUT_BAD : OUT_PLAIN, stage);
	if (cli_int(i, "since_ms") != 0)
		(void)fprintf(c->out.f, "  since %s", out_time(when, cli_int(i, "since_ms")));
	(void)fputc('\n', c->out.f);
	str_init(&s, TEXT_MAX);
	add_stage(&s, i, stage);
	line(c, s.p);
	str_clear(&s);
	if (cli_text(i, "why")[0] != '\0')
		str_adds(&s, cli_text(i, "why"));
	if (cli_text(i, "by")[0] != '\0')
		str_addf(&s, "%sordered by %s", s.len > 0 ? ", " : "", cli_text(i, "by"));
	if (s.len > 0)
		line(c, s.p);
	str_fini(&s);
}

/* All pages in one answer. */
static int ask_all(const struct cli *c, const char *pool, json_t **reply)
{
	json_t *rows = json_array();
	char *after = mem_strdup("");
	int rc = CLI_OK;

	*reply = NULL;
	for (unsigned i = 0; i < PAGES_MAX && (i == 0 || after[0] != '\0'); i++) {
		json_t *rq = json_pack("{s:s, s:s}", "op", "images", "after", after);

		if (pool != NULL)
			(void)json_object_set_new(rq, "pool", json_string(pool));
		json_decref(*reply);
		rc = cli_ask_loudly(c, rq, reply);
		if (rc != CLI_OK)
			break;
		free(after);
		after = mem_strdup(cli_text(*reply, "next"));
		(void)json_array_extend(rows, json_object_get(*reply, "images"));
	}
	free(after);
	if (rc == CLI_OK) {
		(void)json_object_set(*reply, "images", rows);
		(void)json_object_del(*reply, "next");
	}
	json_decref(rows);
	return rc;
}

static int run_status(const struct cli *c, const void *args, char **operands)
{
	const json_t *one;
	json_t *r;
	int rc = ask_all(c, operands[0], &r);

	(void)args;
	if (rc != CLI_OK)
		return rc;
	if (c->json)
		cli_print_json(c, r);
	for (size_t i = 0; !c->json && (one = cli_row(r, "images", i)) != NULL; i++)
		show_one(c, one);
	json_decref(r);
	return CLI_OK;
}

const struct cli_command cmd_image_status = {
	.name = "image status",
	.operands = "[POOL]",
	.max = 1,
	.summary = "show which image each offer's machines get, and how far a new one is",
	.about = "A new image in burstd.conf is tried on a few machines first, the canaries.  When "
		 "they work all new machines get it, and those with another image are replaced "
		 "when they are idle.  docs/image-roll.md.",
	.example = "burstctl image status h100",
	.folds = true,
	.run = run_status,
};

static void show_order(const struct cli *c, const json_t *r, const char *what, const char *nothing)
{
	int64_t n = cli_int(r, "offers");

	if (n == 0)
		(void)fprintf(c->out.f, "%s\n", nothing);
	else
		(void)fprintf(c->out.f, "%s in %" PRId64 " offer%s\n", what, n, n == 1 ? "" : "s");
}

static void show_stopped(const struct cli *c, const json_t *r)
{
	show_order(c, r, "the new image is stopped", "no new image is on its way");
}

static void show_resumed(const struct cli *c, const json_t *r)
{
	show_order(c, r, "the new image is tried once more", "no new image is stopped");
}

static int run_stop(const struct cli *c, const void *args, char **operands)
{
	(void)args;
	return cli_show(c, json_pack("{s:s, s:s}", "op", "image-stop", "pool", operands[0]),
			show_stopped);
}

const struct cli_command cmd_image_stop = {
	.name = "image stop",
	.operands = "POOL",
	.min = 1,
	.max = 1,
	.summary = "stop a new image: the pool buys with the old one again",
	.about = "Machines that have the new one are replaced when they are idle.",
	.example = "burstctl image stop h100",
	.run = run_stop,
};

static int run_resume(const struct cli *c, const void *args, char **operands)
{
	(void)args;
	return cli_show(c, json_pack("{s:s, s:s}", "op", "image-resume", "pool", operands[0]),
			show_resumed);
}

const struct cli_command cmd_image_resume = {
	.name = "image resume",
	.operands = "POOL",
	.min = 1,
	.max = 1,
	.summary = "try a new image once more that was stopped, with other canaries",
	.about = "",
	.example = "burstctl image resume h100",
	.run = run_resume,
};
