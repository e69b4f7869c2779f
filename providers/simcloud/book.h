/* book.h - what a face keeps from one request to the next, beside the instances of the cloud.
 *
 * A cloud has one book of each face that wants one, known by an address of that face's, and frees
 * it at its own end.  Put a struct book first into the face's own struct. */
#ifndef SIMCLOUD_BOOK_H
#define SIMCLOUD_BOOK_H

struct book {
	struct book *next;
	const void *owner;
	void (*free)(struct book *b);
};

struct book *book_find(struct book *books, const void *owner); /* NULL: none yet */
void books_free(struct book *books);                           /* NULL is fine */

#endif
