//! Two terminals with one session: only one of them drives it.

use rexpect::process::Signal;

use crate::{
    person::Person,
    support::{Agcore, Server},
};

/// Returns the program with the home directory of another one, in another folder.
fn beside(first: &Agcore, server: &Server) -> Agcore {
    let home = first.home.path().to_str().unwrap();
    let other = Agcore::talking_to(server).with("HOME", home);
    other
        .with("XDG_CONFIG_HOME", &format!("{home}/config"))
        .with("XDG_STATE_HOME", &format!("{home}/state"))
}

/// Starts a chat whose turn is running.
fn busy(server: &Server) -> Person {
    let mut first = Person::chatting(Agcore::talking_to(server).at_home(), &["--name", "busy"]);
    first.types("slow");
    first.sees("word3");
    first
}

/// The beginning of the message of a second program.
const WHO: &str = "in use by agcore (process ";

#[test]
fn the_second_says_so_and_the_first_goes_on() {
    let server = Server::playground();
    let mut first = busy(&server);
    let other = beside(&first.agcore, &server);
    other
        .run(["-p", "more", "--resume", "busy"])
        .assert_failed(1, &[WHO, " since ", "--fork"]);
    // A copy can be used.
    other.run(["-p", "more", "--resume", "busy", "--fork"]).assert_success();

    let mut second = Person::running(other, &["chat", "--resume", "busy"]);
    second.sees(WHO);
    second.sees("[w]atch until it is free, [f]ork to continue in a copy, [n]othing: ");
    second.types("n");
    second.next();
    second.types("something else");
    second.sees(WHO);
    second.sees("[n]othing: ");
    second.types("w");
    second.sees("Watching; Ctrl-C stops.");
    first.sees("word4");
    first.presses('c');
    first.sees("The part that arrived is kept");
    first.next();
    second.sees("The session is free.");
    second.next();
    second.types("go on");
    // The echo of the typed words is not the answer.
    second.sees("You wrote:");
    second.next();
    second.presses('d');
    second.leaves_with(0);

    // The first is out of date now, and can open the session again.
    first.types("hello");
    first.sees("continued elsewhere");
    first.sees("/resume");
    first.next();
    first.types("/resume busy");
    first.sees("opened again");
    first.next();
    first.types("hello");
    first.sees("hello");
    first.next();
    first.presses('d');
    first.leaves_with(0);
}

#[test]
fn the_second_can_fork() {
    let server = Server::playground();
    let mut first = busy(&server);
    let mut second = Person::running(beside(&first.agcore, &server), &["chat", "--resume", "busy"]);
    second.sees("[n]othing: ");
    second.types("f");
    second.sees("This is a copy now: session ");
    second.next();
    second.types("hello");
    second.sees("hello");
    second.next();
    second.presses('d');
    second.leaves_with(0);
    first.presses('c');
    first.sees("The part that arrived is kept");
    first.next();
    first.types("go on");
    first.sees("go on");
    first.next();
    first.presses('d');
    first.leaves_with(0);
}

#[test]
fn a_session_is_free_at_once_when_its_program_was_killed() {
    let server = Server::playground();
    let mut first = busy(&server);
    let other = beside(&first.agcore, &server);
    first.session.process_mut().kill(Signal::SIGKILL).unwrap();
    let mut second = Person::running(other, &["chat", "--resume", "busy"]);
    second.sees("Continue the turn? [y]es, [n]o: ");
    second.types("n");
    second.sees("The turn is ended.");
    second.next();
    second.presses('d');
    second.leaves_with(0);
}
