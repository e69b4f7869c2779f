#include "providers/simcloud/ec2.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/mem.h"
#include "providers/simcloud/nodelist.h"

enum { TAG_VALUE_MAX = 256, TAG_KEY_MAX = 128 };

struct reading {
	struct form form;
	struct face_call *f;
	struct ec2_call *x;
	const struct settings *conf;
	struct err *e;
};

static int bad_value(struct reading *r, const char *name)
{
	return err_set(r->e, ERR_INVALID, "InvalidParameterValue: Invalid value for %s", name);
}

static int missing(struct reading *r, const char *name)
{
	return err_set(r->e, ERR_INVALID,
		       "MissingParameter: The request must contain the parameter %s", name);
}

/* Take a word; absent: out stays.  -1: empty or too long. */
static int take_word(struct reading *r, const char *name, char *out, size_t size)
{
	const char *v = form_take(&r->form, "%s", name);

	if (v == NULL)
		return 0;
	if (v[0] == '\0' || strlen(v) >= size)
		return bad_value(r, name);
	memcpy(out, v, strlen(v) + 1);
	return 0;
}

static int take_number(struct reading *r, const char *name, int64_t min, int64_t max, int64_t *out)
{
	const char *v = form_take(&r->form, "%s", name);

	if (v == NULL)
		return 0;
	if (v[0] == '\0' || strlen(v) > 9 || v[strspn(v, "0123456789")] != '\0')
		return bad_value(r, name);
	*out = strtoll(v, NULL, 10);
	return *out >= min && *out <= max ? 0 : bad_value(r, name);
}

/* Take a parameter that, if present, must have this value. */
static int take_only(struct reading *r, const char *name, const char *value)
{
	const char *v = form_take(&r->form, "%s", name);

	return v == NULL || strcmp(v, value) == 0 ? 0 : bad_value(r, name);
}

/* Take parameters that make no difference here. */
static void pass_over(struct reading *r, const char *const *names)
{
	for (; *names != NULL; names++)
		(void)form_take(&r->form, "%s", *names);
}

/* --- tags, and the nodes in them -------------------------------------------------------------- */

static int take_tags(struct reading *r, unsigned spec, struct order *o)
{
	for (unsigned k = 1;; k++) {
		const char *key = form_take(&r->form, "TagSpecification.%u.Tag.%u.Key", spec, k);
		const char *value =
			form_take(&r->form, "TagSpecification.%u.Tag.%u.Value", spec, k);

		if (key == NULL)
			return 0;
		if (value == NULL || key[0] == '\0' || strlen(key) > TAG_KEY_MAX ||
		    strlen(value) > TAG_VALUE_MAX || strncmp(key, "aws:", 4) == 0)
			return bad_value(r, "Tag");
		if (o != NULL && order_tag(o, key, value) != 0)
			return err_set(r->e, ERR_INVALID,
				       "TagLimitExceeded: too many tags, or one twice");
	}
}

static int take_all_tags(struct reading *r)
{
	const char *what;

	for (unsigned n = 1;; n++) {
		what = form_take(&r->form, "TagSpecification.%u.ResourceType", n);
		if (what == NULL)
			return 0;
		if (take_tags(r, n,
			      strcmp(what, "instance") == 0          ? r->x->order
			      : strcmp(what, "placement-group") == 0 ? r->x->tags
								     : NULL) != 0)
			return -1;
	}
}

static const char *find_tag(const void *ctx, const char *key)
{
	return order_find(ctx, key);
}

/* Set the instances' nodes and generations by their tags, for the meter. */
static void name_wants(struct reading *r)
{
	const char *cluster = order_find(r->x->order, "burstd-cluster");
	struct face_call *f = r->f;

	if (cluster != NULL && strlen(cluster) < sizeof(f->cluster))
		memcpy(f->cluster, cluster, strlen(cluster) + 1);
	f->wants = mem_zalloc(f->n * sizeof(*f->wants));
	nodelist_name(f->wants, f->n, find_tag, r->x->order);
	for (size_t i = 0; i < f->n; i++) {
		f->wants[i].user_data = userdata_ref(r->x->user_data);
		f->wants[i].group = 1; /* placed together, as many as there is room for */
	}
}

/* --- create ----------------------------------------------------------------------------------- */

static int set_zone(struct reading *r, struct ec2_choice *c, const char *zone, const char *subnet)
{
	static const char prefix[] = "subnet-";

	if (subnet != NULL && strncmp(subnet, prefix, sizeof(prefix) - 1) != 0)
		return err_set(r->e, ERR_INVALID,
			       "InvalidSubnetID.NotFound: The subnet ID '%.64s' does not exist",
			       subnet);
	if (subnet != NULL)
		zone = subnet + sizeof(prefix) - 1;
	if (zone == NULL)
		return 0;
	if (strlen(zone) >= sizeof(c->zone))
		return bad_value(r, "AvailabilityZone");
	memcpy(c->zone, zone, strlen(zone) + 1);
	return 0;
}

/* Take a launch template's id or name, and version.  false: there is none. */
static bool take_template(struct reading *r, const char *prefix)
{
	const char *id = form_take(&r->form, "%s.LaunchTemplateId", prefix);
	const char *name = form_take(&r->form, "%s.LaunchTemplateName", prefix);

	(void)form_take(&r->form, "%s.Version", prefix);
	return id != NULL || name != NULL;
}

static int take_token(struct reading *r)
{
	struct order *o = r->x->order;

	if (take_word(r, "ClientToken", o->token, sizeof(o->token)) != 0)
		return -1;
	(void)snprintf(r->f->token, sizeof(r->f->token), "%s", o->token);
	return 0;
}

#define RESERVATION "CapacityReservationSpecification."

/* A reservation's id, or the ARN of a group.  0, *given: is there one? */
static int take_target(struct reading *r, bool *given)
{
	static const char prefix[] = RESERVATION "CapacityReservationTarget";
	const char *id = form_take(&r->form, "%s.CapacityReservationId", prefix);
	const char *arn = form_take(&r->form, "%s.CapacityReservationResourceGroupArn", prefix);

	*given = id != NULL || arn != NULL;
	if (id != NULL && strncmp(id, "cr-", 3) != 0)
		return err_set(r->e, ERR_INVALID,
			       "InvalidCapacityReservationId.Malformed: Invalid id: \"%.64s\"", id);
	if (arn != NULL && (id != NULL || strncmp(arn, "arn:", 4) != 0))
		return bad_value(r, "CapacityReservationTarget");
	return 0;
}

/* Reserved: in any open reservation, in that one, or in a capacity block. */
static int take_market(struct reading *r)
{
	static const char reserved[] = RESERVATION "CapacityReservationPreference";
	const char *market = form_take(&r->form, "InstanceMarketOptions.MarketType");
	const char *only = form_take(&r->form, reserved);
	bool block = market != NULL && strcmp(market, "capacity-block") == 0, target;

	if (take_target(r, &target) != 0)
		return -1;
	if (only != NULL && (market != NULL || strcmp(only, "capacity-reservations-only") != 0))
		return bad_value(r, reserved);
	if ((block && !target) ||
	    (market != NULL && !block && (strcmp(market, "spot") != 0 || target)))
		return bad_value(r, "MarketType");
	r->f->market = block || only != NULL || target ? MARKET_RESERVED
		       : market != NULL                ? MARKET_SPOT
						       : MARKET_ON_DEMAND;
	if (take_only(r, "InstanceMarketOptions.SpotOptions.SpotInstanceType", "one-time") != 0)
		return -1;
	return take_only(r, "InstanceMarketOptions.SpotOptions.InstanceInterruptionBehavior",
			 "terminate");
}

static int take_user_data(struct reading *r, struct userdata **out)
{
	const char *text = form_take(&r->form, "UserData");

	*out = NULL;
	if (text == NULL || text[0] == '\0')
		return 0;
	*out = userdata_decode(text);
	if (*out == NULL)
		return err_set(r->e, ERR_INVALID,
			       "InvalidUserData.Malformed: Invalid BASE64 encoding of user data");
	if ((*out)->len <= USERDATA_EC2_MAX)
		return 0;
	userdata_unref(*out);
	*out = NULL;
	return err_set(r->e, ERR_INVALID, "InvalidParameterValue: User data is limited to %d bytes",
		       USERDATA_EC2_MAX);
}

static int take_metadata(struct reading *r)
{
	static const char name[] = "MetadataOptions.HttpTokens";
	const char *v = form_take(&r->form, name);
	int64_t hops; /* unused: nothing is behind an instance */

	if (take_number(r, "MetadataOptions.HttpPutResponseHopLimit", 1, 64, &hops) != 0)
		return -1;
	if (v != NULL && strcmp(v, "required") != 0 && strcmp(v, "optional") != 0)
		return bad_value(r, name);
	r->x->order->tokens_only = v == NULL || strcmp(v, "required") == 0;
	return 0;
}

static int read_run(struct reading *r)
{
	static const char *const known[] = {"KeyName", "IamInstanceProfile.Name",
					    "IamInstanceProfile.Arn",
					    "InstanceInitiatedShutdownBehavior", NULL};
	struct ec2_choice *c = &r->x->choices[0];
	int64_t min = 0, max = 0;
	const char *image, *zone, *subnet;

	r->x->nchoices = 1;
	if (take_token(r) != 0 || take_number(r, "MinCount", 1, r->conf->create_max, &min) != 0 ||
	    take_number(r, "MaxCount", 1, r->conf->create_max, &max) != 0 ||
	    take_word(r, "InstanceType", c->type, sizeof(c->type)) != 0 ||
	    take_word(r, "Placement.GroupName", r->f->fabric, sizeof(r->f->fabric)) != 0 ||
	    take_market(r) != 0 || take_user_data(r, &r->x->user_data) != 0 ||
	    take_metadata(r) != 0)
		return -1;
	image = form_take(&r->form, "ImageId");
	if (min == 0 || max == 0)
		return missing(r, min == 0 ? "MinCount" : "MaxCount");
	if (!take_template(r, "LaunchTemplate") && image == NULL)
		return missing(r, "ImageId");
	if (min > max)
		return bad_value(r, "MinCount");
	zone = form_take(&r->form, "Placement.AvailabilityZone");
	subnet = form_take(&r->form, "SubnetId");
	while (form_take(&r->form, "SecurityGroupId.%zu", r->f->n + 1) != NULL)
		r->f->n++;
	pass_over(r, known);
	r->x->min = (size_t)min;
	r->f->n = (size_t)max;
	return set_zone(r, c, zone, subnet);
}

static int read_override(struct reading *r, size_t k)
{
	static const char prefix[] = "LaunchTemplateConfigs.1.Overrides";
	struct ec2_choice *c = &r->x->choices[k];
	const char *type = form_take(&r->form, "%s.%zu.InstanceType", prefix, k + 1);
	const char *zone = form_take(&r->form, "%s.%zu.AvailabilityZone", prefix, k + 1);
	const char *subnet = form_take(&r->form, "%s.%zu.SubnetId", prefix, k + 1);
	const char *priority = form_take(&r->form, "%s.%zu.Priority", prefix, k + 1);

	(void)form_take(&r->form, "%s.%zu.ImageId", prefix, k + 1);
	if (type == NULL)
		return missing(r, "InstanceType");
	if (strlen(type) >= sizeof(c->type))
		return bad_value(r, "InstanceType");
	memcpy(c->type, type, strlen(type) + 1);
	c->priority = priority != NULL ? strtoll(priority, NULL, 10) : INT64_MAX;
	return set_zone(r, c, zone, subnet);
}

static bool has_override(const struct reading *r, size_t k)
{
	char name[80];
	int len = snprintf(name, sizeof(name), "LaunchTemplateConfigs.1.Overrides.%zu.", k + 1);

	for (size_t i = 0; i < r->form.n; i++)
		if (!r->form.v[i].taken && strncmp(r->form.v[i].name, name, (size_t)len) == 0)
			return true;
	return false;
}

static bool is_true(const char *v)
{
	return v != NULL && strcmp(v, "true") == 0;
}

/* A minimum is only for a fleet of one type or of one zone. */
static int take_minimum(struct reading *r, const char *options, int64_t n, int64_t *min)
{
	bool one_type = is_true(form_take(&r->form, "%s.SingleInstanceType", options));
	char name[64];
	int64_t said = 0;

	r->x->one_zone = is_true(form_take(&r->form, "%s.SingleAvailabilityZone", options));
	(void)snprintf(name, sizeof(name), "%s.MinTargetCapacity", options);
	if (take_number(r, name, 1, n, &said) != 0)
		return -1;
	if (said == 0)
		return 0;
	*min = said;
	return one_type || r->x->one_zone ? 0 : bad_value(r, name);
}

/* Read a fleet of one capacity type, instance type and zone: burstd asks for no other. */
static int read_fleet(struct reading *r)
{
	const char *market =
		form_take(&r->form, "TargetCapacitySpecification.DefaultTargetCapacityType");
	bool spot = market != NULL && strcmp(market, "spot") == 0;
	const char *options = spot ? "SpotOptions" : "OnDemandOptions", *strategy;
	int64_t n = 0, min = 1;

	r->f->market = spot ? MARKET_SPOT : MARKET_ON_DEMAND;
	r->x->by_price = spot;
	if (take_only(r, "Type", "instant") != 0 || take_token(r) != 0 ||
	    take_number(r, "TargetCapacitySpecification.TotalTargetCapacity", 1,
			r->conf->create_max, &n) != 0)
		return -1;
	if (n == 0)
		return missing(r, "TotalTargetCapacity");
	if (!take_template(r, "LaunchTemplateConfigs.1.LaunchTemplateSpecification"))
		return missing(r, "LaunchTemplateSpecification");
	strategy = form_take(&r->form, "%s.AllocationStrategy", options);
	if (strategy != NULL &&
	    strcmp(strategy, spot ? "price-capacity-optimized" : "prioritized") != 0)
		return bad_value(r, "AllocationStrategy");
	if (take_minimum(r, options, n, &min) != 0)
		return -1;
	(void)form_take(&r->form, "%s.InstanceInterruptionBehavior", options);
	for (size_t k = 0; k < EC2_CHOICES_MAX && has_override(r, k); k++, r->x->nchoices++)
		if (read_override(r, k) != 0)
			return -1;
	r->f->n = (size_t)n;
	r->x->min = (size_t)min;
	return r->x->nchoices > 0 ? 0 : missing(r, "Overrides");
}

static int read_create(struct reading *r)
{
	r->x->order = order_new();
	r->x->order->ec2 = true;
	if ((r->x->action == EC2_RUN ? read_run(r) : read_fleet(r)) != 0 || take_all_tags(r) != 0)
		return -1;
	name_wants(r);
	return 0;
}

/* --- the rest --------------------------------------------------------------------------------- */

static int read_describe(struct reading *r)
{
	const char *filter = form_take(&r->form, "Filter.1.Name");
	const char *value = form_take(&r->form, "Filter.1.Value.1");
	const char *next = form_take(&r->form, "NextToken");
	char *end;

	r->f->limit = r->conf->page_max;
	r->f->after = -1;
	if (take_number(r, "MaxResults", 5, 1000, &r->f->limit) != 0)
		return -1;
	if (r->f->limit > r->conf->page_max)
		r->f->limit = r->conf->page_max;
	if (filter != NULL && (value == NULL || strcmp(filter, "tag:burstd-cluster") != 0))
		return err_set(r->e, ERR_INVALID,
			       "InvalidParameterValue: The filter '%.64s' is invalid", filter);
	if (filter != NULL && strlen(value) >= sizeof(r->f->cluster))
		return bad_value(r, "Filter");
	if (filter != NULL)
		memcpy(r->f->cluster, value, strlen(value) + 1);
	if (next == NULL)
		return 0;
	r->f->after = strtol(next + (next[0] == 'c'), &end, 10);
	return next[0] == 'c' && *end == '\0' && r->f->after >= 0 && r->f->after < METER_ROWS_MAX
		       ? 0
		       : err_set(r->e, ERR_INVALID,
				 "InvalidParameterValue: Unable to parse "
				 "pagination token");
}

static int read_terminate(struct reading *r)
{
	const char *id;

	r->f->many = true;
	r->f->ids = mem_zalloc((size_t)r->conf->delete_max * sizeof(*r->f->ids));
	while ((id = form_take(&r->form, "InstanceId.%zu", r->f->n + 1)) != NULL) {
		if (r->f->n == (size_t)r->conf->delete_max || strlen(id) >= FACE_ID_SIZE)
			return bad_value(r, "InstanceId");
		memcpy(r->f->ids[r->f->n++], id, strlen(id) + 1);
	}
	return r->f->n > 0 ? 0 : missing(r, "InstanceId");
}

static int read_types(struct reading *r)
{
	static const char *const known[] = {"ProductDescription.1", "MaxResults", NULL};
	const char *filter = form_take(&r->form, "Filter.1.Name"), *v;

	if (filter != NULL && strcmp(filter, "instance-type") != 0)
		return bad_value(r, "Filter");
	while ((v = form_take(&r->form, "Filter.1.Value.%zu", r->x->ntypes + 1)) != NULL) {
		if (r->x->ntypes == EC2_TYPES_MAX || strlen(v) >= SETTINGS_WORD_SIZE)
			return bad_value(r, "Filter");
		memcpy(r->x->types[r->x->ntypes++], v, strlen(v) + 1);
	}
	pass_over(r, known);
	return 0;
}

/* A page of prices goes on at "pPOOL,TIME". */
static int read_prices(struct reading *r)
{
	const char *start = form_take(&r->form, "StartTime");
	const char *next = form_take(&r->form, "NextToken");
	char *end;

	if (start != NULL && fmt_time_parse(start, &r->x->start_ms, NULL) != 0)
		return bad_value(r, "StartTime");
	if (next == NULL)
		return read_types(r);
	r->x->from_pool = strtoul(next + (next[0] == 'p'), &end, 10);
	r->x->from_ms = *end == ',' ? strtoll(end + 1, &end, 10) : 0;
	return *end == '\0' && r->x->from_ms > 0 ? read_types(r) : bad_value(r, "NextToken");
}

/* Read a report about one instance, which is all that burstd sends. */
static int read_report(struct reading *r)
{
	static const char *const codes[] = {
		"instance-stuck-in-state", "unresponsive",        "not-accepting-credentials",
		"password-not-available",  "performance-network", "performance-instance-store",
		"performance-ebs-volume",  "performance-other",   "other",
	};
	const char *id = form_take(&r->form, "InstanceId.1");
	const char *status = form_take(&r->form, "Status");
	const char *code = form_take(&r->form, "ReasonCode.1");
	size_t k = 0;

	if (id == NULL || status == NULL || code == NULL)
		return missing(r, id == NULL       ? "InstanceId"
				  : status == NULL ? "Status"
						   : "ReasonCode");
	while (k < sizeof(codes) / sizeof(codes[0]) && strcmp(codes[k], code) != 0)
		k++;
	if (k == sizeof(codes) / sizeof(codes[0]))
		return bad_value(r, "ReasonCode");
	if (strcmp(status, "ok") != 0 && strcmp(status, "impaired") != 0)
		return bad_value(r, "Status");
	if (strlen(id) >= FACE_ID_SIZE)
		return bad_value(r, "InstanceId");
	r->f->n = 1;
	r->f->ids = mem_zalloc(sizeof(*r->f->ids));
	memcpy(r->f->ids[0], id, strlen(id) + 1);
	(void)snprintf(r->f->reason, sizeof(r->f->reason), "%s: %s", status, codes[k]);
	return 0;
}

static int read_console(struct reading *r)
{
	const char *id = form_take(&r->form, "InstanceId"), *v = form_take(&r->form, "Latest");

	if (id == NULL)
		return missing(r, "InstanceId");
	if (strlen(id) >= FACE_ID_SIZE)
		return bad_value(r, "InstanceId");
	if (v != NULL && strcmp(v, "true") != 0 && strcmp(v, "false") != 0)
		return bad_value(r, "Latest");
	face_call_id(r->f, id);
	return 0;
}

/* --- placement groups -------------------------------------------------------------------------
 */

static int read_group(struct reading *r)
{
	if (take_word(r, "GroupName", r->f->fabric, sizeof(r->f->fabric)) != 0)
		return -1;
	if (r->f->fabric[0] == '\0')
		return missing(r, "GroupName");
	if (r->x->action == EC2_DROP_GROUP)
		return 0;
	r->x->tags = order_new();
	return take_only(r, "Strategy", "cluster") != 0 ? -1 : take_all_tags(r);
}

static int read_groups(struct reading *r)
{
	const char *filter = form_take(&r->form, "Filter.1.Name");
	const char *value = form_take(&r->form, "Filter.1.Value.1");

	if (filter == NULL)
		return 0;
	if (value == NULL || strcmp(filter, "tag:burstd-cluster") != 0 ||
	    strlen(value) >= sizeof(r->f->cluster))
		return bad_value(r, "Filter");
	memcpy(r->f->cluster, value, strlen(value) + 1);
	return 0;
}

static const struct {
	const char *name;
	enum ec2_action action;
	enum op op;
	int (*read)(struct reading *r);
} actions[] = {
	{"RunInstances", EC2_RUN, OP_CREATE, read_create},
	{"CreateFleet", EC2_FLEET, OP_CREATE, read_create},
	{"DescribeInstances", EC2_DESCRIBE, OP_LIST, read_describe},
	{"TerminateInstances", EC2_TERMINATE, OP_DELETE, read_terminate},
	{"DescribeInstanceTypes", EC2_TYPES, OP_OFFERS, read_types},
	{"DescribeSpotPriceHistory", EC2_PRICES, OP_OFFERS, read_prices},
	{"ReportInstanceStatus", EC2_REPORT, OP_REPORT, read_report},
	{"GetConsoleOutput", EC2_CONSOLE, OP_CONSOLE, read_console},
	{"DescribeInstanceTopology", EC2_PATHS, OP_FABRIC, read_terminate},
	{"CreatePlacementGroup", EC2_MAKE_GROUP, OP_FABRIC, read_group},
	{"DescribePlacementGroups", EC2_LIST_GROUPS, OP_FABRIC, read_groups},
	{"DeletePlacementGroup", EC2_DROP_GROUP, OP_FABRIC, read_group},
};

static int read_action(struct reading *r)
{
	const char *name = form_take(&r->form, "Action");
	size_t k = 0;

	while (k < sizeof(actions) / sizeof(actions[0]) &&
	       (name == NULL || strcmp(actions[k].name, name) != 0))
		k++;
	if (k == sizeof(actions) / sizeof(actions[0]) || take_only(r, "Version", "2016-11-15") != 0)
		return err_set(r->e, ERR_INVALID,
			       "InvalidAction: The action %.64s is not valid for this web service",
			       name != NULL ? name : "");
	r->x->action = actions[k].action;
	r->f->op = actions[k].op;
	if (actions[k].read(r) != 0)
		return -1;
	if (form_left(&r->form) != NULL)
		return err_set(r->e, ERR_INVALID,
			       "UnknownParameter: The parameter %.80s is not recognized",
			       form_left(&r->form));
	return 0;
}

enum code ec2_parse(struct face_call **out, const struct face_visit *v, struct err *e)
{
	const struct http_request *rq = v->rq;
	struct reading r = {.conf = v->conf, .e = e};
	int rc;

	*out = NULL;
	if (form_parse(&r.form, rq->body, rq->len) != 0) {
		(void)err_set(e, ERR_INVALID, "MalformedQueryString: want a form");
		return CODE_INVALID;
	}
	r.f = face_call_new(v, OP_LIST);
	r.f->own = r.x = mem_zalloc(sizeof(*r.x));
	memcpy(r.f->region, v->region, sizeof(r.f->region));
	r.f->body_hash = token_hash(rq->body, rq->len);
	r.f->body_len = rq->len;
	rc = read_action(&r);
	form_fini(&r.form);
	if (rc != 0) {
		face_call_free(r.f);
		return CODE_INVALID;
	}
	*out = r.f;
	return CODE_OK;
}
