#pragma once

#if !__has_include(<sqlite3.h>)
#error "install libsqlite3-dev"
#endif

#include <sqlite3.h>
