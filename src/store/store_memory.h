#pragma once
/* The store that ends with the process: "memory:". One lock guards all of it; no visitor is called while it is held. */
#include "store/store.h"

extern const struct store_backend store_memory;
