//! The menu below the line: files after `@`, and commands after `/`.

use std::fs;

use crate::{
    person::Person,
    support::{Agcore, Server},
};

fn with_files(server: &Server) -> Agcore {
    let agcore = Agcore::talking_to(server)
        .with_file("mainline.md", "three words")
        .with_file("two words.md", "gamma")
        .with_file(".gitignore", "target\n");
    for (folder, name) in [("src", "main.rs"), ("target", "main.rs"), ("文档", "说明.md")] {
        let folder = agcore.directory.path().join(folder);
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join(name), "fn main() {}").unwrap();
    }
    agcore
}

/// Presses the keys of a line, and waits for what its menu shows before the next ones.
fn presses(person: &mut Person, steps: &[(&str, &str)]) {
    for (keys, shown) in steps {
        person.keys(keys);
        person.sees(shown);
    }
}

#[test]
fn files_are_found_by_some_of_their_letters() {
    let server = Server::playground();
    let mut person = Person::chatting(with_files(&server), &["--no-tools"]);
    presses(&mut person, &[("see @mr", "› src/main.rs"), ("\r", "@src/main.rs")]);
    // The name is complete, so that Enter sends the message.
    person.keys(" and 看@说");
    person.sees("› 文档/说明.md");
    person.keys("\t");
    person.sees("看@文档/说明.md");
    person.keys("\r");
    person.sees("Attached src/main.rs: 1 line");
    person.sees("Attached 文档/说明.md: 1 line");
    person.next();
    let sent = server.requests().pop().unwrap().prompt().last_user().to_owned();
    assert!(sent.starts_with("see @src/main.rs and 看@文档/说明.md\n"), "{sent}");
    person.presses('d');
    person.leaves_with(0);
}

#[test]
fn arrows_choose_and_esc_closes_the_menu() {
    let server = Server::playground();
    let mut person = Person::chatting(with_files(&server), &["--no-tools"]);
    person.types("before");
    person.next();
    person.keys("@main");
    person.sees("› mainline.md");
    let menu = person.sees("src/main.rs");
    assert!(!menu.contains("target"), "{menu}");
    presses(
        &mut person,
        &[("\u{1b}[B", "› src/main.rs"), ("\u{1b}[A", "› mainline.md")],
    );
    presses(
        &mut person,
        &[
            ("\u{1b}[B", "› src/main.rs"),
            ("\t", "@src/main.rs"),
            ("\r", "Attached src/main.rs"),
        ],
    );
    person.next();
    // A name with a space is quoted.
    presses(
        &mut person,
        &[
            ("@twow", "› two words.md"),
            ("\r", "@\"two words.md\""),
            ("\r", "Attached two words.md"),
        ],
    );
    person.next();
    // Closed, so that Enter sends.
    person.keys("ask @main");
    person.sees("> ask @main\r\n› mainline.md");
    presses(
        &mut person,
        &[
            ("\u{1b}", "> ask @main"),
            ("x", "x"),
            ("\r", "@mainx is not a file; it was sent as text"),
        ],
    );
    person.next();
    person.presses('d');
    person.leaves_with(0);
}

#[test]
fn what_was_recalled_is_sent_as_it_was() {
    let server = Server::playground();
    let mut person = Person::chatting(with_files(&server), &["--no-tools"]);
    person.keys("ask @mai");
    person.sees("> ask @mai\r\n› mainline.md");
    presses(&mut person, &[("\u{1b}", "> ask @mai"), ("\r", "@mai is not a file")]);
    person.next();
    person.keys("\u{1b}[A");
    person.sees("ask @mai");
    person.keys("\r");
    person.sees("@mai is not a file");
    person.next();
    let texts: Vec<String> = server
        .requests()
        .iter()
        .map(|request| request.prompt().last_user().to_owned())
        .collect();
    assert_eq!(texts, ["ask @mai", "ask @mai"]);
    person.presses('d');
    person.leaves_with(0);
}

#[test]
fn a_command_can_be_chosen_from_the_menu() {
    let server = Server::playground();
    let mut person = Person::chatting(with_files(&server), &[]);
    person.keys("/co");
    person.sees("> /co\r\n/commit");
    presses(
        &mut person,
        &[
            ("\u{1b}[B", "› /commit"),
            ("\u{1b}[A", "› /compact"),
            ("\u{1b}", "> /co"),
        ],
    );
    person.presses('c');
    // Without a choice, Enter takes the line as it is.
    person.keys("/stat");
    person.sees("/status");
    person.keys("\r");
    person.sees("unknown command /stat.");
    person.next();
    person.keys("/stat");
    person.sees("show the model, the server");
    person.keys("\u{1b}[B");
    person.sees("› /status");
    person.keys("\r");
    person.keys("\r");
    person.sees("grants file");
    person.next();
    person.presses('d');
    person.leaves_with(0);
}
