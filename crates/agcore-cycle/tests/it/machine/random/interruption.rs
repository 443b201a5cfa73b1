//! The parts of a script in which the process dies or the turn is stopped.

use agcore_chat::QuestionKind;
use agcore_cycle::machine::{Cause, CompactReason, Outcome};

use super::{
    generate,
    model::{Phase, State},
    script::Script,
};

impl Script {
    pub(super) fn crash(&mut self) {
        self.checker.reload();
        self.orphans = self.checker.model.running();
        self.counts.add("crash");
        if !self.orphans.is_empty() {
            self.counts.add("crash while running");
        }
        if !self.checker.model.asking().is_empty() {
            self.counts.add("crash while asking");
        }
    }

    pub(super) fn stop(&mut self) {
        if let Some((reason, _)) = self.checker.model.summing.take() {
            self.counts.add("stopped summary");
            if reason == CompactReason::Asked {
                self.counts.add("stopped requested summary");
                self.absorb(Outcome::Stop(Cause::cancelled()));
                return;
            }
        }
        let cause = if self.rng.bool() {
            Cause::abandoned()
        } else {
            generate::cause(&mut self.rng)
        };
        for (kind, applies) in [
            ("abandoned", cause == Cause::abandoned()),
            ("stopped calling", matches!(self.checker.model.phase, Phase::Calling(_))),
            ("stopped checking", self.checker.model.is_checking()),
            ("stopped ready", !self.checker.model.ready().is_empty()),
            ("stopped running", !self.checker.model.running().is_empty()),
            ("stopped asking", !self.checker.model.asking().is_empty()),
        ] {
            if applies {
                self.counts.add(kind);
            }
        }
        self.orphans.clear();
        self.checker.model.end("stopped");
        self.absorb(Outcome::Stop(cause));
    }

    /// Handles a call that was running when the process died: it runs again, a person is asked about it, or its result arrives.
    pub(super) fn handle_orphan(&mut self) {
        let id = self.orphans.swap_remove(self.rng.usize(..self.orphans.len()));
        match self.rng.u8(..10) {
            0..5 => {
                self.counts.add("redo");
                let call = self.checker.model.call(&id);
                (call.state, call.interrupted) = (State::Ready, true);
                if call.resumed.is_some() {
                    self.counts.add("resumed again");
                }
                self.absorb(Outcome::Redo(id.as_str().into()));
            }
            5..9 => {
                self.counts.add("question uncertain");
                self.ask(&id, QuestionKind::Uncertain);
            }
            _ => self.finish(&id),
        }
    }
}
