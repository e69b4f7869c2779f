#include "keys/lines.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/mem.h"
#include "base/str.h"
#include "core/conf.h"
#include "core/conf_text.h"
#include "core/interconnect.h"

struct lines *lines_new(bool text)
{
	struct lines *l = mem_zalloc(sizeof(*l));

	l->text = text;
	return l;
}

void lines_free(struct lines *l)
{
	OPENSSL_cleanse(l->p, l->n);
	free(l);
}

static void add_raw(struct lines *l, const char *text, size_t len)
{
	if (len >= sizeof(l->p) - l->n) {
		l->bad = true;
		return;
	}
	memcpy(l->p + l->n, text, len);
	l->n += len;
	l->p[l->n] = '\0';
}

static void add_part(struct lines *l, const char *text)
{
	add_raw(l, text, strlen(text));
}

static void begin_value(struct lines *l, const char *key)
{
	if (l->text) {
		add_part(l, key);
		add_part(l, "=");
		return;
	}
	add_part(l, l->n == 0 ? "{\"v\":1,\"" : ",\"");
	add_part(l, key);
	add_part(l, "\":\"");
}

static void end_value(struct lines *l)
{
	add_part(l, l->text ? "\n" : "\"");
}

/* May the characters of value be in a line?  node-init's step_claim ends the machine at any other
 * character. */
static bool is_fit(const char *value, size_t len)
{
	static const char fit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
				  "._:/,@+=~ []-";

	for (size_t i = 0; i < len; i++)
		if (memchr(fit, value[i], sizeof(fit) - 1) == NULL)
			return false;
	return true;
}

void lines_add_n(struct lines *l, const char *key, const char *value, size_t len)
{
	if (value == NULL || len == 0)
		return;
	if (!is_fit(value, len)) {
		l->bad = true;
		return;
	}
	begin_value(l, key);
	add_raw(l, value, len);
	end_value(l);
}

void lines_add(struct lines *l, const char *key, const char *value)
{
	lines_add_n(l, key, value, value != NULL ? strlen(value) : 0);
}

void lines_add_word(struct lines *l, const char *key, const char *word)
{
	if (conf_text_is_nodes_word(word))
		lines_add(l, key, word);
}

void lines_add_number(struct lines *l, const char *key, uint64_t v)
{
	char text[FMT_U64_SIZE];

	lines_add(l, key, fmt_u64(text, v));
}

void lines_add_base64(struct lines *l, const char *key, const char *text)
{
	size_t n = text != NULL ? strlen(text) : 0;

	if (n == 0)
		return;
	begin_value(l, key);
	if ((n + 2) / 3 * 4 >= sizeof(l->p) - l->n)
		l->bad = true;
	else
		l->n += (size_t)EVP_EncodeBlock((unsigned char *)l->p + l->n,
						(const unsigned char *)text, (int)n);
	end_value(l);
}

void lines_add_list(struct lines *l, const char *key, const char *const *words, const char *between)
{
	struct str s;

	str_init(&s, LINES_MAX);
	for (size_t i = 0; words != NULL && words[i] != NULL; i++)
		str_addf(&s, "%s%s", i > 0 ? between : "", words[i]);
	lines_add(l, key, s.p);
	str_fini(&s);
}

void lines_add_node(struct lines *l, const char *node, uint64_t gen, const struct conf_provider *p,
		    const struct conf_nodes *n)
{
	lines_add(l, "node", node);
	lines_add_number(l, "generation", gen);
	lines_add(l, "cloud", conf_cloud(p));
	lines_add(l, "auth", n->auth == CONF_AUTH_SLURM ? "slurm" : "munge");
	lines_add_list(l, "conf_server", (const char *const *)n->conf_servers, ",");
}

/* A dynamic node's slurmd says so (-Z), and what GPUs it has: no line of slurm.conf says it, and
 * only 26.05 looks itself. */
void lines_add_slurmd(struct lines *l, const struct conf_pool *pool, const struct conf_nodes *n)
{
	const bool dynamic = pool != NULL && pool->dynamic;
	struct str s;

	str_init(&s, LINES_MAX);
	if (dynamic)
		str_adds(&s, "-Z");
	if (dynamic && pool->gres != NULL && pool->gres[0] != '\0')
		str_addf(&s, " --conf Gres=%s", pool->gres);
	if (n->slurmd_options != NULL && n->slurmd_options[0] != '\0')
		str_addf(&s, "%s%s", s.len > 0 ? " " : "", n->slurmd_options);
	if (s.len > 0)
		lines_add(l, "slurmd_opts", s.p);
	str_fini(&s);
}

void lines_add_interconnect(struct lines *l, const struct conf_pool *p, const struct conf_offer *o)
{
	struct interconnect links;

	if (interconnect_parse(conf_interconnect(p, o), &links, NULL) < 0)
		return;
	lines_add(l, "fabric", links.kind);
	if (links.ports > 0) {
		lines_add_number(l, "fabric_ports", links.ports);
		lines_add_number(l, "fabric_rate", links.gbits);
	}
}

void lines_end(struct lines *l)
{
	add_part(l, l->text ? "end=1\n" : "}");
}
