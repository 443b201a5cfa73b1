//! Instructions in `AGENTS.md` and `CLAUDE.md`.

use std::fs;

use crate::support::{Agcore, Server};

/// Returns the instructions of the last request.
fn instructions(server: &Server) -> String {
    let request = server.requests().pop().unwrap();
    request.json()["messages"][0]["content"].as_str().unwrap().to_owned()
}

#[test]
fn follow_the_systems_instructions_if_the_folder_is_trusted() {
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server)
        .with_file("AGENTS.md", "Use tabs.")
        .with_file("CLAUDE.md", "Use spaces.");
    let run = |agcore: &Agcore, options: &[&str]| {
        let ran = agcore.run([&["chat", "hi", "--system", "Be brief."], options].concat());
        ran.assert_success();
        (instructions(&server), ran.stderr)
    };
    let (sent, stderr) = run(&agcore, &[]);
    assert_eq!(sent, "Be brief.");
    assert!(
        stderr.contains("warning: AGENTS.md is ignored, because this folder is not trusted"),
        "{stderr}"
    );

    let (sent, stderr) = run(&agcore, &["--trust-folder"]);
    assert!(sent.starts_with("Be brief.\n\n"), "{sent}");
    assert!(
        sent.ends_with("<project-file path=\"AGENTS.md\">\nUse tabs.\n</project-file>\n"),
        "{sent}"
    );
    assert!(
        !sent.contains("spaces") && !stderr.contains("warning"),
        "{sent}{stderr}"
    );

    let (sent, stderr) = run(&agcore, &["--no-context-files"]);
    assert_eq!(sent, "Be brief.");
    assert!(!stderr.contains("warning"), "{stderr}");
    fs::remove_file(agcore.directory.path().join("AGENTS.md")).unwrap();
    let (sent, _) = run(&agcore, &["--trust-folder"]);
    assert!(
        sent.contains("<project-file path=\"CLAUDE.md\">\nUse spaces.\n"),
        "{sent}"
    );
}

#[test]
fn those_of_the_user_come_first_and_need_no_trust() {
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server)
        .at_home()
        .with_file("AGENTS.md", "Use tabs.");
    let config = agcore.home.path().join("config/agcore");
    fs::create_dir_all(&config).unwrap();
    fs::write(config.join("AGENTS.md"), "Answer in 中文.\n@more.md\n@none.md\n").unwrap();
    fs::write(config.join("more.md"), "Be polite.").unwrap();
    let run = |options: &[&str]| {
        let ran = agcore.run([&["chat", "hi", "--system", "Be brief."], options].concat());
        ran.assert_success();
        (instructions(&server), ran.stderr)
    };
    let of_user = "Be brief.\n\n# Instructions of the user\n\nAnswer in 中文.\nBe polite.";
    let (sent, stderr) = run(&[]);
    assert_eq!(sent, of_user);
    assert!(stderr.contains("none.md ("), "{stderr}");
    let (sent, _) = run(&["--trust-folder"]);
    assert!(
        sent.starts_with(&format!("{of_user}\n\n# Instructions of the project")),
        "{sent}"
    );
    let (sent, stderr) = run(&["--no-context-files"]);
    assert_eq!(sent, "Be brief.");
    assert!(!stderr.contains("none.md"), "{stderr}");
}

#[test]
fn are_collected_from_the_root_of_the_repository() {
    let server = Server::playground();
    let outer = tempfile::tempdir().unwrap();
    let agcore = Agcore::talking_to(&server).at_home();
    fs::write(outer.path().join("AGENTS.md"), "outside").unwrap();
    let repository = outer.path().join("repository");
    let folder = repository.join("sub");
    fs::create_dir_all(&folder).unwrap();
    fs::create_dir(repository.join(".git")).unwrap();
    fs::write(repository.join("AGENTS.md"), "at the root").unwrap();
    fs::write(folder.join("AGENTS.md"), "in the folder").unwrap();
    let run = |arguments: &[&str]| {
        let mut command = agcore.command();
        let output = command.args(arguments).current_dir(&folder).output().unwrap();
        assert!(output.status.success(), "{output:?}");
    };
    run(&["trust", "--yes"]);
    run(&["chat", "hi"]);
    let sent = instructions(&server);
    let (root, nearest) = (sent.find("at the root").unwrap(), sent.find("in the folder").unwrap());
    assert!(root < nearest && !sent.contains("outside"), "{sent}");
    // A change at the root needs a new decision as well.
    fs::write(repository.join("AGENTS.md"), "changed").unwrap();
    run(&["chat", "hi"]);
    assert!(!instructions(&server).contains("in the folder"));
}

#[test]
fn too_long_instructions_are_cut_with_a_warning() {
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server).trusting();
    let agcore = agcore.with_file("AGENTS.md", &"x".repeat(40 * 1024));
    let ran = agcore.run(["chat", "hi"]);
    ran.assert_success();
    let warning = "warning: not used: the last 8192 bytes of AGENTS.md (the limit for all files is 32 KiB)";
    assert!(ran.stderr.contains(warning), "{}", ran.stderr);
    let length = instructions(&server).len();
    assert!((32 * 1024..34 * 1024).contains(&length), "{length}");
}

#[test]
fn an_unusable_file_is_not_announced_as_used() {
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server).at_home();
    fs::write(agcore.directory.path().join("AGENTS.md"), b"\xff").unwrap();
    let ran = agcore.run(["trust", "--yes"]);
    assert!(
        ran.assert_success()
            .contains("AGENTS.md: ignored: it is not valid UTF-8"),
        "{}",
        ran.stdout
    );
    let ran = agcore.run(["chat", "hi"]);
    ran.assert_success();
    let warning = "warning: not used: AGENTS.md (it is not valid UTF-8)";
    assert!(ran.stderr.contains(warning), "{}", ran.stderr);
    let ran = agcore.run(["config"]);
    assert!(
        ran.assert_success().contains("ignored: cannot be used"),
        "{}",
        ran.stdout
    );
}
