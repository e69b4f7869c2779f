#include "providers/openstack.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/secret.h"
#include "core/conf_option.h"
#include "providers/common/words.h"
#include "providers/openstack_private.h"

enum {
	TOGETHER = 8,        /* as the table of options says */
	CONSOLE_LINES = 200, /* of a console log: more than is kept (core/console.h) */
};

/* --- open, close -------------------------------------------------------------------------------
 */

/* Where a text option is; NULL: it is none. */
static const char **text_at(struct openstack_options *o, size_t i)
{
	const struct conf_option *option = &openstack_options.options[i];

	if (option->type == CONF_COUNT || option->type == CONF_YES)
		return NULL;
	return (const char **)(void *)((char *)o + option->offset);
}

static void copy_options(struct openstack *s, const struct openstack_options *given)
{
	if (given != NULL)
		s->o = *given;
	if (s->o.together == 0)
		s->o.together = TOGETHER;
	for (size_t i = 0; i < openstack_options.noptions; i++) {
		const char *initial = openstack_options.options[i].initial;
		const char **text = text_at(&s->o, i);

		if (text != NULL)
			*text = mem_strdup(*text != NULL ? *text : initial != NULL ? initial : "");
	}
}

static int check(const struct openstack *s, const struct provider_conf *conf, struct err *e)
{
	if (s->o.image[0] == '\0')
		return err_set(e, ERR_INVALID, "want image, an id of \"openstack image list\"");
	if (s->o.volume_type[0] != '\0' && s->o.volume_gb == 0)
		return err_set(e, ERR_INVALID, "volume_type: want volume_gb as well");
	if (conf->user_data != NULL && strlen(conf->user_data) > OPENSTACK_USER_DATA)
		return err_set(e, ERR_LIMIT,
			       "user_data_file: it has %zu bytes, and Nova takes at most %d",
			       strlen(conf->user_data), OPENSTACK_USER_DATA);
	return 0;
}

static void openstack_close(void *self)
{
	struct openstack *s = self;

	if (s == NULL)
		return;
	openstack_login_close(s);
	for (size_t i = 0; i < openstack_options.noptions; i++)
		if (text_at(&s->o, i) != NULL)
			free((char *)(uintptr_t)*text_at(&s->o, i));
	secret_wipe(&s->user_data);
	rest_fini(&s->keystone);
	free(s);
}

static int openstack_open(void **self, const struct provider_conf *conf, struct err *e)
{
	struct openstack *s = mem_zalloc(sizeof(*s));
	struct provider_conf keystone = *conf;

	*self = NULL;
	keystone.credential = NULL; /* goes into a body, not into a header */
	copy_options(s, conf->options);
	if (rest_init(&s->keystone, &openstack_api, &keystone, e) != 0 ||
	    openstack_login_open(s, conf->credential, e) != 0 || check(s, conf, e) != 0) {
		openstack_close(s);
		return -1;
	}
	if (conf->user_data != NULL && conf->user_data[0] != '\0')
		s->user_data = mem_strdup(conf->user_data);
	*self = s;
	return 0;
}

/* No limits: Nova has had none of requests since Grizzly, and clouds that have one in front of it
 * publish none.  PROVIDER_GANGS: hosts are found for all servers of a create, or for none.  It has
 * no prices at all. */
static struct provider_caps openstack_caps(const void *self)
{
	const struct openstack *s = self;

	return (struct provider_caps){
		.flags = PROVIDER_TAGS | PROVIDER_GANGS | PROVIDER_CONSOLES | PROVIDER_IMAGES,
		.create_max = OPENSTACK_CREATE_MAX,
		.delete_max = 1,
		.region = s->o.region[0] != '\0' ? s->o.region : NULL,
		.spot_prices = "",
	};
}

/* How a cloud bills, and what its network is, Nova does not say. */
static struct provider_terms openstack_terms(const void *self, const struct provider_place *place)
{
	(void)self;
	(void)place;
	return (struct provider_terms){
		.data = PROVIDER_DATA_ANY, .data_max = OPENSTACK_USER_DATA, .own_image = true};
}

/* --- requests ----------------------------------------------------------------------------------
 */

static int build_delete(const struct openstack *s, const struct provider_op *op,
			struct rest_call *c, struct err *e)
{
	const char *id = op->u.del.nids == 1 ? op->u.del.ids[0] : "";

	if (!words_is_plain(id, PROVIDER_ID_MAX))
		return err_set(e, ERR_INVALID, "delete: want one id of this provider");
	openstack_begin(c, s->now, "DELETE", "/servers");
	rest_part(c, id);
	return 0;
}

static int build_list(const struct openstack *s, const struct provider_op *op, struct rest_call *c,
		      struct err *e)
{
	char tag[OPENSTACK_TAG_MAX + 1];

	openstack_tag(tag, op->u.list.cluster);
	if (tag[0] == '\0')
		return err_set(e, ERR_INVALID, "list: not a cluster's uuid");
	openstack_begin(c, s->now, "GET", "/servers/detail");
	openstack_list_build(c, op);
	return 0;
}

static int build_console(const struct openstack *s, const struct provider_op *op,
			 struct rest_call *c, struct err *e)
{
	if (!words_is_plain(op->u.console.id, PROVIDER_ID_MAX))
		return err_set(e, ERR_INVALID, "console: want an id of this provider");
	openstack_begin(c, s->now, "POST", "/servers");
	rest_part(c, op->u.console.id);
	rest_part(c, "action");
	rest_open(c, NULL, '{');
	rest_open(c, "os-getConsoleOutput", '{');
	rest_number(c, "length", CONSOLE_LINES);
	rest_close(c, '}');
	rest_close(c, '}');
	return 0;
}

static int build_call(const struct openstack *s, const struct provider_op *op, struct rest_call *c,
		      struct err *e)
{
	switch (op->kind) {
	case PROVIDER_CREATE:
		return openstack_question_build(s, op, c, e);
	case PROVIDER_LIST:
		return build_list(s, op, c, e);
	case PROVIDER_DELETE:
		return build_delete(s, op, c, e);
	case PROVIDER_CONSOLE:
		return build_console(s, op, c, e);
	case PROVIDER_QUOTES:
		openstack_flavors_build(c, s->now, provider_cursor(op));
		return 0;
	default:
		return err_set(e, ERR_INVALID, "there is no such request");
	}
}

static int openstack_build(const void *self, const struct provider_op *op,
			   struct provider_request *out, struct err *e)
{
	const struct openstack *s = self;
	struct rest_call c;
	int rc;

	if (op->kind == PROVIDER_LOGIN)
		return openstack_login_build(s, out, e);
	if (op->kind == PROVIDER_CREATE && !openstack_is_polled(op))
		rc = openstack_create_build(s, op, &c, e);
	else if (s->now == NULL)
		rc = err_set(e, ERR_INVALID, "not logged in yet");
	else
		rc = build_call(s, op, &c, e);
	if (rc != 0)
		return -1;
	return rest_end(&c, out, provider_op_str(op->kind), e);
}

/* --- replies -----------------------------------------------------------------------------------
 */

/* Accepted: it has the task "deleting" until a list does not show it any more. */
static int read_deleted(const struct provider_op *op, struct provider_result *out)
{
	if (op->u.del.nids != 1)
		return -1;
	rest_deleted(op, PROVIDER_OK, out);
	return 0;
}

static int read_reply(const struct rest *r, const struct provider_op *op, struct doc *d,
		      struct provider_result *out)
{
	const struct openstack *s = (const struct openstack *)(const void *)r;

	switch (op->kind) {
	case PROVIDER_CREATE:
		return openstack_created_read(op, d, out);
	case PROVIDER_DELETE:
		return read_deleted(op, out);
	case PROVIDER_CONSOLE:
		rest_console(d, "output", out);
		return 0;
	case PROVIDER_QUOTES:
		return openstack_quotes_read(s, op, d, out);
	default:
		return -1;
	}
}

/* A create has been accepted: no answer to a question about it says that it was not. */
static void keep_open(const struct provider_op *op, struct provider_result *out)
{
	if (openstack_is_polled(op) && out->code != PROVIDER_OK && out->code != PROVIDER_MORE &&
	    out->code != PROVIDER_RATE && out->code != PROVIDER_DENIED)
		out->code = PROVIDER_AMBIGUOUS;
}

static void openstack_parse(const void *self, const struct provider_op *op,
			    const struct provider_reply *reply, struct provider_result *out)
{
	const struct openstack *s = self;
	const char *why;

	if (op->kind == PROVIDER_LOGIN) {
		openstack_login_parse(s, op, reply, out);
	} else if (!rest_succeeded(reply) ||
		   (op->kind != PROVIDER_LIST && !openstack_is_polled(op))) {
		rest_parse(&s->keystone, op, reply, read_reply, out);
	} else if (openstack_list_parse(s, op, reply, out, &why) != 0) {
		rest_unreadable(&s->keystone, op, reply, why, out);
	}
	keep_open(op, out);
}

const struct provider_ops provider_openstack = {
	.name = "openstack",
	.options = &openstack_options,
	.open = openstack_open,
	.close = openstack_close,
	.caps = openstack_caps,
	.terms = openstack_terms,
	.request_id = rest_request_id,
	.build = openstack_build,
	.parse = openstack_parse,
	.fits = openstack_fits,
	.good_until = openstack_good_until,
	.renew = openstack_renew,
};
