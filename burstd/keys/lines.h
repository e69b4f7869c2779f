/* lines.h - what a node is told, "key=value" lines for its shell, or members of a JSON object.
 *
 * Built in a place of its own, which does not move and is wiped: there are secrets in it.  A value
 * that is not of the letters that node-init takes is never said: then all of it is bad. */
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
	bool text, bad; /* bad: what cannot be said, or too much */
	size_t n;
	char p[LINES_MAX];
};

struct lines *lines_new(bool text);
void lines_free(struct lines *l);

/* "" and NULL: nothing is said. */
void lines_add(struct lines *l, const char *key, const char *value);
/* What a node can do without: left out where it would not take it as one word. */
void lines_add_word(struct lines *l, const char *key, const char *word);
void lines_add_n(struct lines *l, const char *key, const char *value, size_t len);
void lines_add_number(struct lines *l, const char *key, uint64_t v);
void lines_add_base64(struct lines *l, const char *key, const char *text);
void lines_add_list(struct lines *l, const char *key, const char *const *words,
		    const char *between);
/* Which node it is to be, of whose cloud, and how it gets into the cluster. */
void lines_add_node(struct lines *l, const char *node, uint64_t gen, const struct conf_provider *p,
		    const struct conf_nodes *n);
/* fabric, fabric_ports, fabric_rate of what is bought there; o may be NULL. */
void lines_add_interconnect(struct lines *l, const struct conf_pool *p, const struct conf_offer *o);
/* The last line, by which a reader knows that it has all. */
void lines_end(struct lines *l);

#endif
