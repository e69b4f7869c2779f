/* nova_query.c - reads the query of a list: pages and filters.  Nova refuses what it does not know,
 * since 2.75; a filter that Nova knows and simcloud does not is refused as well. */
#include <stdlib.h>
#include <string.h>

#include "providers/simcloud/nova.h"

enum { LIMIT_DIGITS = 9 };

static bool is_key(const char *word, size_t n, const char *const *known)
{
	for (; *known != NULL; known++)
		if (strlen(*known) == n && memcmp(*known, word, n) == 0)
			return true;
	return false;
}

static int check_keys(const char *text, const char *const *known, bool regexes, struct err *e)
{
	for (const char *p = text; *p != '\0'; p += strcspn(p, "&"), p += *p == '&') {
		size_t n = strcspn(p, "=&");

		if (n == 0 || is_key(p, n, known))
			continue;
		return err_set(
			e, ERR_INVALID,
			regexes ? "'%.*s' does not match any of the regexes: '^_'"
				: "Additional properties are not allowed ('%.*s' was unexpected)",
			n < 60 ? (int)n : 60, p);
	}
	return 0;
}

/* The query without its marker, for the link to the next page. */
static void keep_text(struct nova_query *q, const char *text)
{
	size_t at = 0;

	for (const char *p = text; *p != '\0'; p += strcspn(p, "&"), p += *p == '&') {
		size_t n = strcspn(p, "&");

		if (strncmp(p, "marker=", 7) == 0 || at + n + 2 > sizeof(q->text))
			continue;
		if (at > 0)
			q->text[at++] = '&';
		memcpy(q->text + at, p, n);
		at += n;
	}
	q->text[at] = '\0';
}

static int take(const char *text, const char *key, char *out, size_t size, struct err *e)
{
	if (http_query(text, key, out, size) >= 0)
		return 0;
	return err_set(e, ERR_INVALID,
		       "Invalid input for query parameters %s. Value: ?. it is too long", key);
}

static int take_limit(struct nova_query *q, const char *text, struct err *e)
{
	char limit[NOVA_TEXT_SIZE];

	if (take(text, "limit", limit, sizeof(limit), e) != 0)
		return -1;
	q->limit = -1;
	if (strstr(text, "limit=") == NULL)
		return 0;
	if (limit[strspn(limit, "0123456789")] != '\0')
		return err_set(
			e, ERR_INVALID,
			"Invalid input for query parameters limit. Value: %.60s. '%.60s' does not "
			"match '^[0-9]*$'",
			limit, limit);
	if (limit[0] != '\0')
		q->limit = strlen(limit) > LIMIT_DIGITS ? INT32_MAX : strtoll(limit, NULL, 10);
	return 0;
}

int nova_query(struct nova_query *q, const char *text, enum nova_what what, struct err *e)
{
	static const char *const servers[] = {"limit",    "marker",   "tags",   "tags-any",
					      "not-tags", "name",     "status", "reservation_id",
					      "sort_key", "sort_dir", NULL};
	static const char *const flavors[] = {"limit",   "marker",   "is_public", "minRam",
					      "minDisk", "sort_key", "sort_dir",  NULL};
	static const char *const groups[] = {"limit", "offset", "all_projects", NULL};

	keep_text(q, text);
	if (check_keys(text,
		       what == NOVA_LIST      ? servers
		       : what == NOVA_FLAVORS ? flavors
					      : groups,
		       what == NOVA_LIST, e) != 0 ||
	    take_limit(q, text, e) != 0 ||
	    take(text, "marker", q->marker, sizeof(q->marker), e) != 0 ||
	    take(text, "tags", q->tags, sizeof(q->tags), e) != 0 ||
	    take(text, "tags-any", q->tags_any, sizeof(q->tags_any), e) != 0 ||
	    take(text, "not-tags", q->not_tags, sizeof(q->not_tags), e) != 0 ||
	    take(text, "name", q->name, sizeof(q->name), e) != 0 ||
	    take(text, "status", q->status, sizeof(q->status), e) != 0)
		return -1;
	return take(text, "reservation_id", q->reservation, sizeof(q->reservation), e);
}
