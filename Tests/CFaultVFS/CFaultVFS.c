#include "CFaultVFS.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// A change that no sync has made durable, and what undoes it.
typedef struct {
    sqlite3_int64 offset;
    sqlite3_int64 size_before;
    int count;
    char *old;
} fault_undo;

// The changes of one file since its last sync; kept as long as the layer, whoever has it open.
typedef struct fault_journal {
    struct fault_journal *next;
    char *path;
    fault_undo *undos;
    int count;
    int capacity;
} fault_journal;

struct fault_vfs {
    sqlite3_vfs base;
    sqlite3_vfs *real;
    atomic_int fault;
    atomic_long strikes_at;
    atomic_long changes;
    atomic_long syncs;
    // How long each write takes longer than it need, in microseconds.
    atomic_long delay;
    // Milliseconds since 1970, or 0 for the time of this machine.
    atomic_llong time;
    pthread_mutex_t mutex;
    fault_journal *journals;
};

typedef struct {
    sqlite3_file base;
    fault_vfs *vfs;
    sqlite3_file *real;
    // NULL for a file without a name.
    fault_journal *journal;
} fault_file;

static sqlite3_file *real_of(sqlite3_file *file) { return ((fault_file *)file)->real; }

// The fault that strikes this change, or FAULT_NONE.
static int strike(fault_vfs *vfs) {
    long change = atomic_fetch_add(&vfs->changes, 1) + 1;
    int fault = atomic_load(&vfs->fault);
    if (fault == FAULT_NONE) return FAULT_NONE;
    long strikes_at = atomic_load(&vfs->strikes_at);
    if (fault == FAULT_DISK_FULL || fault == FAULT_FREEZE) {
        return change >= strikes_at ? fault : FAULT_NONE;
    }
    return change == strikes_at ? fault : FAULT_NONE;
}

static void die(void) {
    kill(getpid(), SIGKILL);
    for (;;) pause();
}

// The result of a change other than a write, or SQLITE_OK to go on.
static int strike_simple(fault_vfs *vfs, int error, int needs_space) {
    switch (strike(vfs)) {
    case FAULT_ERROR:
    case FAULT_FREEZE: return error;
    case FAULT_SHORT_WRITE: return needs_space ? SQLITE_FULL : error;
    case FAULT_DISK_FULL: return needs_space ? SQLITE_FULL : SQLITE_OK;
    case FAULT_KILL:
    case FAULT_TORN_KILL: die();
    default: return SQLITE_OK;
    }
}

// ---- What a power cut would take

static fault_journal *journal_of(fault_vfs *vfs, const char *path) {
    pthread_mutex_lock(&vfs->mutex);
    fault_journal *journal = vfs->journals;
    while (journal && strcmp(journal->path, path) != 0) journal = journal->next;
    if (!journal) {
        journal = calloc(1, sizeof *journal);
        journal->path = strdup(path);
        journal->next = vfs->journals;
        vfs->journals = journal;
    }
    pthread_mutex_unlock(&vfs->mutex);
    return journal;
}

static void forget(fault_journal *journal) {
    for (int i = 0; i < journal->count; i++) free(journal->undos[i].old);
    journal->count = 0;
}

// Notes what stands at a place of a file, before it is changed.
static void remember(fault_file *file, sqlite3_int64 offset, sqlite3_int64 count) {
    if (!file->journal) return;
    fault_undo undo = {.offset = offset};
    sqlite3_file *real = file->real;
    if (real->pMethods->xFileSize(real, &undo.size_before) != SQLITE_OK) return;
    sqlite3_int64 left = undo.size_before > offset ? undo.size_before - offset : 0;
    undo.count = (int)(count < left ? count : left);
    undo.old = malloc(undo.count ? undo.count : 1);
    if (undo.count) real->pMethods->xRead(real, undo.old, undo.count, offset);

    pthread_mutex_lock(&file->vfs->mutex);
    fault_journal *journal = file->journal;
    if (journal->count == journal->capacity) {
        journal->capacity = journal->capacity ? 2 * journal->capacity : 64;
        journal->undos = realloc(journal->undos, journal->capacity * sizeof *journal->undos);
    }
    journal->undos[journal->count++] = undo;
    pthread_mutex_unlock(&file->vfs->mutex);
}

void fault_vfs_cut_power(fault_vfs *vfs, int survivors_in_percent) {
    pthread_mutex_lock(&vfs->mutex);
    for (fault_journal *journal = vfs->journals; journal; journal = journal->next) {
        int descriptor = open(journal->path, O_RDWR | O_CLOEXEC);
        int survivors = journal->count * survivors_in_percent / 100;
        for (int i = journal->count - 1; descriptor >= 0 && i >= survivors; i--) {
            fault_undo *undo = &journal->undos[i];
            if (pwrite(descriptor, undo->old, undo->count, undo->offset) < 0) break;
            if (ftruncate(descriptor, undo->size_before) < 0) break;
        }
        if (descriptor >= 0) close(descriptor);
        forget(journal);
    }
    pthread_mutex_unlock(&vfs->mutex);
}

// ---- Files

static int fault_close(sqlite3_file *file) {
    int status = real_of(file)->pMethods->xClose(real_of(file));
    free(real_of(file));
    ((fault_file *)file)->real = NULL;
    return status;
}

static int fault_read(sqlite3_file *file, void *to, int count, sqlite3_int64 offset) {
    return real_of(file)->pMethods->xRead(real_of(file), to, count, offset);
}

static int fault_write(sqlite3_file *file, const void *from, int count, sqlite3_int64 offset) {
    sqlite3_file *real = real_of(file);
    long delay = atomic_load(&((fault_file *)file)->vfs->delay);
    if (delay > 0) usleep((useconds_t)delay);
    switch (strike(((fault_file *)file)->vfs)) {
    case FAULT_ERROR:
    case FAULT_FREEZE: return SQLITE_IOERR_WRITE;
    case FAULT_DISK_FULL: return SQLITE_FULL;
    case FAULT_SHORT_WRITE:
        remember((fault_file *)file, offset, count);
        real->pMethods->xWrite(real, from, count / 2, offset);
        return SQLITE_FULL;
    case FAULT_TORN_KILL:
        real->pMethods->xWrite(real, from, count / 2, offset);
        die();
    case FAULT_KILL: die();
    default:
        remember((fault_file *)file, offset, count);
        return real->pMethods->xWrite(real, from, count, offset);
    }
}

static int fault_truncate(sqlite3_file *file, sqlite3_int64 size) {
    int status = strike_simple(((fault_file *)file)->vfs, SQLITE_IOERR_TRUNCATE, 0);
    if (status == SQLITE_OK) remember((fault_file *)file, size, 1 << 30);
    return status ? status : real_of(file)->pMethods->xTruncate(real_of(file), size);
}

static int fault_sync(sqlite3_file *file, int flags) {
    fault_vfs *vfs = ((fault_file *)file)->vfs;
    atomic_fetch_add(&vfs->syncs, 1);
    int status = strike_simple(vfs, SQLITE_IOERR_FSYNC, 0);
    if (status == SQLITE_OK) status = real_of(file)->pMethods->xSync(real_of(file), flags);
    fault_journal *journal = ((fault_file *)file)->journal;
    if (status == SQLITE_OK && journal) {
        pthread_mutex_lock(&vfs->mutex);
        forget(journal);
        pthread_mutex_unlock(&vfs->mutex);
    }
    return status;
}

static int fault_file_size(sqlite3_file *file, sqlite3_int64 *size) {
    return real_of(file)->pMethods->xFileSize(real_of(file), size);
}

static int fault_lock(sqlite3_file *file, int level) {
    return real_of(file)->pMethods->xLock(real_of(file), level);
}

static int fault_unlock(sqlite3_file *file, int level) {
    return real_of(file)->pMethods->xUnlock(real_of(file), level);
}

static int fault_check_reserved_lock(sqlite3_file *file, int *result) {
    return real_of(file)->pMethods->xCheckReservedLock(real_of(file), result);
}

static int fault_file_control(sqlite3_file *file, int operation, void *argument) {
    return real_of(file)->pMethods->xFileControl(real_of(file), operation, argument);
}

static int fault_sector_size(sqlite3_file *file) {
    return real_of(file)->pMethods->xSectorSize(real_of(file));
}

static int fault_device_characteristics(sqlite3_file *file) {
    return real_of(file)->pMethods->xDeviceCharacteristics(real_of(file));
}

static int fault_shm_map(
    sqlite3_file *file, int region, int size, int extend, void volatile **memory
) {
    return real_of(file)->pMethods->xShmMap(real_of(file), region, size, extend, memory);
}

static int fault_shm_lock(sqlite3_file *file, int offset, int count, int flags) {
    return real_of(file)->pMethods->xShmLock(real_of(file), offset, count, flags);
}

static void fault_shm_barrier(sqlite3_file *file) {
    real_of(file)->pMethods->xShmBarrier(real_of(file));
}

static int fault_shm_unmap(sqlite3_file *file, int delete) {
    fault_vfs *vfs = ((fault_file *)file)->vfs;
    int is_frozen = atomic_load(&vfs->fault) == FAULT_FREEZE
        && atomic_load(&vfs->changes) >= atomic_load(&vfs->strikes_at);
    return real_of(file)->pMethods->xShmUnmap(real_of(file), is_frozen ? 0 : delete);
}

static int fault_fetch(sqlite3_file *file, sqlite3_int64 offset, int count, void **memory) {
    return real_of(file)->pMethods->xFetch(real_of(file), offset, count, memory);
}

static int fault_unfetch(sqlite3_file *file, sqlite3_int64 offset, void *memory) {
    return real_of(file)->pMethods->xUnfetch(real_of(file), offset, memory);
}

static const sqlite3_io_methods methods = {
    3,
    fault_close,
    fault_read,
    fault_write,
    fault_truncate,
    fault_sync,
    fault_file_size,
    fault_lock,
    fault_unlock,
    fault_check_reserved_lock,
    fault_file_control,
    fault_sector_size,
    fault_device_characteristics,
    fault_shm_map,
    fault_shm_lock,
    fault_shm_barrier,
    fault_shm_unmap,
    fault_fetch,
    fault_unfetch,
};

// ---- The layer

static int fault_open(
    sqlite3_vfs *base, const char *name, sqlite3_file *file, int flags, int *out_flags
) {
    fault_vfs *vfs = (fault_vfs *)base;
    fault_file *self = (fault_file *)file;
    memset(self, 0, sizeof *self);
    sqlite3_file *real = calloc(1, (size_t)vfs->real->szOsFile);
    if (!real) return SQLITE_NOMEM;
    int status = vfs->real->xOpen(vfs->real, name, real, flags, out_flags);
    if (status != SQLITE_OK || real->pMethods == NULL) {
        free(real);
        return status == SQLITE_OK ? SQLITE_CANTOPEN : status;
    }
    self->vfs = vfs;
    self->real = real;
    self->journal = name ? journal_of(vfs, name) : NULL;
    self->base.pMethods = &methods;
    return SQLITE_OK;
}

static int fault_delete(sqlite3_vfs *base, const char *name, int sync_directory) {
    fault_vfs *vfs = (fault_vfs *)base;
    int status = strike_simple(vfs, SQLITE_IOERR_DELETE, 0);
    if (status == SQLITE_OK) status = vfs->real->xDelete(vfs->real, name, sync_directory);
    if (status == SQLITE_OK) {
        fault_journal *journal = journal_of(vfs, name);
        pthread_mutex_lock(&vfs->mutex);
        forget(journal);
        pthread_mutex_unlock(&vfs->mutex);
    }
    return status;
}

// SQLite counts from noon of the day that Julian day 0 began.
static int fault_current_time_int64(sqlite3_vfs *base, sqlite3_int64 *milliseconds) {
    fault_vfs *vfs = (fault_vfs *)base;
    long long time = atomic_load(&vfs->time);
    if (time == 0) return vfs->real->xCurrentTimeInt64(vfs->real, milliseconds);
    *milliseconds = time + 210866760000000LL;
    return SQLITE_OK;
}

static int fault_current_time(sqlite3_vfs *base, double *days) {
    sqlite3_int64 milliseconds = 0;
    int status = fault_current_time_int64(base, &milliseconds);
    *days = (double)milliseconds / 86400000.0;
    return status;
}

fault_vfs *fault_vfs_register(const char *name, int is_default) {
    sqlite3_initialize();
    fault_vfs *vfs = calloc(1, sizeof *vfs);
    if (!vfs) return NULL;
    pthread_mutex_init(&vfs->mutex, NULL);
    vfs->real = sqlite3_vfs_find(NULL);
    // The methods that are not replaced look at nothing but their arguments in the unix layer.
    vfs->base = *vfs->real;
    vfs->base.pNext = NULL;
    vfs->base.zName = strdup(name);
    vfs->base.szOsFile = sizeof(fault_file);
    vfs->base.xOpen = fault_open;
    vfs->base.xDelete = fault_delete;
    vfs->base.xCurrentTime = fault_current_time;
    vfs->base.xCurrentTimeInt64 = fault_current_time_int64;
    if (sqlite3_vfs_register(&vfs->base, is_default) != SQLITE_OK) {
        free((void *)vfs->base.zName);
        free(vfs);
        return NULL;
    }
    return vfs;
}

void fault_vfs_set_time(fault_vfs *vfs, long long milliseconds) {
    atomic_store(&vfs->time, milliseconds);
}

void fault_vfs_slow_down(fault_vfs *vfs, long microseconds) {
    atomic_store(&vfs->delay, microseconds);
}

void fault_vfs_arm(fault_vfs *vfs, int fault, long n) {
    atomic_store(&vfs->fault, FAULT_NONE);
    atomic_store(&vfs->changes, 0);
    atomic_store(&vfs->syncs, 0);
    atomic_store(&vfs->strikes_at, n);
    atomic_store(&vfs->fault, fault);
}

void fault_vfs_disarm(fault_vfs *vfs) { fault_vfs_arm(vfs, FAULT_NONE, 0); }

void fault_vfs_disarm_if(fault_vfs *vfs, int fault) {
    atomic_compare_exchange_strong(&vfs->fault, &fault, FAULT_NONE);
}

long fault_vfs_changes(fault_vfs *vfs) { return atomic_load(&vfs->changes); }

long fault_vfs_syncs(fault_vfs *vfs) { return atomic_load(&vfs->syncs); }
