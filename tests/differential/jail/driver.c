/* The only place where generated command lines run: a process that has locked itself into ROOT.
 *
 * driver ROOT: new mount, network, process and IPC namespaces (a user namespace too where it is not root), chroot into
 * ROOT, an own user, limits, no sockets. Then, for every line on standard input, one shell; and on standard output what
 * the stubs and the hook wrote down. Frames: a 32-bit length, then bytes. A question has one byte before its text, which
 * names the shell (b, z); the answer has one byte of status before it (0, or 1 where the line was still running at the end
 * of its time). */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define LINE_SECONDS 4
#define LOG_LIMIT (4 * 1024 * 1024)

static void die(const char *what) {
    fprintf(stderr, "no jail: %s: %s\n", what, strerror(errno));
    exit(3);
}

static void put(const char *path, const char *text) {
    int fd = open(path, O_WRONLY);
    if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text)) die(path);
    close(fd);
}

static void limit(int which, rlim_t value) {
    struct rlimit r = {value, value};
    if (setrlimit(which, &r) != 0) die("setrlimit");
}

/* No sockets, whatever else is refused or granted. */
static void no_sockets(void) {
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof code / sizeof *code, code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) die("no_new_privs");
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) die("seccomp");
}

static int wipe(const char *path, const struct stat *s, int flag, struct FTW *at) {
    (void)s, (void)flag;
    if (at->level > 0) remove(path);
    return 0;
}

static char *state;
static size_t state_size;

/* The files and directories that lines may change, as they were: "path NUL content NUL" (a directory ends in a slash). */
static void restore(void) {
    static const char *roots[] = {"/home/dev", "/tmp"};
    for (int i = 0; i < 2; i++) nftw(roots[i], wipe, 16, FTW_DEPTH | FTW_PHYS);
    for (char *p = state; p < state + state_size;) {
        char *path = p, *text = path + strlen(path) + 1;
        p = text + strlen(text) + 1;
        size_t n = strlen(path);
        if (path[n - 1] == '/') {
            mkdir(path, 0755);
        } else if (strncmp(text, "STUB", 4) == 0) {
            if (symlink("/.real/stub", path) != 0) die(path);
        } else {
            int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
            if (fd < 0) die(path);
            if (write(fd, text, strlen(text)) < 0) die(path);
            close(fd);
        }
    }
}

static void load_state(void) {
    int fd = open("/.state", O_RDONLY);
    struct stat s;
    if (fd < 0 || fstat(fd, &s) != 0) die("/.state");
    state_size = (size_t)s.st_size;
    state = malloc(state_size + 1);
    if (read(fd, state, state_size) != (ssize_t)state_size) die("/.state");
    close(fd);
}

static volatile sig_atomic_t late;
static void on_alarm(int sig) {
    (void)sig;
    late = 1;
    kill(-1, SIGKILL); /* everything in this process namespace, or of this user: never another's */
}

static int get(void *buffer, size_t n) {
    for (char *p = buffer; n > 0;) {
        ssize_t got = read(0, p, n);
        if (got <= 0) return 0;
        p += got, n -= (size_t)got;
    }
    return 1;
}

static void give(const void *buffer, size_t n) {
    for (const char *p = buffer; n > 0;) {
        ssize_t put_ = write(1, p, n);
        if (put_ <= 0) exit(4);
        p += put_, n -= (size_t)put_;
    }
}

static void run(char shell, char *line, int quiet) {
    static char *env[] = {
        "PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/home/dev", "USER=dev", "TERM=dumb", "OPTS=e1.txt e2.txt", "TOOL=wget",
        "BASH_FUNC_command_not_found_handle%%=() { /.real/missing \"$@\"; }", "ZDOTDIR=/.real", NULL, NULL,
    };
    static char tmpdir[4096] = "TMPDIR=";
    if (getenv("TMPDIR") != NULL && strlen(getenv("TMPDIR")) < 4000) /* the analysis looks at it too */
        env[sizeof env / sizeof *env - 2] = strcat(tmpdir, getenv("TMPDIR"));
    char *argv[] = {shell == 'z' ? "zsh" : "bash", "-c", line, NULL};
    setsid();
    if (chdir("/home/dev/project") != 0) _exit(126);
    int null = open("/dev/null", O_RDWR);
    dup2(null, 0);
    if (quiet) dup2(null, 1), dup2(null, 2);
    else dup2(2, 1);
    if (null > 2) close(null);
    execve(shell == 'z' ? "/.real/zsh" : "/.real/bash", argv, env);
    _exit(126);
}

static void serve(void) {
    uint32_t n;
    char *log = malloc(LOG_LIMIT);
    int quiet = getenv("LOUD") == NULL;
    int fd = open("/.records-of-the-jail", O_RDWR | O_CLOEXEC);
    if (fd < 0) die("/.records-of-the-jail");
    restore();
    while (get(&n, sizeof n)) {
        char *line = malloc(n + 1);
        char shell;
        if (!get(&shell, 1) || !get(line, n)) break;
        line[n] = 0;
        if (ftruncate(fd, 0) != 0) die("truncate");
        late = 0;
        struct itimerval time = {{0, 50000}, {LINE_SECONDS, 0}}, none = {{0, 0}, {0, 0}};
        pid_t child = fork();
        if (child < 0) die("fork");
        if (child == 0) run(shell, line, quiet);
        setitimer(ITIMER_REAL, &time, NULL);
        /* Everything it started ends here too: orphans become children of this process. */
        while (waitpid(-1, NULL, 0) >= 0 || errno == EINTR) {}
        setitimer(ITIMER_REAL, &none, NULL);
        ssize_t size = pread(fd, log, LOG_LIMIT, 0);
        if (size < 0) die("read");
        uint8_t status = late ? 1 : 0;
        uint32_t length = (uint32_t)size;
        give(&status, 1);
        give(&length, sizeof length);
        give(log, length);
        /* Only the hook's records of files opened to write, and a killed line, can have changed anything. */
        if (late || memmem(log, length, "\nW", 2) != NULL) restore();
        free(line);
    }
    exit(0);
}

int main(int argc, char **argv) {
    if (argc != 2) return 2;
    uid_t outside = geteuid();
    gid_t outside_group = getegid();
    uid_t inside = outside == 0 ? 200000 + (uid_t)getpid() % 100000 : 54321;
    int spaces = CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS;
    if (outside != 0) spaces |= CLONE_NEWUSER;
    if (unshare(spaces) != 0) {
        /* Root without the right to namespaces (a container): chroot, the own user and the filter have to do. */
        if (outside != 0) die("namespaces");
    } else {
        if (outside != 0) {
            char map[64];
            put("/proc/self/setgroups", "deny");
            snprintf(map, sizeof map, "%u %u 1", inside, outside);
            put("/proc/self/uid_map", map);
            snprintf(map, sizeof map, "%u %u 1", inside, outside_group);
            put("/proc/self/gid_map", map);
        }
        if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) die("private mounts");
    }
    pid_t child = fork();
    if (child < 0) die("fork");
    if (child > 0) {
        int status;
        close(0), close(1);
        waitpid(child, &status, 0);
        return WIFEXITED(status) ? WEXITSTATUS(status) : 5;
    }
    if (chdir(argv[1]) != 0 || chroot(".") != 0 || chdir("/") != 0) die("chroot");
    /* Is this the jail, and nothing else? */
    if (access("/.jail-of-the-differential-test", F_OK) != 0) die("no marker");
    if (access("/etc/passwd", F_OK) == 0 || access("/proc/self", F_OK) == 0 || access("/root", F_OK) == 0) {
        errno = EEXIST;
        die("this is not the jail");
    }
    if (outside == 0) {
        mknod("/dev/null", S_IFCHR | 0666, makedev(1, 3));
        chmod("/dev/null", 0666);
    }
    int null = open("/dev/null", O_RDWR | O_CREAT, 0666);
    if (null < 0) die("/dev/null");
    close(null);
    syscall(SYS_close_range, 3, ~0U, 0);
    static const char *own[] = {"/home/dev", "/tmp", "/.records-of-the-jail"};
    if (outside == 0) {
        for (int i = 0; i < 3; i++)
            if (chown(own[i], inside, inside) != 0) die("chown");
        if (setgroups(0, NULL) != 0 || setresgid(inside, inside, inside) != 0 || setresuid(inside, inside, inside) != 0)
            die("own user");
        if (setuid(0) == 0) die("still root");
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    no_sockets();
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_FSIZE, LOG_LIMIT);
    limit(RLIMIT_NOFILE, 256);
    limit(RLIMIT_AS, 1024L * 1024 * 1024);
    if (outside == 0) limit(RLIMIT_NPROC, 256);
    struct sigaction alarm_ = {.sa_handler = on_alarm};
    sigaction(SIGALRM, &alarm_, NULL);
    umask(022);
    load_state();
    serve();
}
