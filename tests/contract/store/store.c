/* store.c - the engine's side of a secret store by hand, on a real one: burstd's own session,
 * retries and drivers without the rest of burstd.
 *
 *   store CONF        reads commands, one in a line, and says what comes of them as lines of JSON
 *     wrap, broker    keys for one node
 *     enroll TOKEN    a wrapped credential
 *     revoke ACCESSOR
 *     status
 *     rotate munge|jwks [TOKEN], resume [TOKEN], step have|switch|told|timer|abort, write VERSION,
 *     rotation        see rotate.c
 *
 * When its input ends it ends as burstd does: it logs out.
 *
 * It prints secrets: it is for servers of tests alone. */
#include <curl/curl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

#include "base/log.h"
#include "base/mem.h"
#include "io/conf_file.h"
#include "io/http_client.h"
#include "io/loop.h"
#include "keys/keys_api.h"
#include "providers/options.h"
#include "providers/secrets/registry.h"
#include "store.h"

struct tool T;
static struct keys_state keys; /* what secrets.c and its rotation keep */

/* --- what secrets.c needs of an engine --------------------------------------------------------
 */

int64_t engine_now(const struct engine *e)
{
	return loop_now(e->d.loop);
}

void engine_turn(struct engine *e)
{
	int64_t next;

	secrets_turn_part.at[PART_RUN](e);
	tool_rotate_run();
	next = tool_rotate_next_ms();
	timer_at(e->timer,
		 next < secrets_turn_part.next_ms(e) ? next : secrets_turn_part.next_ms(e));
}

void tool_begin(struct str *s, struct jsonw *w)
{
	str_init(s, TOOL_LINE_BYTES);
	*w = (struct jsonw){.out = s, .first = true};
	jsonw_open(w, NULL, '{');
}

void tool_end(struct str *s, struct jsonw *w)
{
	jsonw_close(w, '}');
	(void)printf("%s\n", s->p);
	(void)fflush(stdout);
	str_fini(s);
}

void engine_event(struct engine *e, const char *node, uint64_t gen, const char *type,
		  const char *detail)
{
	struct jsonw w;
	struct str s;

	(void)e;
	(void)node;
	(void)gen;
	tool_begin(&s, &w);
	jsonw_text(&w, "event", type);
	jsonw_text(&w, "detail", detail);
	tool_end(&s, &w);
}

/* --- commands ---------------------------------------------------------------------------------
 */

static void on_keys(void *ctx, const struct secrets_released *r, const struct err *err)
{
	struct jsonw w;
	struct str s;

	tool_begin(&s, &w);
	jsonw_int(&w, "node", (int64_t)(uintptr_t)ctx);
	if (r == NULL) {
		jsonw_text(&w, "error", err->msg);
	} else {
		jsonw_text(&w, "version", r->version);
		if (r->mode == CONF_WRAP) {
			jsonw_text(&w, "token", secret_text(r->token));
			jsonw_text(&w, "accessor", r->accessor);
			jsonw_text(&w, "path", r->path);
			jsonw_text(&w, "address", r->addresses[0]);
			jsonw_int(&w, "ttl_ms", r->ttl_ms);
		} else {
			jsonw_text(&w, "bundle", secret_text(r->bundle));
		}
	}
	tool_end(&s, &w);
}

static void release(enum conf_release mode)
{
	struct err e = {0};
	unsigned node = ++T.nodes;

	if (secrets_release(&T.e, mode, on_keys, (void *)(uintptr_t)node, NULL, &e) != 0) {
		const struct secrets_released *none = NULL;

		on_keys((void *)(uintptr_t)node, none, &e);
	}
}

static void status(void)
{
	static const char *const ends[] = {"", "busy", "done", "failed"};
	struct engine_secrets v;
	struct jsonw w;
	struct str s;

	engine_secrets(&T.e, &v);
	tool_begin(&s, &w);
	jsonw_text(&w, "phase", v.phase);
	jsonw_bool(&w, "ready", v.ready);
	jsonw_text(&w, "address", v.source.name);
	jsonw_text(&w, "error", v.source.error);
	jsonw_text(&w, "version", v.version);
	jsonw_int(&w, "logins", (int64_t)v.logins);
	jsonw_int(&w, "waiting", (int64_t)v.waiting);
	jsonw_text(&w, "enrolment", ends[v.enrolment]);
	jsonw_text(&w, "enrolment_error", v.enrolled);
	tool_end(&s, &w);
}

static void command(char *line)
{
	char *word = line + strcspn(line, " ");
	struct err e = {0};

	if (*word == ' ')
		*word++ = '\0';
	if (strcmp(line, "wrap") == 0)
		release(CONF_WRAP);
	else if (strcmp(line, "broker") == 0)
		release(CONF_BROKER);
	else if (strcmp(line, "revoke") == 0)
		secrets_revoke(&T.e, word);
	else if (strcmp(line, "status") == 0)
		status();
	else if (strcmp(line, "enroll") == 0 && engine_enroll(&T.e, word, "root", &e) != 0)
		engine_event(&T.e, "", 0, "refused", e.msg);
	else if (strcmp(line, "rotate") == 0)
		tool_rotate(word);
	else if (strcmp(line, "resume") == 0)
		tool_resume(word);
	else if (strcmp(line, "step") == 0)
		tool_step(word);
	else if (strcmp(line, "write") == 0)
		tool_write(word);
	else if (strcmp(line, "rotation") == 0)
		tool_rotation();
	engine_turn(&T.e);
}

static void on_alloc(uv_handle_t *h, size_t want, uv_buf_t *b)
{
	(void)h;
	(void)want;
	*b = uv_buf_init(T.text + T.len, (unsigned)(TOOL_INPUT_MAX - 1 - T.len));
}

static void on_input(uv_stream_t *s, ssize_t n, const uv_buf_t *b)
{
	char *nl;

	(void)b;
	if (n < 0) {
		(void)uv_read_stop(s);
		loop_stop(T.e.d.loop);
		return;
	}
	T.len += (size_t)n;
	T.text[T.len] = '\0';
	while ((nl = strchr(T.text, '\n')) != NULL) {
		*nl = '\0';
		command(T.text);
		T.len -= (size_t)(nl + 1 - T.text);
		memmove(T.text, nl + 1, T.len + 1);
	}
}

static void on_said(void *ctx)
{
	(void)ctx;
	loop_stop(T.e.d.loop);
}

static void on_timer(void *ctx)
{
	engine_turn(ctx);
}

static struct secret *credential;

static int on_files(void *ctx, const struct conf *conf, const char **text, const char **ca,
		    struct err *e)
{
	const char *path = conf->secrets.credential_file;

	(void)ctx;
	(void)ca;
	if (path == NULL || access(path, F_OK) != 0)
		return 0;
	if (credential == NULL && secret_load(&credential, path, e) != 0)
		return -1;
	*text = secret_text(credential);
	return 0;
}

int main(int argc, char **argv)
{
	struct err e = {0};
	bool waits;

	if (argc != 2)
		return 2;
	(void)curl_global_init(CURL_GLOBAL_DEFAULT);
	T.e.keys = &keys;
	T.e.d.log = log_new(STDERR_FILENO, LOG_DEBUG);
	T.e.d.uuid = "0a1b2c3d-0000-4000-8000-001122334455";
	T.e.d.store = secrets_find;
	if (conf_file_load(&T.e.conf, argv[1], provider_options, &e) != 0 ||
	    loop_new(&T.e.d.loop, &e) != 0 || http_client_new(&T.e.d.http, T.e.d.loop, &e) != 0)
		goto fail;
	T.e.d.store_files = on_files;
	T.e.timer = timer_new(T.e.d.loop, on_timer, &T.e);
	if (secrets_part.open(&T.e, &e) != 0)
		goto fail;
	(void)uv_pipe_init(loop_uv(T.e.d.loop), &T.in, 0);
	(void)uv_pipe_open(&T.in, STDIN_FILENO);
	(void)uv_read_start((uv_stream_t *)&T.in, on_alloc, on_input);
	engine_turn(&T.e);
	loop_run(T.e.d.loop);
	waits = engine_logout(&T.e, on_said, NULL);
	tool_rotate_free();
	secrets_free(&T.e);
	if (waits)
		loop_run(T.e.d.loop);
	secret_free(credential);
	conf_free(T.e.conf);
	return 0; /* the rest goes with the process */
fail:
	(void)fprintf(stderr, "%s\n", e.msg);
	return 1;
}
