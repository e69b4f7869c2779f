/* rotate.c - a rotation by hand: its state is here, and what it writes goes to the real server by
 * the engine's own rotate_store.c.  There are no nodes; that they have the keys, and that it is
 * time, is said by commands. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "store.h"

static struct rotate *rotation(void)
{
	if (T.e.keys->rotate == NULL) {
		T.e.keys->rotate = mem_zalloc(sizeof(*T.e.keys->rotate));
		T.e.keys->rotate->e = &T.e;
	}
	return T.e.keys->rotate;
}

/* --- what rotate_store.c needs of rotate_event.c, and of the door -----------------------------
 */

void rotate_event(struct rotate *rt, enum rotation_event_type type, int64_t version)
{
	const struct rotation_event ev = {
		.type = type, .now_ms = engine_now(rt->e), .version = version};

	(void)rotation_step(&rt->r, &ev);
}

void rotate_complain(struct rotate *rt, const char *what, const char *why)
{
	char full[sizeof(rt->error)];

	(void)snprintf(full, sizeof(full), "%.40s: %.200s", what, why);
	if (strcmp(full, rt->error) == 0)
		return;
	memcpy(rt->error, full, sizeof(full));
	engine_event(rt->e, "", 0, "rotation-alarm", full);
}

/* A number, or of AWS's uuid enough to tell it from the next. */
int64_t door_key_version(const char *text)
{
	char some[13];

	(void)snprintf(some, sizeof(some), "%s", text);
	return (int64_t)strtoull(some, NULL, text[strspn(text, "0123456789")] != '\0' ? 16 : 10);
}

/* --- commands ---------------------------------------------------------------------------------
 */

void tool_rotation(void)
{
	const struct rotate *rt = rotation();
	struct jsonw w;
	struct str s;

	tool_begin(&s, &w);
	jsonw_text(&w, "rotation", rotation_phase_str(rt->r.phase));
	jsonw_int(&w, "now", rt->r.now);
	jsonw_bool(&w, "busy", rt->store != NULL && rt->store->step != ROTATE_IDLE);
	jsonw_bool(&w, "stuck", rt->store != NULL && rt->store->stuck);
	jsonw_bool(&w, "open", rt->store != NULL);
	jsonw_text(&w, "error", rt->error);
	tool_end(&s, &w);
}

static void open_store(const char *token)
{
	struct rotate *rt = rotation();
	struct err e = {0};

	rt->error[0] = '\0';
	if (rotate_store_open(rt, token[0] != '\0' ? token : NULL, &e) != 0)
		rotate_complain(rt, "credential", e.msg);
}

/* "munge [TOKEN]", "jwks [TOKEN]" */
void tool_rotate(char *words)
{
	char *token = words + strcspn(words, " ");
	struct rotation_event ev = {.type = ROTATION_EV_START,
				    .now_ms = engine_now(&T.e),
				    .id = 4711,
				    .version = door_key_version(secrets_version(&T.e))};

	if (*token == ' ')
		*token++ = '\0';
	ev.kind = (enum rotation_kind)rotation_kind_parse(words);
	if (!rotation_step(&rotation()->r, &ev))
		rotate_complain(rotation(), "rotate", "not now");
	else
		open_store(token);
}

void tool_resume(const char *token)
{
	open_store(token);
}

/* Of what rotate.c would find out for itself. */
void tool_step(const char *word)
{
	static const struct {
		const char *word;
		enum rotation_event_type type;
	} words[] = {{"have", ROTATION_EV_HAVE},
		     {"switch", ROTATION_EV_SWITCH},
		     {"told", ROTATION_EV_TOLD},
		     {"timer", ROTATION_EV_TIMER},
		     {"abort", ROTATION_EV_ABORT}};
	struct rotate *rt = rotation();
	struct rotation_event ev = {.now_ms = engine_now(&T.e), .at_ms = engine_now(&T.e)};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(word, words[i].word) != 0)
			continue;
		ev.type = words[i].type;
		if (ev.type == ROTATION_EV_TIMER)
			ev.now_ms = rotation_wake_ms(&rt->r);
		if (!rotation_step(&rt->r, &ev))
			rotate_complain(rt, word, "not now");
	}
}

static void on_written(struct secrets *s, void *ctx, const struct secret_op *op,
		       const struct secret_result *r)
{
	const struct secret_op promote = {
		.kind = SECRET_PROMOTE, .version = op->version, .token = r->version};
	struct jsonw w;
	struct str text;

	(void)ctx;
	if (op->kind == SECRET_WRITE && r->code == SECRET_OK &&
	    (s->flags & SECRET_TWO_STEPS) != 0) {
		secrets_send(s, &promote, on_written, NULL);
		return;
	}
	tool_begin(&text, &w);
	jsonw_text(&w, "wrote", secret_code_str(r->code));
	jsonw_text(&w, "version", r->version);
	jsonw_text(&w, "message", r->message);
	tool_end(&text, &w);
}

/* With the rotation's session, if the current version is that one: as somebody who is late. */
void tool_write(const char *version)
{
	const struct secret_op op = {.kind = SECRET_WRITE,
				     .version = version,
				     .token = "00112233445566778899aabbccddeeff",
				     .bundle = "{\"munge_key\":\"late\"}"};
	struct rotate *rt = rotation();

	if (rt->store == NULL)
		rotate_complain(rt, "write", "there is no session");
	else
		secrets_send(&rt->store->s, &op, on_written, NULL);
}

void tool_rotate_run(void)
{
	if (T.e.keys->rotate != NULL)
		rotate_store_run(T.e.keys->rotate);
}

int64_t tool_rotate_next_ms(void)
{
	return T.e.keys->rotate != NULL ? rotate_store_next_ms(T.e.keys->rotate) : INT64_MAX;
}

void tool_rotate_free(void)
{
	if (T.e.keys->rotate == NULL)
		return;
	rotate_store_free(T.e.keys->rotate);
	free(T.e.keys->rotate);
	T.e.keys->rotate = NULL;
}
