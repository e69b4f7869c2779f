#include "providers/common/xml.h"

#include <expat.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

enum {
	CHUNK_BYTES = 64 << 10,
	TOKEN_MAX = 64 << 10, /* bytes of a tag, or of a comment */
};

struct xml_chunk {
	struct xml_chunk *next;
	size_t used, size;
	max_align_t data[];
};

struct mark { /* the state before an element that goes to each->fn */
	struct xml_chunk *chunk;
	size_t used;
	struct xml_node *before; /* its previous sibling */
};

struct xml_reading {
	XML_Parser parser;
	struct xml x;
	const char *const *wanted;
	const struct xml_each *each; /* NULL: none */
	struct mark mark;
	struct {
		struct xml_node *node, *last; /* its last child */
	} at[XML_DEPTH_MAX];
	size_t depth; /* of at[] */
	size_t skip;  /* depth inside an element that is not wanted */
	size_t memory;
	int64_t given;   /* bytes, to the parser */
	struct str text; /* text of the element that was opened last */
	bool bad;
};

static void fail(struct xml_reading *r)
{
	r->bad = true;
	(void)XML_StopParser(r->parser, XML_FALSE);
}

static void *take(struct xml_reading *r, size_t size)
{
	struct xml_chunk *c = r->x.chunks;
	void *p;

	size = (size + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);
	if (c == NULL || c->size - c->used < size) {
		size_t room = size > CHUNK_BYTES ? size : CHUNK_BYTES;

		if (room > XML_MEMORY_MAX - r->memory)
			return NULL;
		r->memory += room;
		c = mem_zalloc(sizeof(*c) + room);
		c->size = room;
		c->next = r->x.chunks;
		r->x.chunks = c;
	}
	p = (char *)c->data + c->used;
	c->used += size;
	return p;
}

/* The name's pointer in `wanted`, or NULL. */
static const char *wanted_name(const struct xml_reading *r, const char *name)
{
	if (r->depth == 0)
		return strcmp(r->wanted[0], name) == 0 ? r->wanted[0] : NULL;
	for (size_t i = 1; r->wanted[i] != NULL; i++)
		if (r->wanted[i][0] == name[0] && strcmp(r->wanted[i], name) == 0)
			return r->wanted[i];
	return NULL;
}

/* Does the element that begins or ends here go to each->fn? */
static bool is_each(const struct xml_reading *r, const char *name)
{
	return r->each != NULL && r->depth == r->each->depth && r->depth > 0 &&
	       strcmp(name, r->each->name) == 0 &&
	       strcmp(r->at[r->depth - 1].node->name, r->each->parent) == 0;
}

static void set_mark(struct xml_reading *r)
{
	r->mark = (struct mark){.chunk = r->x.chunks,
				.used = r->x.chunks->used,
				.before = r->at[r->depth - 1].last};
}

static void give_away(struct xml_reading *r, const struct xml_node *n)
{
	if (r->each->fn(r->each->ctx, n) != 0) {
		fail(r);
		return;
	}
	while (r->x.chunks != r->mark.chunk) {
		struct xml_chunk *c = r->x.chunks;

		r->x.chunks = c->next;
		r->memory -= c->size;
		free(c);
	}
	r->mark.chunk->used = r->mark.used;
	r->at[r->depth - 1].last = r->mark.before;
	if (r->mark.before != NULL)
		r->mark.before->next = NULL;
	else
		r->at[r->depth - 1].node->child = NULL;
}

static void link_node(struct xml_reading *r, struct xml_node *n)
{
	if (r->depth == 0)
		r->x.root = n;
	else if (r->at[r->depth - 1].last == NULL)
		r->at[r->depth - 1].node->child = n;
	else
		r->at[r->depth - 1].last->next = n;
	if (r->depth > 0)
		r->at[r->depth - 1].last = n;
	r->at[r->depth].node = n;
	r->at[r->depth++].last = NULL;
}

static void XMLCALL on_text(void *ctx, const char *text, int len)
{
	struct xml_reading *r = ctx;

	str_add(&r->text, text, (size_t)len);
}

static void XMLCALL on_start(void *ctx, const char *name, const char **attributes)
{
	struct xml_reading *r = ctx;
	struct xml_node *n;

	(void)attributes;
	if (r->bad)
		return;
	str_clear(&r->text);
	if (r->skip > 0 || (r->depth > 0 && wanted_name(r, name) == NULL)) {
		if (r->skip++ == 0) /* expat need not decode text that is not read */
			XML_SetCharacterDataHandler(r->parser, NULL);
		return;
	}
	if (r->depth == XML_DEPTH_MAX || wanted_name(r, name) == NULL) {
		fail(r);
		return;
	}
	if (is_each(r, name))
		set_mark(r);
	n = take(r, sizeof(*n));
	if (n == NULL) {
		fail(r);
		return;
	}
	*n = (struct xml_node){.name = wanted_name(r, name), .text = ""};
	link_node(r, n);
}

static void XMLCALL on_end(void *ctx, const char *name)
{
	struct xml_reading *r = ctx;
	struct xml_node *n;
	char *text;

	if (r->bad)
		return;
	if (r->skip > 0) {
		if (--r->skip == 0)
			XML_SetCharacterDataHandler(r->parser, on_text);
		return;
	}
	n = r->at[--r->depth].node;
	if (n->child == NULL && (r->text.len > 0 || r->text.full)) {
		text = take(r, r->text.len + 1);
		if (text == NULL || r->text.full) {
			fail(r);
			return;
		}
		memcpy(text, r->text.p, r->text.len + 1);
		n->text = text;
	}
	str_clear(&r->text);
	if (is_each(r, name))
		give_away(r, n);
}

static void XMLCALL on_doctype(void *ctx, const char *name, const char *system, const char *public,
			       int internal)
{
	(void)name;
	(void)system;
	(void)public;
	(void)internal;
	fail(ctx);
}

struct xml_reading *xml_begin(const char *const *wanted, const struct xml_each *each)
{
	struct xml_reading *r = mem_zalloc(sizeof(*r));

	r->wanted = wanted;
	r->each = each;
	str_init(&r->text, XML_TEXT_MAX);
	r->parser = mem_check(XML_ParserCreate("UTF-8"));
	XML_SetUserData(r->parser, r);
	XML_SetElementHandler(r->parser, on_start, on_end);
	XML_SetCharacterDataHandler(r->parser, on_text);
	XML_SetStartDoctypeDeclHandler(r->parser, on_doctype);
	return r;
}

/* How much has been read; -1: that is not known now. */
static int64_t position(XML_Parser parser)
{
#if XML_MAJOR_VERSION > 2 || XML_MINOR_VERSION >= 9
	return XML_GetCurrentByteIndex64(parser);
#else
	return XML_GetCurrentByteIndex(parser);
#endif
}

static void add(struct xml_reading *r, const char *p, size_t len, bool last)
{
	int64_t read;

	if (r->bad)
		return;
	r->given += (int64_t)len;
	if (len <= INT_MAX && XML_Parse(r->parser, p, (int)len, last) == XML_STATUS_OK) {
		/* expat 2.5 reads what has not ended from its beginning with each piece. */
		read = position(r->parser);
		r->bad = !last && read >= 0 && r->given - read > TOKEN_MAX;
		return;
	}
	r->bad = true;
	if (XML_GetErrorCode(r->parser) == XML_ERROR_NO_MEMORY)
		(void)mem_check(NULL);
}

void xml_add(struct xml_reading *r, const char *p, size_t len)
{
	add(r, p, len, false);
}

int xml_end(struct xml_reading *r, struct xml *x)
{
	bool good;

	if (x != NULL)
		add(r, "", 0, true);
	good = x != NULL && !r->bad;
	if (x != NULL)
		*x = good ? r->x : (struct xml){0};
	if (!good)
		xml_fini(&r->x);
	XML_ParserFree(r->parser);
	str_fini(&r->text);
	free(r);
	return good || x == NULL ? 0 : -1;
}

int xml_parse(struct xml *x, const char *const *wanted, const char *body, size_t len)
{
	return xml_parse_each(x, wanted, NULL, body, len);
}

int xml_parse_each(struct xml *x, const char *const *wanted, const struct xml_each *each,
		   const char *body, size_t len)
{
	struct xml_reading *r = xml_begin(wanted, each);

	xml_add(r, body != NULL ? body : "", body != NULL ? len : 0);
	return xml_end(r, x);
}

void xml_fini(struct xml *x)
{
	while (x->chunks != NULL) {
		struct xml_chunk *c = x->chunks;

		x->chunks = c->next;
		free(c);
	}
	x->root = NULL;
}

const struct xml_node *xml_child(const struct xml_node *n, const char *name)
{
	const struct xml_node *c = n != NULL ? n->child : NULL;

	while (c != NULL && strcmp(c->name, name) != 0)
		c = c->next;
	return c;
}

const struct xml_node *xml_again(const struct xml_node *n)
{
	const struct xml_node *c = n->next;

	while (c != NULL && c->name != n->name)
		c = c->next;
	return c;
}

const char *xml_text(const struct xml_node *n, const char *name)
{
	const struct xml_node *c = xml_child(n, name);

	return c != NULL ? c->text : "";
}

int xml_copy(const struct xml_node *n, const char *name, char *out, size_t size)
{
	const char *text = xml_text(n, name);
	size_t len = strlen(text);

	out[0] = '\0';
	if (len >= size)
		return -1;
	memcpy(out, text, len + 1);
	return len > 0;
}
