//! `@path` in messages.

use crate::{
    person::Person,
    support::{Agcore, Server},
};

#[test]
fn files_are_attached_as_named_blocks() {
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server)
        .with_file("a.md", "alpha\nbeta\n")
        .with_file("two words.md", "gamma");
    // The model would call tools whose names occur in the message.
    let mut person = Person::chatting(agcore, &["--no-tools"]);
    person.types("compare @a.md, @\"two words.md\" for ann@example.org and @@all");
    person.sees("Attached a.md: 2 lines, 11 B");
    person.sees("Attached two words.md: 1 line, 5 B");
    person.next();
    let sent = server.requests().pop().unwrap().prompt().last_user().to_owned();
    assert_eq!(
        sent,
        "compare @a.md, @two words.md for ann@example.org and @all\n\n<file path=\"a.md\">\nalpha\nbeta\n</file>\n\n\
         <file path=\"two words.md\">\ngamma\n</file>"
    );
    person.presses('d');
    person.leaves_with(0);
}

#[test]
fn a_message_with_a_file_that_cannot_be_attached_is_not_sent() {
    let server = Server::playground();
    let mut person = Person::chatting(Agcore::talking_to(&server).with_file("bin", "a\0b"), &[]);
    for (message, error) in [
        (
            "read @gone.md",
            "cannot attach gone.md: there is no such file. The message was not sent",
        ),
        ("read @bin", "cannot attach bin: it is neither UTF-8 text nor a PNG"),
    ] {
        person.types(message);
        person.sees(error);
        person.next();
        // The message is there again, to be changed.
        person.sees(message);
        person.presses('c');
    }
    person.types("hello");
    person.sees("messages in this request: 2");
    person.next();
    assert_eq!(server.requests().len(), 1);
    person.presses('d');
    person.leaves_with(0);
}

#[test]
fn images_are_sent_as_images() {
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server);
    std::fs::write(agcore.directory.path().join("i.png"), b"\x89PNG\r\n\x1a\nxx").unwrap();
    let mut person = Person::chatting(agcore, &[]);
    person.types("what is on @i.png");
    person.sees("Attached i.png: image/png, 10 B");
    person.next();
    let sent = server.requests().pop().unwrap().json().to_string();
    assert!(sent.contains("data:image/png;base64,iVBORw0KGgp4eA=="), "{sent}");
    person.presses('d');
    person.leaves_with(0);
}
