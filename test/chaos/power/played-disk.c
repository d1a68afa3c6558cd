/*
 * A library for LD_PRELOAD. It records, in order, everything that a process does to the files below one folder, so
 * that `disk-image.ts` can rebuild what a disk may hold after a power cut.
 *
 * Every call is done as usual, and the process reads what it wrote. Only flushes are not passed on: the record alone
 * decides what was flushed.
 *
 * PLAYED_DISK_FOLDER   the folder: an absolute path without symbolic links
 * PLAYED_DISK_JOURNAL  the file to which the records are appended, outside of the folder
 * PLAYED_DISK_CUT      absent, or when the process ends itself with SIGKILL: `calls:120` after the call of that number
 *                      that changes or flushes a file, `flushes:9` after a flush, `sends:14` after bytes were handed
 *                      to a TCP connection
 * PLAYED_DISK_IGNORE   read at each flush: flushes of files whose names end so do not happen, for example `-wal`
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

/* `disk-journal.ts` has the same numbers. */
enum operation { START = 1, CREATE, OPEN, WRITE, TRUNCATE, FLUSH, RENAME, REMOVE, MAKE_FOLDER, AMEND, CUT };

/* The head of a record in the byte order of the machine; `length` bytes of data follow. */
struct record {
  uint32_t operation;
  int32_t file;
  uint64_t number;
  uint64_t offset;
  uint64_t length;
};

/* A file descriptor that was opened below the folder. */
struct watched {
  dev_t device;
  ino_t inode;
  char ending[16];
};

enum { most_files = 4096 };
static struct watched files[most_files];
static char folder[4096];
static int journal = -1;
static uint64_t records;
static long calls_left, flushes_left, sends_left;
/* The order of the records is the order of the calls, in all threads of the process. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
/* A fast disk takes this long to flush. */
static const struct timespec flush_time = {0, 500 * 1000};

#define REAL(name) ((__typeof__(&name))find_real(#name))

static void fail(const char *what) {
  dprintf(2, "played disk: %s: %s\n", what, strerror(errno));
  abort();
}

static void *find_real(const char *name) {
  void *found = dlsym(RTLD_NEXT, name);
  if (found == NULL) fail(name);
  return found;
}

static void append(const void *bytes, size_t length) {
  for (const char *at = bytes; length > 0;) {
    long written = syscall(SYS_write, journal, at, length);
    if (written < 0) fail("the journal cannot be written");
    at += written;
    length -= (size_t)written;
  }
}

static uint64_t record(enum operation operation, int file, uint64_t offset, const void *data, size_t length) {
  struct record head = {(uint32_t)operation, file, ++records, offset, length};
  append(&head, sizeof head);
  append(data, length);
  return records;
}

static uint64_t record_path(enum operation operation, const char *path) {
  return record(operation, -1, 0, path, strlen(path));
}

/* A call is recorded before it is done. If it did less, this says how much of it was done. */
static void amend(uint64_t number, uint64_t done) { record(AMEND, -1, number, &done, sizeof done); }

static void count_down(long *left) {
  if (*left <= 0 || --*left > 0) return;
  record(CUT, -1, 0, "", 0);
  syscall(SYS_kill, getpid(), SIGKILL);
}

static long read_cut(const char *kind) {
  const char *cut = getenv("PLAYED_DISK_CUT");
  size_t length = strlen(kind);
  if (cut == NULL || strncmp(cut, kind, length) != 0 || cut[length] != ':') return 0;
  return atol(cut + length + 1);
}

__attribute__((constructor)) static void start(void) {
  const char *path = getenv("PLAYED_DISK_FOLDER"), *journal_path = getenv("PLAYED_DISK_JOURNAL");
  if (path == NULL || journal_path == NULL || strlen(path) >= sizeof folder) return;
  strcpy(folder, path);
  journal = (int)syscall(SYS_openat, AT_FDCWD, journal_path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (journal < 0) fail(journal_path);
  calls_left = read_cut("calls");
  flushes_left = read_cut("flushes");
  sends_left = read_cut("sends");
  record(START, -1, 0, "", 0);
}

static int is_below(const char *path) {
  size_t length = strlen(folder);
  return journal >= 0 && strncmp(path, folder, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

/* Compares what the descriptor stands for, because a closed one may be used again for another file. */
static struct watched *find_watched(int file) {
  struct stat now;
  if (journal < 0 || file < 0 || file >= most_files || files[file].inode == 0 || fstat(file, &now) != 0) return NULL;
  return files[file].device == now.st_dev && files[file].inode == now.st_ino ? &files[file] : NULL;
}

static int open_watched(const char *path, int flags, mode_t mode) {
  struct stat now;
  uint64_t created = 0;
  pthread_mutex_lock(&mutex);
  if ((flags & O_CREAT) != 0 && lstat(path, &now) != 0) created = record_path(CREATE, path);
  int file = REAL(open)(path, flags, mode);
  int error = errno;
  if (file < 0 && created != 0) amend(created, 0);
  if (file >= most_files) fail("the process has too many open files");
  if (file >= 0 && fstat(file, &now) == 0) {
    size_t length = strlen(path), kept = sizeof files[file].ending - 1;
    files[file].device = now.st_dev;
    files[file].inode = now.st_ino;
    strcpy(files[file].ending, length > kept ? path + length - kept : path);
    record(OPEN, file, 0, path, length);
    if ((flags & O_TRUNC) != 0) record(TRUNCATE, file, 0, "", 0);
    if (created != 0) count_down(&calls_left);
  }
  pthread_mutex_unlock(&mutex);
  errno = error;
  return file;
}

static ssize_t write_watched(int file, const void *data, size_t length, off_t offset) {
  pthread_mutex_lock(&mutex);
  uint64_t number = record(WRITE, file, (uint64_t)offset, data, length);
  ssize_t done = syscall(SYS_pwrite64, file, data, length, offset);
  int error = errno;
  if (done != (ssize_t)length) amend(number, done < 0 ? 0 : (uint64_t)done);
  count_down(&calls_left);
  pthread_mutex_unlock(&mutex);
  errno = error;
  return done;
}

/* A write at the file's own position, or at its end if it is open for appending. */
static ssize_t write_on(int file, const void *data, size_t length) {
  struct stat now;
  int is_appending = (fcntl(file, F_GETFL) & O_APPEND) != 0;
  off_t offset = is_appending && fstat(file, &now) == 0 ? now.st_size : lseek(file, 0, SEEK_CUR);
  ssize_t done = write_watched(file, data, length, offset);
  if (done > 0) lseek(file, offset + done, SEEK_SET);
  return done;
}

static int flush_watched(int file) {
  const char *ignored = getenv("PLAYED_DISK_IGNORE"), *name = files[file].ending;
  uint64_t covered = records;
  nanosleep(&flush_time, NULL);
  size_t length = ignored == NULL ? 0 : strlen(ignored);
  if (length > 0 && strlen(name) >= length && strcmp(name + strlen(name) - length, ignored) == 0) return 0;
  pthread_mutex_lock(&mutex);
  record(FLUSH, file, covered, "", 0);
  count_down(&calls_left);
  count_down(&flushes_left);
  pthread_mutex_unlock(&mutex);
  return 0;
}

static int change_entry(enum operation operation, const char *path, int (*change)(const char *)) {
  pthread_mutex_lock(&mutex);
  uint64_t number = record_path(operation, path);
  int result = change(path);
  int error = errno;
  if (result != 0) amend(number, 0);
  count_down(&calls_left);
  pthread_mutex_unlock(&mutex);
  errno = error;
  return result;
}

static mode_t mode_of(int flags, va_list arguments) {
  return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
}

int open(const char *path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return is_below(path) ? open_watched(path, flags, mode) : REAL(open)(path, flags, mode);
}

int open64(const char *path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return is_below(path) ? open_watched(path, flags | O_LARGEFILE, mode) : REAL(open64)(path, flags, mode);
}

int openat(int at, const char *path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return is_below(path) ? open_watched(path, flags, mode) : REAL(openat)(at, path, flags, mode);
}

static int is_tcp(int file) {
  struct sockaddr_storage address;
  socklen_t length = sizeof address;
  return journal >= 0 && getsockname(file, (struct sockaddr *)&address, &length) == 0 &&
         (address.ss_family == AF_INET || address.ss_family == AF_INET6);
}

static ssize_t count_send(int file, ssize_t done) {
  int error = errno;
  if (done > 0 && is_tcp(file)) {
    pthread_mutex_lock(&mutex);
    count_down(&sends_left);
    pthread_mutex_unlock(&mutex);
  }
  errno = error;
  return done;
}

ssize_t write(int file, const void *data, size_t length) {
  if (find_watched(file) != NULL) return write_on(file, data, length);
  return count_send(file, syscall(SYS_write, file, data, length));
}

ssize_t writev(int file, const struct iovec *parts, int count) {
  if (find_watched(file) == NULL) return count_send(file, syscall(SYS_writev, file, parts, count));
  ssize_t total = 0;
  for (int part = 0; part < count; part += 1) {
    ssize_t done = write_on(file, parts[part].iov_base, parts[part].iov_len);
    if (done < 0) return total > 0 ? total : done;
    total += done;
    if ((size_t)done < parts[part].iov_len) break;
  }
  return total;
}

ssize_t send(int file, const void *data, size_t length, int flags) {
  return count_send(file, REAL(send)(file, data, length, flags));
}

ssize_t sendmsg(int file, const struct msghdr *message, int flags) {
  return count_send(file, REAL(sendmsg)(file, message, flags));
}

ssize_t pwrite64(int file, const void *data, size_t length, off64_t offset) {
  if (find_watched(file) != NULL) return write_watched(file, data, length, offset);
  return syscall(SYS_pwrite64, file, data, length, offset);
}

ssize_t pwrite(int file, const void *data, size_t length, off_t offset) { return pwrite64(file, data, length, offset); }

int ftruncate64(int file, off64_t size) {
  if (find_watched(file) == NULL) return (int)syscall(SYS_ftruncate, file, size);
  pthread_mutex_lock(&mutex);
  uint64_t number = record(TRUNCATE, file, (uint64_t)size, "", 0);
  int result = (int)syscall(SYS_ftruncate, file, size), error = errno;
  if (result != 0) amend(number, 0);
  count_down(&calls_left);
  pthread_mutex_unlock(&mutex);
  errno = error;
  return result;
}

int ftruncate(int file, off_t size) { return ftruncate64(file, size); }

int fsync(int file) { return find_watched(file) != NULL ? flush_watched(file) : REAL(fsync)(file); }

int fdatasync(int file) { return find_watched(file) != NULL ? flush_watched(file) : REAL(fdatasync)(file); }

int rename(const char *from, const char *to) {
  char paths[2 * sizeof folder];
  if (!is_below(from) && !is_below(to)) return REAL(rename)(from, to);
  int length = snprintf(paths, sizeof paths, "%s\n%s", from, to);
  pthread_mutex_lock(&mutex);
  uint64_t number = record(RENAME, -1, 0, paths, (size_t)length);
  int result = REAL(rename)(from, to), error = errno;
  if (result != 0) amend(number, 0);
  count_down(&calls_left);
  pthread_mutex_unlock(&mutex);
  errno = error;
  return result;
}

int unlink(const char *path) {
  return is_below(path) ? change_entry(REMOVE, path, REAL(unlink)) : REAL(unlink)(path);
}

int remove(const char *path) {
  return is_below(path) ? change_entry(REMOVE, path, REAL(remove)) : REAL(remove)(path);
}

int rmdir(const char *path) { return is_below(path) ? change_entry(REMOVE, path, REAL(rmdir)) : REAL(rmdir)(path); }

static int make_private(const char *path) { return REAL(mkdir)(path, 0700); }

int mkdir(const char *path, mode_t mode) {
  return is_below(path) ? change_entry(MAKE_FOLDER, path, make_private) : REAL(mkdir)(path, mode);
}
