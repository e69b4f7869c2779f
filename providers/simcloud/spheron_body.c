/* spheron_body.c - reads the bodies of requests to Spheron's API. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "providers/simcloud/js.h"
#include "providers/simcloud/spheron.h"

static int need(char *out, size_t size, const json_t *o, const char *member, struct err *e)
{
	const json_t *v = json_object_get(o, member);

	if (v == NULL || json_is_null(v) || json_string_length(v) == 0)
		return err_set(e, ERR_INVALID, "%s is required", member);
	return js_get_str(o, member, out, size, e);
}

/* --- cloudInit -------------------------------------------------------------------------------- */

/* What cloud-init reads: YAML, of which JSON is a part, with its own word for writeFiles. */
static struct userdata *cloud_config(const json_t *o)
{
	json_t *copy = mem_check(json_deep_copy(o));
	json_t *files = json_object_get(copy, "writeFiles");
	struct userdata *u;
	struct str s;
	char *text;

	if (files != NULL) {
		(void)json_object_set(copy, "write_files", files);
		(void)json_object_del(copy, "writeFiles");
	}
	text = mem_check(json_dumps(copy, JSON_COMPACT));
	str_init(&s, USERDATA_MAX);
	str_addf(&s, "#cloud-config\n%s", text);
	u = s.full ? NULL : userdata_new(s.p, s.len);
	str_fini(&s);
	free(text);
	json_decref(copy);
	return u;
}

static int read_cloud_init(struct cloud_want *w, const json_t *o, struct err *e)
{
	static const char *const known[] = {"packages", "writeFiles", "runcmd", NULL};
	const json_t *init = json_object_get(o, "cloudInit");

	if (init == NULL || json_is_null(init))
		return 0;
	if (js_only(init, known, e) != 0)
		return err_wrap(e, "cloudInit");
	w->user_data = cloud_config(init);
	return w->user_data != NULL ? 0 : err_set(e, ERR_INVALID, "cloudInit is too long");
}

/* --- create ----------------------------------------------------------------------------------- */

/* One key: an id of the account's, or a text. */
static int read_key(struct order *order, const json_t *o, struct err *e)
{
	char text[SPHERON_KEY_MAX] = "";

	if (js_get_str(o, "sshKeyId", order->key, sizeof(order->key), e) != 0 ||
	    js_get_str(o, "ssh_public_key", text, sizeof(text), e) != 0)
		return -1;
	return (order->key[0] == '\0') != (text[0] == '\0')
		       ? 0
		       : err_set(e, ERR_INVALID,
				 "exactly one of sshKeyId and ssh_public_key is required");
}

static int read_wish(struct spheron_wish *w, const json_t *o, struct err *e)
{
	if (need(w->provider, sizeof(w->provider), o, "provider", e) != 0 ||
	    need(w->offer, sizeof(w->offer), o, "offerId", e) != 0 ||
	    need(w->gpu, sizeof(w->gpu), o, "gpuType", e) != 0 ||
	    need(w->region, sizeof(w->region), o, "region", e) != 0 ||
	    need(w->os, sizeof(w->os), o, "operatingSystem", e) != 0 ||
	    need(w->kind, sizeof(w->kind), o, "instanceType", e) != 0)
		return -1;
	if (!json_is_integer(json_object_get(o, "gpuCount")))
		return err_set(e, ERR_INVALID, "gpuCount is required");
	w->count = (int64_t)json_integer_value(json_object_get(o, "gpuCount"));
	return 0;
}

/* Documented as optional, and required all the same. */
static enum code check_team(const json_t *o, struct err *e)
{
	char team[SETTINGS_WORD_SIZE] = "";

	if (js_get_str(o, "teamId", team, sizeof(team), e) != 0)
		return CODE_INVALID;
	if (team[0] == '\0') {
		(void)err_set(e, ERR_INVALID, "Team ID is required for authenticated deployments");
		return CODE_INVALID;
	}
	if (strcmp(team, SPHERON_TEAM) == 0)
		return CODE_OK;
	(void)err_set(e, ERR_AUTH, "You are not a member of this team");
	return CODE_DENIED;
}

/* The members that clients send; another is refused, so that a misspelt one is noticed. */
static enum code read_create(struct face_call *f, const json_t *o, struct err *e)
{
	static const char *const known[] = {"provider",
					    "offerId",
					    "gpuType",
					    "gpuCount",
					    "region",
					    "operatingSystem",
					    "instanceType",
					    "sshKeyId",
					    "ssh_public_key",
					    "teamId",
					    "name",
					    "cloudInit",
					    "volumeIds",
					    "kubernetesAddon",
					    NULL};
	struct spheron_call *x = f->own;

	x->order = order_new();
	f->n = 1;
	f->wants = mem_zalloc(sizeof(*f->wants));
	if (js_only(o, known, e) != 0 || read_wish(&x->wish, o, e) != 0 ||
	    js_get_str(o, "name", x->order->name, sizeof(x->order->name), e) != 0 ||
	    read_key(x->order, o, e) != 0 || read_cloud_init(&f->wants[0], o, e) != 0)
		return CODE_INVALID;
	face_call_named(f, x->order->name);
	return check_team(o, e);
}

/* --- others ----------------------------------------------------------------------------------- */

/* Nothing else of a deployment can be changed. */
static enum code read_rename(struct spheron_call *x, const json_t *o, struct err *e)
{
	static const char *const known[] = {"name", NULL};

	return js_only(o, known, e) == 0 && need(x->name, sizeof(x->name), o, "name", e) == 0
		       ? CODE_OK
		       : CODE_INVALID;
}

static enum code read_new_key(struct spheron_call *x, const json_t *o, struct err *e)
{
	static const char *const known[] = {"name", "publicKey", "teamId", NULL};
	char text[SPHERON_KEY_MAX] = "";

	if (js_only(o, known, e) != 0 || need(x->name, sizeof(x->name), o, "name", e) != 0 ||
	    need(text, sizeof(text), o, "publicKey", e) != 0)
		return CODE_INVALID;
	x->key = mem_strdup(text);
	return CODE_OK;
}

enum code spheron_read_body(struct face_call *f, const struct http_request *rq, struct err *e)
{
	struct spheron_call *x = f->own;
	json_t *o = json_loadb(rq->body, rq->len, JSON_REJECT_DUPLICATES, NULL);
	enum code code = CODE_INVALID;

	if (!json_is_object(o))
		(void)err_set(e, ERR_INVALID, "Invalid JSON in request body");
	else if (x->action == SPHERON_CREATE)
		code = read_create(f, o, e);
	else if (x->action == SPHERON_RENAME)
		code = read_rename(x, o, e);
	else
		code = read_new_key(x, o, e);
	json_decref(o);
	return code;
}
