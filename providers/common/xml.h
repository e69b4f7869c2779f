/* xml.h - parses an XML reply into a small tree of wanted elements.
 *
 * A page of DescribeInstances has some hundred elements for each instance, of which the driver
 * reads a dozen: the others are skipped with their contents, and cost no memory.  Names have no
 * namespace; attributes are not kept.  A DOCTYPE is refused: no vendor sends one, and all XML bombs
 * need it; so is a tag or a comment of more than 64 KiB. */
#ifndef PROVIDERS_COMMON_XML_H
#define PROVIDERS_COMMON_XML_H

#include <stdbool.h>
#include <stddef.h>

enum {
	XML_DEPTH_MAX = 32,        /* EC2's deepest reply has 12 */
	XML_MEMORY_MAX = 64 << 20, /* of the tree */
	XML_TEXT_MAX = 128 << 10,  /* bytes of text in an element: 64 KiB of a console in base64 */
};

struct xml_node {
	const char *name; /* the pointer that was in `wanted` */
	const char *text; /* "" if it has child elements */
	struct xml_node *child, *next;
};

struct xml { /* owns all of its nodes */
	struct xml_node *root;
	struct xml_chunk *chunks;
};

/* wanted: names, NULL-terminated; the first is the root's.  -1: not well-formed, another root, a
 * DOCTYPE, or too much; *x is empty then.  Call xml_fini() in either case. */
int xml_parse(struct xml *x, const char *const *wanted, const char *body, size_t len);

/* For the many elements of long replies: each element `name` in a `parent`, at this depth (the
 * root's is 0), is given to fn as soon as it is complete, and then freed: it is not in the tree.
 * fn: 0, or -1 to stop. */
struct xml_each {
	const char *name, *parent;
	size_t depth;
	int (*fn)(void *ctx, const struct xml_node *n);
	void *ctx;
};
/* As xml_parse(); -1, too, if fn returned -1.  fn may have been called before a -1. */
int xml_parse_each(struct xml *x, const char *const *wanted, const struct xml_each *each,
		   const char *body, size_t len);
void xml_fini(struct xml *x);

/* The same for a text that comes in pieces, cut anywhere. */
struct xml_reading;
/* wanted is borrowed until the end; each, too, unless it is NULL. */
struct xml_reading *xml_begin(const char *const *wanted, const struct xml_each *each);
void xml_add(struct xml_reading *r, const char *p, size_t len); /* calls each->fn */
/* The text is complete: as xml_parse_each().  Frees r.  x NULL: drop it; 0. */
int xml_end(struct xml_reading *r, struct xml *x);

/* The first child of that name, or NULL; a NULL node has none. */
const struct xml_node *xml_child(const struct xml_node *n, const char *name);
/* The next sibling of the same name, or NULL. */
const struct xml_node *xml_again(const struct xml_node *n);
/* The text of the child `name`; "" if there is none. */
const char *xml_text(const struct xml_node *n, const char *name);
/* Copy that text.  1: it is not empty; 0: it is missing or empty, and out is ""; -1: it is too
 * long. */
int xml_copy(const struct xml_node *n, const char *name, char *out, size_t size);

#endif
