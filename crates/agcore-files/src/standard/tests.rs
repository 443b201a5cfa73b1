//! Parsers that crash, do not return, or are not awaited.

use std::{
    sync::{Mutex, mpsc},
    time::Duration,
};

use agcore_testkit::clock::ManualClock;

use super::*;
use crate::work::Work;

const NAME: &str = "report.bin";

#[tokio::test]
async fn a_parser_that_panics_is_a_problem_of_its_file() {
    let preprocessor = StandardPreprocessor::new(Arc::new(ManualClock::new())).with_workers(1);
    for _ in 0..3 {
        let problem = preprocessor
            .run_parser(|_| panic!("defect"), NAME, Vec::new())
            .await
            .unwrap_err();
        assert_eq!(problem.kind(), FileProblemKind::Crashed);
    }
    // The worker is free again.
    let found = preprocessor
        .run_parser(|_| Ok(Preprocessed::new()), NAME, Vec::new())
        .await
        .unwrap();
    assert_eq!(found, Preprocessed::new());
}

/// Keeps the parser below from returning.
static GATE: Mutex<Option<mpsc::Receiver<()>>> = Mutex::new(None);

fn stuck(_: &Work<'_>) -> Result<Preprocessed, FileProblem> {
    let gate = GATE.lock().unwrap().take().unwrap();
    let _ = gate.recv();
    Ok(Preprocessed::new())
}

#[tokio::test]
async fn a_parser_that_does_not_return_is_left_alone() {
    let clock = Arc::new(ManualClock::new());
    let limits = Limits::new().with_time(Duration::from_secs(7));
    let preprocessor = StandardPreprocessor::new(clock.clone())
        .with_limits(limits)
        .with_workers(1);
    let (open, gate) = mpsc::channel();
    *GATE.lock().unwrap() = Some(gate);

    let (first, ()) = tokio::join!(preprocessor.run_parser(stuck, NAME, Vec::new()), async {
        clock.wait_for_sleeps(1).await;
        clock.advance(Duration::from_secs(7));
    });
    let problem = first.unwrap_err();
    assert_eq!(problem.kind(), FileProblemKind::TimedOut);
    assert!(problem.to_string().contains("longer than 7s"), "{problem}");

    // It still has the only worker, so the next file waits for it in vain.
    let (second, ()) = tokio::join!(
        preprocessor.run_parser(|_| Ok(Preprocessed::new()), NAME, Vec::new()),
        async {
            clock.wait_for_sleeps(2).await;
            clock.advance(Duration::from_secs(7));
        }
    );
    assert_eq!(second.unwrap_err().kind(), FileProblemKind::TimedOut);

    // When it returns, its worker can be used again.
    drop(open);
    let third = preprocessor
        .run_parser(|_| Ok(Preprocessed::new()), NAME, Vec::new())
        .await;
    assert_eq!(third.unwrap(), Preprocessed::new());
}

/// Reports how the endless parser below has ended.
static ENDED: Mutex<Option<mpsc::Sender<FileProblemKind>>> = Mutex::new(None);

fn endless(work: &Work<'_>) -> Result<Preprocessed, FileProblem> {
    loop {
        if let Err(problem) = work.check() {
            let ended = ENDED.lock().unwrap().take().unwrap();
            ended.send(problem.kind()).unwrap();
            return Err(problem);
        }
    }
}

#[tokio::test]
async fn a_parser_stops_when_its_result_is_not_awaited() {
    let clock = Arc::new(ManualClock::new());
    let preprocessor = StandardPreprocessor::new(clock.clone());
    let (sender, ended) = mpsc::channel();
    *ENDED.lock().unwrap() = Some(sender);
    {
        let run = preprocessor.run_parser(endless, NAME, Vec::new());
        tokio::select! {
            biased;
            _ = run => unreachable!("the parser is endless"),
            // By then the run was polled, and the worker has started.
            () = clock.wait_for_sleeps(1) => {}
        }
    }
    assert_eq!(ended.recv().unwrap(), FileProblemKind::TimedOut);
}
