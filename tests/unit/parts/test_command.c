/* test_command.c - a driver whose requests are COMMANDs: run without a shell, with their input, and
 * their output and exit status given back; one that never answers is stopped at its deadline. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "cloud/cloud_api.h"
#include "engine/engine.h"
#include "engine/kernel.h"
#include "io/conf_file.h"
#include "io/http_client.h"
#include "io/loop.h"
#include "io/proc.h"
#include "parts/parts.h"

static const char conf_text[] = "cluster = \"test\"\n"
				"currency = \"EUR\"\n"
				"slurm { bin_dir = \"/nonexistent\" }\n"
				"provider \"own\" { driver = \"command\" settle = \"1s\" }\n"
				"pool \"p\" { nodes = \"c[1-4]\" provider = \"own\" type = \"t\" "
				"region = \"r\" market = \"on-demand\"\n"
				"           max_nodes = 4 max_rate = \"100\" }\n";

struct seen { /* what parse() was given */
	struct loop *loop;
	const char *script; /* for lists; offers are `cat` */
	uint32_t deadline_ms;
	unsigned lists, offers;
	long status;
	char body[256], offers_body[256];
};

static struct seen *current; /* open() is told nothing of the test */

static int drv_open(void **self, const struct provider_conf *conf, struct err *e)
{
	(void)conf;
	(void)e;
	*self = current;
	return 0;
}

static void drv_close(void *self)
{
	(void)self;
}

static struct provider_caps drv_caps(const void *self)
{
	(void)self;
	return (struct provider_caps){.flags = PROVIDER_TAGS, .create_max = 1, .delete_max = 1};
}

static int drv_build(const void *self, const struct provider_op *op, struct provider_request *out,
		     struct err *e)
{
	const struct seen *s = self;

	(void)e;
	out->kind = PROVIDER_COMMAND;
	out->argv = mem_zalloc(4 * sizeof(char *));
	out->deadline_ms = s->deadline_ms;
	if (op->kind == PROVIDER_QUOTES) {
		out->argv[0] = mem_strdup("/bin/cat");
		out->body = mem_strdup("one; two $(three)");
		out->body_len = strlen(out->body);
		return 0;
	}
	out->argv[0] = mem_strdup("/bin/sh");
	out->argv[1] = mem_strdup("-c");
	out->argv[2] = mem_strdup(s->script);
	return 0;
}

static void drv_parse(const void *self, const struct provider_op *op,
		      const struct provider_reply *reply, struct provider_result *out)
{
	struct seen *s = current;

	assert_ptr_equal(self, s);
	out->code = reply->status == 0 ? PROVIDER_OK : PROVIDER_TRANSIENT;
	if (op->kind == PROVIDER_QUOTES) {
		s->offers++;
		(void)snprintf(s->offers_body, sizeof(s->offers_body), "%s", reply->body);
		out->quotes =
			mem_zalloc(sizeof(*out->quotes)); /* none at all would not be believed */
		out->nquotes = 1;
	} else {
		s->lists++;
		s->status = reply->status;
		(void)snprintf(s->body, sizeof(s->body), "%s", reply->body);
		(void)snprintf(out->message, sizeof(out->message), "%.100s", reply->body);
	}
	if (s->lists > 0 && s->offers > 0)
		loop_stop(s->loop);
}

static const struct provider_ops driver = {
	.name = "command",
	.open = drv_open,
	.close = drv_close,
	.caps = drv_caps,
	.build = drv_build,
	.parse = drv_parse,
};

static const struct provider_ops *find(const char *name)
{
	return strcmp(name, "command") == 0 ? &driver : NULL;
}

static void on_fatal(void *ctx, const struct err *e)
{
	(void)ctx;
	fail_msg("%s", e->msg);
}

static void on_closed(void *ctx)
{
	(void)ctx;
}

static void on_guard(void *ctx)
{
	loop_stop(ctx);
}

enum { ENOUGH_MS = 20000, SHORT_MS = 300 };

struct fix {
	char dir[64];
	struct seen seen;
	struct loop *loop;
	struct http_client *http;
	struct proc *proc;
	struct journal *journal;
	struct engine *engine;
	struct timer *guard;
};

static void start(struct fix *f, const char *script, uint32_t deadline_ms)
{
	struct engine_deps d = {.uuid = "00000000-0000-4000-8000-000000000000",
				.driver = find,
				.fatal = on_fatal,
				.parts = parts_all()};
	static const struct conf_driver *const no_options[] = {NULL};
	struct conf *conf;
	char path[128];
	bool existed;
	struct err e;

	memset(f, 0, sizeof(*f));
	(void)snprintf(f->dir, sizeof(f->dir), "/tmp/command-XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	(void)snprintf(path, sizeof(path), "%s/journal.db", f->dir);
	assert_int_equal(loop_new(&f->loop, NULL), 0);
	assert_int_equal(http_client_new(&f->http, f->loop, NULL), 0);
	f->proc = proc_new(f->loop);
	assert_int_equal(journal_open(&f->journal, path, &existed, NULL), 0);
	if (conf_file_parse(&conf, "test.conf", conf_text, no_options, &e) != 0)
		fail_msg("%s", e.msg);
	f->seen.loop = f->loop;
	f->seen.script = script;
	f->seen.deadline_ms = deadline_ms;
	current = &f->seen;
	d.loop = f->loop;
	d.http = f->http;
	d.proc = f->proc;
	d.journal = f->journal;
	assert_int_equal(engine_new(&f->engine, &d, conf, &e), 0);
	engine_start(f->engine);
	f->guard = timer_new(f->loop, on_guard, f->loop);
	timer_at(f->guard, loop_now(f->loop) + deadline_ms + 2000);
	loop_run(f->loop);
}

static void stop(struct fix *f)
{
	char command[128];

	timer_free(f->guard);
	engine_free(f->engine);
	http_client_close(f->http, on_closed, NULL);
	proc_close(f->proc);
	loop_free(f->loop);
	journal_close(f->journal);
	(void)snprintf(command, sizeof(command), "rm -r %s", f->dir);
	assert_int_equal(system(command), 0);
}

static void test_output(void **state)
{
	struct fix f;

	(void)state;
	/* No input: /dev/null; no environment of ours. */
	start(&f, "printf 'on $HOME'; cat", ENOUGH_MS);
	assert_int_equal(f.seen.lists, 1);
	assert_int_equal(f.seen.status, 0);
	assert_string_equal(f.seen.body, "on $HOME");
	assert_int_equal(f.seen.offers, 1);
	assert_string_equal(f.seen.offers_body, "one; two $(three)");
	assert_true(engine_provider_source(f.engine, 0).ok_ms > 0);
	assert_string_equal(engine_provider_source(f.engine, 0).error, "");
	stop(&f);
}

static void test_exit_status(void **state)
{
	struct fix f;

	(void)state;
	start(&f, "echo 'no power'; exit 7", ENOUGH_MS);
	assert_int_equal(f.seen.lists, 1);
	assert_int_equal(f.seen.status, 7);
	stop(&f);
}

/* Not answered in time: not a reply, and the provider is said to fail. */
static void test_deadline(void **state)
{
	struct fix f;

	(void)state;
	start(&f, "sleep 60", SHORT_MS);
	assert_int_equal(f.seen.lists, 0);
	assert_true(engine_flow(f.engine, 0, PROVIDER_LIST).sent >= 1);
	assert_true(strlen(engine_provider_source(f.engine, 0).error) > 0);
	stop(&f);
}

/* Freed while its commands run: they are killed and nobody is called. */
static void test_free_while_running(void **state)
{
	struct fix f;

	(void)state;
	start(&f, "exit 0", ENOUGH_MS);
	engine_reconcile(f.engine);
	stop(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_output),
		cmocka_unit_test(test_exit_status),
		cmocka_unit_test(test_deadline),
		cmocka_unit_test(test_free_while_running),
	};

	return cmocka_run_group_tests_name("command drivers", tests, NULL, NULL);
}
