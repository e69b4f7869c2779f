/* watched_heap.h - checks that no secret is left in freed memory: free() and realloc() are the
 * test's, and show heap_given_back() what they are given.  To be included once, by a test. */
#ifndef TESTS_WATCHED_HEAP_H
#define TESTS_WATCHED_HEAP_H

#include <malloc.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A sanitizer has its own heap: then nothing is watched. */
#ifdef __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define OWN_HEAP
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define OWN_HEAP
#endif

#ifndef OWN_HEAP
extern void __libc_free(void *p);

static void heap_given_back(const char *p, size_t size);

void free(void *p)
{
	if (p != NULL)
		heap_given_back(p, malloc_usable_size(p));
	__libc_free(p);
}

/* Always move the memory. */
void *realloc(void *p, size_t size)
{
	size_t was = p != NULL ? malloc_usable_size(p) : 0;
	char *to = malloc(size);

	if (to == NULL)
		return NULL;
	if (p != NULL)
		memcpy(to, p, was < size ? was : size);
	free(p);
	return to;
}
#endif

#endif
