//! The child between `fork` and `exec`, where it confines itself.
//!
//! A process with several threads may fork while another thread holds a lock, such as that of the allocator, which the child can
//! then never take. So the child only makes system calls with data that its parent has prepared in a [`Plan`]: it neither
//! allocates nor locks nor panics. A program of its own that confines itself and then runs the command could do more, but every
//! program that uses this library would have to contain it, and each start would load a program twice.
#![expect(unsafe_code, reason = "system calls without a safe form that works after fork")]

use std::{
    ffi::{CStr, CString},
    io,
    mem::{size_of, zeroed},
    os::{
        fd::{AsRawFd, OwnedFd},
        unix::process::CommandExt,
    },
    process::Command,
    ptr,
};

use libc::{c_int, c_long, c_ulong};
use seccompiler::BpfProgram;

/// The capabilities of root that concern the owners and modes of files, as a set of bits: those of root that is not in a user
/// namespace are kept, so that it can work in a folder of another user.
const FILE_CAPABILITIES: u32 = 0b1_1011;

/// Everything that a child needs to confine itself.
pub(super) struct Plan {
    /// The mounts of its own mount namespace, or `None` if it has no namespaces.
    pub(super) mounts: Option<Vec<Mount>>,
    /// Whether it gets a network namespace with a loopback interface.
    pub(super) own_network: bool,
    pub(super) processes: Option<u64>,
    pub(super) memory: Option<u64>,
    pub(super) ruleset: OwnedFd,
    pub(super) filters: Vec<BpfProgram>,
}

/// A change of the mounts.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Mount {
    /// Shows a file or folder, with all mounts below it, at a place.
    Bind { from: CString, to: CString },
    /// Makes all mounts read-only.
    AllReadOnly,
    /// Makes a mount and those below it writable, unless they were read-only before.
    Writable(CString),
    /// Makes a mount and those below it read-only.
    ReadOnly(CString),
}

/// Lets the child of a command confine itself before it runs the program.
pub(super) fn confine(command: &mut Command, plan: Plan) {
    // SAFETY: `enter` makes system calls only.
    unsafe { command.pre_exec(move || enter(&plan)) };
}

/// Returns the version of the interface of Landlock, or `None` if the kernel does not have or use it.
pub(super) fn landlock_version() -> Option<u32> {
    const VERSION: c_int = 1;
    // SAFETY: without attributes, the call returns the version.
    let found = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, ptr::null::<()>(), 0_usize, VERSION) };
    u32::try_from(found).ok().filter(|version| *version > 0)
}

/// Returns whether the kernel has filters of system calls.
pub(super) fn has_filters() -> bool {
    const AVAILABLE: c_int = 2; // SECCOMP_GET_ACTION_AVAIL
    let action: u32 = libc::SECCOMP_RET_ERRNO;
    // SAFETY: the call reads the action.
    unsafe { libc::syscall(libc::SYS_seccomp, AVAILABLE, 0, &raw const action) == 0 }
}

/// Returns whether the user is root.
pub(super) fn is_root() -> bool {
    // SAFETY: this call cannot fail.
    unsafe { libc::geteuid() == 0 }
}

/// Lets the child of a command enter namespaces only, to find out whether it can.
pub(super) fn try_namespaces(command: &mut Command) {
    // SAFETY: `enter_namespaces` makes system calls only.
    unsafe { command.pre_exec(|| enter_namespaces(&[Mount::AllReadOnly], true)) };
}

fn enter(plan: &Plan) -> io::Result<()> {
    close_descriptors()?;
    if let Some(mounts) = &plan.mounts {
        enter_namespaces(mounts, plan.own_network)?;
    }
    limit(libc::RLIMIT_NPROC, plan.processes)?;
    limit(libc::RLIMIT_DATA, plan.memory)?;
    // The memory of a process that crashed does not belong into a file.
    limit(libc::RLIMIT_CORE, Some(0))?;
    // SAFETY: plain numbers.
    check(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) })?;
    drop_capabilities(plan.mounts.is_some())?;
    // SAFETY: the descriptor is open.
    check_long(unsafe { libc::syscall(libc::SYS_landlock_restrict_self, plan.ruleset.as_raw_fd(), 0) })?;
    plan.filters.iter().try_for_each(install)
}

/// Closes all descriptors except the first three when the program starts.
fn close_descriptors() -> io::Result<()> {
    // SAFETY: plain numbers.
    check_long(unsafe {
        libc::syscall(
            libc::SYS_close_range,
            3,
            libc::c_uint::MAX,
            libc::CLOSE_RANGE_CLOEXEC as c_int,
        )
    })
}

fn enter_namespaces(mounts: &[Mount], own_network: bool) -> io::Result<()> {
    let mut folder = [0; libc::PATH_MAX as usize];
    // SAFETY: the buffer is as long as stated. The system call, unlike the function of libc, never allocates.
    let length = unsafe { libc::syscall(libc::SYS_getcwd, folder.as_mut_ptr(), folder.len()) };
    // SAFETY: these calls cannot fail.
    let (user, group) = unsafe { (libc::geteuid(), libc::getegid()) };
    let network = if own_network { libc::CLONE_NEWNET } else { 0 };
    // SAFETY: a child has one thread.
    check(unsafe { libc::unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWNS | libc::CLONE_NEWIPC | network) })?;
    // The files of a process that may not be dumped, such as one that has changed its user, are those of root.
    // SAFETY: plain numbers. The program that is run starts with the default again.
    check(unsafe { libc::prctl(libc::PR_SET_DUMPABLE, 1, 0, 0, 0) })?;
    write_file(c"/proc/self/setgroups", b"deny")?;
    write_map(c"/proc/self/uid_map", user)?;
    write_map(c"/proc/self/gid_map", group)?;
    if own_network {
        start_loopback()?;
    }
    let private = libc::MS_REC | libc::MS_PRIVATE;
    mount(None, c"/", private)?;
    mounts.iter().try_for_each(change_mounts)?;
    if length > 0 {
        // What is mounted over the folder is not seen from a handle that is older. If the folder is not visible any more, the old
        // one stays: read-only, and subject to the same rules.
        // SAFETY: the kernel has ended the path with a zero.
        let _ = unsafe { libc::chdir(folder.as_ptr()) };
    }
    Ok(())
}

fn change_mounts(change: &Mount) -> io::Result<()> {
    const READ_ONLY: u64 = libc::MOUNT_ATTR_RDONLY;
    match change {
        Mount::Bind { from, to } => mount(Some(from), to, libc::MS_BIND | libc::MS_REC),
        Mount::AllReadOnly => set_attributes(c"/", (READ_ONLY, 0), true),
        Mount::ReadOnly(path) => set_attributes(path, (READ_ONLY, 0), true),
        Mount::Writable(path) => match set_attributes(path, (0, READ_ONLY), true) {
            // One below it was read-only before: then only this one.
            Err(error) if error.raw_os_error() == Some(libc::EPERM) => {
                match set_attributes(path, (0, READ_ONLY), false) {
                    Err(error) if error.raw_os_error() == Some(libc::EPERM) => Ok(()),
                    result => result,
                }
            }
            result => result,
        },
    }
}

fn mount(from: Option<&CStr>, to: &CStr, flags: c_ulong) -> io::Result<()> {
    let from = from.map_or(ptr::null(), CStr::as_ptr);
    // SAFETY: the paths end with a zero.
    check(unsafe { libc::mount(from, to.as_ptr(), ptr::null(), flags, ptr::null()) })
}

/// Sets and clears attributes of a mount, or of all below it as well.
fn set_attributes(path: &CStr, (set, clear): (u64, u64), below: bool) -> io::Result<()> {
    let attributes = libc::mount_attr {
        attr_set: set,
        attr_clr: clear,
        propagation: 0,
        userns_fd: 0,
    };
    let flags = if below { libc::AT_RECURSIVE } else { 0 };
    // SAFETY: the size is that of the structure.
    check_long(unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            libc::AT_FDCWD,
            path.as_ptr(),
            flags,
            &raw const attributes,
            size_of::<libc::mount_attr>(),
        )
    })
}

/// Maps one id to itself: `1000 1000 1`.
fn write_map(path: &CStr, id: u32) -> io::Result<()> {
    let mut digits = [0; 10];
    let mut start = digits.len();
    let mut rest = id;
    loop {
        start -= 1;
        digits[start] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    let digits = &digits[start..];
    let mut line = [0; 24];
    let mut length = 0;
    for part in [digits, b" ", digits, b" 1"] {
        line[length..length + part.len()].copy_from_slice(part);
        length += part.len();
    }
    write_file(path, &line[..length])
}

fn write_file(path: &CStr, content: &[u8]) -> io::Result<()> {
    // SAFETY: the path ends with a zero.
    let file = unsafe { libc::open(path.as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC) };
    check(file)?;
    // SAFETY: the length is that of the content.
    let written = unsafe { libc::write(file, content.as_ptr().cast(), content.len()) };
    let result = check_long(written as c_long);
    // SAFETY: the descriptor was opened here.
    unsafe { libc::close(file) };
    result
}

fn start_loopback() -> io::Result<()> {
    // SAFETY: plain numbers.
    let socket = unsafe { libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0) };
    check(socket)?;
    // SAFETY: a request of zeros is valid.
    let mut request: libc::ifreq = unsafe { zeroed() };
    request.ifr_name[0] = b'l' as libc::c_char;
    request.ifr_name[1] = b'o' as libc::c_char;
    request.ifr_ifru.ifru_flags = libc::IFF_UP as libc::c_short;
    // SAFETY: the request has the type that the call reads.
    let result = check(unsafe { libc::ioctl(socket, libc::SIOCSIFFLAGS, &raw const request) });
    // SAFETY: the descriptor was opened here.
    unsafe { libc::close(socket) };
    result
}

/// Lowers a limit, unless it is lower already.
fn limit(resource: libc::__rlimit_resource_t, value: Option<u64>) -> io::Result<()> {
    let Some(value) = value else {
        return Ok(());
    };
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: the limit has the type that the call writes.
    check(unsafe { libc::getrlimit(resource, &raw mut limit) })?;
    limit.rlim_max = limit.rlim_max.min(value);
    limit.rlim_cur = limit.rlim_cur.min(value);
    // SAFETY: the limit has the type that the call reads.
    check(unsafe { libc::setrlimit(resource, &raw const limit) })
}

/// Gives up all capabilities, also for programs that root starts later. Root that is not in a user namespace keeps those for files.
fn drop_capabilities(in_namespace: bool) -> io::Result<()> {
    #[repr(C)]
    struct Header {
        version: u32,
        pid: c_int,
    }
    #[repr(C)]
    #[derive(Clone, Copy)]
    struct Sets {
        effective: u32,
        permitted: u32,
        inheritable: u32,
    }
    const VERSION: u32 = 0x2008_0522;
    // SAFETY: this call cannot fail.
    let is_root = unsafe { libc::geteuid() } == 0;
    let kept = if is_root && !in_namespace { FILE_CAPABILITIES } else { 0 };
    for capability in 0..64_u32 {
        if capability < 32 && kept & (1 << capability) != 0 {
            continue;
        }
        // SAFETY: plain numbers. It fails for a process that has no capabilities, and for numbers that are not used.
        unsafe { libc::prctl(libc::PR_CAPBSET_DROP, c_ulong::from(capability), 0, 0, 0) };
    }
    // SAFETY: plain numbers.
    unsafe { libc::prctl(libc::PR_CAP_AMBIENT, libc::PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) };
    let header = Header {
        version: VERSION,
        pid: 0,
    };
    let none = Sets {
        effective: 0,
        permitted: 0,
        inheritable: 0,
    };
    let first = Sets {
        effective: kept,
        permitted: kept,
        inheritable: 0,
    };
    let sets = [first, none];
    // SAFETY: this version has two structures of sets.
    let result = check_long(unsafe { libc::syscall(libc::SYS_capset, &raw const header, sets.as_ptr()) });
    match result {
        // A root that lacks one of those that it would keep.
        Err(_) if kept != 0 => {
            let sets = [none, none];
            // SAFETY: as above.
            check_long(unsafe { libc::syscall(libc::SYS_capset, &raw const header, sets.as_ptr()) })
        }
        result => result,
    }
}

fn install(filter: &BpfProgram) -> io::Result<()> {
    let program = libc::sock_fprog {
        len: filter.len() as u16,
        // The kernel only reads the filter, whose instructions have the same layout.
        filter: filter.as_ptr().cast_mut().cast(),
    };
    // SAFETY: the length is that of the filter.
    check_long(unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, 0, &raw const program) })
}

fn check(result: c_int) -> io::Result<()> {
    check_long(c_long::from(result))
}

/// Returns the error of the last call if its result is negative.
fn check_long(result: c_long) -> io::Result<()> {
    match result {
        0.. => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
