#pragma once
/* What every cmocka program here includes, in the order cmocka wants it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
