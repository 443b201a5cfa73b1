//! Attempts to leave through rarely used parts of the kernel.
#![expect(unsafe_code, reason = "attempts are system calls")]

use std::{fs, io, ptr};

use crate::{
    attempt::{Attempt, never},
    files::c,
};

/// Makes a call with numbers. It escapes unless it is refused by permission, or the kernel does not have it: other errors mean that
/// the kernel has accepted the call and only disliked its arguments.
macro_rules! call {
    ($number:expr $(, $argument:expr)*) => {
        refused(unsafe { libc::syscall($number $(, $argument)*) })
    };
}

pub(crate) const ATTEMPTS: &[Attempt] = &[
    never("chroot", |at| {
        refused(unsafe { libc::chroot(c(&at.inside).as_ptr()) }.into())
    }),
    never("pivot_root", |at| {
        let path = c(&at.inside);
        call!(libc::SYS_pivot_root, path.as_ptr(), path.as_ptr())
    }),
    never("mount", |at| mount(c"tmpfs", at, Some(c"tmpfs"), 0)),
    never("bind over", |at| mount(&c(&at.outside), at, None, libc::MS_BIND)),
    never("remount writable", |_| {
        let flags = libc::MS_REMOUNT | libc::MS_BIND;
        refused(unsafe { libc::mount(ptr::null(), c"/".as_ptr(), ptr::null(), flags, ptr::null()) }.into())
    }),
    never("unmount", |at| {
        refused(unsafe { libc::umount2(c(&at.inside).as_ptr(), libc::MNT_DETACH) }.into())
    }),
    never("unmount what is protected", |at| {
        let path = c(&at.inside.join(".git/config"));
        refused(unsafe { libc::umount2(path.as_ptr(), libc::MNT_DETACH) }.into())
    }),
    never("fsopen", |_| call!(libc::SYS_fsopen, c"tmpfs".as_ptr(), 0)),
    never("open_tree", |_| {
        call!(libc::SYS_open_tree, libc::AT_FDCWD, c"/".as_ptr(), 1)
    }),
    never("move_mount", |_| {
        call!(libc::SYS_move_mount, -1, c"".as_ptr(), -1, c"".as_ptr(), 0)
    }),
    never("mount_setattr", |_| {
        call!(libc::SYS_mount_setattr, libc::AT_FDCWD, c"/".as_ptr(), 0, 0, 0)
    }),
    never("user namespace", |_| {
        refused(unsafe { libc::unshare(libc::CLONE_NEWUSER) }.into())
    }),
    never("mount namespace", |_| {
        refused(unsafe { libc::unshare(libc::CLONE_NEWNS) }.into())
    }),
    never("network namespace", |_| {
        refused(unsafe { libc::unshare(libc::CLONE_NEWNET) }.into())
    }),
    never("user namespace by clone", |_| {
        let flags = libc::CLONE_NEWUSER | libc::SIGCHLD;
        let child = unsafe { libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0) };
        if child == 0 {
            unsafe { libc::_exit(0) };
        }
        refused(child)
    }),
    never("user namespace by clone3", |_| {
        let mut arguments = [0_u64; 11];
        (arguments[0], arguments[4]) = (libc::CLONE_NEWUSER as u64, libc::SIGCHLD as u64);
        let child = unsafe { libc::syscall(libc::SYS_clone3, arguments.as_ptr(), size_of_val(&arguments)) };
        if child == 0 {
            unsafe { libc::_exit(0) };
        }
        refused(child)
    }),
    never("enter the namespaces of the first process", |_| {
        call!(libc::SYS_setns, 0, 0)
    }),
    never("io_uring_setup", |_| {
        let mut parameters = [0_u8; 120];
        call!(libc::SYS_io_uring_setup, 1, parameters.as_mut_ptr())
    }),
    never("io_uring_enter", |_| call!(libc::SYS_io_uring_enter, -1, 0, 0, 0, 0, 0)),
    never("io_uring_register", |_| call!(libc::SYS_io_uring_register, -1, 0, 0, 0)),
    never("bpf", |_| call!(libc::SYS_bpf, 0, 0, 0)),
    never("perf_event_open", |_| call!(libc::SYS_perf_event_open, 0, 0, -1, -1, 0)),
    never("userfaultfd", |_| call!(libc::SYS_userfaultfd, 0)),
    never("userfaultfd of user mode", |_| call!(libc::SYS_userfaultfd, 1)),
    never("fanotify_init", |_| call!(libc::SYS_fanotify_init, 0, 0)),
    never("kexec_load", |_| call!(libc::SYS_kexec_load, 0, 1 << 20, 0, 0)),
    never("init_module", |_| call!(libc::SYS_init_module, 0, 0, 0)),
    never("finit_module", |_| call!(libc::SYS_finit_module, -1, 0, 0)),
    never("delete_module", |_| call!(libc::SYS_delete_module, 0, 0)),
    never("reboot", |_| call!(libc::SYS_reboot, 0, 0, 0, 0)),
    never("read the log of the kernel", |_| call!(libc::SYS_syslog, 10, 0, 0)),
    never("swapon", |_| call!(libc::SYS_swapon, c"/nonexistent".as_ptr(), 0)),
    never("acct", |_| call!(libc::SYS_acct, c"/nonexistent".as_ptr())),
    never("quotactl", |_| call!(libc::SYS_quotactl, -1, 0, 0, 0)),
    never("set the clock", |_| call!(libc::SYS_clock_settime, 0, 0)),
    never("sethostname", |_| call!(libc::SYS_sethostname, c"x".as_ptr(), -1)),
    never("keyctl", |_| call!(libc::SYS_keyctl, 0, -3, 0)),
    never("add_key", |_| {
        call!(libc::SYS_add_key, c"user".as_ptr(), c"x".as_ptr(), c"x".as_ptr(), 1, -3)
    }),
    never("request_key", |_| {
        call!(libc::SYS_request_key, c"user".as_ptr(), c"x".as_ptr(), 0, 0)
    }),
    never("open_by_handle_at", |_| {
        call!(libc::SYS_open_by_handle_at, libc::AT_FDCWD, 0, 0)
    }),
    never("type into the terminal", |_| {
        refused(unsafe { libc::ioctl(0, libc::TIOCSTI, c"x".as_ptr()) }.into())
    }),
    never("type into the terminal, with more bits", |_| {
        call!(libc::SYS_ioctl, 0, 0x1_0000_0000_u64 | libc::TIOCSTI, c"x".as_ptr())
    }),
    never("copy from the console", |_| {
        call!(libc::SYS_ioctl, 0, 0x541c, c"\x02".as_ptr())
    }),
    #[cfg(target_arch = "x86_64")]
    never("the numbers of x32", |_| call!(0x4000_0000 | libc::SYS_getpid)),
    #[cfg(target_arch = "x86_64")]
    never("the calls of 32-bit programs", |_| {
        let result: i64;
        // The number of getpid.
        unsafe { std::arch::asm!("int 0x80", inlateout("rax") 20_i64 => result) };
        refused(result)
    }),
    #[cfg(target_arch = "x86_64")]
    never("iopl", |_| call!(libc::SYS_iopl, 3)),
    never("allow new privileges again", |_| {
        match unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 0, 0, 0, 0) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }),
    never("keep capabilities", |_| {
        let status = fs::read_to_string("/proc/self/status")?;
        let is_empty = |name: &str| {
            status
                .lines()
                .any(|line| line.starts_with(name) && line.ends_with("\t0000000000000000"))
        };
        let has_none = is_empty("CapEff:") && is_empty("CapPrm:") && is_empty("CapBnd:") && is_empty("CapAmb:");
        // Without a user namespace, root keeps those for files, and no others.
        let only_files = status.lines().any(|line| line == "CapEff:\t000000000000001b");
        match (has_none || only_files) && status.contains("NoNewPrivs:\t1") {
            true => Err(io::ErrorKind::PermissionDenied.into()),
            false => Ok(()),
        }
    }),
];

fn mount(
    from: &std::ffi::CStr,
    at: &crate::attempt::Place,
    kind: Option<&std::ffi::CStr>,
    flags: u64,
) -> io::Result<()> {
    let kind = kind.map_or(ptr::null(), std::ffi::CStr::as_ptr);
    let to = c(&at.inside);
    refused(unsafe { libc::mount(from.as_ptr(), to.as_ptr(), kind, flags, ptr::null()) }.into())
}

fn refused(result: i64) -> io::Result<()> {
    let error = io::Error::last_os_error();
    match (result, error.raw_os_error()) {
        (..0, Some(libc::EPERM | libc::ENOSYS | libc::EACCES)) => Err(error),
        _ => Ok(()),
    }
}
