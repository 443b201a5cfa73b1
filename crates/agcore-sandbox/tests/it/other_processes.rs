//! Attempts to use other processes.
#![expect(unsafe_code, reason = "attempts are system calls")]

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read, Write},
    mem::ManuallyDrop,
    os::fd::FromRawFd,
    process::Command,
    ptr,
};

use crate::{
    attempt::{Attempt, never, real, with_namespaces},
    files::check,
};

/// The descriptor of `outside/victim` that the parent leaves open.
pub(crate) const INHERITED: i32 = 77;
/// The key of shared memory of the parent.
pub(crate) const SHARED_MEMORY: i32 = 0x6167_636f;

pub(crate) const ATTEMPTS: &[Attempt] = &[
    real("attach to the parent", |at| {
        check(unsafe { libc::ptrace(libc::PTRACE_ATTACH, at.parent, 0, 0) } as i32)?;
        unsafe {
            libc::waitpid(at.parent, ptr::null_mut(), libc::__WALL);
            libc::ptrace(libc::PTRACE_DETACH, at.parent, 0, 0);
        }
        Ok(())
    }),
    real("seize the parent", |at| {
        check(unsafe { libc::ptrace(libc::PTRACE_SEIZE, at.parent, 0, 0) } as i32)
    }),
    real("read the memory of the parent", |at| {
        File::open(format!("/proc/{}/mem", at.parent)).map(drop)
    }),
    real("write the memory of the parent", |at| {
        OpenOptions::new()
            .write(true)
            .open(format!("/proc/{}/mem", at.parent))
            .map(drop)
    }),
    real("read the variables of the parent", |at| {
        File::open(format!("/proc/{}/environ", at.parent))?
            .read(&mut [0])
            .map(drop)
    }),
    real("read the mappings of the parent", |at| {
        File::open(format!("/proc/{}/maps", at.parent))?
            .read(&mut [0])
            .map(drop)
    }),
    never("process_vm_readv", |at| vm_call(libc::SYS_process_vm_readv, at.parent)),
    never("process_vm_writev", |at| {
        vm_call(libc::SYS_process_vm_writev, at.parent)
    }),
    real("take a descriptor of the parent", |at| {
        let parent = unsafe { libc::syscall(libc::SYS_pidfd_open, at.parent, 0) };
        check(parent as i32)?;
        check(unsafe { libc::syscall(libc::SYS_pidfd_getfd, parent, 0, 0) } as i32)
    }),
    real("compare with the parent", |at| {
        let own = std::process::id();
        check(unsafe { libc::syscall(libc::SYS_kcmp, own, at.parent, 2, 0, 0) } as i32)
    }),
    real("send a signal to the parent", |at| {
        check(unsafe { libc::kill(at.parent, libc::SIGURG) })
    }),
    real("send a signal to a thread of the parent", |at| {
        check(unsafe { libc::syscall(libc::SYS_tgkill, at.parent, at.parent, libc::SIGURG) } as i32)
    }),
    real("send a signal by a descriptor", |at| {
        let parent = unsafe { libc::syscall(libc::SYS_pidfd_open, at.parent, 0) };
        check(parent as i32)?;
        check(unsafe { libc::syscall(libc::SYS_pidfd_send_signal, parent, libc::SIGURG, 0, 0) } as i32)
    }),
    real("join the namespace of the parent", |at| {
        File::open(format!("/proc/{}/ns/mnt", at.parent)).map(drop)
    }),
    real("write to an inherited descriptor", |_| {
        let mut file = ManuallyDrop::new(unsafe { File::from_raw_fd(INHERITED) });
        file.write_all(b"x")
    }),
    with_namespaces("shared memory of the parent", |_| {
        check(unsafe { libc::shmget(SHARED_MEMORY, 4096, 0) })
    }),
    real("run a program from memory", |at| {
        // It runs, but is confined as well.
        let memory = unsafe { libc::memfd_create(c"sh".as_ptr(), 0) };
        check(memory)?;
        let path = format!("/proc/self/fd/{memory}");
        fs::write(&path, fs::read("/bin/sh")?)?;
        let target = at.outside.join("new");
        Command::new(&path)
            .arg("-c")
            .arg(format!("echo x > {}", target.display()))
            .output()?;
        fs::metadata(target).map(drop)
    }),
    real("run a program in the background", |at| {
        let target = at.outside.join("new");
        let line = format!("(setsid sh -c 'echo x > {}' &) ; wait", target.display());
        Command::new("/bin/sh").arg("-c").arg(line).output()?;
        fs::metadata(target).map(drop)
    }),
];

fn vm_call(call: i64, parent: i32) -> io::Result<()> {
    let mut byte = 0_u8;
    let local = libc::iovec {
        iov_base: (&raw mut byte).cast(),
        iov_len: 1,
    };
    check(unsafe { libc::syscall(call, parent, &raw const local, 1, &raw const local, 1, 0) } as i32)
}
