//! Commands of the shell tool in the sandbox of the system.

use std::{fs, path::Path};

use agcore_sandbox::Support;
use serde_json::json;

use crate::support::{Agcore, RunOutput};

/// Runs a command line that changes a file outside of the folder.
fn write_outside(agcore: &Agcore, file: &Path, is_outside: bool, options: &[&str]) -> RunOutput {
    let mut arguments = json!({"command": format!("echo x > {}", file.display())});
    if is_outside {
        arguments["outside"] = json!(true);
    }
    let arguments = arguments.to_string();
    agcore.run([&["tools", "call", "shell", &*arguments], options].concat())
}

/// Returns whether the tests can run, and states the reason if they cannot.
#[expect(clippy::print_stdout, reason = "a skipped test states why")]
fn has_sandbox() -> bool {
    let missing = Support::of_system().missing.as_ref();
    missing.inspect(|reason| println!("skipped: {reason}")).is_none()
}

#[test]
fn commands_change_only_the_folder_unless_the_sandbox_is_off() {
    if !has_sandbox() {
        return;
    }
    let (agcore, other) = (Agcore::new(), tempfile::tempdir().unwrap());
    let file = other.path().join("file");
    let ran = write_outside(&agcore, &file, false, &["--yes"]);
    let output = ran.assert_success();
    assert!(!file.exists() && !output.starts_with("exit code 0"), "{output}");
    assert!(
        output.contains(
            "(Probably refused by the sandbox: the sandbox writes only the workspace and a temporary folder."
        ),
        "{output}"
    );
    let inside = agcore.directory.path().join("inside");
    write_outside(&agcore, &inside, false, &["--yes"]).assert_success();
    assert_eq!(fs::read_to_string(inside).unwrap(), "x\n");
    let ran = write_outside(&agcore, &file, false, &["--yes", "--sandbox", "off"]);
    assert_eq!(ran.assert_success(), "exit code 0\n");
    assert!(file.exists());
}

#[test]
fn a_command_outside_the_sandbox_needs_a_person() {
    if !has_sandbox() {
        return;
    }
    let other = tempfile::tempdir().unwrap();
    let agcore = Agcore::new().with_file("rules.toml", "[permissions]\nallow = ['shell']\n");
    let file = other.path().join("file");
    let ran = write_outside(&agcore, &file, true, &["--yes"]);
    ran.assert_failed(1, &["shell was denied"]);
    let ran = write_outside(&agcore, &file, true, &["--config", "rules.toml"]);
    ran.assert_failed(6, &["shell was denied"]);
    assert!(!file.exists());
}

#[test]
fn the_settings_of_the_folder_widen_and_tighten_the_sandbox() {
    if !has_sandbox() {
        return;
    }
    let other = tempfile::tempdir().unwrap();
    let file = other.path().join("file");
    let table = format!("[sandbox]\nwrite = [{:?}]\n", other.path());
    let agcore = Agcore::new().with_file("agcore.toml", &table);
    // A cloned repository must not open the sandbox.
    write_outside(&agcore, &file, false, &["--yes"]);
    assert!(!file.exists());
    write_outside(&agcore, &file, false, &["--yes", "--trust-folder"]).assert_success();
    assert!(file.exists());
    let agcore = Agcore::new().with_file("agcore.toml", "[sandbox]\nmode = 'strict'\n");
    let arguments = json!({"command": format!("cat {}", file.display())}).to_string();
    let read = agcore.run(["tools", "call", "shell", &*arguments, "--yes"]);
    assert!(read.assert_success().contains("ermission denied"), "{}", read.stdout);
}
