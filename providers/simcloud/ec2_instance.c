/* ec2_instance.c - writes an instance as EC2 does. */
#include <stdio.h>
#include <string.h>

#include "base/fmt.h"
#include "providers/simcloud/ec2.h"

void ec2_put_state(struct str *s, const char *name, enum cloud_state state)
{
	static const struct {
		int code;
		const char *word;
	} states[] = {
		[CLOUD_PENDING] = {0, "pending"},         [CLOUD_RUNNING] = {16, "running"},
		[CLOUD_RECLAIMING] = {16, "running"}, /* only the instance itself is told */
		[CLOUD_STOPPING] = {32, "shutting-down"}, [CLOUD_ENDED] = {48, "terminated"},
	};

	str_addf(s, "<%s>", name);
	xmlw_int(s, "code", states[state].code);
	xmlw_text(s, "name", states[state].word);
	str_addf(s, "</%s>", name);
}

static void put_tag(struct str *s, const char *key, const char *value)
{
	str_adds(s, "<item>");
	xmlw_text(s, "key", key);
	xmlw_text(s, "value", value);
	str_adds(s, "</item>");
}

/* An instance made by the neutral API is shown with tags that say the same. */
static void put_tags(struct str *s, const struct cloud *c, const struct cloud_instance *i)
{
	const struct meter_row *row = &c->meter->rows[i->row];
	char gen[FMT_U64_SIZE];

	str_adds(s, "<tagSet>");
	for (size_t k = 0; i->order != NULL && k < i->order->ntags; k++)
		put_tag(s, i->order->tags[k].key, i->order->tags[k].value);
	if (i->order == NULL) {
		put_tag(s, "burstd-cluster", row->cluster);
		put_tag(s, "burstd-node", row->node);
		put_tag(s, "burstd-generation", fmt_u64(gen, row->gen));
	}
	str_adds(s, "</tagSet>");
}

/* "User initiated (2026-01-02 03:04:05 GMT)" */
static void put_reason(struct str *s, const struct cloud_instance *i, int64_t end_ms)
{
	bool taken = i->why != NULL && strcmp(i->why, "reclaimed") == 0;
	bool failed = i->why != NULL && strcmp(i->why, "cannot boot") == 0;
	const char *code = taken    ? "Server.SpotInstanceTermination"
			   : failed ? "Server.InternalError"
				    : "Client.UserInitiatedShutdown";
	char at[FMT_TIME_SIZE], text[96];

	(void)fmt_time(at, end_ms);
	(void)snprintf(text, sizeof(text), "%s (%.10s %.8s GMT)",
		       taken || failed ? code : "User initiated", at, at + 11);
	xmlw_text(s, "reason", text);
	str_adds(s, "<stateReason>");
	xmlw_text(s, "code", code);
	str_adds(s, "</stateReason>");
}

static void put_place(struct str *s, const struct meter_row *row, const char *group)
{
	str_adds(s, "<placement>");
	xmlw_text(s, "availabilityZone", row->zone);
	xmlw_text(s, "groupName", group != NULL ? group : "");
	str_adds(s, "<tenancy>default</tenancy></placement>"
		    "<monitoring><state>disabled</state></monitoring><subnetId>subnet-");
	str_addf(s, "%s</subnetId><vpcId>vpc-0</vpcId>", row->zone);
}

/* A network interface, with all that EC2 says of one: reading it costs what it costs there. */
static void put_interface(struct str *s, const struct cloud_instance *i,
			  const struct meter_row *row, const char *address, unsigned k)
{
	char at[FMT_TIME_SIZE];

	str_adds(s, "<item><attachment>");
	xmlw_text(s, "attachTime", fmt_time(at, row->start_ms));
	str_addf(s,
		 "<attachmentId>eni-attach-%08x%09x</attachmentId>"
		 "<deleteOnTermination>true</deleteOnTermination><deviceIndex>%u</deviceIndex>"
		 "<status>attached</status><networkCardIndex>%u</networkCardIndex></attachment>"
		 "<description/><groupSet><item><groupId>sg-0</groupId>"
		 "<groupName>default</groupName></item></groupSet><ipv6AddressesSet/>"
		 "<macAddress>02:%02x:%02x:%02x:%02x:%02x</macAddress>"
		 "<networkInterfaceId>eni-%08x%09x</networkInterfaceId>"
		 "<ownerId>000000000000</ownerId>",
		 (unsigned)i->row, k, k > 0 ? 1U : 0U, k, k, (unsigned)(i->row >> 24) & 0xff,
		 (unsigned)(i->row >> 16) & 0xff, (unsigned)(i->row >> 8) & 0xff,
		 (unsigned)i->row & 0xff, (unsigned)i->row, k);
	xmlw_text(s, "privateIpAddress", address);
	str_adds(s, "<privateIpAddressesSet><item><primary>true</primary>");
	xmlw_text(s, "privateIpAddress", address);
	str_addf(s,
		 "</item></privateIpAddressesSet><sourceDestCheck>true</sourceDestCheck>"
		 "<status>in-use</status><subnetId>subnet-%s</subnetId><vpcId>vpc-0</vpcId>"
		 "<interfaceType>%s</interfaceType></item>",
		 row->zone, k > 0 ? "efa-only" : "interface");
}

/* The network interfaces have addresses too, one level down. */
static void put_address(struct str *s, const struct cloud *c, const struct cloud_instance *i)
{
	char text[ADDR_TEXT_SIZE];

	(void)addr_text(text, i->addr);
	xmlw_text(s, "privateIpAddress", text);
	str_adds(s, "<networkInterfaceSet>");
	for (unsigned k = 0; k < (unsigned)c->conf->interfaces; k++)
		put_interface(s, i, &c->meter->rows[i->row], text, k);
	str_adds(s, "</networkInterfaceSet>");
}

void ec2_put_instance(struct str *s, const struct cloud *c, const struct cloud_instance *i,
		      int64_t now)
{
	const struct meter_row *row = &c->meter->rows[i->row];
	enum cloud_state shown = cloud_shown(i, now);
	char id[METER_ID_SIZE], at[FMT_TIME_SIZE];

	str_adds(s, "\n<item>");
	xmlw_text(s, "instanceId", meter_id(id, i->row));
	xmlw_text(s, "imageId", "ami-0");
	ec2_put_state(s, "instanceState", shown);
	xmlw_int(s, "amiLaunchIndex", i->order != NULL ? (long long)i->index : 0);
	str_adds(s, "<productCodes/>");
	xmlw_text(s, "instanceType", row->type);
	xmlw_text(s, "launchTime", fmt_time(at, row->start_ms));
	put_place(s, row, i->fabric);
	if (now >= i->address_at && shown != CLOUD_ENDED)
		put_address(s, c, i);
	if (shown == CLOUD_ENDED)
		put_reason(s, i, row->end_ms);
	if (row->market == MARKET_SPOT)
		xmlw_text(s, "instanceLifecycle", "spot");
	if (i->order != NULL)
		xmlw_text(s, "clientToken", i->order->token);
	put_tags(s, c, i);
	str_adds(s, "</item>");
}
