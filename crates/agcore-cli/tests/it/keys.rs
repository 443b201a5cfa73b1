//! The keys of the prompt, of questions and of running turns.

use std::{fs, time::Duration};

use agcore_demo::Playground;
use agcore_testkit::mock_server::MockOptions;

use crate::{
    person::{Person, QUESTION},
    support::{Agcore, Server, files},
};

const ESCAPE: &str = "\u{1b}";

fn paced() -> Server {
    let playground = Playground::new().with_pace(Duration::from_millis(30));
    Server::start(MockOptions::new(), playground)
}

fn last_user(server: &Server) -> String {
    server.requests().pop().unwrap().prompt().last_user().to_owned()
}

#[test]
fn ctrl_j_and_alt_enter_start_a_new_line() {
    let server = Server::playground();
    let mut person = Person::at(&server, &[]);
    person.keys("one\ntwo\u{1b}\rthree\\\rfour\r");
    person.sees("messages in this request: 2");
    person.next();
    assert_eq!(last_user(&server), "one\ntwo\nthree\nfour");
    person.presses('d');
    person.leaves_with(0);
}

#[test]
fn escape_interrupts_a_turn_and_other_keys_do_not() {
    let server = paced();
    let mut person = Person::at(&server, &[]);
    person.types("long 300");
    person.sees("word3");
    // An arrow key starts with the same byte as Escape.
    person.keys("\u{1b}[A");
    person.sees("word20");
    person.keys(ESCAPE);
    let shown = person.sees("cancelled");
    assert!(!shown.contains("word300"), "{shown}");
    person.next();
    person.presses('d');
    person.leaves_with(0);
}

#[test]
fn lines_typed_during_a_turn_are_sent_in_order_and_the_rest_is_kept() {
    let server = paced();
    let mut person = Person::at(&server, &[]);
    person.types("long 30");
    person.sees("word3");
    person.keys("first\rsecond\nline\rha");
    person.sees("tokens in");
    person.sees("> first");
    person.sees("│ first");
    person.sees("> second");
    person.sees("│ second");
    person.next();
    person.sees("ha");
    person.types("lf");
    person.sees("│ half");
    person.next();
    person.presses('d');
    person.leaves_with(0);
}

#[test]
fn the_editor_changes_the_input() {
    let server = Server::playground();
    let script = "ls -l \"$1\" > listed; printf ' and more' >> \"$1\"\n";
    let agcore = Agcore::talking_to(&server)
        .with_file("edit.sh", script)
        .with("EDITOR", "/bin/sh edit.sh");
    let temporary = tempfile::tempdir().unwrap();
    let agcore = agcore.with("TMPDIR", temporary.path().to_str().unwrap());
    let mut person = Person::chatting(agcore, &[]);
    person.keys("some text");
    person.sees("some text");
    person.presses('g');
    person.sees("some text and more");
    person.types("");
    person.sees("│ some text and more");
    person.next();
    let listed = fs::read_to_string(person.agcore.directory.path().join("listed")).unwrap();
    assert!(listed.starts_with("-rw-------"), "{listed}");
    assert!(files(temporary.path()).is_empty());
    person.presses('d');
    person.leaves_with(0);
}

#[test]
fn a_missing_or_failing_editor_leaves_the_input_unchanged() {
    let server = Server::playground();
    for (editor, error) in [("", "set VISUAL or EDITOR"), ("false", "the input is unchanged")] {
        let mut person = Person::chatting(Agcore::talking_to(&server).with("VISUAL", editor), &[]);
        person.keys("kept");
        person.sees("kept");
        person.presses('g');
        person.sees(error);
        person.next();
        person.sees("kept");
        person.types("");
        person.sees("│ kept");
        person.next();
        person.presses('d');
        person.leaves_with(0);
    }
}

#[test]
fn tab_completes_commands_and_file_names() {
    let server = Server::playground();
    let mut person = Person::chatting(
        Agcore::talking_to(&server).with_file("plan of ann.md", "x"),
        &["--no-tools"],
    );
    person.types("/stat\t");
    person.sees("grants file");
    person.next();
    person.keys("/s\t");
    person.sees("show the model, the server and the files in use");
    person.sees("save the conversation as JSON");
    person.presses('c');
    person.types("/load pl\t");
    person.sees("plan of ann.md is not a saved conversation");
    person.next();
    person.types("look at @pl\t");
    person.sees("Attached plan of ann.md: 1 line, 1 B");
    person.next();
    person.presses('d');
    person.leaves_with(0);
}

#[test]
fn tab_lists_all_commands_once() {
    let server = Server::playground();
    let script = "stty cols 100 rows 50 && exec \"$0\" chat";
    let mut person = Person::scripting(Agcore::talking_to(&server), script);
    person.sees("Ctrl-D exits.");
    person.next();
    person.keys("/");
    person.sees("more; Tab lists them all");
    person.keys("\t");
    // No line of the shorter list is left over.
    let listed = person.sees("/exit");
    assert_eq!(listed.matches("/help ").count(), 1, "{listed}");
    assert!(!listed.contains("Tab lists"), "{listed}");
    person.presses('c');
    person.presses('d');
    person.leaves_with(0);
}

#[test]
fn ctrl_o_shows_the_reasoning_of_the_last_turn() {
    let server = Server::playground();
    let mut person = Person::at(&server, &[]);
    person.types("think");
    // It is indented, and the answer is not.
    person.sees("  First I read the message.");
    person.sees("\r\nI have thought about it.");
    person.next();
    person.presses('o');
    person.sees("Reasoning\r\nFirst I read the message.");
    person.next();
    // It belongs to one turn.
    person.types("hello");
    person.next();
    person.presses('o');
    person.sees("No tool was called yet, and the last turn had no reasoning.");
    person.next();
    person.presses('d');
    person.leaves_with(0);
}

#[test]
fn ctrl_o_shows_the_last_tool_call_and_keeps_the_input() {
    let server = Server::playground();
    let mut person = Person::at(&server, &[]);
    person.presses('o');
    person.sees("No tool was called yet, and");
    person.next();
    person.types("some arithmetic");
    person.next();
    person.keys("half");
    person.sees("half");
    person.presses('o');
    person.sees("✓ arithmetic, ");
    person.sees("\"operation\": \"add\"");
    person.next();
    person.sees("half");
    person.types(" done");
    person.sees("│ half done");
    person.next();
    person.types("/last");
    person.sees("✓ arithmetic, ");
    person.next();
    person.presses('d');
    person.leaves_with(0);
}

#[test]
fn a_question_accepts_numbers_reasons_and_escape() {
    let server = Server::playground();
    let mut person = Person::chatting(Agcore::talking_to(&server).at_home(), &[]);
    person.types("save it");
    let question = person.sees(QUESTION);
    for text in [
        "1 y  yes, run this call",
        "2 s  yes, and run save_note with any arguments until this chat ends",
        "3 a  yes, and always run save_note with any arguments in this folder (",
    ] {
        assert!(question.contains(text), "{question}");
    }
    person.types("what?");
    person.sees("Type y, s, a, e or n");
    person.sees(QUESTION);
    person.types("n because it is private");
    person.sees("The user answered no: it is private");
    person.next();
    person.types("save it");
    person.sees(QUESTION);
    person.keys(ESCAPE);
    person.sees("The user answered no.");
    person.next();
    assert!(person.agcore.files().is_empty());
    person.types("save it");
    person.sees(QUESTION);
    person.types("1");
    person.sees("returned: Saved to agcore-notes.md.");
    person.next();
    person.presses('d');
    person.leaves_with(0);
}

#[test]
fn a_long_paste_is_complete() {
    let server = Server::playground();
    let mut person = Person::at(&server, &[]);
    let text: String = (0..4_000)
        .map(|number| format!("line {number} of the pasted text, 字\n"))
        .collect();
    assert!(text.len() > 130_000);
    // The terminal's buffer is small, so that the text must be read while it is sent.
    let mut terminal = person.session.process().get_file_handle().unwrap();
    let pasted = format!("\u{1b}[200~{text}\u{1b}[201~\r");
    let writer = std::thread::spawn(move || std::io::Write::write_all(&mut terminal, pasted.as_bytes()).unwrap());
    person.sees("Your message has 4000 lines, ");
    writer.join().unwrap();
    let request = server.wait_for_requests(1).pop().unwrap();
    assert_eq!(request.prompt().last_user().trim_end(), text.trim_end());
}

#[test]
fn a_question_mark_lists_the_keys() {
    let server = Server::playground();
    let mut person = Person::at(&server, &[]);
    person.types("?");
    person.sees("Ctrl-J         start a new line");
    person.next();
    assert!(server.requests().is_empty());
    person.presses('d');
    person.leaves_with(0);
}

#[test]
fn tab_queues_a_message_during_a_turn() {
    let server = paced();
    let mut person = Person::at(&server, &[]);
    person.types("long 30");
    person.sees("word3");
    person.keys("queued\t");
    person.sees("tokens in");
    person.sees("> queued");
    person.sees("│ queued");
    person.next();
    person.presses('d');
    person.leaves_with(0);
}

/// Installs a program in the folder `bin` that prints a file, if it is asked for this type of image.
fn clipboard(agcore: Agcore, kind: &str, image: &[u8]) -> Agcore {
    use std::os::unix::fs::PermissionsExt;

    let folder = agcore.directory.path().join("bin");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("image"), image).unwrap();
    let script = format!(
        "#!/bin/sh\ncase \"$*\" in *{kind}) exec /bin/cat {}/image;; esac\nexit 1\n",
        folder.display()
    );
    fs::write(folder.join("wl-paste"), script).unwrap();
    fs::set_permissions(folder.join("wl-paste"), fs::Permissions::from_mode(0o755)).unwrap();
    // The tests start the program with it.
    let stty = ["/bin/stty", "/usr/bin/stty"]
        .iter()
        .find(|path| std::path::Path::new(path).exists());
    std::os::unix::fs::symlink(stty.unwrap(), folder.join("stty")).unwrap();
    let path = folder.to_str().unwrap().to_owned();
    agcore.with("PATH", &path).with("WAYLAND_DISPLAY", "wayland-0")
}

#[test]
fn ctrl_v_attaches_the_image_in_the_clipboard() {
    let server = Server::playground();
    let png = b"\x89PNG\r\n\x1a\nxx";
    let temporary = tempfile::tempdir().unwrap();
    let agcore = clipboard(Agcore::talking_to(&server), "image/png", png);
    let agcore = agcore.with("TMPDIR", temporary.path().to_str().unwrap());
    let mut person = Person::chatting(agcore, &[]);
    person.keys("What is ");
    person.sees("What is ");
    person.presses('v');
    person.next();
    person.sees("image-1.png\"");
    person.types("?");
    person.sees("image/png, 10 B");
    person.sees("messages in this request");
    person.next();
    let sent = server.requests().pop().unwrap().json().to_string();
    assert!(sent.contains("data:image/png;base64,iVBORw0KGgp4eA=="), "{sent}");
    person.presses('d');
    person.leaves_with(0);
    assert!(files(temporary.path()).is_empty(), "the image is still there");
}

#[test]
fn ctrl_v_names_what_is_missing_and_offers_a_path() {
    let server = Server::playground();
    let agcore = clipboard(Agcore::talking_to(&server), "image/png", b"no image");
    let mut person = Person::chatting(agcore, &[]);
    person.keys("draft");
    person.sees("draft");
    person.presses('v');
    person.sees("the clipboard contains no image.");
    person.sees("@PATH");
    person.next();
    person.sees("draft");
    fs::remove_file(person.agcore.directory.path().join("bin/wl-paste")).unwrap();
    person.presses('v');
    person.sees("needs `wl-paste` (the package wl-clipboard)");
    person.next();
    person.presses('c');
    person.presses('d');
    person.leaves_with(0);
}
