#include "providers/ironic_private.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* RFC 3986's unreserved characters, and 255 of them. */
const struct provider_names ironic_form = {.max = IRONIC_NAME_BYTES, .upper = true, .also = "_."};

void ironic_uuid(const struct doc_at *o, const char *key, char out[IRONIC_UUID_SIZE])
{
	doc_id(o, key, out, IRONIC_UUID_SIZE);
	if (out[strspn(out, "0123456789abcdef-")] != '\0')
		doc_wrong(o, key, "a uuid");
}

enum provider_code ironic_alloc_error(const char *words)
{
	static const char chosen[] = "Failed to process allocation"; /* AllocationFailed */

	return words[0] == '\0' || strncmp(words, chosen, sizeof(chosen) - 1) == 0
		       ? PROVIDER_CAPACITY
		       : PROVIDER_NOT_YET;
}

static const char whats[] = "bclndx";   /* of enum ironic_what */
static const char codes[] = "ocqdinxy"; /* of enum provider_code, to PROVIDER_NOT_YET */

_Static_assert(sizeof(codes) - 1 == PROVIDER_NOT_YET + 1, "a letter for each code");

bool ironic_word(const char **p, char end, char *out, size_t size)
{
	const char *at = strchr(*p, end);
	size_t n = at != NULL ? (size_t)(at - *p) : 0;

	if (n == 0 || n >= size)
		return false;
	memcpy(out, *p, n);
	out[n] = '\0';
	*p += n + 1;
	if (strcmp(out, "-") == 0)
		out[0] = '\0';
	return true;
}

static bool next_word(const char **p, char *out, size_t size)
{
	return ironic_word(p, ' ', out, size);
}

static bool next_number(const char **p, int64_t max, int64_t *out)
{
	char text[24], *end;

	if (!next_word(p, text, sizeof(text)) || text[0] < '0' || text[0] > '9')
		return false;
	*out = strtoll(text, &end, 10);
	return *end == '\0' && *out <= max;
}

/* The place of a letter in letters; -1: it is none of them. */
static int letter(const char **p, const char *letters)
{
	char text[2];
	const char *at;

	if (!next_word(p, text, sizeof(text)) || text[0] == '\0')
		return -1;
	at = strchr(letters, text[0]);
	return at != NULL ? (int)(at - letters) : -1;
}

static bool is_uuid(const char *text)
{
	return text[strspn(text, "0123456789abcdef-")] == '\0';
}

static int parse(const char *p, struct ironic_step *s)
{
	int64_t tries, looked, old;
	int what = letter(&p, whats), code;

	if (what < 0 || !next_number(&p, 1000000, &tries) || !next_number(&p, INT64_MAX, &looked) ||
	    !next_number(&p, IRONIC_TOO_OLD + IRONIC_DOUBLINGS, &old))
		return -1;
	code = letter(&p, codes);
	if (code < 0 || !next_word(&p, s->alloc, sizeof(s->alloc)) || !is_uuid(s->alloc) ||
	    !next_word(&p, s->node, sizeof(s->node)) || !is_uuid(s->node) ||
	    strlen(p) >= sizeof(s->words))
		return -1;
	s->what = (enum ironic_what)what;
	s->tries = (unsigned)tries;
	s->looked_ms = looked;
	s->old = (unsigned)old;
	s->code = (enum provider_code)code;
	memcpy(s->words, p, strlen(p) + 1);
	if (s->what == IRONIC_BEGIN)
		return s->tries > 0 ? 0 : -1;
	return s->what >= IRONIC_LOOK && s->what <= IRONIC_ACT &&
			       (s->node[0] == '\0' || s->alloc[0] == '\0')
		       ? -1
		       : 0;
}

int ironic_step_read(const struct provider_op *op, struct ironic_step *s)
{
	const char *cursor = provider_cursor(op);
	int64_t age, good_ms = IRONIC_FRESH_MS;

	*s = (struct ironic_step){.what = IRONIC_BEGIN};
	if (cursor[0] == '\0')
		return 0;
	if (parse(cursor, s) != 0)
		return -1;
	age = op->at_ms - s->looked_ms;
	if (s->old > IRONIC_TOO_OLD)
		good_ms <<= s->old - IRONIC_TOO_OLD;
	if ((s->what == IRONIC_NOTE || s->what == IRONIC_ACT) && (age < 0 || age > good_ms)) {
		s->what = IRONIC_LOOK;
		s->old += s->old < IRONIC_TOO_OLD + IRONIC_DOUBLINGS;
	}
	return 0;
}

const char *ironic_or_none(const char *word)
{
	return word[0] != '\0' ? word : "-";
}

void ironic_go_on(struct provider_result *out, const struct ironic_step *s, int64_t pause_ms)
{
	char words[sizeof(s->words)];

	memcpy(words, s->words, sizeof(words)); /* they may be those of *out */
	provider_result_fini(out);
	out->code = PROVIDER_MORE;
	out->retry_after_ms = pause_ms;
	(void)snprintf(out->cursor, sizeof(out->cursor), "%c %u %" PRId64 " %u %c %s %s %s",
		       whats[s->what], s->tries, s->looked_ms, s->old, codes[s->code],
		       ironic_or_none(s->alloc), ironic_or_none(s->node), words);
}

void ironic_looked(const struct provider_op *op, struct ironic_step *s, enum ironic_what next)
{
	s->what = next;
	s->looked_ms = op->at_ms > 0 ? op->at_ms : 0;
}

void ironic_look_build(struct rest_call *c, const struct rest *r, const struct ironic_step *s)
{
	rest_begin(c, r, "GET", "/v1/nodes");
	rest_part(c, s->node);
	rest_query(c, "fields", "instance_uuid,provision_state,reservation,instance_info");
}

void ironic_target_begin(struct rest_call *c, const struct rest *r, const struct ironic_step *s)
{
	rest_begin(c, r, "PUT", "/v1/nodes");
	rest_part(c, s->node);
	str_adds(&c->url, "/states/provision");
	rest_open(c, NULL, '{');
}

void ironic_drop_begin(struct rest_call *c, const struct rest *r, const char *ident)
{
	rest_begin(c, r, "DELETE", "/v1/allocations");
	rest_part(c, ident);
}
