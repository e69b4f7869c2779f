#include "providers/simcloud/face.h"

#include <openssl/crypto.h>
#include <string.h>

bool face_waits(const struct face_call *f, struct cloud *c, int64_t now)
{
	return f->face->waits != NULL && f->face->waits(f, c, now);
}

void face_run(const struct face_call *f, struct cloud *c, const struct fault_rule *rule,
	      int64_t now, struct face_reply *out)
{
	*out = (struct face_reply){.code = CODE_OK, .status = 200, .face = f->face};
	f->face->run(f, c, rule, now, out);
}

void face_error(struct face_reply *out, enum code code, const char *message)
{
	out->face->error(out, code, message);
}

bool face_bearer(const char *header, const char *token)
{
	size_t len = strlen(token);

	return header != NULL && strncmp(header, "Bearer ", 7) == 0 && strlen(header + 7) == len &&
	       CRYPTO_memcmp(header + 7, token, len) == 0;
}
