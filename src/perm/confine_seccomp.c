/*
 * The system calls that a confined command has no use for, or that reach past the file system's walls. One filter, written out: a
 * list of refused numbers, and a few calls judged by an argument. Another architecture's calls kill.
 */
#include <asm/unistd.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "perm/confine.h"

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#define X32_BIT 0x40000000U
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#endif

#ifndef TIOCLINUX
#define TIOCLINUX 0x541C
#endif
#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x00000080
#endif

#ifdef ARCH

/* Newer than the headers of some systems; the same on all architectures. */
enum { NR_CLONE3 = 435, NR_OPEN_TREE_ATTR = 467, NR_URING_FIRST = 425, NR_URING_LAST = 427 };
enum { NR_NEW_MOUNT_FIRST = 428 /* open_tree */, NR_NEW_MOUNT_LAST = 433 /* fspick */ };
enum { NR_PIDFD_GETFD = 438, NR_MOUNT_SETATTR = 442, NR_QUOTACTL_FD = 443, NR_FCHMODAT2 = 452 };

static const unsigned refused[] = {
    __NR_ptrace,        __NR_process_vm_readv, __NR_process_vm_writev, __NR_kcmp,
    NR_PIDFD_GETFD,     __NR_keyctl,           __NR_add_key,           __NR_request_key,
    __NR_bpf,           __NR_perf_event_open,  __NR_userfaultfd,       __NR_setns,
    __NR_mount,         __NR_umount2,          __NR_pivot_root,        __NR_chroot,
    NR_MOUNT_SETATTR,   NR_OPEN_TREE_ATTR,     __NR_kexec_load,        __NR_kexec_file_load,
    __NR_init_module,   __NR_finit_module,     __NR_delete_module,     __NR_open_by_handle_at,
    __NR_fanotify_init, __NR_swapon,           __NR_swapoff,           __NR_reboot,
    __NR_acct,          __NR_quotactl,         NR_QUOTACTL_FD,         __NR_syslog,
    __NR_sethostname,   __NR_setdomainname,    __NR_settimeofday,      __NR_clock_settime,
    __NR_adjtimex,      __NR_clock_adjtime,    __NR_lookup_dcookie,    __NR_vhangup,
#ifdef __NR_iopl
    __NR_iopl,          __NR_ioperm,           __NR_modify_ldt,        __NR_uselib,
#endif
};
/* Whole ranges: from, to. */
static const unsigned ranges[][2] = {
    {NR_URING_FIRST, NR_URING_LAST},
    {NR_NEW_MOUNT_FIRST, NR_NEW_MOUNT_LAST},
};

enum { FILTER_MAX = 512 };
struct filter {
    struct sock_filter v[FILTER_MAX];
    unsigned short n;
};

static void
emit(struct filter *f, unsigned code, uint32_t k, unsigned yes, unsigned no)
{
    if (f->n < FILTER_MAX)
        f->v[f->n++] = (struct sock_filter){.code = (unsigned short)code,
                                            .jt = (unsigned char)yes,
                                            .jf = (unsigned char)no,
                                            .k = k};
}

static void
load(struct filter *f, size_t at)
{
    emit(f, BPF_LD | BPF_W | BPF_ABS, (uint32_t)at, 0, 0);
}

static void
ret(struct filter *f, uint32_t action)
{
    emit(f, BPF_RET | BPF_K, action, 0, 0);
}

#define REFUSE (SECCOMP_RET_ERRNO | EPERM)
#define MISSING (SECCOMP_RET_ERRNO | ENOSYS)
#define NR_AT offsetof(struct seccomp_data, nr)
/* The lower half: the kernel looks at no more of these arguments. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define ARG_AT(i) (offsetof(struct seccomp_data, args) + 8 * (i))
#else
#define ARG_AT(i) (offsetof(struct seccomp_data, args) + 8 * (i) + 4)
#endif

static void
if_equal(struct filter *f, uint32_t value, uint32_t action)
{
    emit(f, BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1);
    ret(f, action);
}

static void
if_any_bit(struct filter *f, uint32_t bits, uint32_t action)
{
    emit(f, BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1);
    ret(f, action);
}

/* Begins a part for one call; ended by part_end, which fills in the jump over it. What reaches its end is allowed. */
static unsigned short
part_begin(struct filter *f, unsigned nr)
{
    emit(f, BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 0);
    return (unsigned short)(f->n - 1);
}

static void
part_end(struct filter *f, unsigned short begin)
{
    ret(f, SECCOMP_RET_ALLOW);
    f->v[begin].jf = (unsigned char)(f->n - begin - 1);
}

static void
judge_namespaces(struct filter *f)
{
    const uint32_t spaces = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET |
                            CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP;
    unsigned short at = part_begin(f, __NR_clone);
    load(f, ARG_AT(0));
    if_any_bit(f, spaces, REFUSE);
    part_end(f, at);
    at = part_begin(f, __NR_unshare);
    load(f, ARG_AT(0));
    if_any_bit(f, spaces | CLONE_NEWTIME, REFUSE);
    part_end(f, at);
    if_equal(f, NR_CLONE3, MISSING); /* its flags lie in memory; libc takes clone then */
}

static void
judge_ioctl(struct filter *f)
{
    unsigned short at = part_begin(f, __NR_ioctl);
    load(f, ARG_AT(1));
    if_equal(f, TIOCSTI, REFUSE);
    if_equal(f, TIOCLINUX, REFUSE);
    part_end(f, at);
}

/*
 * A file that gives its owner's rights to whoever starts it outlives the command: in a project, anybody else on the machine could become
 * this account by it. What a file is created with need not be judged: the first write to it, without rights of its own, takes the bit away.
 */
static void
judge_modes(struct filter *f)
{
    static const unsigned calls[][2] = {
#ifdef __NR_chmod
        {__NR_chmod, 1},
#endif
        {__NR_fchmod, 1},
        {__NR_fchmodat, 2},
        {NR_FCHMODAT2, 2},
    };
    /* The group's bit is common on folders, and the superuser's group is one that nobody shares. */
    const uint32_t bits = S_ISUID | (geteuid() == 0 ? S_ISGID : 0);
    for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
        unsigned short at = part_begin(f, calls[i][0]);
        load(f, ARG_AT(calls[i][1]));
        if_any_bit(f, bits, REFUSE);
        part_end(f, at);
    }
}

static void
judge_sockets(struct filter *f, struct confine_sockets allowed)
{
    unsigned short at = part_begin(f, __NR_socket);
    load(f, ARG_AT(0));
    if (allowed.unix_)
        if_equal(f, AF_UNIX, SECCOMP_RET_ALLOW);
    if (allowed.internet) {
        if_equal(f, AF_INET, SECCOMP_RET_ALLOW);
        if_equal(f, AF_INET6, SECCOMP_RET_ALLOW);
        emit(f, BPF_JMP | BPF_JEQ | BPF_K, AF_NETLINK, 0, 3);
        load(f, ARG_AT(2));
        if_equal(f, 0 /* NETLINK_ROUTE: which addresses are there */, SECCOMP_RET_ALLOW);
    }
    ret(f, REFUSE);
    part_end(f, at);
}

static void
build(struct filter *f, struct confine_sockets allowed)
{
    load(f, offsetof(struct seccomp_data, arch));
    emit(f, BPF_JMP | BPF_JEQ | BPF_K, ARCH, 1, 0);
    ret(f, SECCOMP_RET_KILL_PROCESS);
    load(f, NR_AT);
#ifdef X32_BIT
    emit(f, BPF_JMP | BPF_JGE | BPF_K, X32_BIT, 0, 1);
    ret(f, SECCOMP_RET_KILL_PROCESS);
#endif
    judge_namespaces(f);
    judge_ioctl(f);
    judge_modes(f);
    judge_sockets(f, allowed);
    for (size_t i = 0; i < ARRAY_LEN(refused); i++)
        if_equal(f, refused[i], REFUSE);
    for (size_t i = 0; i < ARRAY_LEN(ranges); i++) {
        emit(f, BPF_JMP | BPF_JGE | BPF_K, ranges[i][0], 0, 2);
        emit(f, BPF_JMP | BPF_JGT | BPF_K, ranges[i][1], 1, 0);
        ret(f, REFUSE);
    }
    ret(f, SECCOMP_RET_ALLOW);
}

bool
confine_seccomp(struct confine_sockets allowed)
{
    static struct filter f;
    f.n = 0;
    build(&f, allowed);
    if (f.n >= FILTER_MAX) {
        errno = E2BIG;
        return false;
    }
    struct sock_fprog prog = {.len = f.n, .filter = f.v};
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &prog) == 0;
}

#else

bool
confine_seccomp(struct confine_sockets allowed)
{
    (void)allowed;
    errno = EOPNOTSUPP; /* no list of its calls was written */
    return false;
}

#endif
