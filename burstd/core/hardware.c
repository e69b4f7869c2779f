#include "core/hardware.h"

#include <string.h>
#include <strings.h>

#include "core/conf_text.h"

/* --- node ----------------------------------------------------------------------------------------
 */

#define AT(field) offsetof(struct hardware_node, field)

/* A key of a NodeName line. */
static const struct key {
	const char *name;
	size_t offset; /* of a uint32_t; of an int64_t if it is in MB */
	int64_t max;
	bool mb;
} keys[] = {
	{"CPUs", AT(cpus), HARDWARE_CPUS_MAX, false},
	{"Procs", AT(cpus), HARDWARE_CPUS_MAX, false},
	{"Boards", AT(boards), HARDWARE_CPUS_MAX, false},
	{"Sockets", AT(sockets), HARDWARE_CPUS_MAX, false},
	{"SocketsPerBoard", AT(sockets), HARDWARE_CPUS_MAX, false},
	{"CoresPerSocket", AT(cores), HARDWARE_CPUS_MAX, false},
	{"ThreadsPerCore", AT(threads), HARDWARE_CPUS_MAX, false},
	{"RealMemory", AT(memory_mb), HARDWARE_MB_MAX, true},
	{"TmpDisk", AT(disk_mb), HARDWARE_MB_MAX, true},
};

#undef AT

static const struct key *key_of(const char *p, size_t n)
{
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (strlen(keys[i].name) == n && strncasecmp(keys[i].name, p, n) == 0)
			return &keys[i];
	return NULL;
}

static int put(struct hardware_node *out, const struct key *k, int64_t v, struct err *e)
{
	char *field = (char *)out + k->offset;
	bool twice = k->mb ? *(int64_t *)field != 0 : *(uint32_t *)field != 0;

	if (twice)
		return err_set(e, ERR_INVALID, "%s is there twice", k->name);
	if (k->mb)
		*(int64_t *)field = v;
	else
		*(uint32_t *)field = (uint32_t)v;
	return 0;
}

/* One "Key=Number" of n bytes. */
static int read_word(struct hardware_node *out, const char *word, size_t n, struct err *e)
{
	const char *eq = memchr(word, '=', n), *p;
	const struct key *k = eq != NULL ? key_of(word, (size_t)(eq - word)) : NULL;
	int64_t v;

	if (k == NULL)
		return err_set(e, ERR_INVALID,
			       "\"%.*s\": want CPUs, Boards, Sockets, CoresPerSocket, "
			       "ThreadsPerCore, RealMemory or TmpDisk, each as in CPUs=208",
			       (int)(n < 40 ? n : 40), word);
	p = eq + 1;
	if (!conf_text_number(&p, k->max, &v) || p != word + n || v < 1)
		return err_set(e, ERR_INVALID, "%s: want a number from 1 to %lld", k->name,
			       (long long)k->max);
	return put(out, k, v, e);
}

/* Slurm takes the number of sockets, of cores or of threads for CPUs; any other is a mistake, which
 * it corrects in silence. */
static int check_sum(const struct hardware_node *h, struct err *e)
{
	uint64_t boards = h->boards != 0 ? h->boards : 1, sockets = boards * h->sockets,
		 cores = sockets * h->cores, threads = cores * h->threads;

	if (h->cpus == 0 || h->memory_mb == 0)
		return err_set(e, ERR_INVALID, "want CPUs= and RealMemory= at least");
	if (sockets == 0 || h->cores == 0 || h->threads == 0)
		return 0;
	if (h->cpus == threads || h->cpus == cores)
		return 0;
	return err_set(e, ERR_INVALID, "CPUs=%u, and sockets, cores and threads make %llu", h->cpus,
		       (unsigned long long)threads);
}

int hardware_parse_node(const char *text, struct hardware_node *out, struct err *e)
{
	struct hardware_node h = {.cpus = 0};

	if (strlen(text) > HARDWARE_TEXT_MAX)
		return err_set(e, ERR_LIMIT, "longer than %d bytes", HARDWARE_TEXT_MAX);
	for (const char *p = text + strspn(text, " "); *p != '\0'; p += strspn(p, " ")) {
		size_t n = strcspn(p, " ");

		if (read_word(&h, p, n, e) != 0)
			return -1;
		p += n;
	}
	if (check_sum(&h, e) != 0)
		return -1;
	*out = h;
	return 0;
}

static uint32_t sockets_of(const struct hardware_node *h)
{
	return (h->boards != 0 ? h->boards : 1) * h->sockets;
}

void hardware_print(const struct hardware_node *h, struct str *out)
{
	str_addf(out, "CPUs=%u", h->cpus);
	if (h->sockets != 0)
		str_addf(out, " Sockets=%u", sockets_of(h));
	if (h->cores != 0)
		str_addf(out, " CoresPerSocket=%u", h->cores);
	if (h->threads != 0)
		str_addf(out, " ThreadsPerCore=%u", h->threads);
	str_addf(out, " RealMemory=%lld", (long long)h->memory_mb);
	if (h->disk_mb != 0)
		str_addf(out, " TmpDisk=%lld", (long long)h->disk_mb);
}

void hardware_propose(const struct hardware_node *has, struct str *out)
{
	struct hardware_node h = *has;

	h.memory_mb -= (h.memory_mb * HARDWARE_MARGIN + 99) / 100;
	hardware_print(&h, out);
}

/* 0: not said. */
static bool same(uint32_t a, uint32_t b)
{
	return a == 0 || b == 0 || a == b;
}

static bool is_waste(int64_t memory_mb, int64_t has_mb)
{
	return memory_mb * 100 < has_mb * (100 - HARDWARE_UNUSED) &&
	       has_mb - memory_mb > HARDWARE_SOLD_MARGIN_MB;
}

bool hardware_fits(const struct hardware_node *node, const struct hardware_node *has)
{
	return node->cpus == has->cpus && same(sockets_of(node), sockets_of(has)) &&
	       same(node->cores, has->cores) && same(node->threads, has->threads) &&
	       node->memory_mb <= has->memory_mb &&
	       (has->disk_mb == 0 || node->disk_mb <= has->disk_mb) &&
	       !is_waste(node->memory_mb, has->memory_mb);
}

/* --- gres ----------------------------------------------------------------------------------------
 */

static bool is_word(const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char c = p[i];

		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		      c == '_' || c == '-' || c == '.'))
			return false;
	}
	return n > 0 && n <= HARDWARE_WORD_MAX;
}

static bool read_gres(const char *p, size_t n, struct hardware_gres *g)
{
	const char *end = p + n, *colon = memchr(p, ':', n), *last = end, *at;
	int64_t count;

	while (last > p && *last != ':')
		last--;
	at = last + 1;
	if (colon == NULL || !conf_text_number(&at, HARDWARE_COUNT_MAX, &count) || at != end ||
	    count < 1 || !is_word(p, (size_t)(colon - p)))
		return false;
	*g = (struct hardware_gres){.count = (uint32_t)count};
	memcpy(g->name, p, (size_t)(colon - p));
	if (colon == last)
		return true;
	if (!is_word(colon + 1, (size_t)(last - colon) - 1))
		return false;
	memcpy(g->type, colon + 1, (size_t)(last - colon) - 1);
	return true;
}

static bool is_there(const struct hardware_gres_list *l, const struct hardware_gres *g)
{
	for (size_t i = 0; i < l->n; i++)
		if (strcmp(l->v[i].name, g->name) == 0 && strcasecmp(l->v[i].type, g->type) == 0)
			return true;
	return false;
}

int hardware_parse_gres(const char *text, struct hardware_gres_list *out, struct err *e)
{
	struct hardware_gres_list l = {.n = 0};

	for (const char *p = text;; p++) {
		size_t n = strcspn(p, ",");
		struct hardware_gres g;

		if (l.n == HARDWARE_GRES_MAX)
			return err_set(e, ERR_LIMIT, "more than %d kinds", HARDWARE_GRES_MAX);
		if (!read_gres(p, n, &g))
			return err_set(e, ERR_INVALID,
				       "\"%.*s\": want NAME:COUNT or NAME:TYPE:COUNT, such as "
				       "gpu:h100:8",
				       (int)(n < 60 ? n : 60), p);
		if (is_there(&l, &g))
			return err_set(e, ERR_INVALID, "\"%.*s\" is there twice",
				       (int)(n < 60 ? n : 60), p);
		l.v[l.n++] = g;
		p += n;
		if (*p == '\0')
			break;
	}
	*out = l;
	return 0;
}

/* A name of a profile, as the driver writes it: 1g.5gb, 3g.20gb, 1g.10gb+me. */
bool hardware_is_mig(const struct hardware_gres *g)
{
	const char *p = g->type + strlen(g->type);
	size_t n = 0;

	while (p > g->type && p[-1] != '_')
		p--;
	n = strspn(p, "0123456789");
	if (n == 0 || strncmp(p + n, "g.", 2) != 0)
		return false;
	p += n + 2;
	n = strspn(p, "0123456789");
	return n > 0 && strncmp(p + n, "gb", 2) == 0;
}
