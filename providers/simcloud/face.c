#include "providers/simcloud/face.h"

#include <openssl/crypto.h>
#include <stdio.h>
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

void face_number(struct face_reply *out, uint64_t number)
{
	const struct face *face = out->face;
	const size_t n = strlen(FACE_NO_ID);
	char id[HTTP_VALUE_SIZE], *at;
	bool there = false;

	if (face->id_prefix == NULL)
		return;
	(void)snprintf(id, sizeof(id), "%s%012llx", face->id_prefix, (unsigned long long)number);
	for (size_t i = 0; i < HTTP_MORE_MAX && out->more[i].name != NULL; i++)
		if (strcasestr(out->more[i].name, "request-id") != NULL) {
			memcpy(out->more[i].value, id, sizeof(id));
			there = true;
		}
	if (!there && face->id_header != NULL)
		face_header(out, face->id_header, id);
	at = out->body != NULL ? memmem(out->body, out->len, FACE_NO_ID, n) : NULL;
	if (at != NULL && strlen(id) == n)
		memcpy(at, id, n);
}

bool face_bearer(const char *header, const char *token)
{
	size_t len = strlen(token);

	return header != NULL && strncmp(header, "Bearer ", 7) == 0 && strlen(header + 7) == len &&
	       CRYPTO_memcmp(header + 7, token, len) == 0;
}
