/* openstack_call.c - what requests and replies have in common: Nova's address, what errors mean,
 * and the two words that tie a server to us. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "providers/common/words.h"
#include "providers/openstack_private.h"

enum { COUNT_MAX = 1000 }; /* of questions about one create */

/* --- what errors mean --------------------------------------------------------------------------
 */

#define CREATES REST_OP(PROVIDER_CREATE)

static const struct rest_row errors[] = {
	/* Keystone says 404 to an application credential that it does not know. */
	{.ops = REST_OP(PROVIDER_LOGIN), .status = 404, .means = PROVIDER_DENIED},
	/* "Quota exceeded for cores: ...", "Maximum number of ports exceeded", "... exceeds 128" */
	{.ops = CREATES, .status = 403, .says = "xceed", .means = PROVIDER_QUOTA},
	{.ops = CREATES,
	 .status = 413,
	 .says = "uota",
	 .means = PROVIDER_QUOTA}, /* before Icehouse */
	/* oslo.limit, where a cloud has unified limits */
	{.ops = CREATES, .status = 403, .says = "over a limit", .means = PROVIDER_QUOTA},
	/* As the flavor, or the request, is, it will never do: no right is missing. */
	{.ops = CREATES, .status = 403, .says = "zero disk", .means = PROVIDER_INVALID},
	{.ops = CREATES, .status = 409, .says = "possible network", .means = PROVIDER_INVALID},
	{.ops = CREATES,
	 .status = 409,
	 .says = "ultiple security groups",
	 .means = PROVIDER_INVALID},
	{.ops = CREATES, .says = "No valid host was found", .means = PROVIDER_CAPACITY},
	/* The last server of the page before is gone: begin again. */
	{.ops = REST_OP(PROVIDER_LIST) | REST_OP(PROVIDER_QUOTES),
	 .status = 400,
	 .says = "marker [",
	 .means = PROVIDER_TRANSIENT},
};

/* Nova's errors are {"badRequest": {"message": ...}}, Keystone's {"error": {"message": ...}}. */
const struct rest_api openstack_api = {
	.auth = REST_HEADER,
	.auth_header = "X-Auth-Token",
	.open = true,
	.error_message = "*.message",
	.error_wait = "*.retryAfter",
	.wait_unit_ms = 1000,
	.request_id = "x-openstack-request-id",
	.rows = errors,
	.nrows = sizeof(errors) / sizeof(errors[0]),
};

/* --- requests ----------------------------------------------------------------------------------
 */

void openstack_begin(struct rest_call *c, const struct openstack_session *n, const char *method,
		     const char *path)
{
	rest_begin(c, &n->rest, method, n->path);
	str_adds(&c->url, path);
}

void openstack_tag(char out[OPENSTACK_TAG_MAX + 1], const char *cluster)
{
	if (!words_is_plain(cluster, OPENSTACK_TAG_MAX - strlen(OPENSTACK_CLUSTER) - 1) ||
	    strpbrk(cluster, ",/") != NULL)
		out[0] = '\0';
	else
		(void)snprintf(out, OPENSTACK_TAG_MAX + 1, OPENSTACK_CLUSTER "=%s", cluster);
}

/* --- a create that goes on ---------------------------------------------------------------------
 */

bool openstack_is_polled(const struct provider_op *op)
{
	return op->kind == PROVIDER_CREATE && provider_cursor(op)[0] != '\0';
}

bool openstack_cursor_read(const char *cursor, char reservation[OPENSTACK_RESERVATION + 1],
			   unsigned *count)
{
	size_t n = strcspn(cursor, "/");
	const char *digits = cursor + n + (cursor[n] == '/');

	*count = (unsigned)strtoul(digits, NULL, 10);
	if (n == 0 || n > OPENSTACK_RESERVATION || digits[0] == '\0' || strlen(digits) > 3 ||
	    digits[strspn(digits, "0123456789")] != '\0')
		return false;
	memcpy(reservation, cursor, n);
	reservation[n] = '\0';
	return words_is_plain(reservation, OPENSTACK_RESERVATION);
}

int openstack_cursor_write(struct provider_result *out, const char *reservation, unsigned count)
{
	if (!words_is_plain(reservation, OPENSTACK_RESERVATION) ||
	    strchr(reservation, '/') != NULL || count >= COUNT_MAX)
		return -1;
	(void)snprintf(out->cursor, sizeof(out->cursor), "%s/%u", reservation, count);
	out->code = PROVIDER_MORE;
	out->retry_after_ms = 1000;
	return 0;
}
