//! Lines with the same form: logs, lists, output of builds and tests, stack traces.

use std::collections::{BTreeSet, HashMap};

use super::sheet::Sheet;

/// The largest number of lines with the same form that are all kept.
const MAX_SAME: usize = 5;

/// The number of lines with the same form that are kept at the start.
const FIRST: usize = 3;

/// The number of lines that report a problem in the same form and are kept.
const MAX_PROBLEMS: usize = 6;

/// The number of lines of a form that are kept because of a rare word.
const MAX_RARE: usize = 10;

/// The number of frames of a stack that are kept at its start and at its end.
const FRAMES: (usize, usize) = (6, 4);

/// The number of lines that are kept before and behind a problem.
const AROUND: (usize, usize) = (1, 2);

/// The shortest run of lines that is left out: a note needs space, too.
const MIN_RUN: usize = 3;

/// The largest number of forms of lines with the same number of words.
const MAX_FORMS: usize = 64;

/// Words of lines that report a problem.
const PROBLEMS: [&str; 12] = [
    "error",
    "fail",
    "panic",
    "exception",
    "fatal",
    "warn",
    "denied",
    "refused",
    "timed out",
    "traceback",
    "assert",
    "critical",
];

/// Parts of the places of code that the reader did not write.
const LIBRARIES: [&str; 10] = [
    "site-packages",
    "node_modules",
    "/rustc/",
    "/lib/python",
    "java.base",
    "node:internal",
    "/.cargo/registry/",
    "core::",
    "std::",
    "tokio::",
];

/// The decision about a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Keep,
    /// Like the line with this index.
    Like(usize),
    /// A frame of a stack.
    Frame,
}

/// Leaves out lines that have the same form as others.
pub(super) fn shorten(sheet: &mut Sheet) {
    let problems = problems(sheet);
    let mut fates = fates_by_form(sheet, &problems);
    thin_stacks(sheet, &problems, &mut fates);
    let kept = |at: &usize| problems[*at] && fates[*at] == Fate::Keep;
    let reported: Vec<usize> = (0..sheet.len()).filter(kept).collect();
    for at in reported {
        let near = at.saturating_sub(AROUND.0)..(at + AROUND.1 + 1).min(sheet.len());
        near.for_each(|at| fates[at] = Fate::Keep);
    }
    leave(sheet, &fates);
}

/// Leaves out the runs of lines with the same fate that are long enough.
fn leave(sheet: &mut Sheet, fates: &[Fate]) {
    let mut start = 0;
    while start < fates.len() {
        // Empty lines between lines that are left out belong to them.
        let is_left = |at: &usize| {
            let is_empty = |at: usize| sheet.line(at).trim().is_empty();
            fates[*at] != Fate::Keep
                || *at > start && is_empty(*at) && fates.get(at + 1).is_some_and(|next| *next != Fate::Keep)
        };
        let end = (start..fates.len()).find(|at| !is_left(at)).unwrap_or(fates.len());
        if end == start {
            start += 1;
            continue;
        }
        if end - start >= MIN_RUN {
            let mut alike: Vec<usize> = fates[start..end]
                .iter()
                .filter_map(|fate| match fate {
                    Fate::Like(line) => Some(line + 1),
                    _ => None,
                })
                .collect();
            alike.sort_unstable();
            alike.dedup();
            let note = match alike.as_slice() {
                [] => "frames of the stack".to_owned(),
                [one] => format!("like line {one}"),
                [one, other] => format!("like lines {one} and {other}"),
                [first, .., last] => format!("like {} of the lines {first} to {last}", alike.len()),
            };
            let note = sheet.note(note);
            (start..end).for_each(|at| sheet.leave(at, note));
        }
        start = end;
    }
}

/// Returns which lines report a problem. If many seem to, the words mean nothing.
fn problems(sheet: &Sheet) -> Vec<bool> {
    let is_problem = |line: &str| {
        let lower = line.to_ascii_lowercase();
        line.starts_with("E  ") || line.starts_with("> ") || PROBLEMS.iter().any(|word| lower.contains(word))
    };
    let found: Vec<bool> = sheet.lines().map(is_problem).collect();
    let count = found.iter().filter(|found| **found).count();
    match count * 3 > found.len() {
        true => vec![false; found.len()],
        false => found,
    }
}

/// A form of lines: its words, with placeholders where they differ.
struct Form {
    words: Vec<String>,
    lines: Vec<usize>,
}

/// Groups lines by their form, and keeps some of each group.
fn fates_by_form(sheet: &Sheet, problems: &[bool]) -> Vec<Fate> {
    let mut forms: HashMap<(usize, String, bool), Vec<Form>> = HashMap::new();
    for (at, line) in sheet.lines().enumerate() {
        let words: Vec<String> = line.split_whitespace().map(normalized).collect();
        let Some(first) = words.first() else { continue };
        // Paths are different words for the same.
        let is_path = first.contains('/') && first.contains(|c: char| c.is_ascii_alphanumeric());
        let first = match is_path {
            true => "/".to_owned(),
            // Frames are only alike if they are places in the same function.
            false if is_frame(sheet, at) => words.join(" "),
            false => first.clone(),
        };
        let known = forms.entry((words.len(), first, problems[at])).or_default();
        let is_full = known.len() >= MAX_FORMS;
        match known.iter_mut().find(|form| form.is_like(&words)) {
            Some(form) => form.add(at, &words),
            None if is_full => {}
            None => known.push(Form { words, lines: vec![at] }),
        }
    }
    let mut fates = vec![Fate::Keep; sheet.len()];
    for form in forms.into_values().flatten() {
        let is_problem = form.lines.first().is_some_and(|at| problems[*at]);
        let kept = if is_problem { MAX_PROBLEMS } else { FIRST };
        if form.lines.len() <= MAX_SAME.max(kept + 1) {
            continue;
        }
        let like = form.lines[kept - 1];
        let middle = &form.lines[kept..form.lines.len() - 1];
        middle.iter().for_each(|at| fates[*at] = Fate::Like(like));
        let rare = rare_lines(sheet, &form.lines);
        rare.into_iter().take(MAX_RARE).for_each(|at| fates[at] = Fate::Keep);
    }
    fates
}

/// Returns the lines of a form with a rare word in a place that has few different ones, such as another status.
fn rare_lines(sheet: &Sheet, lines: &[usize]) -> BTreeSet<usize> {
    let mut places: Vec<HashMap<&str, Vec<usize>>> = Vec::new();
    for at in lines {
        for (place, word) in sheet.line(*at).split_whitespace().enumerate() {
            if places.len() == place {
                places.push(HashMap::new());
            }
            places[place].entry(word).or_default().push(*at);
        }
    }
    let has_few = |words: &&HashMap<&str, Vec<usize>>| words.len() <= 4.max(lines.len() / 50);
    let few = places.iter().filter(has_few).flat_map(HashMap::values);
    few.filter(|at| at.len() <= 1.max(lines.len() / 20))
        .flatten()
        .copied()
        .collect()
}

impl Form {
    /// Returns whether words have this form: at least half of them are the same.
    fn is_like(&self, words: &[String]) -> bool {
        let same = self
            .words
            .iter()
            .zip(words)
            .filter(|(known, word)| known == word)
            .count();
        same * 2 >= words.len() && (words.len() > 1 || same == 1)
    }

    fn add(&mut self, at: usize, words: &[String]) {
        self.lines.push(at);
        for (known, word) in self.words.iter_mut().zip(words) {
            if known != word {
                "*".clone_into(known);
            }
        }
    }
}

/// Replaces numbers and hashes of a word, so that words that only differ in them are the same.
fn normalized(word: &str) -> String {
    let is_hash = word.len() >= 7 && word.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    if is_hash && word.bytes().any(|byte| byte.is_ascii_digit()) {
        return "#".to_owned();
    }
    let (mut text, mut was_digit) = (String::with_capacity(word.len()), false);
    for c in word.chars() {
        let is_digit = c.is_ascii_digit();
        match (is_digit, was_digit) {
            (true, true) => {}
            (true, false) => text.push('0'),
            (false, _) => text.push(c),
        }
        was_digit = is_digit;
    }
    text
}

/// Leaves out frames of libraries in the middle of long stacks, and keeps the ends.
fn thin_stacks(sheet: &Sheet, problems: &[bool], fates: &mut [Fate]) {
    let mut start = 0;
    while start < sheet.len() {
        if !is_frame(sheet, start) {
            start += 1;
            continue;
        }
        let end = (start..sheet.len())
            .find(|at| !is_frame(sheet, *at) && !is_code(sheet, *at))
            .unwrap_or(sheet.len());
        if end - start > FRAMES.0 + FRAMES.1 {
            let decide = |(at, fate): (usize, &mut Fate)| {
                let is_end = at < start + FRAMES.0 || at >= end - FRAMES.1;
                let of_frame = if is_frame(sheet, at) { at } else { at.saturating_sub(1) };
                let is_library = LIBRARIES.iter().any(|part| sheet.line(of_frame).contains(part));
                if is_end || problems[at] {
                    *fate = Fate::Keep;
                } else if is_library {
                    *fate = Fate::Frame;
                }
            };
            let of_stack = fates.iter_mut().enumerate().take(end).skip(start);
            of_stack.for_each(decide);
        }
        start = end;
    }
}

/// Returns whether a line names a place of a stack.
fn is_frame(sheet: &Sheet, at: usize) -> bool {
    let line = sheet.line(at);
    let text = line.trim_start();
    let is_numbered = || {
        let (number, rest) = text.split_once(": ").unwrap_or_default();
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) && !rest.is_empty()
    };
    text.len() < line.len() && (text.starts_with("at ") || text.starts_with("File \"") || is_numbered())
}

/// Returns whether a line shows the code of the place in the line before.
fn is_code(sheet: &Sheet, at: usize) -> bool {
    at > 0 && sheet.line(at - 1).trim_start().starts_with("File \"") && sheet.line(at).starts_with("    ")
}
