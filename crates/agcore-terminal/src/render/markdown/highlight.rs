//! [`Highlighter`]: colors code line by line.

use std::{
    fmt::{self, Write as _},
    sync::OnceLock,
};

use syntect::parsing::{ParseState, Scope, ScopeStack, SyntaxSet};

use super::code_style::CodePart;
use crate::render::Theme;

/// The longest name of a language that is looked up, in bytes.
const MAX_NAME: usize = 40;

/// The number of lines after which a block is no longer colored. It bounds the work for code that grammars are slow with.
const MAX_LINES: usize = 5_000;

/// The parts by the scopes of the grammars; those that are more special come first. A scope that is not listed takes the
/// part of the one around it.
const PARTS: [(&str, CodePart); 33] = [
    ("comment", CodePart::Comment),
    ("string", CodePart::String),
    ("constant.character.escape", CodePart::Constant),
    ("constant.other.placeholder", CodePart::Constant),
    ("constant", CodePart::Constant),
    ("keyword.operator.word", CodePart::Keyword),
    ("keyword.operator.logical", CodePart::Keyword),
    ("keyword.operator", CodePart::Plain),
    ("keyword", CodePart::Keyword),
    ("storage.type.numeric", CodePart::Constant),
    ("storage", CodePart::Keyword),
    ("entity.name.function", CodePart::Function),
    ("entity.name.macro", CodePart::Function),
    ("support.function", CodePart::Function),
    ("support.macro", CodePart::Function),
    ("variable.function", CodePart::Function),
    ("entity.name.tag", CodePart::Keyword),
    ("entity.name", CodePart::Type),
    ("entity.other.inherited-class", CodePart::Type),
    ("support.type.property-name", CodePart::Attribute),
    ("support.type", CodePart::Type),
    ("support.class", CodePart::Type),
    ("support.constant", CodePart::Constant),
    ("entity.other.attribute-name", CodePart::Attribute),
    ("variable.language", CodePart::Keyword),
    ("variable.annotation", CodePart::Attribute),
    ("meta.diff", CodePart::Comment),
    ("markup.inserted", CodePart::Inserted),
    ("markup.deleted", CodePart::Deleted),
    ("markup.heading", CodePart::Keyword),
    ("invalid", CodePart::Invalid),
    // Code within strings.
    ("meta.interpolation", CodePart::Plain),
    ("source", CodePart::Plain),
];

/// The grammars and the scopes of the parts, which are loaded when the first code is shown.
struct Grammars {
    syntaxes: SyntaxSet,
    parts: Vec<(Scope, CodePart)>,
}

impl Grammars {
    fn get() -> &'static Self {
        static GRAMMARS: OnceLock<Grammars> = OnceLock::new();
        GRAMMARS.get_or_init(|| Self {
            syntaxes: two_face::syntax::extra_newlines(),
            parts: PARTS
                .iter()
                .filter_map(|(name, part)| Some((Scope::new(name).ok()?, *part)))
                .collect(),
        })
    }
}

/// Colors the lines of a code block.
pub(super) struct Highlighter {
    state: ParseState,
    scopes: ScopeStack,
    theme: Theme,
    /// The number of lines that can still be colored.
    lines: usize,
}

impl Highlighter {
    /// Returns a highlighter for the language that the line of an opening fence names. Returns `None` if it is not known.
    pub(super) fn for_language(info: &str, theme: Theme) -> Option<Self> {
        let name = language(info)?;
        let syntaxes = &Grammars::get().syntaxes;
        let syntax = syntaxes.find_syntax_by_token(&name)?;
        Some(Self {
            state: ParseState::new(syntax),
            scopes: ScopeStack::new(),
            theme,
            lines: MAX_LINES,
        })
    }

    /// Returns a line with the escape codes of its styles. All styles end with the line. The text is not changed.
    pub(super) fn line(&mut self, code: &str) -> String {
        let mut out = String::new();
        self.lines = self.lines.saturating_sub(1);
        let grammars = Grammars::get();
        let text = code.to_owned() + "\n";
        let operations = match self.lines {
            0 => None,
            _ => self.state.parse_line(&text, &grammars.syntaxes).ok(),
        };
        let Some(operations) = operations else {
            // A grammar that fails once is not used again.
            self.lines = 0;
            return code.to_owned();
        };
        let mut start = 0;
        for (position, operation) in operations {
            // The end of the line, which the grammars need, is not part of the output.
            let position = position.min(code.len());
            self.write(code.get(start..position), &mut out);
            start = position;
            if self.scopes.apply(&operation).is_err() {
                self.lines = 0;
            }
        }
        self.write(code.get(start..), &mut out);
        out
    }

    fn write(&self, text: Option<&str>, out: &mut String) {
        let Some(text) = text.filter(|text| !text.is_empty()) else {
            return;
        };
        let style = self.part().style(self.theme);
        let _ = write!(out, "{style}{text}{style:#}");
    }

    /// Returns the part for the innermost scope that has one.
    fn part(&self) -> CodePart {
        let parts = &Grammars::get().parts;
        let of_scope = |scope: &Scope| parts.iter().find(|(prefix, _)| prefix.is_prefix_of(*scope));
        let found = self.scopes.as_slice().iter().rev().find_map(of_scope);
        found.map_or(CodePart::Plain, |(_, part)| *part)
    }
}

impl fmt::Debug for Highlighter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Highlighter")
            .field("lines", &self.lines)
            .finish_non_exhaustive()
    }
}

/// Returns the name of the language, as the grammars know it: `rs` for `rust,ignore`.
fn language(info: &str) -> Option<String> {
    let name = info.trim().split([' ', ',', '{', '\t']).next()?;
    if name.is_empty() || name.len() > MAX_NAME {
        return None;
    }
    let name = name.to_lowercase();
    let known = match name.as_str() {
        "text" | "txt" | "plain" | "plaintext" | "output" => return None,
        "shell" | "console" | "sh-session" | "shell-session" => "sh",
        "jsonc" | "json5" => "json",
        "golang" => "go",
        "csharp" => "cs",
        name => name,
    };
    Some(known.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn colored(language: &str, lines: &[&str]) -> Vec<String> {
        let mut highlighter = Highlighter::for_language(language, Theme::Dark).unwrap();
        lines.iter().map(|line| highlighter.line(line)).collect()
    }

    /// Removes the escape codes.
    fn plain(text: &str) -> String {
        let mut parts = text.split('\u{1b}');
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |text, part| {
            text + part.split_once('m').map_or("", |(_, rest)| rest)
        })
    }

    #[test]
    fn parts_of_code_have_styles_and_the_text_is_unchanged() {
        let lines = ["fn main() { // 中文", "    println!(\"{}\", 1);", "", "}"];
        let output = colored("rust", &lines);
        assert_eq!(output.iter().map(|line| plain(line)).collect::<Vec<_>>(), lines);
        let part = |part: CodePart, text: &str| {
            let style = part.style(Theme::Dark);
            format!("{style}{text}{style:#}")
        };
        assert!(output[0].contains(&part(CodePart::Keyword, "fn")), "{:?}", output[0]);
        assert!(output[0].contains(&part(CodePart::Function, "main")), "{:?}", output[0]);
        assert!(output[0].contains("中文"));
        assert!(output[1].contains(&part(CodePart::Constant, "1")), "{:?}", output[1]);
    }

    #[test]
    fn a_comment_of_several_lines_keeps_its_style() {
        let output = colored("rust", &["/* a", "fn b", "c */ fn"]);
        let style = CodePart::Comment.style(Theme::Dark);
        assert!(output[1].contains(&format!("{style}fn b{style:#}")), "{output:?}");
        let style = CodePart::Keyword.style(Theme::Dark);
        assert!(output[2].ends_with(&format!("{style}fn{style:#}")), "{output:?}");
    }

    #[test]
    fn finds_languages_by_their_common_names() {
        for info in [
            "rust",
            "rust,ignore",
            "Python",
            "py",
            "ts",
            "tsx",
            "js",
            "json",
            "jsonc",
            "toml",
            "yaml",
            "sh",
            "shell",
            "bash",
            "console",
            "go",
            "golang",
            "java",
            "kotlin",
            "swift",
            "c",
            "cpp",
            "c++",
            "csharp",
            "cs",
            "sql",
            "html",
            "css",
            "diff",
            "dockerfile",
            "rb",
            "php",
            "lua",
            "rust {.numbered}",
        ] {
            assert!(Highlighter::for_language(info, Theme::Dark).is_some(), "{info}");
        }
        let long = "x".repeat(MAX_NAME + 1);
        for info in ["", " ", "text", "no-such-language", "../rust", &long] {
            assert!(Highlighter::for_language(info, Theme::Dark).is_none(), "{info}");
        }
    }

    #[test]
    fn a_block_of_many_lines_is_no_longer_colored() {
        let mut highlighter = Highlighter::for_language("rust", Theme::Dark).unwrap();
        highlighter.lines = 2;
        assert_ne!(highlighter.line("fn"), "fn");
        assert_eq!(highlighter.line("fn"), "fn");
        assert_eq!(highlighter.line("fn"), "fn");
    }
}
