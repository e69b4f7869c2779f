/* ironic_create.c - a create: an allocation, what is to be deployed, the deployment.
 *
 *	POST   /v1/allocations                    by name: the same once more is a 409, and goes on
 *	GET    /v1/allocations/NAME               until a machine has been chosen
 *	GET    /v1/nodes/NODE                     is it ours, and as it was?
 *	PATCH  /v1/nodes/NODE                     instance_info
 *	PUT    /v1/nodes/NODE/states/provision    active
 *	DELETE /v1/allocations/NAME               instead, if there is no machine or it is refused
 *
 * Where one machine cannot be deployed another may: then the first request follows again.
 *
 * Before the PUT nothing runs.  What is refused is refused only when the allocation is gone. */
#include "providers/ironic_private.h"

#include <openssl/sha.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/mem.h"

enum {
	TRIES_MAX = 20,    /* an allocation that is there, and then is not ... */
	TRIES_MACHINE = 6, /* ... and a machine that cannot be deployed counts as so many */
	TRAIT_MAX = 255,
	SIGN_BYTES = 16,
};

/* --- requests ---------------------------------------------------------------------------------
 */

static bool is_trait(const char *text, size_t n)
{
	static const char good[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";

	return n > 0 && n <= TRAIT_MAX && strspn(text, good) >= n;
}

bool ironic_traits_good(const char *text)
{
	size_t n;

	if (text[0] == '\0')
		return true;
	for (;; text += n + 1) {
		n = strcspn(text, ",");
		if (!is_trait(text, n))
			return false;
		if (text[n] == '\0')
			return true;
	}
}

/* CUSTOM_ and the zone, in the characters that names of traits have. */
static void put_zone(struct rest_call *c, const char *zone)
{
	char trait[TRAIT_MAX + 1];

	(void)snprintf(trait, sizeof(trait), "CUSTOM_%s", zone);
	for (char *p = trait; *p != '\0'; p++) {
		if (*p >= 'a' && *p <= 'z')
			*p = (char)(*p - 'a' + 'A');
		else if (!is_trait(p, 1))
			*p = '_';
	}
	rest_text(c, NULL, trait);
}

static void put_traits(const struct ironic *i, struct rest_call *c, const char *zone)
{
	rest_open(c, "traits", '[');
	for (const char *p = i->traits; *p != '\0'; p += *p == ',') {
		size_t n = strcspn(p, ",");
		char *one = mem_strdup(p);

		one[n] = '\0';
		rest_text(c, NULL, one);
		free(one);
		p += n;
	}
	if (zone[0] != '\0')
		put_zone(c, zone);
	rest_close(c, ']');
}

static const char *user_data_of(const struct ironic *i, const struct provider_create *op)
{
	return op->user_data != NULL ? op->user_data : i->user_data;
}

/* What only who has the user-data can know: names are easily guessed, and whoever may make
 * allocations in the project could wait with one for the user-data and its secret.  "": there is no
 * user-data. */
static void sign(const struct ironic *i, const struct provider_create *op,
		 char out[2 * SIGN_BYTES + 1])
{
	const char *user_data = user_data_of(i, op);
	unsigned char hash[SHA256_DIGEST_LENGTH];

	out[0] = '\0';
	if (user_data == NULL)
		return;
	(void)SHA256((const unsigned char *)user_data, strlen(user_data), hash);
	(void)fmt_hex(out, hash, SIGN_BYTES);
}

static void put_alloc(const struct ironic *i, const struct provider_create *op, const char *name,
		      struct rest_call *c)
{
	char gen[FMT_U64_SIZE], signature[2 * SIGN_BYTES + 1];

	sign(i, op, signature);
	rest_begin(c, &i->rest, "POST", "/v1/allocations");
	rest_open(c, NULL, '{');
	rest_text(c, "name", name);
	rest_text(c, "resource_class", op->place->type);
	put_traits(i, c, op->place->zone);
	rest_open(c, "extra", '{'); /* for people; the name alone says who it is */
	rest_text(c, "burstd-cluster", op->cluster);
	rest_text(c, "burstd-node", op->wants[0].node);
	rest_text(c, "burstd-generation", fmt_u64(gen, op->wants[0].gen));
	if (signature[0] != '\0')
		rest_text(c, "burstd-signature", signature);
	rest_close(c, '}');
	rest_close(c, '}');
}

static void put_info(struct rest_call *c, const char *path, const char *value)
{
	if (value[0] == '\0')
		return;
	rest_open(c, NULL, '{');
	rest_text(c, "op", "add");
	rest_text(c, "path", path);
	rest_text(c, "value", value);
	rest_close(c, '}');
}

static void put_note(const struct ironic *i, const struct ironic_step *s, const char *name,
		     struct rest_call *c)
{
	rest_begin(c, &i->rest, "PATCH", "/v1/nodes");
	rest_part(c, s->node);
	rest_open(c, NULL, '[');
	put_info(c, "/instance_info/display_name", name);
	put_info(c, "/instance_info/image_source", i->image);
	put_info(c, "/instance_info/image_checksum", i->image_checksum);
	put_info(c, "/instance_info/kernel", i->kernel);
	put_info(c, "/instance_info/ramdisk", i->ramdisk);
	rest_close(c, ']');
}

/* The uuid is cloud-init's instance id: that of a machine would be the same for the next tenant. */
static void put_deploy(const struct ironic *i, const struct provider_create *op,
		       const struct ironic_step *s, struct rest_call *c)
{
	const char *user_data = user_data_of(i, op);

	ironic_target_begin(c, &i->rest, s);
	rest_text(c, "target", "active");
	rest_open(c, "configdrive", '{');
	rest_open(c, "meta_data", '{');
	rest_text(c, "uuid", s->alloc);
	rest_text(c, "name", op->wants[0].node);
	rest_text(c, "hostname", op->wants[0].node);
	rest_close(c, '}');
	if (user_data != NULL)
		rest_text(c, "user_data", user_data);
	rest_close(c, '}');
	rest_close(c, '}');
}

static int check(const struct provider_create *op, char name[NAMES_SIZE], struct err *e)
{
	if (op->nwants != 1 || op->place->market != PROVIDER_ON_DEMAND)
		return err_set(e, ERR_INVALID,
			       "create: Ironic allocates one machine a call, on demand");
	if (provider_in_fabric(op->place))
		return err_set(e, ERR_INVALID, "create: Ironic puts no machine into a fabric");
	return names_pack(name, &ironic_form, op->cluster, &op->wants[0], e);
}

int ironic_create_build(const struct ironic *i, const struct provider_op *op, struct rest_call *c,
			struct err *e)
{
	char name[NAMES_SIZE] = "";
	struct ironic_step s;

	if (check(&op->u.create, name, e) != 0)
		return -1;
	if (ironic_step_read(op, &s) != 0)
		return err_set(e, ERR_INVALID, "create: unknown cursor");
	switch (s.what) {
	case IRONIC_BEGIN:
		put_alloc(i, &op->u.create, name, c);
		break;
	case IRONIC_ALLOC:
		rest_begin(c, &i->rest, "GET", "/v1/allocations");
		rest_part(c, name);
		break;
	case IRONIC_LOOK:
		ironic_look_build(c, &i->rest, &s);
		break;
	case IRONIC_NOTE:
		put_note(i, &s, name, c);
		break;
	case IRONIC_ACT:
		put_deploy(i, &op->u.create, &s, c);
		break;
	case IRONIC_DROP:
		ironic_drop_begin(c, &i->rest, name);
		break;
	}
	return 0;
}

/* --- replies ----------------------------------------------------------------------------------
 */

/* It ends without an instance, when the allocation is gone. */
static void give_up(const struct rest *r, const struct provider_reply *reply,
		    struct provider_result *out, struct ironic_step *s, enum provider_code code,
		    const char *words)
{
	rest_message(r, reply, words[0] != '\0' ? words : "no machine was found", out);
	(void)snprintf(s->words, sizeof(s->words), "%s", out->message);
	s->code = code;
	s->what = IRONIC_DROP;
	ironic_go_on(out, s, 0);
}

/* Look at the allocation again, which is not what it was.  It may be gone: then only a list, or the
 * same create from the beginning, can tell. */
static void look_again(struct provider_result *out, struct ironic_step *s)
{
	s->what = IRONIC_ALLOC;
	s->alloc[0] = s->node[0] = '\0';
	if (++s->tries <= TRIES_MAX) {
		ironic_go_on(out, s, IRONIC_PAUSE_MS);
		return;
	}
	provider_result_fini(out);
	out->code = PROVIDER_CONFLICT;
	(void)snprintf(out->message, sizeof(out->message), "the allocation is not there any more");
}

static void created(const struct provider_create *op, const struct ironic_step *s,
		    struct provider_result *out)
{
	struct provider_instance *in;

	provider_result_fini(out);
	in = rest_created(op, out);
	(void)snprintf(in->id, sizeof(in->id), "%s", s->alloc);
}

/* A database that takes "N1" for "n1" would show another's. */
static void check_name(const struct provider_create *op, struct doc *d)
{
	char name[NAMES_SIZE];

	if (names_pack(name, &ironic_form, op->cluster, &op->wants[0], NULL) != 0 ||
	    strcmp(doc_word(&d->top, "name"), name) != 0)
		doc_wrong(&d->top, "name", "the name that was asked for");
}

/* Somebody else has made an allocation of this name: nothing is done with it, or its machine. */
static bool is_anothers(const struct ironic *i, const struct provider_create *op,
			const struct doc *d)
{
	char signature[2 * SIGN_BYTES + 1];

	sign(i, op, signature);
	return strcmp(doc_word(&d->top, "resource_class"), op->place->type) != 0 ||
	       (signature[0] != '\0' &&
		strcmp(doc_word(&d->top, "extra.burstd-signature"), signature) != 0);
}

static void read_alloc(const struct ironic *i, const struct provider_op *op,
		       const struct provider_reply *reply, struct doc *d, struct ironic_step *s,
		       struct provider_result *out)
{
	const char *state = doc_word(&d->top, "state");
	const char *error = doc_word(&d->top, "last_error");

	check_name(&op->u.create, d);
	ironic_uuid(&d->top, "uuid", s->alloc);
	s->what = IRONIC_ALLOC;
	if (strcmp(state, "active") == 0) {
		s->what = IRONIC_LOOK;
		ironic_uuid(&d->top, "node_uuid", s->node);
	} else if (strcmp(state, "error") != 0 && strcmp(state, "allocating") != 0) {
		doc_wrong(&d->top, "state", "allocating, active or error");
	}
	if (!doc_good(d))
		return;
	if (is_anothers(i, &op->u.create, d)) {
		out->code = PROVIDER_CONFLICT;
		rest_message(&i->rest, reply, "an allocation of this name is not burstd's", out);
		return;
	}
	if (strcmp(state, "error") == 0)
		give_up(&i->rest, reply, out, s, ironic_alloc_error(error), error);
	else
		ironic_go_on(out, s, s->what == IRONIC_LOOK ? 0 : IRONIC_PAUSE_MS / 2);
}

/* Has the machine all that is to be deployed?  All of it was written at once. */
static bool is_noted(const struct ironic *i, const struct provider_create *op, const struct doc *d)
{
	char name[NAMES_SIZE];

	return names_pack(name, &ironic_form, op->cluster, &op->wants[0], NULL) == 0 &&
	       strcmp(doc_word(&d->top, "instance_info.display_name"), name) == 0 &&
	       strcmp(doc_word(&d->top, "instance_info.image_source"), i->image) == 0 &&
	       strcmp(doc_word(&d->top, "instance_info.image_checksum"), i->image_checksum) == 0 &&
	       strcmp(doc_word(&d->top, "instance_info.kernel"), i->kernel) == 0 &&
	       strcmp(doc_word(&d->top, "instance_info.ramdisk"), i->ramdisk) == 0;
}

static bool is_word(const char *text, const char *const *words)
{
	while (*words != NULL && strcmp(*words, text) != 0)
		words++;
	return *words != NULL;
}

/* Somebody has moved it there with our allocation: it cannot be deployed. */
static const char *const aside[] = {"manageable",   "enroll",       "verifying",
				    "inspecting",   "inspect wait", "inspect failed",
				    "clean failed", "adopt failed", NULL};

/* By whom, a lessee is not shown, nor whether: "** Redacted - ...".  Ironic then says 409 to what
 * is sent. */
static bool is_locked(const struct doc *d)
{
	return doc_has(&d->top, "reservation") &&
	       strncmp(doc_word(&d->top, "reservation"), "**", 2) != 0;
}

static void read_look(const struct ironic *i, const struct provider_op *op,
		      const struct provider_reply *reply, struct doc *d, struct ironic_step *s,
		      struct provider_result *out)
{
	const char *state = doc_word(&d->top, "provision_state");

	if (state[0] == '\0')
		doc_wrong(&d->top, "provision_state", "a state");
	if (!doc_good(d))
		return;
	if (strcmp(doc_word(&d->top, "instance_uuid"), s->alloc) != 0) {
		look_again(out, s);
	} else if (is_word(state, aside)) {
		give_up(&i->rest, reply, out, s, PROVIDER_CAPACITY, "the machine was taken aside");
	} else if (strcmp(state, "available") != 0) {
		created(&op->u.create, s, out); /* by a request whose answer was lost */
	} else if (is_locked(d)) {
		ironic_go_on(out, s, IRONIC_PAUSE_MS);
	} else if (s->code != PROVIDER_OK) {
		s->what = IRONIC_DROP;
		ironic_go_on(out, s, 0);
	} else {
		ironic_looked(op, s, is_noted(i, &op->u.create, d) ? IRONIC_ACT : IRONIC_NOTE);
		ironic_go_on(out, s, 0);
	}
}

/* The answer shows the machine, so it is a look as well. */
static void read_noted(const struct provider_op *op, struct doc *d, struct ironic_step *s,
		       struct provider_result *out)
{
	bool ours = strcmp(doc_word(&d->top, "instance_uuid"), s->alloc) == 0 &&
		    strcmp(doc_word(&d->top, "provision_state"), "available") == 0;

	s->old = 0;
	ironic_looked(op, s, ours ? IRONIC_ACT : IRONIC_LOOK);
	ironic_go_on(out, s, 0);
}

/* Of a request that changes the machine: locked, or refused for good.  Only another look tells
 * whether it has not been deployed after all. */
static void refused(const struct ironic *i, const struct provider_op *op,
		    const struct provider_reply *reply, struct ironic_step *s,
		    struct provider_result *out)
{
	rest_refused(&i->rest, op, reply, out);
	s->old = 0;
	s->what = IRONIC_LOOK;
	if (out->code == PROVIDER_DENIED && reply->status == 401)
		return; /* the session may have ended */
	switch (out->code) {
	case PROVIDER_DENIED:
	case PROVIDER_CAPACITY:
	case PROVIDER_QUOTA:
	case PROVIDER_INVALID:
		s->code = out->code;
		(void)snprintf(s->words, sizeof(s->words), "%s", out->message);
		ironic_go_on(out, s, 0);
		break;
	case PROVIDER_CONFLICT: /* locked, or on its way elsewhere */
	case PROVIDER_NOT_YET:
		ironic_go_on(out, s, IRONIC_PAUSE_MS);
		break;
	default: /* it is sent again, later each time, after another look */
		break;
	}
}

/* The fault was one machine's, and Ironic throws dice for the next.  Only a few: each of the free
 * machines may be such a one. */
static bool another_may_do(const struct ironic_step *s)
{
	return s->code == PROVIDER_CAPACITY && s->node[0] != '\0' &&
	       s->tries + TRIES_MACHINE <= TRIES_MAX;
}

static void take_another(const struct ironic_step *s, struct provider_result *out)
{
	const struct ironic_step next = {.what = IRONIC_BEGIN, .tries = s->tries + TRIES_MACHINE};

	ironic_go_on(out, &next, IRONIC_PAUSE_MS / 2);
}

static void dropped(const struct ironic *i, const struct provider_op *op,
		    const struct provider_reply *reply, struct ironic_step *s,
		    struct provider_result *out)
{
	if (reply->status != 204 && reply->status != 404) {
		rest_refused(&i->rest, op, reply, out);
		if (out->code == PROVIDER_CONFLICT || out->code == PROVIDER_NOT_YET)
			ironic_go_on(out, s, IRONIC_PAUSE_MS);
		else if (out->code == PROVIDER_INVALID)
			out->code = PROVIDER_AMBIGUOUS; /* it is still there */
		return;
	}
	if (another_may_do(s)) {
		take_another(s, out);
		return;
	}
	out->code = s->code != PROVIDER_OK ? s->code : PROVIDER_CONFLICT;
	out->denied_for_good = out->code == PROVIDER_DENIED;
	(void)snprintf(out->message, sizeof(out->message), "%s", s->words);
}

/* A look that fails is no refusal: it is sent again. */
static void not_seen(const struct ironic *i, const struct provider_op *op,
		     const struct provider_reply *reply, struct ironic_step *s,
		     struct provider_result *out)
{
	if (reply->status == 404) {
		look_again(out, s);
		return;
	}
	rest_refused(&i->rest, op, reply, out);
	if (out->code != PROVIDER_RATE && out->code != PROVIDER_DENIED)
		out->code = PROVIDER_AMBIGUOUS;
}

static void read_body(const struct ironic *i, const struct provider_op *op,
		      const struct provider_reply *reply, struct ironic_step *s,
		      struct provider_result *out)
{
	struct doc d;

	(void)doc_load(&d, reply->body, reply->len);
	if (doc_good(&d)) {
		if (s->what == IRONIC_LOOK)
			read_look(i, op, reply, &d, s, out);
		else if (s->what == IRONIC_NOTE)
			read_noted(op, &d, s, out);
		else
			read_alloc(i, op, reply, &d, s, out);
	}
	if (!doc_good(&d))
		rest_unreadable(&i->rest, op, reply, d.wrong, out);
	doc_fini(&d);
}

/* A success of somebody else, such as a proxy with a page to show. */
static bool is_strange(const struct ironic_step *s, const struct provider_reply *reply)
{
	return rest_succeeded(reply) && ((s->what == IRONIC_ACT && reply->status != 202) ||
					 (s->what == IRONIC_DROP && reply->status != 204));
}

void ironic_create_parse(const struct ironic *i, const struct provider_op *op,
			 const struct provider_reply *reply, struct provider_result *out)
{
	struct ironic_step s;
	bool looks;

	if (ironic_step_read(op, &s) != 0) {
		out->code = PROVIDER_AMBIGUOUS;
		return;
	}
	looks = s.what == IRONIC_ALLOC || s.what == IRONIC_LOOK;
	if (is_strange(&s, reply)) {
		rest_unreadable(&i->rest, op, reply, "no answer of Ironic's", out);
	} else if (s.what == IRONIC_DROP) {
		dropped(i, op, reply, &s, out);
	} else if (s.what == IRONIC_BEGIN && reply->status == 409) {
		s.what = IRONIC_ALLOC; /* this create was here before */
		ironic_go_on(out, &s, 0);
	} else if (s.what == IRONIC_ACT && rest_succeeded(reply)) {
		created(&op->u.create, &s, out);
	} else if (rest_succeeded(reply)) {
		read_body(i, op, reply, &s, out);
	} else if (looks) {
		not_seen(i, op, reply, &s, out);
	} else if (s.what == IRONIC_BEGIN) {
		rest_refused(&i->rest, op, reply, out);
	} else {
		refused(i, op, reply, &s, out);
	}
}
