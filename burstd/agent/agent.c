#include "agent/agent.h"

#include <string.h>

void agent_look(struct agent *a)
{
	facts_read(&a->facts, a->conf.proc);
	facts_word(a->conf.key_version_file, a->key_version, sizeof(a->key_version));
}

void agent_complain(struct agent *a, const char *what, const char *why)
{
	log_write(a->log, LOG_WARN, what, "why", why, NULL);
}

void agent_json_text(struct str *out, const char *key, const char *text)
{
	if (key != NULL)
		str_addf(out, "\"%s\":", key);
	str_adds(out, "\"");
	for (; *text != '\0'; text++) {
		if (*text < ' ' || *text > '~')
			str_adds(out, "?");
		else
			str_addf(out, *text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
	}
	str_adds(out, "\"");
}

void agent_json_begin(const struct agent *a, struct str *out)
{
	str_adds(out, "{\"v\":1,");
	agent_json_text(out, "node", a->conf.node);
	str_addf(out, ",\"generation\":%lld,", (long long)a->conf.generation);
	agent_json_text(out, "boot_id", a->facts.boot_id);
}
