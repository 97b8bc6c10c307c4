// A file layer for SQLite that fails when told to: the default one of the library with a counter in
// front of every call that changes a file.

#ifndef CFAULTVFS_H
#define CFAULTVFS_H

// What happens at the chosen change of a file.
enum {
    FAULT_NONE = 0,
    // That one call fails with an I/O error and changes nothing.
    FAULT_ERROR = 1,
    // That one write stores half of its bytes, then reports a full disk.
    FAULT_SHORT_WRITE = 2,
    // Every write from there on reports a full disk.
    FAULT_DISK_FULL = 3,
    // The process dies of SIGKILL before the call.
    FAULT_KILL = 4,
    // The process dies of SIGKILL after half of the bytes.
    FAULT_TORN_KILL = 5,
    // Every change from there on fails and reaches no file, as if the process had died.
    FAULT_FREEZE = 6
};

typedef struct fault_vfs fault_vfs;

// Registers a file layer under a name of its own; it lives as long as the process.
fault_vfs *fault_vfs_register(const char *name, int is_default);

// Lets the fault strike at the n-th change from now (1 is the next one).
void fault_vfs_arm(fault_vfs *vfs, int fault, long n);

// Ends the fault and starts counting anew.
void fault_vfs_disarm(fault_vfs *vfs);

// The same if it is this fault.
void fault_vfs_disarm_if(fault_vfs *vfs, int fault);

// Every write from now on takes so much longer; 0 for as long as it takes.
void fault_vfs_slow_down(fault_vfs *vfs, long microseconds);

// What statements take for the time of day, in milliseconds since 1970; 0 for that of this machine.
void fault_vfs_set_time(fault_vfs *vfs, long long milliseconds);

// Changes of files since the last arm or disarm: writes, truncations, syncs and deletions.
long fault_vfs_changes(fault_vfs *vfs);

// Syncs since the last arm or disarm.
long fault_vfs_syncs(fault_vfs *vfs);

// Takes back what was written through this layer and not synced since, but for the first part of each
// file's changes. All connections should be closed before the files are opened again.
void fault_vfs_cut_power(fault_vfs *vfs, int survivors_in_percent);

#endif
