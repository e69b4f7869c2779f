/* nova_server.c - a server as Nova shows it: its state, and each member since its microversion. */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/fnv.h"
#include "providers/simcloud/js.h"
#include "providers/simcloud/nova.h"

struct shown {                                      /* Nova's words for a state */
	const char *status, *vm_state, *task_state; /* NULL: none */
	int power_state;
};

/* Nova has no state for a machine that is to be taken: it is ACTIVE until it is gone.  A delete is
 * a task of an ACTIVE one. */
static struct shown of_instance(const struct cloud_instance *i, int64_t now)
{
	enum cloud_state state = cloud_shown(i, now);
	bool deleted = i->why == NULL || strcmp(i->why, "exited") != 0;

	if (state == CLOUD_PENDING)
		return (struct shown){"BUILD", "building", "spawning", 0};
	if (state == CLOUD_ENDED && i->why != NULL && strcmp(i->why, "cannot boot") == 0)
		return (struct shown){"ERROR", "error", NULL, 0};
	if (state == CLOUD_ENDED || (state == CLOUD_STOPPING && !deleted))
		return (struct shown){"SHUTOFF", "stopped", NULL, 4};
	return (struct shown){"ACTIVE", "active", state == CLOUD_STOPPING ? "deleting" : NULL, 1};
}

static struct shown state_of(const struct nova_item *it, int64_t now)
{
	struct shown s;

	if (it->i != NULL) {
		s = of_instance(it->i, now);
		if (it->k != NULL && it->k->in_error) {
			s.status = "ERROR";
			s.vm_state = "error";
		}
		return s;
	}
	assert(it->k != NULL);
	if (now < it->k->failed_at)
		return (struct shown){"BUILD", "building", "scheduling", 0};
	return (struct shown){"ERROR", "error", NULL, 0};
}

const char *nova_status(const struct nova_item *it, int64_t now)
{
	return state_of(it, now).status;
}

/* --- members ---------------------------------------------------------------------------------- */

struct view {
	struct str *s;
	const struct face_call *f;
	const struct nova_call *x;
	const struct cloud *c;
	const struct nova_item *it;
	const struct nova_spec *spec; /* NULL: by another face */
	struct shown shown;
	int64_t now, created_ms;
};

static const json_t *kept(const struct view *v, const char *key)
{
	return v->spec != NULL ? json_object_get(v->spec->server, key) : NULL;
}

static void put_name(const struct view *v)
{
	char name[NOVA_TEXT_SIZE];

	if (v->spec != NULL)
		nova_spec_name(name, v->spec, v->it->k->index);
	else
		(void)snprintf(name, sizeof(name), "%s", v->c->meter->rows[v->it->i->row].node);
	js_str(v->s, "name", name);
}

static bool has_port(const struct view *v)
{
	const char *word = nova_spec_text(v->spec, "networks");

	return v->it->i != NULL && (word == NULL || strcmp(word, "none") != 0);
}

static void put_addresses(const struct view *v)
{
	const struct cloud_instance *i = v->it->i;
	char text[32];

	js_open(v->s, "addresses", '{');
	if (has_port(v) && v->now >= i->address_at) {
		js_open(v->s, "private", '[');
		js_open(v->s, NULL, '{');
		js_int(v->s, "version", 4);
		js_str(v->s, "addr", addr_text(text, i->addr));
		js_str(v->s, "OS-EXT-IPS:type", "fixed");
		(void)snprintf(text, sizeof(text), "fa:16:3e:%02x:%02x:%02x", i->row >> 16 & 0xff,
			       i->row >> 8 & 0xff, i->row & 0xff);
		js_str(v->s, "OS-EXT-IPS-MAC:mac_addr", text);
		js_close(v->s, '}');
		js_close(v->s, ']');
	}
	js_close(v->s, '}');
}

/* A word for the host, which tells a client nothing but whether two servers share one. */
static void put_host(const struct view *v)
{
	char text[64] = "";

	if (v->it->i != NULL) {
		const struct cloud_pool *pool = v->it->i->pool;
		uint64_t h;

		assert(pool != NULL);
		h = fnv_text(FNV_BEGIN, pool->zone) ^ v->it->i->row;

		(void)snprintf(text, sizeof(text), "%016" PRIx64 "%016" PRIx64 "%016" PRIx64 "%08x",
			       h, h * 3, h * 5, v->it->i->row);
	}
	js_str(v->s, "hostId", text);
}

static void put_image(const struct view *v)
{
	const char *image = nova_spec_text(v->spec, "imageRef");

	if (image == NULL || image[0] == '\0') {
		js_str(v->s, "image", "");
		return;
	}
	js_open(v->s, "image", '{');
	js_str(v->s, "id", image);
	js_open(v->s, "links", '[');
	nova_put_link(v->s, "bookmark", v->x->root, "images", image);
	js_close(v->s, ']');
	js_close(v->s, '}');
}

static void put_flavor(const struct view *v)
{
	const struct cloud_pool *p =
		v->it->i != NULL ? v->it->i->pool
				 : nova_flavor_find(v->c, v->spec->flavor, v->f->region);

	if (p != NULL)
		nova_put_its_flavor(v->s, v->x, p);
}

static void put_kept(const struct view *v, const char *key, char bracket)
{
	const json_t *o = kept(v, key);

	if (o != NULL && v->c->conf->tags) {
		js_raw(v->s, key, o);
		return;
	}
	js_open(v->s, key, bracket);
	js_close(v->s, bracket == '{' ? '}' : ']');
}

static void put_text(const struct view *v, const char *key, const char *kept_as)
{
	const char *text = nova_spec_text(v->spec, kept_as);

	if (text != NULL)
		js_str(v->s, key, text);
	else
		js_null(v->s, key);
}

static void put_security_groups(const struct view *v)
{
	const json_t *groups = kept(v, "security_groups");

	if (!has_port(v))
		return;
	if (groups != NULL) {
		js_raw(v->s, "security_groups", groups);
		return;
	}
	js_open(v->s, "security_groups", '[');
	js_open(v->s, NULL, '{');
	js_str(v->s, "name", "default");
	js_close(v->s, '}');
	js_close(v->s, ']');
}

static void put_fault(const struct view *v)
{
	char at[OS_TIME_SIZE];
	int64_t when = v->it->i == NULL ? v->it->k->failed_at : v->created_ms;

	js_open(v->s, "fault", '{');
	js_int(v->s, "code", 500);
	js_str(v->s, "created", os_time(at, when, "Z"));
	js_str(v->s, "message",
	       v->it->i == NULL ? v->it->k->fault : "Exceeded maximum number of retries.");
	js_close(v->s, '}');
}

static void put_states(const struct view *v)
{
	char at[OS_TIME_SIZE];

	if (v->shown.power_state == 0)
		js_null(v->s, "OS-SRV-USG:launched_at");
	else
		js_str(v->s, "OS-SRV-USG:launched_at", os_time(at, v->created_ms, ".000000"));
	js_null(v->s, "OS-SRV-USG:terminated_at");
	put_security_groups(v);
	if (v->shown.task_state != NULL)
		js_str(v->s, "OS-EXT-STS:task_state", v->shown.task_state);
	else
		js_null(v->s, "OS-EXT-STS:task_state");
	js_str(v->s, "OS-EXT-STS:vm_state", v->shown.vm_state);
	js_int(v->s, "OS-EXT-STS:power_state", v->shown.power_state);
	js_open(v->s, "os-extended-volumes:volumes_attached", '[');
	js_close(v->s, ']');
}

static void put_hostname(const struct view *v)
{
	char name[NOVA_TEXT_SIZE] = "";

	if (nova_spec_text(v->spec, "hostname") != NULL)
		(void)snprintf(name, sizeof(name), "%.255s", nova_spec_text(v->spec, "hostname"));
	else if (v->spec != NULL)
		nova_spec_name(name, v->spec, v->it->k->index);
	js_str(v->s, "OS-EXT-SRV-ATTR:hostname", name);
}

static void put_server_groups(const struct view *v)
{
	js_open(v->s, "server_groups", '[');
	if (v->spec != NULL && v->spec->group[0] != '\0')
		js_str(v->s, NULL, v->spec->group);
	js_close(v->s, ']');
}

/* Later microversions add members, and take none away. */
static void put_later(const struct view *v)
{
	unsigned version = v->x->version;

	if (version >= 9)
		js_bool(v->s, "locked", false);
	if (version >= 19)
		put_text(v, "description", "description");
	if (version >= 26)
		put_kept(v, "tags", '[');
	if (version >= 63)
		js_null(v->s, "trusted_image_certificates");
	if (version >= 71 && v->x->what == NOVA_GET)
		put_server_groups(v);
	if (version >= 73)
		js_null(v->s, "locked_reason");
	if (version >= 90)
		put_hostname(v);
	if (version >= 96)
		put_text(v, "pinned_availability_zone", "availability_zone");
}

static void put_detail(const struct view *v)
{
	const char *status = v->shown.status;
	char at[OS_TIME_SIZE];

	put_addresses(v);
	js_str(v->s, "accessIPv4", "");
	js_str(v->s, "accessIPv6", "");
	js_str(v->s, "created", os_time(at, v->created_ms, "Z"));
	js_str(v->s, "updated", os_time(at, v->created_ms, "Z"));
	put_flavor(v);
	put_host(v);
	put_image(v);
	put_kept(v, "metadata", '{');
	js_str(v->s, "status", status);
	js_str(v->s, "tenant_id", OS_PROJECT);
	js_str(v->s, "user_id", OS_USER);
	js_str(v->s, "OS-DCF:diskConfig", "MANUAL");
	if (strcmp(status, "ACTIVE") == 0 || strcmp(status, "BUILD") == 0)
		js_int(v->s, "progress", 0);
	if (strcmp(status, "ERROR") == 0 && v->shown.power_state == 0)
		put_fault(v);
	js_str(v->s, "OS-EXT-AZ:availability_zone", v->it->i != NULL ? v->it->i->pool->zone : "");
	js_str(v->s, "config_drive", json_is_true(kept(v, "config_drive")) ? "True" : "");
	put_text(v, "key_name", "key_name");
	put_states(v);
	put_later(v);
}

void nova_put_server(struct str *s, const struct face_call *f, const struct cloud *c,
		     const struct nova_item *it, int64_t now)
{
	struct view v = {.s = s,
			 .f = f,
			 .x = f->own,
			 .c = c,
			 .it = it,
			 .spec = it->k != NULL ? it->k->spec : NULL,
			 .shown = state_of(it, now),
			 .now = now,
			 .created_ms = it->i != NULL ? c->meter->rows[it->i->row].start_ms
						     : it->k->created_ms};
	char id[OS_ID_SIZE];

	nova_id(id, it);
	js_str(s, "id", id);
	put_name(&v);
	nova_put_links(s, v.x, "servers", id);
	if (v.x->detail)
		put_detail(&v);
}
