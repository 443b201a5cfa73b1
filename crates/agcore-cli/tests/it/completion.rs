//! `completion`: scripts for shells.

use crate::support::Agcore;

#[test]
fn every_shell_has_a_script() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ran = Agcore::new().run(["completion", shell]);
        let script = ran.assert_success();
        for word in ["doctor", "permission-mode", "stream-json", "--trust-folder", "vacuum"] {
            let word = if shell == "fish" {
                word.trim_start_matches("--")
            } else {
                word
            };
            assert!(script.contains(word), "{word} is missing for {shell}");
        }
        assert!(
            !script.contains("agcore__prompt"),
            "the hidden command is offered by {shell}"
        );
    }
    Agcore::new()
        .run(["completion", "csh"])
        .assert_failed(2, &["possible values"]);
}

#[test]
#[cfg(unix)]
fn bash_completes_commands_and_options() {
    let found = std::process::Command::new("bash").arg("--version").output();
    if found.is_err() {
        println!("skipped: bash: not installed");
        return;
    }
    let script = Agcore::new().run(["completion", "bash"]).stdout;
    // It is too long for an argument.
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("agcore.bash");
    std::fs::write(&file, script).unwrap();
    let script = format!("source '{}'", file.display());
    let complete = |words: &str, last: usize| {
        let program = format!(
            "{script}\nCOMP_WORDS=({words}); COMP_CWORD={last}; _agcore agcore \"${{COMP_WORDS[$COMP_CWORD]}}\" \
             \"${{COMP_WORDS[$COMP_CWORD-1]}}\"; echo \"${{COMPREPLY[@]}}\""
        );
        let ran = std::process::Command::new("bash")
            .args(["-c", &program])
            .output()
            .unwrap();
        String::from_utf8(ran.stdout).unwrap().trim().to_owned()
    };
    assert_eq!(complete("agcore doc", 1), "doctor");
    assert_eq!(complete("agcore chat --output-f", 2), "--output-format");
    assert_eq!(complete("agcore --perm", 1), "--permission-mode");
}
