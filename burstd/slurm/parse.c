#include "slurm/parse.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/plain.h"
#include "base/str.h"
#include "core/hardware.h"

static const struct {
	const char *word;
	uint32_t flag;
} words[] = {
	{"IDLE", SLURM_IDLE},
	{"ALLOCATED", SLURM_ALLOCATED},
	{"MIXED", SLURM_ALLOCATED},
	{"DOWN", SLURM_DOWN},
	{"ERROR", SLURM_DOWN},
	{"UNKNOWN", SLURM_UNKNOWN},
	{"NOT_IN_SLURM", SLURM_VANISHED},
	{"CLOUD", SLURM_CLOUD},
	{"POWERED_DOWN", SLURM_POWERED_DOWN},
	{"POWERING_DOWN", SLURM_POWERING_DOWN},
	{"POWERING_UP", SLURM_POWERING_UP},
	{"POWER_DOWN", SLURM_POWER_DOWN},
	{"POWER_UP", SLURM_POWER_UP},
	{"NOT_RESPONDING", SLURM_NOT_RESPONDING},
	{"DRAIN", SLURM_DRAIN},
	{"FAIL", SLURM_FAIL},
	{"COMPLETING", SLURM_COMPLETING},
	{"REBOOT", SLURM_REBOOT},
	{"REBOOT_ISSUED", SLURM_REBOOT},
	{"REBOOT_REQUESTED", SLURM_REBOOT},
	{"MAINTENANCE", SLURM_MAINT},
	{"MAINT", SLURM_MAINT},
	{"INVALID_REG", SLURM_INVALID_REG},
	{"RESERVED", SLURM_RESERVED},
};

int slurm_text_is(struct slurm_text t, const char *s)
{
	return t.n == strlen(s) && (t.n == 0 || memcmp(t.p, s, t.n) == 0);
}

uint32_t slurm_parse_state(const char *text, size_t len)
{
	uint32_t flags = SLURM_KNOWN;
	const char *end = text + len;

	while (text < end) {
		const char *plus = memchr(text, '+', (size_t)(end - text));
		struct slurm_text w = {text, (size_t)((plus != NULL ? plus : end) - text)};

		if (w.n > 0 && w.p[w.n - 1] == '*') { /* "DOWN*": does not respond */
			flags |= SLURM_NOT_RESPONDING;
			w.n--;
		}
		for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
			if (slurm_text_is(w, words[i].word))
				flags |= words[i].flag;
		text += (plus != NULL ? (size_t)(plus - text) + 1 : (size_t)(end - text));
	}
	return flags;
}

void slurm_print_state(uint32_t flags, char *out, size_t size)
{
	struct str s;

	str_init(&s, size - 1);
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if ((flags & words[i].flag) == 0)
			continue;
		str_addf(&s, "%s%s", s.len > 0 ? "+" : "", words[i].word);
		flags &= ~words[i].flag; /* synonyms once */
	}
	memcpy(out, s.p, s.len + 1);
	str_fini(&s);
}

/* Take the value of a word key=value, if key was not seen before.  Inlined, the lengths of keys are
 * constants: in ten thousand lines of sixty words each every call counts. */
static inline void take(struct slurm_text word, const char *key, struct slurm_text *value)
{
	size_t n = strlen(key);

	if (value->p == NULL && word.n >= n && memcmp(word.p, key, n) == 0)
		*value = (struct slurm_text){word.p + n, word.n - n};
}

/* slurmctld prints InstanceId after all that people may write (Reason, Comment, Extra), so the last
 * one is its own. */
static struct slurm_text last_instance(const char *line, const char *end)
{
	static const char key[] = " InstanceId=";
	struct slurm_text t = {NULL, 0};
	const char *p;

	while ((p = memmem(line, (size_t)(end - line), key, sizeof(key) - 1)) != NULL) {
		const char *space;

		t.p = line = p + sizeof(key) - 1;
		space = memchr(t.p, ' ', (size_t)(end - t.p));
		t.n = (size_t)((space != NULL ? space : end) - t.p);
	}
	return t;
}

/* Take one word of a line. */
static inline void scan_word(struct slurm_text word, struct slurm_node *n, struct slurm_text *name)
{
	switch (word.p[0]) {
	case 'A':
		take(word, "AvailableFeatures=", &n->features);
		take(word, "AllocTRES=", &n->alloc);
		break;
	case 'C':
		take(word, "CPUTot=", &n->cpus);
		break;
	case 'G':
		take(word, "Gres=", &n->gres);
		take(word, "GresUsed=", &n->used);
		break;
	case 'N':
		take(word, "NodeName=", name);
		take(word, "NodeAddr=", &n->addr);
		take(word, "NodeHostName=", &n->host);
		break;
	case 'S':
		take(word, "State=", &n->state);
		break;
	case 'P':
		take(word, "Partitions=", &n->partitions);
		break;
	case 'R':
		take(word, "RealMemory=", &n->memory);
		break;
	case 'T':
		take(word, "TmpDisk=", &n->tmp);
		break;
	default:
		break;
	}
}

/* One pass over the words of a line; what follows Reason= is free text. */
static struct slurm_text scan(const char *line, size_t len, struct slurm_node *n)
{
	static const char reason[] = "Reason=";
	const char *start = line, *end = line + len;
	struct slurm_text name = {NULL, 0};

	while (line < end) {
		const char *space = memchr(line, ' ', (size_t)(end - line));
		struct slurm_text word = {line, (size_t)((space != NULL ? space : end) - line)};

		if (word.n > sizeof(reason) - 2 && memcmp(line, reason, sizeof(reason) - 1) == 0) {
			n->reason.p = line + sizeof(reason) - 1;
			n->reason.n = (size_t)(end - n->reason.p);
			break;
		}
		if (word.n > 0)
			scan_word(word, n, &name);
		line += word.n + 1;
	}
	n->instance = last_instance(start, end);
	return name;
}

/* The number after the last colon, without what follows in brackets: sockets, or the GPUs in use.
 * For a type that it does not know slurmctld prints "gpu:(null):8(IDX:0-7)". */
static uint32_t gres_count(struct slurm_text one)
{
	const char *end = one.p + one.n, *open, *at;
	uint32_t v = 0;

	while ((open = memrchr(one.p, '(', (size_t)(end - one.p))) != NULL &&
	       (end[-1] == ')' || memchr(open, ')', (size_t)(end - open)) == NULL))
		end = open;
	at = end;
	while (at > one.p && at[-1] != ':')
		at--;
	for (; at < end && v < 10000; at++) {
		if (*at < '0' || *at > '9')
			return 0;
		v = v * 10 + (uint32_t)(*at - '0');
	}
	return v;
}

/* The GPU model that a Gres type names, or NULL.  A type may be any word, but NVIDIA's driver has
 * these words in the names of its GPUs ("NVIDIA H100 80GB HBM3"), so a node can be held to them.
 * Slurm finds a type in that name likewise (AutoDetect=nvml). */
static const char *gpu_model(struct slurm_text one)
{
	static const char *const models[] = {
		"a10",  "a100",  "a16",   "a2",    "a30",  "a40",  "a800", "b200",
		"b300", "gb200", "gb300", "gh200", "h100", "h20",  "h200", "h800",
		"l4",   "l40",   "l40s",  "p100",  "t4",   "v100",
	};
	const char *type = one.p + 4, *colon = memchr(type, ':', one.n - 4);
	size_t n = colon != NULL ? (size_t)(colon - type) : 0;

	for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++)
		if (strlen(models[i]) == n && strncasecmp(models[i], type, n) == 0)
			return models[i];
	return NULL;
}

/* "a100_3g.20gb", as NVIDIA calls parts of a GPU: a number, g, a dot, a number. */
static bool is_part(struct slurm_text one)
{
	for (size_t i = 1; i + 2 < one.n; i++)
		if (one.p[i] == 'g' && one.p[i + 1] == '.' &&
		    isdigit((unsigned char)one.p[i - 1]) && isdigit((unsigned char)one.p[i + 2]))
			return true;
	return false;
}

/* Length of an entry, up to a comma that is not in brackets. */
static size_t gres_len(const char *at, const char *end)
{
	const char *p = at;

	for (int depth = 0; p < end && (*p != ',' || depth > 0); p++)
		depth += (*p == '(') - (*p == ')');
	return (size_t)(p - at);
}

/* Without what is in brackets, as "gpu:h100:8(S:0-1)" has it.  false: it is too long. */
static bool without_brackets(struct slurm_text gres, char *out, size_t size)
{
	size_t n = 0;
	int depth = 0;

	for (size_t i = 0; i < gres.n; i++) {
		depth += gres.p[i] == '(';
		if (depth == 0 && n + 1 < size)
			out[n++] = gres.p[i];
		else if (depth == 0)
			return false;
		depth -= gres.p[i] == ')';
	}
	out[n] = '\0';
	return true;
}

/* Are all GPUs of a in b? */
static bool has_gpus_of(const struct hardware_gres_list *a, const struct hardware_gres_list *b)
{
	for (size_t i = 0; i < a->n; i++) {
		size_t k = 0;

		if (strcmp(a->v[i].name, "gpu") != 0)
			continue;
		while (k < b->n &&
		       (strcmp(b->v[k].name, "gpu") != 0 ||
			strcmp(b->v[k].type, a->v[i].type) != 0 || b->v[k].count != a->v[i].count))
			k++;
		if (k == b->n)
			return false;
	}
	return true;
}

bool slurm_same_gpus(struct slurm_text gres, const char *pools)
{
	struct hardware_gres_list a, b;
	char text[HARDWARE_TEXT_MAX];

	return gres.p != NULL && without_brackets(gres, text, sizeof(text)) &&
	       hardware_parse_gres(text, &a, NULL) == 0 &&
	       hardware_parse_gres(pools, &b, NULL) == 0 && has_gpus_of(&a, &b) &&
	       has_gpus_of(&b, &a);
}

/* GPUs in use are "gpu:h100:8(IDX:0-7)", free ones "gpu:h100:0(IDX:N/A)" or "gpu:(null):0". */
static bool is_used(struct slurm_text used)
{
	const char *at = used.p, *end = used.p + used.n;

	while (at != NULL && at < end) {
		struct slurm_text one = {at, gres_len(at, end)};

		if (gres_count(one) > 0)
			return true;
		at += one.n + 1;
	}
	return false;
}

bool slurm_node_holds(const struct slurm_node *n)
{
	const uint32_t off = SLURM_IDLE | SLURM_POWERED_DOWN;

	return (n->flags & off) == off && (n->flags & SLURM_COMPLETING) == 0 &&
	       (n->alloc.n > 0 || is_used(n->used));
}

struct slurm_gpus slurm_parse_gpus(struct slurm_text gres)
{
	const char *at = gres.p, *end = at + gres.n;
	struct slurm_gpus g = {0};
	bool whole = false, parts = false;

	while (at != NULL && at < end) {
		const char *comma = memchr(at, ',', (size_t)(end - at));
		struct slurm_text one = {at, (size_t)((comma != NULL ? comma : end) - at)};

		at += one.n + (comma != NULL ? 1 : 0);
		if (one.n < 5 || memcmp(one.p, "gpu:", 4) != 0)
			continue;
		if (is_part(one)) {
			parts = true;
			continue;
		}
		/* GPUs of two kinds have no model in common. */
		g.model = whole ? NULL : gpu_model(one);
		whole = true;
		g.n += gres_count(one);
	}
	if (!parts)
		return g;
	return (struct slurm_gpus){.parts = whole ? SLURM_SOME_PARTS : SLURM_ALL_PARTS};
}

static uint32_t state_flags(struct slurm_reader *r, struct slurm_text text)
{
	if (text.n != r->state.n || memcmp(text.p, r->state.p, text.n) != 0) {
		r->state = text;
		r->flags = slurm_parse_state(text.p, text.n);
	}
	return r->flags;
}

/* Parse one line into *n: 0 or -1. */
static int parse_line(struct slurm_reader *r, const char *line, size_t len, struct slurm_node *n,
		      struct err *e)
{
	static const char head[] = "NodeName=";
	struct slurm_text name;

	if (len < sizeof(head) || memcmp(line, head, sizeof(head) - 1) != 0)
		return err_set(e, ERR_INVALID, "scontrol: not a node: \"%.*s\"",
			       (int)(len < 60 ? len : 60), line);
	name = scan(line, len, n);
	if (name.n == 0 || name.n >= sizeof(n->name) || n->state.n == 0)
		return err_set(e, ERR_INVALID, "scontrol: node without a name or state: \"%.*s\"",
			       (int)(len < 60 ? len : 60), line);
	memcpy(n->name, name.p, name.n);
	n->flags = state_flags(r, n->state);
	return 0;
}

void slurm_reader_init(struct slurm_reader *r, const char *text, size_t len)
{
	*r = (struct slurm_reader){.at = text, .end = text + len, .state = {"", 0}};
}

int slurm_read_nodes(struct slurm_reader *r, size_t lines, slurm_node_fn fn, void *ctx,
		     struct err *e)
{
	for (; r->at < r->end && lines > 0; lines--) {
		const char *nl = memchr(r->at, '\n', (size_t)(r->end - r->at));
		struct slurm_node n = {0};

		if (nl == NULL) /* without a newline the output is incomplete */
			return err_set(e, ERR_INVALID, "scontrol: output cut short");
		if (nl > r->at) {
			if (parse_line(r, r->at, (size_t)(nl - r->at), &n, e) != 0)
				return -1;
			fn(ctx, &n);
			r->count++;
		}
		r->at = nl + 1;
	}
	if (r->at < r->end)
		return 1;
	return r->count > 0 ? 0 : err_set(e, ERR_INVALID, "scontrol: no nodes at all");
}

long slurm_parse_nodes(const char *text, size_t len, slurm_node_fn fn, void *ctx, struct err *e)
{
	struct slurm_reader r;

	slurm_reader_init(&r, text, len);
	return slurm_read_nodes(&r, SIZE_MAX, fn, ctx, e) == 0 ? r.count : -1;
}

void slurm_clean(char *out, size_t size, const char *text)
{
	(void)snprintf(out, size, "%s", text);
	plain_make(out, ' ');
	for (char *p = out; *p != '\0'; p++)
		if (*p == '=' || *p == '"' || *p == '\'' || *p == '\\')
			*p = ' ';
}
