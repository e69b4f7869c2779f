/* fuzz_node_said.c - any bytes as what a node says: read or refused, every text printable and
 * within its place; and as the payload of its credential, which is good only if it is all as it
 * must be. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/node_said.h"
#include "io/munge_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void assert_text(const char *text, size_t size)
{
	size_t n = strnlen(text, size);

	assert(n < size);
	for (size_t i = 0; i < n; i++)
		assert(text[i] >= ' ' && text[i] <= '~');
}

static void say(const char *text, size_t len)
{
	static struct node_report p;
	struct node_said s;

	if (node_said_read(&s, text, len) != 0)
		return;
	assert_text(s.node, sizeof(s.node));
	assert_text(s.key_version, sizeof(s.key_version));
	assert_text(s.type, sizeof(s.type));
	assert_text(s.id, sizeof(s.id));
	assert_text(s.detail, sizeof(s.detail));
	assert_text(s.step, sizeof(s.step));
	assert_text(s.why, sizeof(s.why));
	assert(s.generation >= 0 && s.deadline >= 0 && s.total_ms >= 0 && s.cert_until >= 0);
	if (node_report_read(&p, &s.steps) != 0)
		return;
	assert(p.n <= NODE_STEPS_MAX);
	for (size_t i = 0; i < p.n; i++) {
		assert_text(p.steps[i].name, sizeof(p.steps[i].name));
		assert_text(p.steps[i].why, sizeof(p.steps[i].why));
		assert(strnlen(p.steps[i].result, sizeof(p.steps[i].result)) <
		       sizeof(p.steps[i].result));
		assert(p.steps[i].ms >= 0);
	}
}

static void pay(const char *payload, size_t len)
{
	static const char *const hosts[] = {"h", NULL};
	const struct munge_ask ask = {.credential = "",
				      .hosts = hosts,
				      .method = "POST",
				      .path = "/",
				      .body = "",
				      .node = "n"};
	char nonce[MUNGE_CHECK_NONCE + 1];

	if (munge_check_payload(&ask, payload, len, nonce, NULL) != 0)
		return;
	assert(len > MUNGE_CHECK_NONCE);
	assert(memcmp(payload, "burst1\0", 7) == 0);
	assert(memcmp(payload + len - MUNGE_CHECK_NONCE, nonce, MUNGE_CHECK_NONCE) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	if (text == NULL)
		abort();
	if (size > 0)
		memcpy(text, data, size);
	text[size] = '\0';
	say(text, size);
	pay(text, size);
	free(text);
	return 0;
}
