//! [`search`]: visits every state that can be reached.

use std::{
    collections::{HashSet, VecDeque},
    rc::Rc,
};

use super::{
    rules::Rules,
    world::{Bounds, Event, World},
};

/// The result of a search.
pub(super) enum Found {
    Nothing { states: usize },
    Violation { reason: &'static str, path: Vec<Event> },
}

/// The events that lead to a state, the last one first.
enum Path {
    Start,
    Step(Event, Rc<Path>),
}

/// Visits every state, the nearest first, until one violates a property.
pub(super) fn search(start: World, rules: &Rules, bounds: Bounds) -> Found {
    let start = Rc::new(start);
    let mut known = HashSet::from([Rc::clone(&start)]);
    let mut queue = VecDeque::from([(start, Rc::new(Path::Start))]);
    while let Some((world, path)) = queue.pop_front() {
        if !world.ends(rules) {
            let (reason, path) = ("a run waits, and no worker can ever claim it", path.events());
            return Found::Violation { reason, path };
        }
        for (event, next) in world.steps(rules, bounds) {
            let step = || Rc::new(Path::Step(event, Rc::clone(&path)));
            match next {
                Err(reason) => {
                    return Found::Violation {
                        reason,
                        path: step().events(),
                    };
                }
                Ok(next) => {
                    let next = Rc::new(next);
                    if known.insert(Rc::clone(&next)) {
                        queue.push_back((next, step()));
                    }
                }
            }
        }
    }
    Found::Nothing { states: known.len() }
}

impl Path {
    fn events(&self) -> Vec<Event> {
        let mut events = Vec::new();
        let mut path = self;
        while let Self::Step(event, before) = path {
            events.push(*event);
            path = before;
        }
        events.reverse();
        events
    }
}
