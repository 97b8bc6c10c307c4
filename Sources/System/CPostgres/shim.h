#include <libpq-fe.h>
#include <sys/eventfd.h>

// A counter that poll() sees, closed on exec; -1 and errno. Swift's Glibc module has no eventfd().
static inline int cpostgres_event(void) {
    return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}
