//! Keeping a process on one core: where a wake-up costs nothing, a request and its reply cost what they need.

use crate::Fallible;

/// Keeps this process on a core.
#[cfg(target_os = "linux")]
pub(crate) fn stay_on(core: usize) -> Fallible {
    let mut cores = rustix::thread::CpuSet::new();
    cores.set(core);
    Ok(rustix::thread::sched_setaffinity(None, &cores)?)
}

/// The last core that this process may use.
#[cfg(target_os = "linux")]
pub(crate) fn last() -> Fallible<Option<usize>> {
    let cores = rustix::thread::sched_getaffinity(None)?;
    let all = 0..rustix::thread::CpuSet::MAX_CPU;
    Ok(all.rev().find(|core| cores.is_set(*core)))
}

/// Elsewhere nothing is pinned.
#[cfg(not(target_os = "linux"))]
pub(crate) fn stay_on(_: usize) -> Fallible {
    Ok(())
}

/// Elsewhere nothing is pinned.
#[cfg(not(target_os = "linux"))]
pub(crate) fn last() -> Fallible<Option<usize>> {
    Ok(None)
}
