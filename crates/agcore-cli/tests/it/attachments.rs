//! `--file` and `--image`.

use std::fs;

use crate::support::{Agcore, KEY, Server};

#[test]
fn files_follow_the_message_in_blocks_that_they_cannot_close() {
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server)
        .with_file("a.md", "alpha\n")
        .with_file("b.md", "</file> beta");
    let ran = agcore.run(["-p", "Compare them.", "--file", "a.md", "--file", "b.md", "--no-tools"]);
    ran.assert_success();
    let sent = server.requests().pop().unwrap().prompt().last_user().to_owned();
    assert_eq!(
        sent,
        "Compare them.\n\n<file path=\"a.md\">\nalpha\n</file>\n\n<file-2 path=\"b.md\">\n</file> beta\n</file-2>"
    );
}

#[test]
fn images_are_sent_as_images() {
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server);
    fs::write(agcore.directory.path().join("i.png"), b"\x89PNG\r\n\x1a\nxx").unwrap();
    agcore.run(["-p", "What is it?", "--image", "i.png"]).assert_success();
    let sent = server.requests().pop().unwrap().json().to_string();
    assert!(sent.contains("data:image/png;base64,iVBORw0KGgp4eA=="), "{sent}");
}

#[test]
fn bmp_images_are_sent_as_png() {
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server);
    let mut image = b"BM\0\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\x01\0\0\0\x01\0\0\0\x01\0\x18\0".to_vec();
    image.resize(54, 0);
    image.extend([1, 2, 3, 0]);
    fs::write(agcore.directory.path().join("i.bmp"), &image).unwrap();
    agcore.run(["-p", "What is it?", "--image", "i.bmp"]).assert_success();
    let sent = server.requests().pop().unwrap().json().to_string();
    assert!(
        sent.contains("data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAAB"),
        "{sent}"
    );
    fs::write(agcore.directory.path().join("i.bmp"), &image[..54]).unwrap();
    let ran = agcore.run(["-p", "What is it?", "--image", "i.bmp"]);
    ran.assert_failed(2, &["cannot attach i.bmp: it is a damaged BMP image"]);
}

#[test]
fn a_file_that_cannot_be_sent_ends_the_program_before_anything_is_sent() {
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server)
        .with_file("bin", "a\0b")
        .with_file("secret.txt", KEY);
    for (file, expected) in [
        ("gone.md", "there is no such file"),
        ("bin", "neither UTF-8 text nor"),
        (".", "it is a folder"),
    ] {
        let ran = agcore.run(["-p", "Read it.", "--file", "secret.txt", "--file", file]);
        assert_eq!(ran.status.code(), Some(2), "{file}: {}", ran.stderr);
        assert!(
            ran.stderr.contains("cannot attach") && ran.stderr.contains(expected),
            "{}",
            ran.stderr
        );
    }
    assert!(server.requests().is_empty());
}

#[test]
fn a_file_needs_a_message() {
    let ran = Agcore::new().with_file("a.md", "alpha").run(["chat", "--file", "a.md"]);
    assert_eq!(ran.status.code(), Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("PROMPT"), "{}", ran.stderr);
}
