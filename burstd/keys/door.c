#include "keys/door.h"

#include <openssl/sha.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fnv.h"
#include "base/mem.h"
#include "base/secret.h"
#include "base/text_file.h"
#include "io/loop.h"

/* Sends answers to nodes.
 *
 * A request stages its changes, and its answer waits here until they are durable, at the end of a
 * turn: many requests share one commit.  If the journal fails there is no answer, and the node asks
 * again. */

uint64_t door_hash(const char *text)
{
	uint64_t h = fnv_text(FNV_BEGIN, text);

	return h != 0 ? h : 1;
}

int64_t door_key_version(const char *text)
{
	size_t n = strspn(text, "0123456789");
	int64_t v;

	if (text[0] == '\0')
		return 0;
	if (n <= 18 && text[n] == '\0')
		return (int64_t)strtoull(text, NULL, 10);
	/* 59 bits have at most 18 digits, so that a node's own number is read as it is. */
	v = (int64_t)(door_hash(text) & ((UINT64_C(1) << 59) - 1));
	return v != 0 ? v : 1;
}

const char *engine_door_off(const struct engine *e)
{
	return e->d.door != NULL ? e->d.door->off : NULL;
}

/* --- answers ----------------------------------------------------------------------------------
 */

void door_give(struct http_answer *an, const char *type, char *text, size_t len)
{
	an->status = 200;
	an->type = type;
	an->body = text;
	an->len = len;
}

void door_say(struct http_answer *an, unsigned status, const char *text)
{
	struct str s;

	str_init(&s, 512);
	str_addf(&s, status < 400 ? "%s\n" : "error=%s\n", text);
	an->status = status;
	an->type = "text/plain";
	an->len = s.len;
	an->body = str_take(&s);
}

void door_drop(const struct http_answer *an)
{
	char *body = an->body;

	if (an->secret)
		secret_wipe(&body);
	free(body);
}

void door_answer(struct engine *e, uint64_t ticket, const struct http_answer *an)
{
	struct door *d = e->keys->door;
	struct door_late *l;

	if (d == NULL || e->dead) {
		door_drop(an);
		return;
	}
	l = mem_zalloc(sizeof(*l));
	l->ticket = ticket;
	l->an = *an;
	l->an.later = false;
	*d->last = l;
	d->last = &l->next;
	timer_at(e->timer, engine_now(e)); /* not at once: more requests may come */
}

void door_count(struct door *d, unsigned status)
{
	unsigned class = status / 100;

	if (class >= 2 && class <= 5)
		d->count.answers[class - 2]++;
}

/* --- node-init -------------------------------------------------------------------------------
 */

bool door_stage1(const struct engine *e, const char **sha256)
{
	const struct door *d = e->keys->door;

	if (d == NULL || d->stage1 == NULL)
		return false;
	*sha256 = d->stage1_sha256;
	return true;
}

int door_read_stage1(const char *path, char **text, size_t *len, char sha256[65], struct err *err)
{
	unsigned char hash[SHA256_DIGEST_LENGTH];
	char *read = NULL;
	size_t n = 0;

	if (path != NULL && path[0] != '\0' &&
	    text_file_read(path, DOOR_STAGE1_MAX, &read, &n, err) != 0)
		return err_wrap(err, "nodes: node_init");
	*text = read;
	*len = n;
	sha256[0] = '\0';
	if (read == NULL)
		return 0;
	(void)mem_check(SHA256((const unsigned char *)read, n, hash));
	(void)fmt_hex(sha256, hash, sizeof(hash));
	return 0;
}
