#include "providers/simcloud/face_reply.h"

#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void face_body(struct face_reply *out, struct str *s)
{
	free(out->body);
	out->len = s->len;
	out->body = str_take(s);
}

void face_header(struct face_reply *out, const char *name, const char *value)
{
	size_t i = 0;

	while (i < HTTP_MORE_MAX && out->more[i].name != NULL)
		i++;
	assert(i < HTTP_MORE_MAX && strlen(value) < HTTP_VALUE_SIZE);
	out->more[i].name = name;
	memcpy(out->more[i].value, value, strlen(value) + 1);
}

size_t face_word(const char *message)
{
	size_t n = 0;

	while (isalpha((unsigned char)message[n]) || message[n] == '.')
		n++;
	return isupper((unsigned char)message[0]) && strncmp(message + n, ": ", 2) == 0 ? n : 0;
}

bool face_left_out(const struct fault_rule *rule, const char *node, size_t i, size_t n)
{
	if (rule == NULL || rule->action != FAULT_PARTIAL)
		return false;
	if (rule->node[0] != '\0')
		return fault_matches_node(rule, node);
	return i >= (rule->keep >= 0 ? (size_t)rule->keep : n / 2);
}

bool face_hides(const struct fault_rule *rule, const char *node, size_t i, size_t n)
{
	return (rule != NULL && rule->action == FAULT_EMPTY) || face_left_out(rule, node, i, n);
}

const char *face_cursor(char out[FACE_CURSOR_SIZE], const struct fault_rule *rule, int64_t next)
{
	out[0] = '\0';
	if (next >= 0 && (rule == NULL || rule->action != FAULT_EMPTY))
		(void)snprintf(out, FACE_CURSOR_SIZE, "c%lld", (long long)next);
	return out;
}
