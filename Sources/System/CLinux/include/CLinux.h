// Calls of Linux and of the GNU C library that Swift's Glibc module leaves out.
#pragma once
#include <poll.h>
#include <stddef.h>
#include <stdint.h>

// A descriptor that becomes readable when the process ends; -1 where the kernel has or allows none.
int linux_pidfd_open(int process);

// An anonymous file in memory, closed on exec; -1 and errno.
int linux_memfd_create(const char *name);

// A pipe, both ends closed on exec; -1 and errno.
int linux_pipe(int ends[2]);

// A counter that can be read while it is not zero, without waiting, closed on exec; -1 and errno.
int linux_eventfd(void);

// Waits until a descriptor is ready, or for so many nanoseconds; for any time if they are negative. The
// number of those that are ready; -1 and errno.
int linux_poll(struct pollfd *entries, size_t count, int64_t nanoseconds);

// Starts a program as the leader of a process group of its own, in the root directory, with three
// descriptors and no other, and no signal ignored or blocked. 0, or an error number.
int linux_spawn(int *child, char *const arguments[], char *const variables[],
                int input, int output, int errors);

// A socket that hears of links, addresses and routes as they come and go; -1 and errno.
int linux_network_events(void);

// What one datagram of that socket is about: how many of its messages concern links, addresses or
// routes, and may change which networks can be reached.
int linux_count_network_events(const void *datagram, size_t size);

// What the kernel has measured of a TCP connection: its `struct tcp_info`, as far as Linux 4.6 has it,
// under a name of its own, since the C library has a shorter one.
struct linux_tcp_info {
    uint8_t state, ca_state, retransmits, probes, backoff, options, window_scales, flags;
    uint32_t rto, ato, snd_mss, rcv_mss, unacked, sacked, lost, retrans, fackets;
    uint32_t last_data_sent, last_ack_sent, last_data_recv, last_ack_recv;
    uint32_t pmtu, rcv_ssthresh, rtt, rttvar, snd_ssthresh, snd_cwnd, advmss, reordering;
    uint32_t rcv_rtt, rcv_space, total_retrans;
    uint64_t pacing_rate, max_pacing_rate, bytes_acked, bytes_received;
    uint32_t segs_out, segs_in, notsent_bytes, min_rtt, data_segs_in, data_segs_out;
};

// Bounds the heaps that threads allocate from; those that exist stay.
void linux_limit_heaps(int count);

// Gives memory that nothing uses back to the system.
void linux_return_memory(void);

// The kernel's number of the calling thread.
int linux_thread_id(void);

// Where a file is stored.
struct linux_file_place {
    uint32_t device_major, device_minor;
    // Whether the file system itself encrypts it (fscrypt).
    int is_encrypted;
};

// 0, or -1 and errno.
int linux_file_place(const char *path, struct linux_file_place *place);

// The magic number of the file system that a file is on (statfs), or -1 and errno.
int64_t linux_file_system(const char *path);
