//! Pinning a process to a core, which removes the cost of wake-ups across cores from the measurement.

use crate::Fallible;

/// Pins this process to a core.
#[cfg(target_os = "linux")]
pub fn pin_to(core: usize) -> Fallible {
    let mut cores = rustix::thread::CpuSet::new();
    cores.set(core);
    Ok(rustix::thread::sched_setaffinity(None, &cores)?)
}

/// Returns the last core that this process may use.
#[cfg(target_os = "linux")]
pub fn last() -> Fallible<Option<usize>> {
    let cores = rustix::thread::sched_getaffinity(None)?;
    let all = 0..rustix::thread::CpuSet::MAX_CPU;
    Ok(all.rev().find(|core| cores.is_set(*core)))
}

/// Does nothing, because pinning requires Linux.
#[cfg(not(target_os = "linux"))]
pub fn pin_to(_: usize) -> Fallible {
    Ok(())
}

/// Returns `None`, because pinning requires Linux.
#[cfg(not(target_os = "linux"))]
pub fn last() -> Fallible<Option<usize>> {
    Ok(None)
}
