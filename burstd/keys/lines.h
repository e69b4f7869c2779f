/* lines.h - text for a node: "key=value" lines for its shell, or members of a JSON object.
 *
 * The buffer does not move and is wiped, for it holds secrets.  A value with a character that
 * node-init does not take is not written: it makes the whole text bad. */
#ifndef BURSTD_KEYS_LINES_H
#define BURSTD_KEYS_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct conf_nodes;
struct conf_offer;
struct conf_pool;
struct conf_provider;

enum { LINES_MAX = 256 << 10 };

struct lines {
	bool text, bad; /* bad: a value cannot be written, or the text is too long */
	size_t n;
	char p[LINES_MAX];
};

struct lines *lines_new(bool text);
void lines_free(struct lines *l);

/* "" and NULL add nothing. */
void lines_add(struct lines *l, const char *key, const char *value);
/* An optional value: left out if it is not one word. */
void lines_add_word(struct lines *l, const char *key, const char *word);
void lines_add_n(struct lines *l, const char *key, const char *value, size_t len);
void lines_add_number(struct lines *l, const char *key, uint64_t v);
void lines_add_base64(struct lines *l, const char *key, const char *text);
void lines_add_list(struct lines *l, const char *key, const char *const *words,
		    const char *between);
/* Node name, generation, provider, and how slurmd gets into the cluster. */
void lines_add_node(struct lines *l, const char *node, uint64_t gen, const struct conf_provider *p,
		    const struct conf_nodes *n);
/* Further options of slurmd: those of a dynamic pool, then the configured ones.  pool may be NULL.
 */
void lines_add_slurmd(struct lines *l, const struct conf_pool *pool, const struct conf_nodes *n);
/* fabric, fabric_ports, fabric_rate of a machine bought by o, which may be NULL. */
void lines_add_interconnect(struct lines *l, const struct conf_pool *p, const struct conf_offer *o);
/* The last line, by which a reader knows that the text is complete. */
void lines_end(struct lines *l);

#endif
