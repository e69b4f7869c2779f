#include "base/plain.h"

#include <stdint.h>

/* Characters that are not shown, in order: controls beyond ASCII, those that change the direction
 * of text (bidi), and those that are invisible or have no width.  Some languages need combining
 * marks and joiners; of these only joiners are refused, as a name with one looks like a name
 * without. */
static const struct {
	uint32_t first, last;
} unseen[] = {
	{0x0080, 0x009f},    /* C1: some terminals take them for escape sequences */
	{0x00ad, 0x00ad},    /* soft hyphen */
	{0x034f, 0x034f},    /* grapheme joiner */
	{0x061c, 0x061c},    /* Arabic letter mark */
	{0x115f, 0x1160},    /* Hangul fillers */
	{0x17b4, 0x17b5},    /* Khmer vowels that are not written */
	{0x180b, 0x180f},    /* Mongolian selectors, vowel separator */
	{0x200b, 0x200f},    /* zero width, joiners, left-to-right and right-to-left marks */
	{0x2028, 0x202e},    /* line and paragraph separators; embeddings and overrides */
	{0x2060, 0x206f},    /* word joiner, invisible operators, isolates, deprecated formats */
	{0x3164, 0x3164},    /* Hangul filler */
	{0xd800, 0xf8ff},    /* surrogates, which UTF-8 does not have; private use */
	{0xfe00, 0xfe0f},    /* variation selectors */
	{0xfeff, 0xfeff},    /* zero width no-break space, the byte order mark */
	{0xffa0, 0xffa0},    /* Hangul filler, half as wide */
	{0xfff0, 0xfffb},    /* unassigned, annotations */
	{0xfffe, 0xffff},    /* no characters */
	{0x1bca0, 0x1bca3},  /* shorthand formats */
	{0x1d173, 0x1d17a},  /* musical formats */
	{0xe0000, 0x10ffff}, /* tags, more selectors, private use */
};

size_t plain_utf8(const char *text)
{
	const unsigned char *p = (const unsigned char *)text;
	unsigned char low = 0x80, high = 0xbf;
	size_t n;

	if (*p < 0x80)
		return 1;
	if (*p < 0xc2 || *p > 0xf4)
		return 0;
	n = *p < 0xe0 ? 2 : *p < 0xf0 ? 3 : 4;
	if (*p == 0xe0 || *p == 0xf0)
		low = *p == 0xe0 ? 0xa0 : 0x90; /* else overlong */
	if (*p == 0xed || *p == 0xf4)
		high = *p == 0xed ? 0x9f : 0x8f; /* else a surrogate, or past U+10FFFF */
	if (p[1] < low || p[1] > high)
		return 0;
	for (size_t i = 2; i < n; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	return n;
}

static uint32_t code_of(const char *p, size_t n)
{
	static const unsigned char first[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
	uint32_t c = (unsigned char)p[0] & first[n];

	for (size_t i = 1; i < n; i++)
		c = c << 6 | ((unsigned char)p[i] & 0x3f);
	return c;
}

size_t plain_shown(const char *p)
{
	size_t n = plain_utf8(p);
	uint32_t c = n > 0 ? code_of(p, n) : 0;

	if (c < 0x20 || c == 0x7f)
		return 0;
	for (size_t i = 0; i < sizeof(unseen) / sizeof(unseen[0]); i++)
		if (c >= unseen[i].first && c <= unseen[i].last)
			return 0;
	return n;
}

bool plain_is(const char *text)
{
	while (*text != '\0') {
		size_t n = plain_shown(text);

		if (n == 0)
			return false;
		text += n;
	}
	return true;
}

/* Overwrite a whole character that may not be shown, or one byte that is no UTF-8. */
static size_t replace(char *p, char instead)
{
	size_t n = plain_utf8(p);

	n = n > 0 ? n : 1;
	for (size_t i = 0; i < n; i++)
		p[i] = instead;
	return n;
}

void plain_make(char *text, char instead)
{
	while (*text != '\0') {
		size_t n = plain_shown(text);

		text += n > 0 ? n : replace(text, instead);
	}
}
