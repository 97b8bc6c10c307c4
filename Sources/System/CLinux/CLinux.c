#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <malloc.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

int linux_pidfd_open(int process) {
    return (int)syscall(SYS_pidfd_open, process, 0);
}

int linux_memfd_create(const char *name) {
    return memfd_create(name, MFD_CLOEXEC);
}

int linux_pipe(int ends[2]) {
    return pipe2(ends, O_CLOEXEC);
}

int linux_eventfd(void) {
    return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
}

int linux_poll(struct pollfd *entries, size_t count, int64_t nanoseconds) {
    struct timespec limit = {nanoseconds / 1000000000, nanoseconds % 1000000000};
    return ppoll(entries, count, nanoseconds < 0 ? NULL : &limit, NULL);
}

static int fill_actions(posix_spawn_file_actions_t *actions, int input, int output, int errors) {
    int code = posix_spawn_file_actions_adddup2(actions, input, STDIN_FILENO);
    if (code == 0) code = posix_spawn_file_actions_adddup2(actions, output, STDOUT_FILENO);
    if (code == 0) code = posix_spawn_file_actions_adddup2(actions, errors, STDERR_FILENO);
    if (code == 0) code = posix_spawn_file_actions_addclosefrom_np(actions, STDERR_FILENO + 1);
    if (code == 0) code = posix_spawn_file_actions_addchdir_np(actions, "/");
    return code;
}

static int fill_attributes(posix_spawnattr_t *attributes) {
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    int code = posix_spawnattr_setflags(
        attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    if (code == 0) code = posix_spawnattr_setpgroup(attributes, 0);
    if (code == 0) code = posix_spawnattr_setsigmask(attributes, &none);
    if (code == 0) code = posix_spawnattr_setsigdefault(attributes, &all);
    return code;
}

int linux_spawn(int *child, char *const arguments[], char *const variables[],
                int input, int output, int errors) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int code = posix_spawn_file_actions_init(&actions);
    if (code != 0) return code;
    code = posix_spawnattr_init(&attributes);
    if (code == 0) {
        code = fill_actions(&actions, input, output, errors);
        if (code == 0) code = fill_attributes(&attributes);
        if (code == 0) {
            code = posix_spawn(child, arguments[0], &actions, &attributes, arguments, variables);
        }
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return code;
}

int linux_network_events(void) {
    int events = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    if (events < 0) return -1;
    struct sockaddr_nl address;
    memset(&address, 0, sizeof address);
    address.nl_family = AF_NETLINK;
    address.nl_groups = RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR |
                        RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE;
    if (bind(events, (struct sockaddr *)&address, sizeof address) == 0) return events;
    int code = errno;
    close(events);
    errno = code;
    return -1;
}

int linux_count_network_events(const void *datagram, size_t size) {
    int count = 0;
    const struct nlmsghdr *message = datagram;
    // The macros count in a signed number of their own.
    for (unsigned int rest = (unsigned int)size; NLMSG_OK(message, rest);
         message = NLMSG_NEXT(message, rest)) {
        switch (message->nlmsg_type) {
        case RTM_NEWLINK: case RTM_DELLINK: case RTM_NEWADDR: case RTM_DELADDR:
        case RTM_NEWROUTE: case RTM_DELROUTE:
            count++;
        }
    }
    return count;
}

void linux_limit_heaps(int count) {
    mallopt(M_ARENA_MAX, count);
}

void linux_return_memory(void) {
    malloc_trim(0);
}

int linux_thread_id(void) {
    return gettid();
}

int linux_file_place(const char *path, struct linux_file_place *place) {
    struct statx found;
    if (statx(AT_FDCWD, path, 0, STATX_TYPE, &found) != 0) return -1;
    place->device_major = found.stx_dev_major;
    place->device_minor = found.stx_dev_minor;
    place->is_encrypted = (found.stx_attributes & STATX_ATTR_ENCRYPTED) != 0;
    return 0;
}

int64_t linux_file_system(const char *path) {
    struct statfs found;
    return statfs(path, &found) == 0 ? (int64_t)found.f_type : -1;
}
