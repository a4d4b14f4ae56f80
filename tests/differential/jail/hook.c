/* Preloaded into the jail's shells by its /etc/ld.so.preload: writes down every file that the shell itself opens, and
 * every host it looks up. Redirections are opens of the shell, so no stub sees them. /dev/fd/N stands for descriptor N,
 * because the jail has no /proc. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A record: newline, kind, length in 8 digits, then the fields, each ended by NUL. */
static void note(char kind, const char *path) {
    char record[12288], cwd[4096];
    if (syscall(SYS_getcwd, cwd, sizeof cwd) < 0) strcpy(cwd, "?");
    size_t c = strlen(cwd) + 1, p = strlen(path) + 1;
    if (p > 4096) return;
    int head = sprintf(record, "\n%c%08zu", kind, c + p);
    memcpy(record + head, cwd, c);
    memcpy(record + head + c, path, p);
    int fd = (int)syscall(SYS_openat, AT_FDCWD, "/.records-of-the-jail", O_WRONLY | O_APPEND | O_CLOEXEC, 0);
    if (fd < 0) return;
    if (syscall(SYS_write, fd, record, head + c + p) < 0) {}
    syscall(SYS_close, fd);
}

static int stream(const char *path) {
    const char *digits = NULL;
    if (strcmp(path, "/dev/stdin") == 0) return 0;
    if (strcmp(path, "/dev/stdout") == 0) return 1;
    if (strcmp(path, "/dev/stderr") == 0) return 2;
    if (strncmp(path, "/dev/fd/", 8) == 0) digits = path + 8;
    if (strncmp(path, "/proc/self/fd/", 14) == 0) digits = path + 14;
    if (digits == NULL || *digits == 0 || strspn(digits, "0123456789") != strlen(digits)) return -1;
    return atoi(digits);
}

static int opened(const char *path, int flags, int mode) {
    int saved = errno, fd = stream(path);
    if (fd >= 0) return (int)syscall(SYS_dup, fd);
    /* What a shell reads at every start is no file of the line, and the temporary file of a here-document is zsh's own. */
    if (strncmp(path, "/.real/", 7) != 0 && strncmp(path, "/etc/zsh/", 9) != 0 && strncmp(path, "/tmp/zsh", 8) != 0 &&
        strcmp(path, "/dev/tty") != 0) {
        int access_ = flags & O_ACCMODE;
        if (access_ != O_WRONLY && !(flags & O_DIRECTORY)) note('R', path);
        if (access_ != O_RDONLY || flags & (O_CREAT | O_TRUNC)) note('W', path);
    }
    errno = saved;
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

#define OPEN(name) \
    int name(const char *path, int flags, ...) { \
        va_list list; \
        va_start(list, flags); \
        int mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, int) : 0; \
        va_end(list); \
        return opened(path, flags, mode); \
    }
OPEN(open)
OPEN(open64)
int __open_2(const char *path, int flags) { return opened(path, flags, 0); }
int __open64_2(const char *path, int flags) { return opened(path, flags, 0); }
int creat(const char *path, mode_t mode) { return opened(path, O_CREAT | O_WRONLY | O_TRUNC, (int)mode); }
int creat64(const char *path, mode_t mode) { return opened(path, O_CREAT | O_WRONLY | O_TRUNC, (int)mode); }

int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **result) {
    (void)service, (void)hints, (void)result;
    note('N', node == NULL ? "" : node);
    return EAI_NONAME;
}
