#include "providers/aws_private.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/secret.h"
#include "providers/common/words.h"

struct choice {                    /* a zone and subnet where the place allows to launch */
	const char *zone, *subnet; /* may be "" */
};

struct choices {
	struct choice v[AWS_SUBNETS_MAX];
	size_t n;
};

/* --- where ------------------------------------------------------------------------------------
 */

/* The first reservation for this place; NULL: none is named, so any open one will do. */
static const struct aws_reservation *find_reservation(const struct aws *a,
						      const struct provider_place *p)
{
	for (size_t i = 0; i < a->nreservations && p->market == PROVIDER_RESERVED; i++) {
		const struct aws_reservation *r = &a->reservations[i];

		if (strcmp(r->type, p->type) == 0 &&
		    (r->zone[0] == '\0' || p->zone[0] == '\0' || strcmp(r->zone, p->zone) == 0))
			return r;
	}
	return NULL;
}

/* A reservation is in one zone. */
static const char *zone_of(const struct aws *a, const struct provider_place *p)
{
	const struct aws_reservation *r = find_reservation(a, p);

	return p->zone[0] == '\0' && r != NULL ? r->zone : p->zone;
}

/* The subnets in the place's zone; if none are configured, the zone itself. */
static void find_choices(const struct aws *a, const struct provider_create *c, struct choices *all)
{
	const char *zone = zone_of(a, c->place);

	all->n = 0;
	if (a->nsubnets == 0)
		all->v[all->n++] = (struct choice){zone, ""};
	for (size_t i = 0; i < a->nsubnets; i++)
		if (zone[0] == '\0' || strcmp(zone, a->subnets[i].zone) == 0)
			all->v[all->n++] = (struct choice){a->subnets[i].zone, a->subnets[i].id};
}

/* A fleet picks the best of several subnets, but its instances have no launch index to tell which
 * node each is: it serves only a single node outside of a gang.  Reserved
 * capacity is in one zone, as is a placement group; and a fleet has the user-data of its launch
 * template. */
static bool is_fleet(const struct aws *a, const struct provider_create *c,
		     const struct choices *all)
{
	return a->template != NULL && all->n > 1 && c->place->market != PROVIDER_RESERVED &&
	       !provider_in_fabric(c->place) && c->user_data == NULL && c->nwants == 1 &&
	       c->wants[0].group == 0;
}

static size_t gang_at(const struct provider_create *c, size_t i)
{
	size_t n = 1;

	while (c->wants[i].group != 0 && i + n < c->nwants &&
	       c->wants[i + n].group == c->wants[i].group)
		n++;
	return n;
}

/* How many wants, from the first on, may share a launch: those of jobs of one size.  MinCount is
 * one number, the size of the first job; EC2 serves the first jobs first, and refuses all only if
 * there is no room for one.  With other sizes that would not hold for each job. */
static size_t alike(const struct provider_create *c)
{
	size_t size = gang_at(c, 0), n = size;

	while (n < c->nwants && gang_at(c, n) == size)
		n += size;
	return n;
}

size_t aws_fits(const void *self, const struct provider_create *c)
{
	size_t n = alike(c);

	(void)self;
	return aws_tags_fit(c, n < AWS_CREATE_MAX ? n : AWS_CREATE_MAX);
}

/* Spread batches over the subnets by their token; a repeat gets the same subnet.  Where EC2 has no
 * capacity the next subnet is tried: the cursor is how many have been. */
static size_t tried(const struct provider_op *op)
{
	return (size_t)strtoul(provider_cursor(op), NULL, 10);
}

/* FNV-1a of 32 bits: of fnv.h's 64 the remainder by three would hardly depend on the last letter.
 */
static uint32_t hash(const char *text)
{
	uint32_t h = 2166136261U;

	for (; *text != '\0'; text++)
		h = (h ^ (unsigned char)*text) * 16777619U;
	return h;
}

/* A job that takes several launches begins each in the same subnet; and so do all that go into one
 * unit's group, which is in one zone once there are machines in it. */
static const struct choice *pick(const struct choices *all, const struct provider_create *c,
				 size_t tries)
{
	char job[PROVIDER_WORD_MAX + 16];
	uint32_t h;

	(void)snprintf(job, sizeof(job), "%s/%u", c->cluster, (unsigned)c->wants[0].group);
	if (c->place->of_unit)
		h = hash(c->place->fabric);
	else
		h = hash(c->wants[0].group != 0 ? job : c->token);
	assert(all->n > 0);
	return &all->v[(h + tries) % all->n];
}

/* May the create go to another subnet?  An admin's placement group may be bound to one zone. */
static bool may_go_on(const struct aws *a, const struct provider_op *op, const struct choices *all)
{
	const struct provider_create *c = &op->u.create;
	const char *fabric = c->place->fabric;
	bool bound = provider_in_fabric(c->place) && strcmp(fabric, c->token) != 0;

	return !bound && !is_fleet(a, c, all) && tried(op) + 1 < all->n;
}

void aws_create_goes_on(const struct aws *a, const struct provider_op *op, const char *code,
			struct provider_result *out)
{
	struct choices all;

	find_choices(a, &op->u.create, &all);
	/* A subnet that there is not has no room for us; nor has one that we have no right to: the
	 * first one has shown that we may buy. */
	if ((tried(op) > 0 && strcmp(code, "UnauthorizedOperation") == 0) ||
	    (strcmp(code, "InvalidSubnetID.NotFound") == 0 &&
	     (tried(op) > 0 || may_go_on(a, op, &all))))
		out->code = PROVIDER_CAPACITY;
	if (out->code != PROVIDER_CAPACITY || !may_go_on(a, op, &all))
		return;
	out->code = PROVIDER_MORE;
	(void)snprintf(out->cursor, sizeof(out->cursor), "%zu", tried(op) + 1);
}

/* --- requests ---------------------------------------------------------------------------------
 */

static void add_template(const struct aws *a, struct str *body, const char *prefix)
{
	bool id = strncmp(a->template, "lt-", 3) == 0;

	query_add(body, a->template, id ? "%s.LaunchTemplateId" : "%s.LaunchTemplateName", prefix);
	query_add(body, a->template_version, "%s.Version", prefix);
}

static void add_place(const struct aws *a, const struct choice *at, struct str *body)
{
	query_add_given(body, at->subnet, "SubnetId");
	if (at->subnet[0] == '\0')
		query_add_given(body, at->zone, "Placement.AvailabilityZone");
	for (size_t i = 0; i < a->ngroups; i++)
		query_add(body, a->groups[i], "SecurityGroupId.%zu", i + 1);
}

/* The create's own user-data is secret for a while: wipe the copy. */
static void add_user_data(const struct aws *a, const struct provider_create *c, struct str *body)
{
	char *text = c->user_data != NULL ? words_base64(c->user_data) : NULL;

	query_add_given(body, text != NULL ? text : a->user_data, "UserData");
	secret_wipe(&text);
}

/* Require IMDSv2 tokens and a hop limit of 1: a container on the node, or a proxy in a job, gets
 * neither credentials nor user-data. */
static void add_metadata(struct str *body)
{
	query_add(body, "required", "MetadataOptions.HttpTokens");
	query_add_number(body, 1, "MetadataOptions.HttpPutResponseHopLimit");
}

/* EC2 takes a token with other parameters, such as another subnet, for a mistake. */
static void add_token(const struct provider_op *op, struct str *body)
{
	char token[AWS_TOKEN_MAX + 8];

	(void)snprintf(token, sizeof(token), tried(op) == 0 ? "%s" : "%s.%zu", op->u.create.token,
		       tried(op));
	query_add(body, token, "ClientToken");
}

/* Launch into the reservation that is named for the place, else into any open one of ours; in
 * neither case into anything else.  A capacity block is a market of its own. */
static void add_reservation(const struct aws *a, const struct provider_place *p, struct str *body)
{
	const struct aws_reservation *r = find_reservation(a, p);
	bool arn = r != NULL && strncmp(r->target, "arn:", 4) == 0;

	if (r != NULL && r->block)
		query_add(body, "capacity-block", "InstanceMarketOptions.MarketType");
	else
		query_add(body, "capacity-reservations-only",
			  "CapacityReservationSpecification.CapacityReservationPreference");
	if (r != NULL)
		query_add(body, r->target,
			  "CapacityReservationSpecification.CapacityReservationTarget.%s",
			  arn ? "CapacityReservationResourceGroupArn" : "CapacityReservationId");
}

static void build_run(const struct aws *a, const struct provider_op *op, const struct choice *at,
		      struct str *body)
{
	const struct provider_create *c = &op->u.create;
	bool arn = a->profile != NULL && strncmp(a->profile, "arn:", 4) == 0;

	query_begin(body, "RunInstances", AWS_EC2_VERSION);
	add_token(op, body);
	query_add_number(body, gang_at(c, 0), "MinCount"); /* the first job whole, or nothing */
	query_add_number(body, c->nwants, "MaxCount");
	query_add(body, c->place->type, "InstanceType");
	query_add_given(body, provider_image(c->place, a->image), "ImageId");
	query_add_given(body, a->key_name, "KeyName");
	query_add_given(body, a->profile,
			arn ? "IamInstanceProfile.Arn" : "IamInstanceProfile.Name");
	add_user_data(a, c, body);
	add_place(a, at, body);
	if (provider_in_fabric(c->place))
		query_add(body, c->place->fabric, "Placement.GroupName");
	if (a->template != NULL)
		add_template(a, body, "LaunchTemplate");
	else
		add_metadata(body);
	/* A node that switches itself off must not stay, stopped and billed. */
	query_add(body, "terminate", "InstanceInitiatedShutdownBehavior");
	if (c->place->market == PROVIDER_SPOT) {
		query_add(body, "spot", "InstanceMarketOptions.MarketType");
		query_add(body, "one-time", "InstanceMarketOptions.SpotOptions.SpotInstanceType");
		query_add(body, "terminate",
			  "InstanceMarketOptions.SpotOptions.InstanceInterruptionBehavior");
	}
	if (c->place->market == PROVIDER_RESERVED)
		add_reservation(a, c->place, body);
	query_add(body, "instance", "TagSpecification.1.ResourceType");
	aws_tags_add(body, "TagSpecification.1", c);
	query_add(body, "volume", "TagSpecification.2.ResourceType");
	query_add(body, AWS_TAG_CLUSTER, "TagSpecification.2.Tag.1.Key");
	query_add(body, c->cluster, "TagSpecification.2.Tag.1.Value");
}

static void add_override(struct str *body, size_t n, const struct choice *at,
			 const struct provider_place *place)
{
	const bool spot = place->market == PROVIDER_SPOT;
	static const char prefix[] = "LaunchTemplateConfigs.1.Overrides";

	query_add(body, place->type, "%s.%zu.InstanceType", prefix, n);
	if (provider_image(place, "")[0] != '\0')
		query_add(body, place->image, "%s.%zu.ImageId", prefix, n);
	if (at->subnet[0] != '\0')
		query_add(body, at->subnet, "%s.%zu.SubnetId", prefix, n);
	else if (at->zone[0] != '\0')
		query_add(body, at->zone, "%s.%zu.AvailabilityZone", prefix, n);
	/* No priorities for spot, where EC2 weighs capacity and price by itself. */
	if (!spot) {
		char text[24];

		(void)snprintf(text, sizeof(text), "%zu", n - 1);
		query_add(body, text, "%s.%zu.Priority", prefix, n);
	}
}

static void build_fleet(const struct aws *a, const struct provider_create *c,
			const struct choices *all, struct str *body)
{
	bool spot = c->place->market == PROVIDER_SPOT;
	const char *options = spot ? "SpotOptions" : "OnDemandOptions";

	query_begin(body, "CreateFleet", AWS_EC2_VERSION);
	query_add(body, "instant", "Type");
	query_add(body, c->token, "ClientToken");
	query_add(body, "1", "TargetCapacitySpecification.TotalTargetCapacity");
	query_add(body, spot ? "spot" : "on-demand",
		  "TargetCapacitySpecification.DefaultTargetCapacityType");
	query_add(body, spot ? "price-capacity-optimized" : "prioritized", "%s.AllocationStrategy",
		  options);
	query_add(body, "1", "%s.MinTargetCapacity", options);
	/* EC2 wants one of these with a minimum; for one instance both hold. */
	query_add(body, "true", "%s.SingleInstanceType", options);
	query_add(body, "true", "%s.SingleAvailabilityZone", options);
	if (spot)
		query_add(body, "terminate", "SpotOptions.InstanceInterruptionBehavior");
	add_template(a, body, "LaunchTemplateConfigs.1.LaunchTemplateSpecification");
	for (size_t i = 0; i < all->n; i++)
		add_override(body, i + 1, &all->v[i], c->place);
	query_add(body, "instance", "TagSpecification.1.ResourceType");
	aws_tags_add(body, "TagSpecification.1", c);
}

static int check(const struct aws *a, const struct provider_create *c, const struct choices *all,
		 struct err *e)
{
	if (c->nwants == 0 || c->nwants > AWS_CREATE_MAX ||
	    !aws_is_plain(c->token, AWS_TOKEN_MAX) || !aws_is_plain(c->cluster, PROVIDER_WORD_MAX))
		return err_set(e, ERR_INVALID, "create: 1 to %d instances with plain names",
			       AWS_CREATE_MAX);
	for (size_t i = 0; i < c->nwants; i++)
		if (!hostlist_is_name(c->wants[i].node) || c->wants[i].gen > INT64_MAX)
			return err_set(e, ERR_INVALID, "create: not a node's name");
	if (strcmp(c->place->region, a->region) != 0)
		return err_set(e, ERR_INVALID, "this provider is for region %s, not %s", a->region,
			       c->place->region);
	if (provider_in_fabric(c->place) && !aws_is_plain(c->place->fabric, PROVIDER_WORD_MAX))
		return err_set(e, ERR_INVALID, "create: not a placement group's name");
	if (all->n == 0)
		return err_set(e, ERR_INVALID, "subnets has none in zone %s", zone_of(a, c->place));
	if (c->user_data != NULL && strlen(c->user_data) > AWS_USER_DATA_MAX)
		return err_set(e, ERR_LIMIT, "create: user-data of more than %d bytes",
			       AWS_USER_DATA_MAX);
	if (aws_tags_fit(c, c->nwants) != c->nwants)
		return err_set(e, ERR_LIMIT, "create: more names than the tags can hold");
	return 0;
}

int aws_create_build(const struct aws *a, const struct provider_op *op, struct str *body,
		     struct err *e)
{
	const struct provider_create *c = &op->u.create;
	struct choices all;

	find_choices(a, c, &all);
	if (check(a, c, &all, e) != 0)
		return -1;
	if (is_fleet(a, c, &all))
		build_fleet(a, c, &all, body);
	else
		build_run(a, op, pick(&all, c, tried(op)), body);
	return 0;
}

/* --- replies ----------------------------------------------------------------------------------
 */

static void set_who(const struct provider_create *c, size_t k, struct provider_instance *i)
{
	(void)snprintf(i->cluster, sizeof(i->cluster), "%s", c->cluster);
	(void)snprintf(i->node, sizeof(i->node), "%s", c->wants[k].node);
	i->gen = c->wants[k].gen;
}

static bool is_new(const struct provider_result *out, const char *id)
{
	for (size_t i = 0; i < out->nitems; i++)
		if (out->items[i].code == PROVIDER_OK && strcmp(out->items[i].instance.id, id) == 0)
			return false;
	return true;
}

/* EC2 lacked capacity for what is missing.  Jobs that have nothing may find some in another
 * subnet, by a create of their own; a job stays in one zone. */
static void note_missing(const struct provider_create *c, struct provider_result *out)
{
	for (size_t i = 0, n; i < c->nwants; i += n) {
		bool some = false;

		n = gang_at(c, i);
		for (size_t k = i; k < i + n; k++)
			some = some || out->items[k].code == PROVIDER_OK;
		for (size_t k = i; k < i + n && !some; k++)
			out->items[k].code = PROVIDER_NOT_YET;
	}
}

/* Read instances, in any order. */
static int parse_run(const struct aws *a, const struct provider_create *c,
		     const struct xml_node *root, struct provider_result *out)
{
	const struct xml_node *set = xml_child(root, "instancesSet");
	const struct xml_node *item = xml_child(set, "item");
	size_t have = 0;

	for (; item != NULL; item = xml_again(item), have++) {
		const char *text = xml_text(item, "amiLaunchIndex");
		size_t k = (size_t)strtoul(text, NULL, 10);

		if (text[0] == '\0' || strlen(text) > 4 ||
		    text[strspn(text, "0123456789")] != '\0' || k >= c->nwants ||
		    out->items[k].code == PROVIDER_OK ||
		    !is_new(out, xml_text(item, "instanceId")) ||
		    aws_instance_read(a, item, &out->items[k].instance) != 0)
			return -1;
		out->items[k].code = PROVIDER_OK;
		set_who(c, k, &out->items[k].instance);
	}
	if (have < c->nwants) {
		char words[96];

		(void)snprintf(words, sizeof(words), "EC2 launched %zu of %zu", have, c->nwants);
		aws_set_message(a, out, words);
	}
	return have > 0 ? 0 : -1;
}

/* Rank of a refusal: the highest decides for the whole fleet.  From the top: it may have happened;
 * it may work in a second; elsewhere; never. */
static unsigned hope(enum provider_code code)
{
	static const enum provider_code order[] = {PROVIDER_INVALID, PROVIDER_DENIED,
						   PROVIDER_QUOTA,   PROVIDER_CAPACITY,
						   PROVIDER_RATE,    PROVIDER_AMBIGUOUS};

	for (unsigned i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		if (order[i] == code)
			return i + 1;
	return 0;
}

/* Each override that gave no instance has an error: in a reply with status 200, and even beside an
 * instance. */
static void parse_fleet_errors(const struct aws *a, const struct xml_node *root,
			       struct provider_result *out)
{
	const struct xml_node *error = xml_child(xml_child(root, "errorSet"), "item");
	struct provider_item *it = &out->items[0];

	for (; error != NULL; error = xml_again(error)) {
		enum provider_code code =
			aws_code(PROVIDER_CREATE, xml_text(error, "errorCode"), 400);

		if (it->code != PROVIDER_OK && hope(code) > hope(it->code)) {
			struct str words;

			it->code = code;
			str_init(&words, 1024);
			str_addf(&words, "%.64s: %.512s", xml_text(error, "errorCode"),
				 xml_text(error, "errorMessage"));
			aws_set_message(a, out, words.p);
			str_fini(&words);
		}
	}
}

static int parse_fleet(const struct aws *a, const struct provider_create *c,
		       const struct xml_node *root, struct provider_result *out)
{
	const struct xml_node *set = xml_child(xml_child(root, "fleetInstanceSet"), "item");
	struct provider_item *it = &out->items[0];

	it->code = PROVIDER_NOT_FOUND; /* nothing is known yet: the lowest rank */
	for (; set != NULL; set = xml_again(set)) {
		const struct xml_node *id = xml_child(xml_child(set, "instanceIds"), "item");

		for (; id != NULL; id = xml_again(id)) {
			if (it->code == PROVIDER_OK || !aws_is_plain(id->text, PROVIDER_ID_MAX))
				return -1;
			memcpy(it->instance.id, id->text, strlen(id->text) + 1);
			it->instance.state = PROVIDER_PENDING;
			it->code = PROVIDER_OK;
			set_who(c, 0, &it->instance);
		}
	}
	parse_fleet_errors(a, root, out);
	/* With neither an instance nor an error all is open: the lists will show. */
	if (it->code == PROVIDER_NOT_FOUND)
		it->code = PROVIDER_AMBIGUOUS;
	return 0;
}

int aws_create_parse(const struct aws *a, const struct provider_op *op,
		     const struct provider_reply *reply, struct provider_result *out)
{
	const struct provider_create *c = &op->u.create;
	static const char *const run[] = {"RunInstancesResponse",
					  "instancesSet",
					  "item",
					  "instanceId",
					  "instanceState",
					  "name",
					  "launchTime",
					  AWS_ADDRESS_PRIVATE,
					  AWS_ADDRESS_PUBLIC,
					  AWS_ADDRESS_IPV6,
					  "amiLaunchIndex",
					  "reason",
					  "stateReason",
					  "code",
					  NULL};
	static const char *const fleet[] = {
		"CreateFleetResponse", "fleetInstanceSet", "errorSet",     "item",
		"instanceIds",         "errorCode",        "errorMessage", NULL};
	struct choices all;
	struct xml x;
	int rc = -1;

	find_choices(a, c, &all);
	out->items = mem_zalloc(c->nwants * sizeof(*out->items));
	out->nitems = c->nwants;
	for (size_t i = 0; i < c->nwants; i++)
		out->items[i].code = PROVIDER_CAPACITY;
	if (is_fleet(a, c, &all)) {
		if (xml_parse(&x, fleet, reply->body, reply->len) == 0)
			rc = parse_fleet(a, c, x.root, out);
	} else if (xml_parse(&x, run, reply->body, reply->len) == 0) {
		rc = parse_run(a, c, x.root, out);
		if (rc == 0 && may_go_on(a, op, &all))
			note_missing(c, out);
	}
	xml_fini(&x);
	return rc;
}
