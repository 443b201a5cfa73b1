//! Everyday work of commands in a sandbox.

use std::{env, fs, path::Path, process::Command};

use agcore_sandbox::{Mode, Network, Policy, Sandbox};

use crate::attempt::{Scene, Setup, confined, support};

const SETUPS: [Setup; 5] = [
    Setup::Full,
    Setup::Strict,
    Setup::Online,
    Setup::Plain,
    Setup::OtherUser,
];

fn sandbox(scene: &Scene, setup: Setup) -> Option<Sandbox> {
    let support = support(setup)?;
    let mode = if setup == Setup::Strict {
        Mode::Strict
    } else {
        Mode::Workspace
    };
    let network = if setup == Setup::Online {
        Network::On
    } else {
        Network::Off
    };
    Some(Sandbox::with_support(scene.policy(mode, network), support).unwrap())
}

fn run(sandbox: &Sandbox, setup: Setup, folder: &Path, line: &str) -> String {
    let mut command: Command = confined(sandbox, "/bin/sh".as_ref(), setup);
    let output = command.args(["-c", line]).current_dir(folder).output().unwrap();
    String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
}

#[track_caller]
fn check(setup: Setup, line: &str, expected: &str) {
    let scene = Scene::new();
    if let Some(sandbox) = sandbox(&scene, setup) {
        assert_eq!(
            run(&sandbox, setup, &scene.inside(), line),
            expected,
            "{setup:?}: {line}"
        );
    }
}

#[test]
fn files_of_the_workspace_can_be_changed() {
    for setup in SETUPS {
        check(
            setup,
            "echo new > new && mkdir -p a/b && mv new a/b/x && ln -s x a/b/y && cat a/b/y",
            "new\n",
        );
        check(
            setup,
            "rm file && ln .git/other file 2>/dev/null; echo x > .git/other && cat .git/other",
            "x\n",
        );
        check(setup, "cat .git/config", "original");
        check(
            setup,
            "cp file copy && chmod 700 copy && touch copy && test -x copy && echo runs",
            "runs\n",
        );
    }
}

#[test]
fn temporary_files_pipes_and_devices_work() {
    for setup in SETUPS {
        if setup != Setup::OtherUser {
            check(setup, "f=$(mktemp) && echo x > $f && cat $f && rm $f", "x\n");
        }
        check(
            setup,
            "echo a > /dev/null; head -c 3 /dev/zero | wc -c | tr -d ' '",
            "3\n",
        );
        check(setup, "echo b | cat | (cat; echo c)", "b\nc\n");
        check(setup, "(exit 3); echo $?; kill -9 $$ & wait 2>/dev/null; echo", "3\n");
    }
}

#[test]
fn temporary_folders_of_the_system_are_private() {
    let Some(support) = support(Setup::Full).filter(|support| support.namespaces.is_ok()) else {
        return;
    };
    let sandbox = Sandbox::with_support(Policy::new(Mode::Workspace), support).unwrap();
    let name = format!("agcore-{}", std::process::id());
    let line = format!(
        "echo one > /tmp/{name} && echo two > /dev/shm/{name} && cat /tmp/{name} /dev/shm/{name}; echo $TMPDIR"
    );
    assert_eq!(run(&sandbox, Setup::Full, Path::new("/"), &line), "one\ntwo\n/tmp\n");
    assert!(!Path::new("/tmp").join(&name).exists() && !Path::new("/dev/shm").join(&name).exists());
    // The next command of the same sandbox finds the file.
    assert_eq!(
        run(&sandbox, Setup::Full, Path::new("/"), &format!("cat /tmp/{name}")),
        "one\n"
    );
    let other = Sandbox::new(Policy::new(Mode::Workspace)).unwrap();
    assert!(run(&other, Setup::Full, Path::new("/"), &format!("cat /tmp/{name}")).contains("No such file"));
}

#[test]
fn the_temporary_folder_is_removed_with_the_sandbox() {
    if support(Setup::Full).is_none() {
        return;
    }
    let scene = Scene::new();
    // The workspace is below /tmp, so the folder has its real name.
    let sandbox = Sandbox::new(Policy::new(Mode::Workspace).with_write(scene.inside())).unwrap();
    let path = run(&sandbox, Setup::Full, &scene.inside(), "echo $TMPDIR");
    if scene.inside().starts_with("/tmp") {
        assert!(Path::new(path.trim()).is_dir(), "{path}");
        drop(sandbox);
        assert!(!Path::new(path.trim()).exists(), "{path}");
    }
}

#[test]
fn the_strict_mode_does_not_read_other_files() {
    let line = "cat ../outside/victim";
    check(Setup::Full, line, "original");
    let scene = Scene::new();
    if let Some(sandbox) = sandbox(&scene, Setup::Strict) {
        let output = run(&sandbox, Setup::Strict, &scene.inside(), line);
        assert!(output.contains("ermission denied"), "{output}");
        let hint = sandbox.hint(&output).unwrap();
        assert_eq!(
            hint,
            "the sandbox reads only the system and the workspace, and writes only the workspace and a temporary folder"
        );
    }
}

#[test]
fn without_network_there_is_a_loopback_interface() {
    let Some(support) = support(Setup::Full).filter(|support| support.namespaces.is_ok()) else {
        return;
    };
    let Some(python) = ["/usr/bin/python3", "/usr/local/bin/python3"]
        .iter()
        .find(|path| Path::new(path).exists())
    else {
        println!("skipped: python3 is not installed");
        return;
    };
    let scene = Scene::new();
    let sandbox = Sandbox::with_support(scene.policy(Mode::Workspace, Network::Off), support).unwrap();
    let program = "import socket\ns = socket.create_server(('127.0.0.1', 0))\nc = socket.create_connection(s.getsockname())\nprint('connected')";
    let mut command = sandbox.command(python).unwrap();
    let output = command
        .args(["-c", program])
        .current_dir(scene.inside())
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "connected\n", "{output:?}");
}

#[test]
fn the_off_mode_confines_nothing() {
    let scene = Scene::new();
    let sandbox = Sandbox::new(Policy::new(Mode::Off)).unwrap();
    let output = run(
        &sandbox,
        Setup::Full,
        &scene.inside(),
        "echo x > ../outside/new && echo done",
    );
    assert_eq!((output.as_str(), sandbox.hint("Permission denied")), ("done\n", None));
    assert!(fs::exists(scene.outside().join("new")).unwrap());
}

#[test]
fn programs_that_do_not_exist_are_reported() {
    let scene = Scene::new();
    if let Some(sandbox) = sandbox(&scene, Setup::Full) {
        let error = sandbox
            .command("/nonexistent")
            .unwrap()
            .current_dir(env::temp_dir())
            .spawn()
            .unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
    }
}
