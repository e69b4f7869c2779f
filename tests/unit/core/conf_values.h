/* conf_values.h - setting an option by its text. */
#ifndef TESTS_CONF_VALUES_H
#define TESTS_CONF_VALUES_H

#include "core/conf_option.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "core/conf.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

#endif
