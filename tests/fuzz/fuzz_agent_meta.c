/* Any bytes from a metadata service, a file or a command, and as agent.conf: a notice is whole, its
 * texts end, and its id may go where ids go; a bad configuration is named with file and line. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/conf.h"
#include "agent/facts.h"
#include "agent/meta.h"
#include "base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool ok)
{
	if (!ok)
		abort();
}

static int ask(unsigned service, const char *p, size_t n, struct notice *out)
{
	switch (service % 8) {
	case 0:
		return meta_aws_action(p, n, out);
	case 1:
		return meta_aws_rebalance(p, n, out);
	case 2:
		return meta_aws_maintenance(p, n, out);
	case 3:
		return meta_gcp_preempted(p, n, 1000, out);
	case 4:
		return meta_gcp_maintenance(p, n, out);
	case 5:
		return meta_azure(p, n, "vm", out);
	case 6:
		return meta_line(p, n, false, out);
	default:
		return meta_line(p, n, true, out);
	}
}

static void check_conf(const char *text)
{
	struct agent_conf c;
	struct err e = {0};

	if (agent_conf_parse(&c, "f", text, &e) == 0)
		check(c.nurls > 0 && c.node[0] != '\0' && c.generation > 0);
	else
		check(strncmp(e.msg, "f:", 2) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct notice out[META_NOTICES_MAX];
	char *text;
	int64_t ms;
	int n;

	if (size == 0)
		return 0;
	memset(out, 0x55, sizeof(out));
	n = ask(data[0], (const char *)data + 1, size - 1, out);
	check(n >= -1 && n <= META_NOTICES_MAX);
	for (int i = 0; i < n; i++) {
		check((unsigned)out[i].type < NOTICE_SHUTDOWN && out[i].deadline >= 0);
		check(memchr(out[i].id, '\0', META_ID_MAX) != NULL && out[i].id[0] != '\0');
		check(memchr(out[i].detail, '\0', META_DETAIL_MAX) != NULL);
		if (data[0] % 8 == 5) /* goes back into JSON as it is */
			check(strpbrk(out[i].id, "\"\\\n") == NULL);
	}
	text = mem_zalloc(size);
	memcpy(text, data + 1, size - 1);
	(void)meta_time(text, &ms);
	(void)facts_step(text, size - 1);
	check_conf(text);
	free(text);
	return 0;
}
