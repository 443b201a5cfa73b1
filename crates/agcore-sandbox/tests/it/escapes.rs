//! The attempts to escape, in every setup. Each attempt that can be made safely is also made without a sandbox, where it must succeed.
#![expect(unsafe_code, reason = "the parent leaves a descriptor and shared memory behind")]

use std::{
    env, fs,
    net::{TcpListener, UdpSocket},
    os::{
        fd::AsRawFd,
        unix::{
            fs::PermissionsExt,
            net::{UnixDatagram, UnixListener},
        },
    },
    process::Command,
    sync::LazyLock,
    thread,
};

use agcore_sandbox::{Mode, Network, Sandbox};

use crate::{
    attempt::{self, Attempt, Outcome, Scene, Setup, confined, make, outcome, support},
    files, kernel, network, other_processes,
};

const ALL: &[&[Attempt]] = &[
    files::ATTEMPTS,
    kernel::ATTEMPTS,
    other_processes::ATTEMPTS,
    network::OFFLINE,
    network::ALWAYS,
];

/// Makes an attempt, if this process was started for one.
#[test]
fn attempt() {
    make(ALL);
}

#[test]
fn there_are_many_attempts_with_names_of_their_own() {
    let names: Vec<&str> = ALL
        .iter()
        .flat_map(|attempts| attempts.iter().map(|attempt| attempt.name))
        .collect();
    let mut unique = names.clone();
    unique.sort_unstable();
    unique.dedup();
    assert_eq!(unique.len(), names.len());
    assert!(names.len() >= 100, "{}", names.len());
}

/// Services of the parent that attempts try to reach.
struct Services {
    port: u16,
    _sockets: (UnixListener, UnixDatagram, Option<UnixListener>),
}

impl Services {
    fn start(scene: &Scene) -> Self {
        static PORT: LazyLock<u16> = LazyLock::new(listen);
        let path = |name: &str| scene.outside().join(name);
        let sockets = (
            UnixListener::bind(path("socket")).unwrap(),
            UnixDatagram::bind(path("datagrams")).unwrap(),
            // Another test of this process may have it already.
            UnixListener::bind_addr(&network::abstract_name(std::process::id() as i32)).ok(),
        );
        for name in ["socket", "datagrams"] {
            fs::set_permissions(path(name), fs::Permissions::from_mode(0o777)).unwrap();
        }
        let victim = fs::OpenOptions::new().append(true).open(path("victim")).unwrap();
        // Descriptors that are made this way stay open in programs that are started.
        unsafe { libc::dup2(victim.as_raw_fd(), other_processes::INHERITED) };
        unsafe { libc::shmget(other_processes::SHARED_MEMORY, 4096, libc::IPC_CREAT | 0o666) };
        Self {
            port: *PORT,
            _sockets: sockets,
        }
    }
}

/// Starts services for TCP and UDP on one port, which run as long as this process.
fn listen() -> u16 {
    loop {
        let datagrams = UdpSocket::bind("127.0.0.1:0").unwrap();
        let port = datagrams.local_addr().unwrap().port();
        if let Ok(listener) = TcpListener::bind(("127.0.0.1", port)) {
            thread::spawn(move || {
                while let Ok((_, from)) = datagrams.recv_from(&mut [0]) {
                    let _ = datagrams.send_to(b"y", from);
                }
                drop(listener);
            });
            return port;
        }
    }
}

/// Makes all attempts of a list in a setup, and fails with those that were not denied.
#[track_caller]
fn check(attempts: &[Attempt], setup: Setup) {
    let Some(support) = support(setup) else {
        return;
    };
    // Tracers of the parent would disturb each other.
    let (program, mut wrong) = (env::current_exe().unwrap(), Vec::new());
    for attempt in attempts {
        if attempt.needs_namespaces && support.namespaces.is_err() {
            continue;
        }
        let scene = Scene::new();
        let services = Services::start(&scene);
        let (mode, network) = match setup {
            Setup::Strict => (Mode::Strict, Network::Off),
            Setup::Online => (Mode::Workspace, Network::On),
            _ => (Mode::Workspace, Network::Off),
        };
        let sandbox = Sandbox::with_support(scene.policy(mode, network), support.clone()).unwrap();
        let mut command = confined(&sandbox, &program, setup);
        scene.prepare(&mut command, attempt.name, services.port);
        let found = outcome(command);
        // The calls of 32-bit programs end a process.
        if found != Outcome::Denied && !matches!(&found, Outcome::Ended(text) if text.contains("SIGSYS")) {
            wrong.push((attempt.name, found));
        }
        let outside = scene.outside();
        let is_unchanged = fs::read(outside.join("victim")).is_ok_and(|content| content == b"original");
        if !is_unchanged || outside.join("new").exists() || !outside.join("empty").exists() {
            wrong.push((attempt.name, Outcome::Escaped));
        }
    }
    assert!(wrong.is_empty(), "not denied with {setup:?}: {wrong:#?}");
}

#[test]
fn attempts_are_real() {
    let program = env::current_exe().unwrap();
    let mut failed = Vec::new();
    for attempt in ALL
        .iter()
        .flat_map(|attempts| attempts.iter())
        .filter(|attempt| attempt.works_outside)
    {
        let scene = Scene::new();
        let services = Services::start(&scene);
        let mut command = Command::new(&program);
        scene.prepare(&mut command, attempt.name, services.port);
        let found = outcome(command);
        if found != Outcome::Escaped {
            failed.push((attempt.name, found));
        }
    }
    // A system may forbid to trace the parent, and containers more.
    let is_tracing = |name: &str| name.contains("parent") || name.contains("signal");
    failed.retain(|(name, _)| attempt::is_root() || !is_tracing(name));
    assert!(
        failed.is_empty(),
        "these attempts fail without a sandbox, too: {failed:#?}"
    );
}

macro_rules! suite {
    ($($name:ident: $attempts:expr, $setup:ident;)*) => {
        $(
            #[test]
            fn $name() {
                check($attempts, Setup::$setup);
            }
        )*
    };
}

suite! {
    files_cannot_be_used: files::ATTEMPTS, Full;
    files_cannot_be_used_in_the_strict_mode: files::ATTEMPTS, Strict;
    files_cannot_be_used_without_namespaces: files::ATTEMPTS, Plain;
    files_cannot_be_used_by_another_user: files::ATTEMPTS, OtherUser;
    calls_are_denied: kernel::ATTEMPTS, Full;
    calls_are_denied_without_namespaces: kernel::ATTEMPTS, Plain;
    calls_are_denied_for_another_user: kernel::ATTEMPTS, OtherUser;
    calls_are_denied_with_network: kernel::ATTEMPTS, Online;
    processes_cannot_be_used: other_processes::ATTEMPTS, Full;
    processes_cannot_be_used_in_the_strict_mode: other_processes::ATTEMPTS, Strict;
    processes_cannot_be_used_without_namespaces: other_processes::ATTEMPTS, Plain;
    processes_cannot_be_used_by_another_user: other_processes::ATTEMPTS, OtherUser;
    the_network_cannot_be_reached: network::OFFLINE, Full;
    the_network_cannot_be_reached_without_namespaces: network::OFFLINE, Plain;
    the_network_cannot_be_reached_by_another_user: network::OFFLINE, OtherUser;
    services_cannot_be_reached: network::ALWAYS, Full;
    services_cannot_be_reached_without_namespaces: network::ALWAYS, Plain;
    services_cannot_be_reached_with_network: network::ALWAYS, Online;
}
