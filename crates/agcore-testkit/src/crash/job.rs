//! [`Job`]: what a process does that a test started.

use std::io::{self, BufRead, IsTerminal, Read};

use super::{
    boundaries::{Boundaries, Report, Stop},
    place::Place,
};

/// The first line of a job on standard input.
const HEAD: &str = "agcore crash job";

/// The job of a process that a test started: where it works, and where it stops.
#[derive(Debug)]
pub struct Job {
    place: Place,
    boundaries: Boundaries,
}

/// Returns the job as text for another process.
pub(super) fn text(place: &Place, stop: Stop) -> String {
    format!("{HEAD}\n{}\n{}\n\n", stop.to_text(), place.to_text())
}

impl Job {
    /// Receives the job from the test that started this process. Returns `None` if no test did. From now on, the process ends when
    /// that test has ended.
    ///
    /// # Panics
    /// If standard input contains only a part of a job.
    #[must_use]
    pub fn receive() -> Option<Self> {
        let input = io::stdin();
        if input.is_terminal() {
            return None;
        }
        let mut lines = input.lock().lines().map_while(Result::ok);
        if lines.next()? != HEAD {
            return None;
        }
        let stop = lines.next().and_then(|line| Stop::from_text(&line));
        let stop = stop.expect("a job contains where the process stops");
        let place: Vec<String> = lines.by_ref().take_while(|line| !line.is_empty()).collect();
        drop(lines);
        end_with_standard_input();
        Some(Self {
            place: Place::from_text(&place),
            boundaries: Boundaries::new(stop),
        })
    }

    /// Returns where the process works.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// Returns the boundaries. One of them may stop the process.
    pub fn boundaries(&self) -> &Boundaries {
        &self.boundaries
    }

    /// Reports that the job is done.
    pub fn done(self) {
        Report::Done.send();
    }
}

/// Ends the process when its standard input is closed, which is when the test that started it has ended.
#[expect(
    clippy::disallowed_methods,
    clippy::exit,
    reason = "a process without its test must not continue"
)]
fn end_with_standard_input() {
    std::thread::spawn(|| {
        let _ = io::stdin().read(&mut [0]);
        std::process::exit(1);
    });
}
