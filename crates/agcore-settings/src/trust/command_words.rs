//! Splits command lines of a shell into words that may name files, and writes such lines.

use agcore_terminal::process::shell_word;

/// A part of a word that the shell replaces: a variable, or the output of a command.
pub(super) const REPLACED: char = '\0';

/// A word of a command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    /// The text without quotation marks, with [`REPLACED`] for what the shell replaces.
    pub(super) text: String,
    /// The program that the command runs, if this is one of its arguments.
    pub(super) program: Option<String>,
    /// The option before it, such as `-m`.
    pub(super) option: Option<String>,
}

/// Splits a line into the words of all its commands, also of those within quotation marks and substitutions.
pub(super) fn words(line: &str) -> Vec<Word> {
    let mut reader = Reader::default();
    reader.read(line, 0);
    reader.words
}

/// Writes a line for a program that is started without a shell, in a directory and with variables.
pub(crate) fn line<'v>(
    directory: Option<&str>,
    variables: impl IntoIterator<Item = (&'v String, &'v String)>,
    command: &[&str],
) -> String {
    let directory = directory.map(|directory| format!("cd {};", shell_word(directory)));
    let variables = variables
        .into_iter()
        .map(|(name, value)| shell_word(&format!("{name}={value}")));
    let command = command.iter().map(|word| shell_word(word));
    let words: Vec<String> = directory.into_iter().chain(variables).chain(command).collect();
    words.join(" ")
}

/// The deepest nesting of substitutions and of lines within words that is read.
const MAX_DEPTH: usize = 4;

#[derive(Default)]
struct Reader {
    words: Vec<Word>,
    /// The program of the current command.
    program: Option<String>,
    option: Option<String>,
}

impl Reader {
    fn read(&mut self, line: &str, depth: usize) {
        let mut rest = line.chars().peekable();
        let (mut word, mut has_word, mut quote) = (String::new(), false, None);
        while let Some(c) = rest.next() {
            match (quote, c) {
                (Some(end), c) if c == end => quote = None,
                (Some('\''), c) => word.push(c),
                (None, '\'' | '"') => {
                    quote = Some(c);
                    has_word = true;
                }
                (_, '\\') => {
                    let next = rest.next();
                    // In front of a line break, it joins two lines.
                    word.extend(next.filter(|c| *c != '\n'));
                    has_word = true;
                }
                (_, '$') if rest.peek().is_some_and(|c| is_start(*c)) => {
                    self.replaced(&mut rest, depth);
                    word.push(REPLACED);
                    has_word = true;
                }
                (_, '`') => {
                    let inner: String = rest.by_ref().take_while(|c| *c != '`').collect();
                    self.inside(&inner, depth);
                    word.push(REPLACED);
                    has_word = true;
                }
                (None, c) if c.is_whitespace() || is_operator(c) => {
                    self.end(&mut word, &mut has_word, depth);
                    if is_operator(c) || c == '\n' {
                        (self.program, self.option) = (None, None);
                    }
                }
                (_, c) => {
                    word.push(c);
                    has_word = true;
                }
            }
        }
        self.end(&mut word, &mut has_word, depth);
    }

    /// Skips a variable or a substitution, and reads the commands in it.
    fn replaced(&mut self, rest: &mut std::iter::Peekable<std::str::Chars<'_>>, depth: usize) {
        let Some(first) = rest.next() else { return };
        let end = match first {
            '(' => ')',
            '{' => '}',
            _ => {
                while rest.next_if(|c| c.is_ascii_alphanumeric() || *c == '_').is_some() {}
                return;
            }
        };
        let (mut inner, mut open) = (String::new(), 1);
        for c in rest.by_ref() {
            open += usize::from(c == first);
            open -= usize::from(c == end);
            if open == 0 {
                break;
            }
            inner.push(c);
        }
        let line = match first {
            '{' => default_of(&inner),
            _ => &inner,
        };
        self.inside(line, depth);
    }

    /// Reads a line within a line.
    fn inside(&mut self, line: &str, depth: usize) {
        if depth < MAX_DEPTH {
            let mut inner = Self::default();
            inner.read(line, depth + 1);
            self.words.append(&mut inner.words);
        }
    }

    fn end(&mut self, word: &mut String, has_word: &mut bool, depth: usize) {
        if !std::mem::take(has_word) {
            return;
        }
        let text = std::mem::take(word);
        // A word with blanks or operators can be a line of its own: `sh -c 'cd a; ./b'`.
        if text.contains(|c: char| c.is_whitespace() || is_operator(c) || c == '$') {
            self.inside(&text, depth);
        }
        let found = Word {
            text: text.clone(),
            program: self.program.clone(),
            option: self.option.take(),
        };
        self.words.push(found);
        match &self.program {
            _ if text.starts_with('-') => self.option = Some(text),
            // Variables before a command, and words after which a command follows.
            None if text.contains('=') || PREFIXES.contains(&text.as_str()) => {}
            None => self.program = Some(text),
            Some(_) => {}
        }
    }
}

/// Words after which the name of a program follows.
const PREFIXES: [&str; 16] = [
    "!", "command", "do", "elif", "else", "env", "exec", "if", "nice", "nohup", "sudo", "then", "time", "until",
    "while", "xargs",
];

/// Returns the default in the part of `${NAME:-default}` between the braces.
fn default_of(variable: &str) -> &str {
    let after_name = variable.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '!' | '#'));
    after_name.trim_start_matches([':', '-', '=', '+', '?'])
}

fn is_start(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '{' | '(' | '@' | '*' | '?' | '$')
}

fn is_operator(c: char) -> bool {
    matches!(c, ';' | '|' | '&' | '(' | ')' | '<' | '>' | '\n')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(line: &str) -> Vec<String> {
        words(line)
            .into_iter()
            .map(|word| word.text.replace(REPLACED, "$"))
            .collect()
    }

    #[test]
    fn words_are_those_of_a_shell() {
        let check = |line: &str, expected: &[&str]| assert_eq!(texts(line), expected, "{line}");
        check(
            r#""$PWD/scripts/check.sh" 'my tool.sh'"#,
            &["$/scripts/check.sh", "my", "tool.sh", "my tool.sh"],
        );
        check(r"che\ck.sh a\ b", &["check.sh", "a", "b", "a b"]);
        check(
            "${PWD}/a $(git rev-parse --show-toplevel)/b",
            &["$/a", "git", "rev-parse", "--show-toplevel", "$/b"],
        );
        check("cd a&&./b|c;`d`/e", &["cd", "a", "./b", "c", "d", "$/e"]);
        check("sh ${SCRIPT:-./a.sh}", &["sh", "./a.sh", "$"]);
        check("sh ${SCRIPT:-scripts/a.sh}", &["sh", "scripts/a.sh", "$"]);
        check("sh -c 'cd a; ./b'", &["sh", "-c", "cd", "a", "./b", "cd a; ./b"]);
        check("x=./run; \"$x\"", &["x=./run", "$"]);
        check("a 'unclosed b", &["a", "unclosed", "b", "unclosed b"]);
        check("", &[]);
    }

    #[test]
    fn arguments_know_their_program_and_option() {
        let found = words("A=1 python3 -m scripts.check; sudo ./x y");
        let find = |text: &str| found.iter().find(|word| word.text == text).unwrap();
        assert_eq!(find("scripts.check").program.as_deref(), Some("python3"));
        assert_eq!(find("scripts.check").option.as_deref(), Some("-m"));
        assert_eq!(
            (find("./x").program.as_deref(), find("y").program.as_deref()),
            (None, Some("./x"))
        );
    }

    #[test]
    fn a_line_without_a_shell_is_read_as_its_words() {
        let variables = [("A".to_owned(), "b c".to_owned())];
        let variables = variables.iter().map(|(name, value)| (name, value));
        let line = line(Some("my dir"), variables, &["sh", "it's (1).sh", "$x"]);
        let found = texts(&line);
        for word in ["my dir", "A=b c", "it's (1).sh"] {
            assert!(found.iter().any(|text| text == word), "{word}: {found:?}");
        }
    }
}
