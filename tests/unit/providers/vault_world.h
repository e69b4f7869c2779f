/* vault_world.h - requests to Vault and its replies. */
#ifndef TESTS_VAULT_WORLD_H
#define TESTS_VAULT_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "providers/secrets/vault.h"
#include "tests/unit/two_headers.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define SESSION  "s.SESSIONSESSIONSESSION0001"
#define WRAPPING "s.WRAPPINGWRAPPINGWRAP0002"
#define SID      "3b0b6a3e-7d3c-4a52-9d8c-000000000001"
#define NOW      INT64_C(1800000000000)

static void *self;

static inline struct secret_store_conf usual(void)
{
	return (struct secret_store_conf){.address = "https://v1:8200,https://v2:8200/",
					  .mount = "kv",
					  .name = "slurm/prod/node",
					  .auth_mount = "approle",
					  .role_id = "role-1",
					  .role_name = "burstd",
					  .credential = SID};
}

static inline char *slurp(const char *name)
{
	char path[128];
	FILE *f;
	char *text = mem_zalloc(SECRET_REPLY_MAX);

	(void)snprintf(path, sizeof(path), "tests/fixtures/vault/%s", name);
	f = fopen(path, "r");
	if (f == NULL)
		fail_msg("cannot open %s", path);
	assert_true(fread(text, 1, SECRET_REPLY_MAX - 1, f) > 0);
	(void)fclose(f);
	return text;
}

static inline void parse(enum secret_op_kind kind, long status, const char *body, const char *retry,
			 const char *location, struct secret_result *out)
{
	const struct secret_op op = {.kind = kind, .version = "1", .token = WRAPPING};
	struct header v[2];
	const struct secret_reply reply = {.status = status,
					   .body = body,
					   .len = strlen(body),
					   .headers = two_headers(v, retry, location)};

	*out = (struct secret_result){0};
	secrets_vault.parse(self, &op, &reply, out);
}

static inline void parse_file(enum secret_op_kind kind, long status, const char *name,
			      struct secret_result *out)
{
	char file[64], line[64], *index = slurp("index"), *body;

	(void)snprintf(file, sizeof(file), "%s.json", name);
	(void)snprintf(line, sizeof(line), "\n%s %ld ", name, status);
	if (strstr(index, line) == NULL)
		fail_msg("%s was not recorded with status %ld", name, status);
	body = slurp(file);
	parse(kind, status, body, NULL, NULL, out);
	free(body);
	free(index);
}

static inline void log_in(void)
{
	struct secret_result r;

	parse_file(SECRET_LOGIN, 200, "login", &r);
	assert_int_equal(secrets_vault.take(self, &r, NOW, NULL), 0);
	secret_result_fini(&r);
}

static inline int setup(void **state)
{
	struct secret_store_conf conf = usual();

	(void)state;
	return secrets_vault.open(&self, &conf, NULL);
}

static inline int teardown(void **state)
{
	(void)state;
	secrets_vault.close(self);
	self = NULL;
	return 0;
}

#endif
