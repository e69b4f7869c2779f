/* console.c - what an instance has written to its console: the output of its process; without one,
 * made up. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "providers/simcloud/cloud.h"

char *cloud_console(const struct cloud *c, const struct cloud_instance *i, int64_t now)
{
	const struct meter_row *row = &c->meter->rows[i->row];
	enum cloud_state shown = cloud_shown(i, now);
	char id[METER_ID_SIZE];
	struct str s;

	if (c->host.console != NULL)
		return c->host.console(c->host.ctx, i);
	str_init(&s, CLOUD_CONSOLE_MAX);
	if (shown == CLOUD_PENDING)
		return str_take(&s);
	str_addf(&s, "[    0.000000] simcloud: instance %s of type %s\n", meter_id(id, i->row),
		 row->type);
	str_addf(&s, "[    1.000000] simcloud: no program boots as %s\n", row->node);
	if (shown == CLOUD_STOPPING || shown == CLOUD_ENDED)
		str_adds(&s, "[    9.000000] reboot: Power down\n");
	return str_take(&s);
}

const char *cloud_console_lines(const char *log, int64_t lines)
{
	const char *p = log + strlen(log);

	if (lines < 0)
		return log;
	while (p > log && lines > 0) {
		p--; /* past the newline of a line, to its begin */
		while (p > log && p[-1] != '\n')
			p--;
		lines--;
	}
	return p;
}
