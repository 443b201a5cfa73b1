//! Parsing the parts of Markdown that the checks need: code blocks, and the text outside of them.

/// Ends an open code block. A form feed does not occur in documentation.
pub(crate) const PAGE_BREAK: &str = "\u{c}\n";

/// A fenced block of code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CodeBlock<'a> {
    /// The words after the opening fence.
    pub(crate) info: &'a str,
}

/// The treatment of a block of code by rustdoc.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Execution {
    /// Compiled and run.
    Run,
    /// Compiled only.
    NoRun,
    /// Expected not to compile.
    CompileFail,
    /// Not even compiled.
    Ignore,
    /// Not Rust.
    None,
}

impl CodeBlock<'_> {
    pub(crate) fn execution(&self) -> Execution {
        let mut execution = Execution::Run;
        let words = self.info.split([',', ' ', '\t']).filter(|word| !word.is_empty());
        for word in words {
            match word {
                "rust" | "should_panic" | "standalone_crate" | "test_harness" => {}
                "no_run" => execution = Execution::NoRun,
                "compile_fail" => execution = Execution::CompileFail,
                "ignore" => execution = Execution::Ignore,
                _ if word.starts_with("ignore-") => execution = Execution::Ignore,
                _ if word.starts_with("edition") || is_error_code(word) => {}
                _ => return Execution::None,
            }
        }
        execution
    }
}

/// Returns whether a word is an error code of the compiler, such as `E0277`.
fn is_error_code(word: &str) -> bool {
    let digits = word.strip_prefix('E');
    digits.is_some_and(|digits| digits.len() == 4 && digits.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Returns the fenced blocks of code in order.
pub(crate) fn code_blocks(text: &str) -> impl Iterator<Item = CodeBlock<'_>> {
    let mut fence = None;
    text.lines().filter_map(move |line| {
        let (opened, block) = step(fence, line);
        fence = opened;
        block
    })
}

/// Returns each line inside of the blocks that rustdoc takes for Rust, with its number.
pub(crate) fn rust_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let (mut fence, mut is_rust) = (None, false);
    let lines = (1..).zip(text.lines());
    lines.filter(move |(_, line)| {
        let before = fence;
        let (after, block) = step(fence, line);
        fence = after;
        if let Some(block) = block {
            is_rust = block.execution() != Execution::None;
        }
        before.is_some() && after.is_some() && is_rust
    })
}

/// Returns each line outside of code blocks, with its number.
pub(crate) fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fence = None;
    let lines = (1..).zip(text.lines());
    lines.filter(move |(_, line)| {
        let before = fence;
        fence = step(fence, line).0;
        before.is_none() && fence.is_none()
    })
}

/// The opening fence of the current block.
type Fence = Option<(char, usize)>;

/// Returns the state after a line, and the block that it opens.
fn step(fence: Fence, line: &str) -> (Fence, Option<CodeBlock<'_>>) {
    if line.starts_with('\u{c}') {
        return (None, None);
    }
    let line = line.trim_start();
    let mark = line.chars().next().unwrap_or_default();
    let length = line.len() - line.trim_start_matches(mark).len();
    let info = line[length..].trim();
    let is_fence = matches!(mark, '`' | '~') && length >= 3;
    match fence {
        None if is_fence && !info.contains('`') => (Some((mark, length)), Some(CodeBlock { info })),
        Some((opened, shortest)) if is_fence && mark == opened && length >= shortest && info.is_empty() => (None, None),
        state => (state, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(info: &str, expected: Execution) {
        let text = format!("Text.\n\n```{info}\ncode\n```\n");
        let executions: Vec<_> = code_blocks(&text).map(|block| block.execution()).collect();
        assert_eq!(executions, [expected]);
    }

    #[test]
    fn the_words_of_a_fence_decide_about_the_execution() {
        check("", Execution::Run);
        check("rust,should_panic", Execution::Run);
        check("edition2024", Execution::Run);
        check("no_run", Execution::NoRun);
        check("rust,ignore", Execution::Ignore);
        check("ignore-wasm32", Execution::Ignore);
        check("compile_fail,E0277", Execution::CompileFail);
        check("text", Execution::None);
        check("toml", Execution::None);
    }

    #[test]
    fn a_block_ends_with_its_own_fence_or_its_page() {
        let text = "````text\n```\n```\n````\n```\na\n```\n";
        let infos: Vec<_> = code_blocks(text).map(|block| block.info).collect();
        assert_eq!(infos, ["text", ""]);
        let text = format!("```text\n{PAGE_BREAK}```\na\n```\n");
        assert_eq!(code_blocks(&text).count(), 2);
    }

    #[test]
    fn lines_of_rust_are_inside_of_its_blocks() {
        let text = "One.\n```rust,no_run\na();\n```\nTwo.\n```sh\n# b\n```\n~~~\nc();\n";
        let lines: Vec<_> = rust_lines(text).collect();
        assert_eq!(lines, [(3, "a();"), (10, "c();")]);
    }

    #[test]
    fn prose_is_outside_of_blocks() {
        let lines: Vec<_> = prose("One.\n~~~\ncode\n~~~\nTwo.\n").collect();
        assert_eq!(lines, [(1, "One."), (5, "Two.")]);
    }
}
