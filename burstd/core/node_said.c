#include "core/node_said.h"

#include <stdio.h>
#include <string.h>

static const struct field {
	const char *name;
	enum { MEMBER_TEXT, MEMBER_INT, MEMBER_BOOL, MEMBER_WORD, MEMBER_VALUE } type;
	size_t at, size;
} members[] = {
#define AT(type, member)                                                                           \
	type, offsetof(struct node_said, member), sizeof(((struct node_said *)NULL)->member)
	{"node", AT(MEMBER_TEXT, node)},
	{"generation", AT(MEMBER_INT, generation)},
	{"key_version", AT(MEMBER_WORD, key_version)},
	{"type", AT(MEMBER_TEXT, type)},
	{"id", AT(MEMBER_TEXT, id)},
	{"detail", AT(MEMBER_TEXT, detail)},
	{"deadline", AT(MEMBER_INT, deadline)},
	{"step", AT(MEMBER_TEXT, step)},
	{"why", AT(MEMBER_TEXT, why)},
	{"hardware", AT(MEMBER_TEXT, hardware)},
	{"total_ms", AT(MEMBER_INT, total_ms)},
	{"cert_until", AT(MEMBER_INT, cert_until)},
	{"faulty", AT(MEMBER_BOOL, faulty)},
	{"csr", AT(MEMBER_VALUE, csr)},
	{"steps", AT(MEMBER_VALUE, steps)},
#undef AT
};

enum { NMEMBERS = sizeof(members) / sizeof(members[0]) };

/* A node's texts are shown to people and kept in the journal: replace unprintable characters. */
static void make_printable(char *text)
{
	for (; *text != '\0'; text++)
		if (*text < ' ' || *text > '~')
			*text = '?';
}

/* Take a string, or a number in the digits in which it is written. */
static int take_word(const struct jpull_value *v, char *out, size_t size)
{
	if (v->type != JPULL_NUMBER)
		return jpull_text(v, out, size);
	if (v->n >= size)
		return -1;
	memcpy(out, v->p, v->n);
	out[v->n] = '\0';
	return 1;
}

static int take_member(struct node_said *s, const struct field *m, const struct jpull_value *v)
{
	char *to = (char *)s + m->at;
	int64_t number = 0;
	bool yes;

	switch (m->type) {
	case MEMBER_TEXT:
	case MEMBER_WORD:
		if ((m->type == MEMBER_TEXT ? jpull_text(v, to, m->size)
					    : take_word(v, to, m->size)) < 0)
			return -1;
		make_printable(to);
		return 0;
	case MEMBER_INT:
		if (jpull_int(v, &number) < 0)
			return -1;
		memcpy(to, &number, sizeof(number));
		return 0;
	case MEMBER_BOOL:
		yes = v->type == JPULL_BOOL && v->p[0] == 't';
		memcpy(to, &yes, sizeof(yes));
		return v->type == JPULL_BOOL || v->type == JPULL_NULL ? 0 : -1;
	case MEMBER_VALUE:
		memcpy(to, v, sizeof(*v));
		return 0;
	}
	return -1;
}

int node_said_read(struct node_said *s, const char *text, size_t len)
{
	struct jpull_value key, v;
	unsigned seen = 0;
	struct jpull j;

	memset(s, 0, sizeof(*s));
	jpull_init(&j, text, len);
	(void)jpull_enter(&j, '{');
	while (jpull_key(&j, &key)) {
		v = jpull_take(&j);
		for (size_t i = 0; i < NMEMBERS; i++) {
			if (!jpull_is(&key, members[i].name))
				continue;
			/* A repeated member is ambiguous. */
			if ((seen & (1u << i)) != 0 || take_member(s, &members[i], &v) != 0)
				return -1;
			seen |= 1u << i;
		}
	}
	return jpull_end(&j) ? 0 : -1;
}

static int read_step(struct node_report *p, struct jpull *j)
{
	struct jpull_value key, v;
	size_t i = p->n;
	int rc = 0;

	if (!jpull_enter(j, '{'))
		return -1;
	if (p->n < NODE_STEPS_MAX)
		p->n++;
	else
		i = NODE_STEPS_MAX - 1; /* no boot has so many; the last slot is overwritten */
	memset(&p->steps[i], 0, sizeof(p->steps[i]));
	while (jpull_key(j, &key)) {
		v = jpull_take(j);
		if (jpull_is(&key, "name"))
			rc |= jpull_text(&v, p->steps[i].name, sizeof(p->steps[i].name)) < 0;
		else if (jpull_is(&key, "result"))
			rc |= jpull_text(&v, p->steps[i].result, sizeof(p->steps[i].result)) < 0;
		else if (jpull_is(&key, "ms"))
			rc |= jpull_int(&v, &p->steps[i].ms) < 0;
		else if (jpull_is(&key, "why") &&
			 jpull_text(&v, p->steps[i].why, sizeof(p->steps[i].why)) < 0)
			(void)snprintf(p->steps[i].why, sizeof(p->steps[i].why), "...");
	}
	make_printable(p->steps[i].name);
	make_printable(p->steps[i].why);
	return rc == 0 ? 0 : -1;
}

int node_report_read(struct node_report *p, const struct jpull_value *steps)
{
	struct jpull j;

	memset(p, 0, sizeof(*p));
	if (steps->type == JPULL_NONE || steps->type == JPULL_NULL)
		return 0;
	jpull_init(&j, steps->p, steps->n);
	(void)jpull_enter(&j, '[');
	while (jpull_item(&j))
		if (read_step(p, &j) != 0)
			return -1;
	return jpull_end(&j) ? 0 : -1;
}
