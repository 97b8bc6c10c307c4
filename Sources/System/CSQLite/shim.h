#include <sqlite3.h>

// The two forms of sqlite3_db_config() that are used; variadic functions do not reach Swift.
static inline int csqlite_db_config_int(sqlite3 *db, int option, int value, int *result) {
    return sqlite3_db_config(db, option, value, result);
}
