//! Filters of system calls: those that no command needs to build and test, and that lead out of a sandbox or into rarely used parts
//! of the kernel.

use std::{collections::BTreeMap, env::consts::ARCH};

use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen::Dword, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, sock_filter,
};

/// The options of the filters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Wanted {
    /// Whether sockets of the internet may be created.
    pub(super) internet: bool,
    /// Whether processes may trace those that they started.
    pub(super) tracing: bool,
}

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Calls that fail with `EPERM`.
const DENIED: &[i64] = &[
    // Mounts and roots.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_setns,
    // Other processes.
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    // Keys of the user's session.
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    // Files without a path.
    libc::SYS_open_by_handle_at,
    // The kernel.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_fanotify_init,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_reboot,
    libc::SYS_syslog,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_vhangup,
    libc::SYS_lookup_dcookie,
    libc::SYS_nfsservctl,
    libc::SYS_move_pages,
    libc::SYS_migrate_pages,
];

/// Calls of some architectures that fail with `EPERM`.
const DENIED_HERE: &[i64] = &[
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    libc::SYS_kexec_file_load,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_uselib,
];

/// Calls that fail as if the kernel did not have them, so that programs use older ones. Their arguments are in memory, where
/// a filter cannot see them.
const MISSING: &[i64] = &[
    libc::SYS_clone3,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
];

/// The namespaces that `clone` can create. That of time is a signal for `clone`, which therefore cannot create it.
const NAMESPACES: &[i32] = &[
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWNS,
    libc::CLONE_NEWNET,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWCGROUP,
];

const NEW_TIME: i32 = 0x80;

/// Requests to a terminal: typing into it, and copying from it.
const TERMINAL_REQUESTS: &[u64] = &[0x5412, 0x541c];

/// Compiles the filters.
///
/// # Errors
/// When there are none for this processor.
pub(super) fn filters(wanted: Wanted) -> Result<Vec<BpfProgram>, BackendError> {
    let arch: TargetArch = ARCH.try_into()?;
    let compiled = |rules, action: SeccompAction| -> Result<BpfProgram, BackendError> {
        SeccompFilter::new(rules, SeccompAction::Allow, action, arch)?.try_into()
    };
    let mut filters = vec![
        compiled(denied(wanted)?, SeccompAction::Errno(libc::EPERM as u32))?,
        compiled(missing(), SeccompAction::Errno(libc::ENOSYS as u32))?,
    ];
    filters.extend(cfg!(target_arch = "x86_64").then(without_x32));
    Ok(filters)
}

fn missing() -> Rules {
    MISSING.iter().map(|call| (*call, Vec::new())).collect()
}

fn denied(wanted: Wanted) -> Result<Rules, BackendError> {
    let calls = DENIED.iter().chain(DENIED_HERE);
    let mut rules: Rules = calls.map(|call| (*call, Vec::new())).collect();
    if !wanted.tracing {
        rules.insert(libc::SYS_ptrace, Vec::new());
    }
    let flag = |flag: i32| has_bits(0, flag as u64);
    let clone = NAMESPACES.iter().map(|bit| flag(*bit));
    rules.insert(libc::SYS_clone, clone.collect::<Result<_, _>>()?);
    let unshare = NAMESPACES.iter().chain(&[NEW_TIME]).map(|bit| flag(*bit));
    rules.insert(libc::SYS_unshare, unshare.collect::<Result<_, _>>()?);
    let requests = TERMINAL_REQUESTS.iter().map(|request| {
        let condition = SeccompCondition::new(1, Dword, SeccompCmpOp::Eq, *request)?;
        SeccompRule::new(vec![condition])
    });
    rules.insert(libc::SYS_ioctl, requests.collect::<Result<_, _>>()?);
    rules.insert(libc::SYS_socket, sockets(wanted.internet)?);
    rules.insert(libc::SYS_socketpair, pairs()?);
    Ok(rules)
}

/// Returns the rules for sockets that are denied: of all families but a few, and raw ones. Those of the Unix domain would reach
/// services that act for the user, such as Docker, agents with keys, and the bus of the session.
fn sockets(internet: bool) -> Result<Vec<SeccompRule>, BackendError> {
    let mut families = vec![libc::AF_NETLINK];
    if internet {
        families.extend([libc::AF_INET, libc::AF_INET6]);
    }
    let other = families
        .iter()
        .map(|family| SeccompCondition::new(0, Dword, SeccompCmpOp::Ne, *family as u64));
    let other = SeccompRule::new(other.collect::<Result<_, _>>()?)?;
    // The route family shows addresses and interfaces, which programs list before they resolve a name.
    let netlink = SeccompRule::new(vec![
        SeccompCondition::new(0, Dword, SeccompCmpOp::Eq, libc::AF_NETLINK as u64)?,
        SeccompCondition::new(2, Dword, SeccompCmpOp::Ne, libc::NETLINK_ROUTE as u64)?,
    ])?;
    let mut rules = vec![other, netlink];
    if internet {
        for family in [libc::AF_INET, libc::AF_INET6] {
            rules.push(SeccompRule::new(vec![
                SeccompCondition::new(0, Dword, SeccompCmpOp::Eq, family as u64)?,
                SeccompCondition::new(1, Dword, SeccompCmpOp::MaskedEq(KIND), libc::SOCK_RAW as u64)?,
            ])?);
        }
    }
    Ok(rules)
}

/// The part of the type of a socket that is not a flag.
const KIND: u64 = 0xf;

/// Returns the rules for pairs of sockets that are denied. A pair for datagrams can send to the socket of a service.
fn pairs() -> Result<Vec<SeccompRule>, BackendError> {
    Ok(vec![
        SeccompRule::new(vec![SeccompCondition::new(
            0,
            Dword,
            SeccompCmpOp::Ne,
            libc::AF_UNIX as u64,
        )?])?,
        SeccompRule::new(vec![SeccompCondition::new(
            1,
            Dword,
            SeccompCmpOp::MaskedEq(KIND),
            libc::SOCK_DGRAM as u64,
        )?])?,
    ])
}

fn has_bits(argument: u8, bits: u64) -> Result<SeccompRule, BackendError> {
    let condition = SeccompCondition::new(argument, Dword, SeccompCmpOp::MaskedEq(bits), bits)?;
    SeccompRule::new(vec![condition])
}

/// Returns a filter that ends processes which use the numbers of the x32 interface: other numbers for the same calls.
fn without_x32() -> BpfProgram {
    const LOAD: u16 = 0x20;
    const JUMP_IF_AT_LEAST: u16 = 0x35;
    const RETURN: u16 = 0x06;
    const FIRST: u32 = 0x4000_0000;
    let instruction = |code, jt, jf, k| sock_filter { code, jt, jf, k };
    vec![
        // The number of the call.
        instruction(LOAD, 0, 0, 0),
        instruction(JUMP_IF_AT_LEAST, 0, 1, FIRST),
        instruction(RETURN, 0, 0, libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32),
        instruction(RETURN, 0, 0, libc::SECCOMP_RET_ALLOW),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_fit_into_the_kernel() {
        for internet in [true, false] {
            let filters = filters(Wanted {
                internet,
                tracing: false,
            });
            let filters = filters.unwrap();
            assert!(filters.iter().all(|filter| !filter.is_empty() && filter.len() < 4096));
        }
    }
}
