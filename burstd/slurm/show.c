#include "slurm/show.h"

#include <string.h>
#include <strings.h>

bool slurm_show_is(struct slurm_text t, const char *s)
{
	return t.n == strlen(s) && strncasecmp(t.p, s, t.n) == 0;
}

static struct slurm_text trim(struct slurm_text t)
{
	while (t.n > 0 && *t.p == ' ') {
		t.p++;
		t.n--;
	}
	while (t.n > 0 && t.p[t.n - 1] == ' ')
		t.n--;
	return t;
}

bool slurm_show_cut(struct slurm_text *rest, char c, struct slurm_text *piece)
{
	const char *end;

	if (rest->n == 0)
		return false;
	end = memchr(rest->p, c, rest->n);
	*piece = (struct slurm_text){rest->p, end != NULL ? (size_t)(end - rest->p) : rest->n};
	rest->p += piece->n;
	rest->n -= piece->n;
	if (rest->n > 0) {
		rest->p++;
		rest->n--;
	}
	return true;
}

bool slurm_show_item(struct slurm_text *list, struct slurm_text *item)
{
	bool any = slurm_show_cut(list, ',', item);

	if (any)
		*item = trim(*item);
	return any;
}

bool slurm_show_next(struct slurm_text *rest, struct slurm_text *key, struct slurm_text *value)
{
	struct slurm_text line;

	while (slurm_show_cut(rest, '\n', &line)) {
		const char *eq = line.n > 0 ? memchr(line.p, '=', line.n) : NULL;

		if (eq == NULL)
			continue;
		*key = trim((struct slurm_text){line.p, (size_t)(eq - line.p)});
		*value = trim((struct slurm_text){eq + 1, line.n - (size_t)(eq - line.p) - 1});
		if (slurm_show_is(*value, "(null)"))
			value->n = 0;
		return true;
	}
	return false;
}

struct slurm_text slurm_show_setting(struct slurm_text config, const char *name)
{
	struct slurm_text key, value;

	while (slurm_show_next(&config, &key, &value))
		if (slurm_show_is(key, name))
			return value;
	return (struct slurm_text){NULL, 0};
}

bool slurm_show_option(struct slurm_text list, const char *name, struct slurm_text *value)
{
	struct slurm_text word;
	size_t n = strlen(name);

	while (slurm_show_item(&list, &word)) {
		if (word.n < n || strncasecmp(word.p, name, n) != 0)
			continue;
		if (word.n == n || word.p[n] == '=') {
			size_t skip = word.n == n ? n : n + 1;

			*value = (struct slurm_text){word.p + skip, word.n - skip};
			return true;
		}
	}
	return false;
}

bool slurm_show_has(struct slurm_text list, const char *name)
{
	struct slurm_text value;

	return slurm_show_option(list, name, &value);
}

int64_t slurm_show_number(struct slurm_text t)
{
	int64_t n = 0;
	size_t i = 0;

	if (slurm_show_is(t, "INFINITE") || slurm_show_is(t, "-1"))
		return SLURM_INFINITE;
	for (; i < t.n && t.p[i] >= '0' && t.p[i] <= '9'; i++)
		if (n < INT64_C(1) << 40) /* far above any limit: more digits change nothing */
			n = n * 10 + (t.p[i] - '0');
	return i > 0 && (i == t.n || t.p[i] == ' ') ? n : -1;
}

struct slurm_text slurm_show_word(struct slurm_text line, const char *key)
{
	size_t n = strlen(key);
	struct slurm_text word;

	while (slurm_show_cut(&line, ' ', &word))
		if (word.n > n && word.p[n] == '=' && memcmp(word.p, key, n) == 0)
			return (struct slurm_text){word.p + n + 1, word.n - n - 1};
	return (struct slurm_text){NULL, 0};
}
