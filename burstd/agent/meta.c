#include "agent/meta.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/fmt.h"
#include "base/jpull.h"

enum {
	META_WORD_MAX = 64,
	META_TIME_MAX = 64,
	META_NOTICE_GCP_MS = 30000, /* what GCP promises */
	META_DIGITS_MAX = 10,       /* of a UNIX time */
};

static const char *const names[] = {"preempt", "maintenance", "rebalance", "faulty", "shutdown"};

const char *notice_name(enum notice_type t)
{
	assert((size_t)t < NOTICE_TYPES);
	return names[t];
}

static int take_digits(const char **p, int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++, (*p)++) {
		if (**p < '0' || **p > '9')
			return -1;
		sum = sum * 10 + (**p - '0');
	}
	return sum;
}

static int take_month(const char **p)
{
	static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";

	for (int i = 0; i < 12; i++) {
		if (strncmp(*p, months + 3 * i, 3) == 0) {
			*p += 3;
			return i + 1;
		}
	}
	return -1;
}

static bool take(const char **p, char c)
{
	if (**p != c)
		return false;
	(*p)++;
	return true;
}

/* "21 Jan 2019 09:00:43 GMT" as RFC 3339. */
static int words_to_rfc3339(const char *p, char out[META_TIME_MAX])
{
	int day, month, year, hour, minute, second;

	if (strlen(p) > 5 && p[3] == ',' && p[4] == ' ')
		p += 5;
	day = p[0] != '\0' && p[1] == ' ' ? take_digits(&p, 1) : take_digits(&p, 2);
	if (day < 1 || !take(&p, ' '))
		return -1;
	month = take_month(&p);
	if (month < 1 || !take(&p, ' '))
		return -1;
	year = take_digits(&p, 4);
	if (year < 0 || !take(&p, ' '))
		return -1;
	hour = take_digits(&p, 2);
	if (hour < 0 || !take(&p, ':'))
		return -1;
	minute = take_digits(&p, 2);
	if (minute < 0 || !take(&p, ':'))
		return -1;
	second = take_digits(&p, 2);
	if (second < 0 || strcmp(p, " GMT") != 0)
		return -1;
	(void)snprintf(out, META_TIME_MAX, "%04d-%02d-%02dT%02d:%02d:%02dZ", year, month, day, hour,
		       minute, second);
	return 0;
}

int meta_time(const char *text, int64_t *out_ms)
{
	char same[META_TIME_MAX];

	if (fmt_time_parse(text, out_ms, NULL) == 0)
		return 0;
	*out_ms = 0;
	return words_to_rfc3339(text, same) == 0 ? fmt_time_parse(same, out_ms, NULL) : -1;
}

/* A wanted member of an object: its key, and where its text goes. */
struct wanted {
	const char *key;
	char *to;
	size_t size;
	bool there;
};

/* Read all members of the object that was entered, and keep the texts of those in `want`.  Of a key
 * that comes twice the first text counts. */
static void take_members(struct jpull *j, struct wanted *want, size_t n)
{
	struct jpull_value key, v;

	while (jpull_key(j, &key)) {
		v = jpull_take(j);
		for (size_t i = 0; i < n; i++)
			if (jpull_is(&key, want[i].key) && !want[i].there)
				want[i].there = jpull_text(&v, want[i].to, want[i].size) == 1;
	}
}

/* Build a notice's id from its source and two of its words. */
static void set_id(struct notice *n, const char *from, const char *a, const char *b)
{
	(void)snprintf(n->id, sizeof(n->id), "%s:%.40s:%.40s", from, a, b);
}

static int64_t time_or_0(const char *text)
{
	int64_t ms;

	return text[0] != '\0' && meta_time(text, &ms) == 0 && ms > 0 ? ms : 0;
}

int meta_aws_action(const char *text, size_t len, struct notice *out)
{
	char action[META_WORD_MAX] = "", time[META_TIME_MAX] = "";
	struct wanted want[] = {{"action", action, sizeof(action), false},
				{"time", time, sizeof(time), false}};
	struct jpull j;

	jpull_init(&j, text, len);
	if (jpull_enter(&j, '{'))
		take_members(&j, want, 2);
	if (!jpull_end(&j) || !want[0].there)
		return -1;
	*out = (struct notice){.type = NOTICE_PREEMPT, .deadline = time_or_0(time)};
	set_id(out, "spot", action, time);
	(void)snprintf(out->detail, sizeof(out->detail), "spot instance: %s at %s", action, time);
	return 1;
}

int meta_aws_rebalance(const char *text, size_t len, struct notice *out)
{
	char time[META_TIME_MAX] = "";
	struct wanted want = {"noticeTime", time, sizeof(time), false};
	struct jpull j;

	jpull_init(&j, text, len);
	if (jpull_enter(&j, '{'))
		take_members(&j, &want, 1);
	if (!jpull_end(&j) || !want.there)
		return -1;
	*out = (struct notice){.type = NOTICE_REBALANCE};
	set_id(out, "rebalance", time, "");
	(void)snprintf(out->detail, sizeof(out->detail), "rebalance recommended at %s", time);
	return 1;
}

static bool aws_event(struct jpull *j, struct notice *n)
{
	char code[META_WORD_MAX] = "", before[META_TIME_MAX] = "", state[META_WORD_MAX] = "";
	char id[META_WORD_MAX] = "";
	struct wanted want[] = {{"Code", code, sizeof(code), false},
				{"NotBefore", before, sizeof(before), false},
				{"State", state, sizeof(state), false},
				{"EventId", id, sizeof(id), false}};

	take_members(j, want, sizeof(want) / sizeof(want[0]));
	if (!want[0].there || strcmp(state, "active") != 0)
		return false;
	*n = (struct notice){.type = NOTICE_MAINTENANCE, .deadline = time_or_0(before)};
	set_id(n, "event", id, code);
	(void)snprintf(n->detail, sizeof(n->detail), "%s not before %s", code, before);
	return true;
}

int meta_aws_maintenance(const char *text, size_t len, struct notice *out)
{
	struct notice one;
	struct jpull j;
	int n = 0;

	jpull_init(&j, text, len);
	if (!jpull_enter(&j, '['))
		return -1;
	while (jpull_item(&j))
		if (jpull_enter(&j, '{') && aws_event(&j, &one) && n < META_NOTICES_MAX)
			out[n++] = one;
	return jpull_end(&j) ? n : -1;
}

/* Is the text this word, white space at its end aside? */
static bool says(const char *text, size_t len, const char *word)
{
	while (len > 0 && strchr(" \r\n", text[len - 1]) != NULL)
		len--;
	return len == strlen(word) && memcmp(text, word, len) == 0;
}

int meta_gcp_preempted(const char *text, size_t len, int64_t now_ms, struct notice *out)
{
	if (says(text, len, "FALSE"))
		return 0;
	if (!says(text, len, "TRUE"))
		return -1;
	*out = (struct notice){.type = NOTICE_PREEMPT,
			       .deadline = now_ms + META_NOTICE_GCP_MS,
			       .id = "preempted",
			       .detail = "instance is preempted"};
	return 1;
}

int meta_gcp_maintenance(const char *text, size_t len, struct notice *out)
{
	static const char *const events[] = {"MIGRATE_ON_HOST_MAINTENANCE",
					     "TERMINATE_ON_HOST_MAINTENANCE"};

	if (says(text, len, "NONE"))
		return 0;
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		if (!says(text, len, events[i]))
			continue;
		*out = (struct notice){.type = NOTICE_MAINTENANCE};
		set_id(out, "maintenance", events[i], "");
		(void)snprintf(out->detail, sizeof(out->detail), "host: %s", events[i]);
		return 1;
	}
	return -1;
}

/* Is `name` in an array of texts?  An event may be for others of the same set. */
static bool names_us(const struct jpull_value *v, const char *name)
{
	char one[META_DETAIL_MAX];
	struct jpull_value item;
	struct jpull j;
	bool found = false;

	if (v->type != JPULL_ARRAY)
		return false;
	jpull_init(&j, v->p, v->n);
	(void)jpull_enter(&j, '[');
	while (jpull_item(&j)) {
		item = jpull_take(&j);
		if (jpull_text(&item, one, sizeof(one)) == 1)
			found = found || name[0] == '\0' || strcasecmp(one, name) == 0;
	}
	return found;
}

struct azure_event {
	char id[META_WORD_MAX], type[META_WORD_MAX], before[META_TIME_MAX];
	bool ours;
};

static void azure_members(struct jpull *j, const char *name, struct azure_event *a)
{
	struct jpull_value key, v;

	while (jpull_key(j, &key)) {
		v = jpull_take(j);
		if (jpull_is(&key, "EventId") && jpull_text(&v, a->id, sizeof(a->id)) < 0)
			a->id[0] = '\0';
		else if (jpull_is(&key, "EventType") &&
			 jpull_text(&v, a->type, sizeof(a->type)) < 0)
			a->type[0] = '\0';
		else if (jpull_is(&key, "NotBefore") &&
			 jpull_text(&v, a->before, sizeof(a->before)) < 0)
			a->before[0] = '\0';
		else if (jpull_is(&key, "Resources"))
			a->ours = names_us(&v, name);
	}
}

/* Accept only what a GUID may have: an EventId is sent back as it came. */
static bool is_id(const char *p)
{
	return *p != '\0' && p[strspn(p, "0123456789abcdefABCDEF-")] == '\0';
}

static bool azure_event(struct jpull *j, const char *name, struct notice *n)
{
	struct azure_event a = {.ours = false};

	azure_members(j, name, &a);
	if (!a.ours || !is_id(a.id) || a.type[0] == '\0')
		return false;
	*n = (struct notice){.type = NOTICE_MAINTENANCE, .deadline = time_or_0(a.before)};
	if (strcmp(a.type, "Preempt") == 0 || strcmp(a.type, "Terminate") == 0)
		n->type = NOTICE_PREEMPT;
	(void)snprintf(n->id, sizeof(n->id), "%s", a.id);
	(void)snprintf(n->detail, sizeof(n->detail), "%s not before %s", a.type, a.before);
	return true;
}

int meta_azure(const char *text, size_t len, const char *name, struct notice *out)
{
	struct jpull_value key;
	struct notice one;
	bool there = false;
	struct jpull j;
	int n = 0;

	jpull_init(&j, text, len);
	if (!jpull_enter(&j, '{'))
		return -1;
	while (jpull_key(&j, &key)) {
		if (!jpull_is(&key, "Events") || there) {
			(void)jpull_take(&j);
			continue;
		}
		there = jpull_enter(&j, '[');
		while (there && jpull_item(&j))
			if (jpull_enter(&j, '{') && azure_event(&j, name, &one) &&
			    n < META_NOTICES_MAX)
				out[n++] = one;
	}
	return jpull_end(&j) && there ? n : -1;
}

/* The UNIX time that follows a word; 0: none, or not one. */
static int64_t unix_time(const char *p)
{
	size_t digits = strspn(p += strspn(p, " \t"), "0123456789");

	if (digits == 0 || digits > META_DIGITS_MAX || strchr(" \t", p[digits]) == NULL)
		return 0;
	return strtoll(p, NULL, 10) * 1000;
}

int meta_line(const char *text, size_t len, bool any, struct notice *out)
{
	char line[META_DETAIL_MAX] = "";
	size_t n = 0;

	while (n < len && n < sizeof(line) - 1 && text[n] != '\n' && text[n] != '\0') {
		line[n] = text[n];
		n++;
	}
	line[n] = '\0';
	if (line[strspn(line, " \t\r")] == '\0' && !any)
		return 0;
	*out = (struct notice){.type = NOTICE_PREEMPT};
	for (int i = 0; i < NOTICE_SHUTDOWN; i++) {
		size_t word = strlen(names[i]);

		if (strncmp(line, names[i], word) == 0 && strchr(" \t\r", line[word]) != NULL) {
			out->type = (enum notice_type)i;
			out->deadline = unix_time(line + word);
		}
	}
	set_id(out, "told", line, "");
	(void)snprintf(out->detail, sizeof(out->detail), "announced: %.120s", line);
	return 1;
}
