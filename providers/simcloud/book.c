#include "providers/simcloud/book.h"

#include <stddef.h>

struct book *book_find(struct book *books, const void *owner)
{
	while (books != NULL && books->owner != owner)
		books = books->next;
	return books;
}

void books_free(struct book *books)
{
	while (books != NULL) {
		struct book *next = books->next;

		books->free(books);
		books = next;
	}
}
