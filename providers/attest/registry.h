/* registry.h - the table of verifiers of identity documents, which main.c gives to the engine. */
#ifndef PROVIDERS_ATTEST_REGISTRY_H
#define PROVIDERS_ATTEST_REGISTRY_H

#include "core/attest.h"

const struct attest_ops *attest_find(enum attest_kind k); /* NULL: there is none (ATTEST_NONE) */

#endif
