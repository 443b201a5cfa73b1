//! Todos, against a model that recomputes everything.

use std::collections::HashMap;

use agcore_flow_files::{CompletionDetails, Todo, TodoAttempt, TodoErrorKind, TodoList, TodoOutcome, TodoStatus};
use agcore_session::Timestamp;

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

fn ready(list: &TodoList, now: i64) -> Vec<&str> {
    list.ready(at(now)).map(|todo| todo.id.as_str()).collect()
}

fn done(now: i64) -> CompletionDetails {
    CompletionDetails::new(at(now), "done")
        .with_tool("spade")
        .with_execution_time(7)
}

#[test]
fn the_longest_chain_comes_first_then_the_priority_then_the_order() {
    let list = TodoList::new(vec![
        Todo::new("late", "").with_priority(1),
        Todo::new("early", "").with_priority(9),
        Todo::new("a", "").with_priority(0),
        Todo::new("b", "").with_dependency("a"),
        Todo::new("c", "").with_dependency("b").with_dependency("b"),
        Todo::new("default", ""),
        Todo::new("same", ""),
    ])
    .unwrap();
    assert_eq!(ready(&list, 0), ["a", "early", "default", "same", "late"]);
    let lengths: Vec<u32> = list.todos().iter().map(|todo| todo.critical_path_length).collect();
    assert_eq!(lengths, [1, 1, 3, 2, 1, 1, 1]);
}

#[test]
fn a_todo_is_tried_again_until_its_retries_are_used_up() {
    let todos = vec![
        Todo::new("dig", "").with_max_retry(1),
        Todo::new("plant", "").with_dependency("dig"),
        Todo::new("eat", "").with_dependency("plant"),
        Todo::new("rest", ""),
    ];
    let mut list = TodoList::new(todos).unwrap();
    list.start("dig", at(0)).unwrap();
    assert_eq!(ready(&list, 0), ["rest"]);
    let attempt = TodoAttempt::new(at(5), "stone")
        .with_tool("spade")
        .with_execution_time(4);
    assert_eq!(list.fail("dig", attempt, Some(at(100))).unwrap(), TodoOutcome::Retry);
    assert_eq!(ready(&list, 99), ["rest"]);
    assert_eq!(list.next_retry(at(99)), Some(at(100)));
    assert!(list.start("dig", at(99)).is_err());
    assert_eq!(ready(&list, 100), ["dig", "rest"]);

    list.start("dig", at(100)).unwrap();
    let outcome = list
        .fail("dig", TodoAttempt::new(at(105), "rock"), Some(at(200)))
        .unwrap();
    let dependants = vec!["plant".to_owned(), "eat".to_owned()];
    assert_eq!(outcome, TodoOutcome::Failed { dependants });
    let dig = list.get("dig").unwrap();
    let history: Vec<_> = dig
        .error_history
        .iter()
        .map(|a| (a.attempt, a.retry_count, a.error.as_str()))
        .collect();
    assert_eq!(
        (dig.status, history),
        (TodoStatus::Failed, vec![(1, 0, "stone"), (2, 1, "rock")])
    );
    let eat = list.get("eat").unwrap();
    assert_eq!((eat.status, eat.error_history[0].attempt), (TodoStatus::Failed, 0));
    assert_eq!(
        eat.error_history[0].error,
        "the todo \"dig\", on which it depends, failed: rock"
    );
    assert_eq!(ready(&list, 1_000), ["rest"]);
    assert!(!list.is_finished());
    assert!(list.skip("rest", at(0)).unwrap().is_empty());
    assert!(list.is_finished());
}

#[test]
fn lists_that_cannot_be_are_refused() {
    let refused = |todos| TodoList::new(todos).unwrap_err();
    let error = refused(vec![Todo::new("a", ""), Todo::new("a", "")]);
    assert_eq!(*error.kind(), TodoErrorKind::Duplicate("a".to_owned()));
    let error = refused(vec![Todo::new("a", "").with_dependency("b")]);
    assert!(
        error.to_string().contains("depends on \"b\", which does not exist"),
        "{error}"
    );
    let error = refused(vec![Todo::new("a", "").with_dependency("a")]);
    assert_eq!(*error.kind(), TodoErrorKind::Cycle(vec!["a".to_owned()]));
    let error = refused(vec![
        Todo::new("x", "").with_dependency("a"),
        Todo::new("a", "").with_dependency("b"),
        Todo::new("b", "").with_dependency("c"),
        Todo::new("c", "").with_dependency("a").with_dependency("free"),
        Todo::new("free", ""),
    ]);
    let text = error.to_string();
    let named = [
        "\"a\" -> \"b\" -> \"c\" -> \"a\"",
        "\"b\" -> \"c\" -> \"a\" -> \"b\"",
        "\"c\" -> \"a\" -> \"b\" -> \"c\"",
    ];
    assert!(named.iter().any(|cycle| text.contains(cycle)), "{text}");
}

#[test]
fn changes_that_make_no_sense_change_nothing() {
    let mut list = TodoList::new(vec![Todo::new("a", ""), Todo::new("b", "").with_dependency("a")]).unwrap();
    let before = list.clone();
    assert!(list.start("b", at(0)).is_err());
    assert!(list.start("none", at(0)).is_err());
    assert!(list.complete("a", done(0)).is_err());
    assert!(list.fail("a", TodoAttempt::new(at(0), ""), None).is_err());
    assert!(list.add(vec![Todo::new("a", "")]).is_err());
    assert!(list.add(vec![Todo::new("c", "").with_dependency("d")]).is_err());
    assert_eq!(list, before);
    list.cancel("a", at(0)).unwrap();
    assert_eq!(list.get("b").unwrap().status, TodoStatus::Cancelled);
    assert!(list.cancel("a", at(0)).is_err());
    let error = list.add(vec![Todo::new("c", "").with_dependency("a")]).unwrap_err();
    assert!(error.to_string().contains("will not be completed"), "{error}");
}

#[test]
fn a_list_is_data_and_is_checked_when_it_is_read() {
    let mut list = TodoList::new(vec![Todo::new("a", "x"), Todo::new("b", "").with_dependency("a")]).unwrap();
    list.start("a", at(0)).unwrap();
    let json = serde_json::to_string(&list).unwrap();
    let mut read: TodoList = serde_json::from_str(&json).unwrap();
    assert_eq!(read, list);
    // The process that carried it out is gone.
    assert!(ready(&read, 0).is_empty());
    read.reset_processing();
    assert_eq!(ready(&read, 0), ["a"]);
    read.add(vec![Todo::new("c", "").with_dependency("b")]).unwrap();
    assert_eq!(read.get("a").unwrap().critical_path_length, 3);
    let cycle = r#"[{"id": "a", "task": "", "dependencies": ["a"]}]"#;
    assert!(
        serde_json::from_str::<TodoList>(cycle)
            .unwrap_err()
            .to_string()
            .contains("in a cycle")
    );
}

#[test]
fn ten_thousand_todos_are_carried_out() {
    const COUNT: usize = 10_000;
    let id = |number: usize| format!("t{number}");
    // One chain, so that anything recursive would overflow, and many todos that depend on its first.
    let mut todos = vec![Todo::new(id(0), "")];
    for number in 1..COUNT {
        let dependency = if number < COUNT / 2 { number - 1 } else { 0 };
        todos.push(Todo::new(id(number), "").with_dependency(id(dependency)));
    }
    let mut list = TodoList::new(todos.clone()).unwrap();
    for step in 0..COUNT {
        let next = list.ready(at(0)).next().unwrap().id.clone();
        if step < COUNT / 2 {
            assert_eq!(next, id(step));
        }
        list.start(&next, at(0)).unwrap();
        list.complete(&next, done(0)).unwrap();
    }
    assert!(list.is_finished());

    let mut failing = TodoList::new(todos.clone()).unwrap();
    assert_eq!(failing.cancel(&id(0), at(0)).unwrap().len(), COUNT - 1);
    todos[0] = Todo::new(id(0), "").with_dependency(id(COUNT / 2 - 1));
    let error = TodoList::new(todos).unwrap_err();
    assert!(
        matches!(error.kind(), TodoErrorKind::Cycle(ids) if ids.len() == COUNT / 2),
        "the cycle is named"
    );
}

/// The rules, as slow as they are simple.
struct Model(Vec<Todo>);

impl Model {
    fn status(&self, id: &str) -> TodoStatus {
        self.0.iter().find(|todo| todo.id == id).unwrap().status
    }

    fn chain(&self, id: &str) -> u32 {
        let dependants = self
            .0
            .iter()
            .filter(|todo| todo.dependencies.iter().any(|dependency| dependency == id));
        1 + dependants.map(|todo| self.chain(&todo.id)).max().unwrap_or(0)
    }

    fn ready(&self, now: i64) -> Vec<&str> {
        let mut ready: Vec<&Todo> = self
            .0
            .iter()
            .filter(|todo| todo.status == TodoStatus::Pending)
            .filter(|todo| {
                todo.dependencies
                    .iter()
                    .all(|id| self.status(id) == TodoStatus::Completed)
            })
            .filter(|todo| todo.retry_after.is_none_or(|after| after.as_millis() <= now))
            .collect();
        ready.sort_by_key(|todo| (-i64::from(self.chain(&todo.id)), -i64::from(todo.priority)));
        ready.into_iter().map(|todo| todo.id.as_str()).collect()
    }

    /// Sets a final status, again and again until no dependant is left.
    fn close(&mut self, id: &str, status: TodoStatus) {
        let set = |todo: &mut Todo| todo.status = status;
        self.0.iter_mut().filter(|todo| todo.id == id).for_each(set);
        loop {
            let statuses: HashMap<String, TodoStatus> =
                self.0.iter().map(|todo| (todo.id.clone(), todo.status)).collect();
            let is_lost = |todo: &&mut Todo| {
                !todo.status.is_final()
                    && todo
                        .dependencies
                        .iter()
                        .any(|id| statuses[id].is_final() && statuses[id] != TodoStatus::Completed)
            };
            let mut lost: Vec<&mut Todo> = self.0.iter_mut().filter(is_lost).collect();
            if lost.is_empty() {
                return;
            }
            lost.iter_mut().for_each(|todo| set(todo));
        }
    }
}

fn random_todos(random: &mut fastrand::Rng) -> Vec<Todo> {
    let count = random.usize(0..10);
    let mut todos: Vec<Todo> = (0..count)
        .map(|number| {
            let mut todo = Todo::new(format!("t{number}"), "")
                .with_priority(random.i32(4..7))
                .with_max_retry(random.u32(0..3));
            for _ in 0..random.usize(0..3) {
                if number > 0 {
                    todo = todo.with_dependency(format!("t{}", random.usize(..number)));
                }
            }
            todo
        })
        .collect();
    random.shuffle(&mut todos);
    todos
}

#[expect(clippy::disallowed_methods, reason = "the environment selects the number of cases")]
fn graphs() -> u64 {
    if std::env::var_os("AGCORE_SOAK").is_some() {
        10_000
    } else {
        500
    }
}

/// Returns whether a todo depends on itself, perhaps by others.
fn is_in_cycle(todos: &[Todo], id: &str) -> bool {
    let (mut seen, mut open) = (Vec::new(), vec![id.to_owned()]);
    while let Some(next) = open.pop() {
        let todo = todos.iter().find(|todo| todo.id == next).unwrap();
        for dependency in &todo.dependencies {
            if dependency == id {
                return true;
            }
            if !seen.contains(dependency) {
                seen.push(dependency.clone());
                open.push(dependency.clone());
            }
        }
    }
    false
}

#[test]
fn cycles_are_found_and_named() {
    let mut cycles = 0;
    for seed in 0..graphs() {
        let mut random = fastrand::Rng::with_seed(seed);
        let count = random.usize(1..12);
        let todos: Vec<Todo> = (0..count)
            .map(|number| {
                let dependencies = (0..random.usize(0..3)).map(|_| format!("t{}", random.usize(..count)));
                dependencies.fold(Todo::new(format!("t{number}"), ""), Todo::with_dependency)
            })
            .collect();
        let has_cycle = todos.iter().any(|todo| is_in_cycle(&todos, &todo.id));
        // Added to a list that has todos already, the same graph is refused, too.
        let mut other = TodoList::new(vec![Todo::new("first", "")]).unwrap();
        let before = other.clone();
        assert_eq!(other.add(todos.clone()).is_err(), has_cycle, "seed {seed}");
        assert_eq!(other == before, has_cycle, "seed {seed}");
        match TodoList::new(todos.clone()) {
            Ok(_) => assert!(!has_cycle, "seed {seed}"),
            Err(error) => {
                cycles += 1;
                let TodoErrorKind::Cycle(ids) = error.kind() else {
                    panic!("seed {seed}: {error}");
                };
                for (place, id) in ids.iter().enumerate() {
                    let next = &ids[(place + 1) % ids.len()];
                    let todo = todos.iter().find(|todo| todo.id == *id).unwrap();
                    assert!(todo.dependencies.contains(next), "seed {seed}: {error}");
                    assert!(!ids[..place].contains(id), "seed {seed}: {error}");
                }
            }
        }
    }
    assert!(cycles > graphs() / 4 && cycles < graphs(), "{cycles} cycles");
}

#[test]
fn lists_behave_like_the_model() {
    for seed in 0..graphs() {
        let mut random = fastrand::Rng::with_seed(seed);
        let todos = random_todos(&mut random);
        let mut model = Model(todos.clone());
        let mut list = TodoList::new(todos).unwrap();
        let mut now = 0;
        for step in 0..60 {
            let context = format!("seed {seed}, step {step}");
            assert_eq!(ready(&list, now), model.ready(now), "{context}");
            for (todo, expected) in list.todos().iter().zip(&model.0) {
                assert_eq!((&todo.id, todo.status), (&expected.id, expected.status), "{context}");
                assert_eq!(todo.critical_path_length, model.chain(&todo.id), "{context}");
            }
            if model.0.is_empty() {
                break;
            }
            change(&mut list, &mut model, &mut random, &mut now, &context);
        }
    }
}

/// Makes a random change to both.
fn change(list: &mut TodoList, model: &mut Model, random: &mut fastrand::Rng, now: &mut i64, context: &str) {
    let number = random.usize(..model.0.len());
    let id = model.0[number].id.clone();
    let status = model.0[number].status;
    match random.u8(..10) {
        0..4 => {
            let is_ready = model.ready(*now).contains(&id.as_str());
            assert_eq!(list.start(&id, at(*now)).is_ok(), is_ready, "{context}");
            if is_ready {
                model.0[number].status = TodoStatus::Processing;
            }
        }
        4..6 => {
            let expected = status == TodoStatus::Processing;
            assert_eq!(list.complete(&id, done(*now)).is_ok(), expected, "{context}");
            if expected {
                model.0[number].status = TodoStatus::Completed;
            }
        }
        6 | 7 => {
            let after = random.bool().then(|| at(*now + 5));
            let result = list.fail(&id, TodoAttempt::new(at(*now), "no"), after);
            assert_eq!(result.is_ok(), status == TodoStatus::Processing, "{context}");
            let todo = &mut model.0[number];
            if result.is_err() {
            } else if todo.retry == todo.max_retry {
                model.close(&id, TodoStatus::Failed);
            } else {
                todo.retry += 1;
                todo.retry_after = after;
                todo.status = TodoStatus::Pending;
            }
        }
        8 => *now += 3,
        _ => {
            // A list that is written and read continues as before.
            *list = serde_json::from_str(&serde_json::to_string(list).unwrap()).unwrap();
            if random.u8(..8) == 0 && !status.is_final() {
                list.cancel(&id, at(*now)).unwrap();
                model.close(&id, TodoStatus::Cancelled);
            }
        }
    }
}
