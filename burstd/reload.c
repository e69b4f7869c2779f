/* Reads the configuration anew when somebody asks for it, and reports the changes. */
#include <openssl/crypto.h>
#include <string.h>

#include "base/log.h"
#include "base/secret.h"
#include "base/str.h"
#include "burstd.h"
#include "cloud/cloud_api.h"
#include "engine/engine.h"
#include "io/conf_file.h"
#include "io/ctl_server.h"
#include "io/sd.h"
#include "providers/options.h"

enum { CHANGES_MAX = 4096 }; /* bytes of the log's line about a reload */

/* A reload in progress: who asked, and what the log will say of it. */
struct telling {
	const struct api_reload *to;
	struct str text;
};

static void tell_change(void *ctx, const struct conf_change *change)
{
	struct telling *t = ctx;

	if (t->to->changed != NULL)
		t->to->changed(t->to->ctx, change);
	if (t->text.len > 0)
		str_adds(&t->text, "; ");
	conf_change_print(change, &t->text);
}

static bool same_secret(const struct secret *a, const struct secret *b)
{
	size_t len = strlen(secret_text(a));

	return len == strlen(secret_text(b)) &&
	       CRYPTO_memcmp(secret_text(a), secret_text(b), len) == 0;
}

/* The engine and its drivers hold the secrets of the start: say so where the file has another. */
static void tell_secrets(struct burstd *b, const struct conf *conf, const struct api_reload *to)
{
	for (size_t i = 0; i < conf->nproviders; i++) {
		const struct conf_provider *p = &conf->providers[i];
		struct secret *now = NULL;
		struct err e = {0};

		if (engine_off(b->engine, i) != NULL || b->secrets[i] == NULL ||
		    (secret_load(&now, p->credential_file, &e) == 0 &&
		     same_secret(now, b->secrets[i]))) {
			secret_free(now);
			continue;
		}
		if (now != NULL)
			(void)err_set(&e, ERR_INVALID, "%s holds another secret",
				      p->credential_file);
		(void)err_wrap(&e, "provider \"%s\" credential_file", p->name);
		log_write(b->log, LOG_WARN, "credentials are read at start only", "provider",
			  p->name, "file", e.msg, NULL);
		if (to->at_restart != NULL)
			to->at_restart(to->ctx, e.msg);
		secret_free(now);
	}
}

int reload_conf(void *ctx, const struct api_reload *to, struct err *e)
{
	struct burstd *b = ctx;
	struct telling t = {.to = to};
	struct conf *next;

	if (conf_file_load(&next, b->conf_path, provider_options, e) != 0)
		return -1;
	str_init(&t.text, CHANGES_MAX);
	conf_diff(engine_conf(b->engine), next, tell_change, &t);
	if (engine_reload(b->engine, next, e) != 0) {
		conf_free(next);
		str_fini(&t.text);
		return -1;
	}
	log_set_level(b->log, (enum log_level)next->log_level);
	house_mark_away(b);
	if (b->ctl != NULL)
		ctl_server_know(b->ctl, &next->people);
	log_write(b->log, LOG_INFO, "configuration reloaded", "changes",
		  t.text.full      ? "too many for one line"
		  : t.text.len > 0 ? t.text.p
				   : "none",
		  NULL);
	str_fini(&t.text);
	tell_secrets(b, next, to);
	return 0;
}

void reload_on_hup(void *ctx)
{
	const struct api_reload nobody = {NULL, NULL, NULL};
	struct burstd *b = ctx;
	struct err e;

	if (b->engine == NULL)
		return; /* burstd is about to end */
	sd_notify_state("RELOADING=1");
	if (reload_conf(b, &nobody, &e) != 0)
		log_write(b->log, LOG_ERROR, "configuration refused, nothing changed", "error",
			  e.msg, NULL);
	sd_notify_state("READY=1");
}
