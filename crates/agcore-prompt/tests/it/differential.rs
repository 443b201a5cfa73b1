//! Differential tests: generated templates and contexts must render to the same bytes as with the `handlebars` crate, the
//! reference.
//!
//! The tests use the subset that both languages share. It excludes raw blocks, printing of arrays and objects, missing names
//! and outer names, and everything that the reference and handlebars.js render differently: whitespace around a partial
//! that is not standalone, line breaks directly after a block tag with `~`, and comments after a tag with `~`.

use agcore_prompt::PromptTemplateRegistry;
use handlebars::{Handlebars, no_escape};
use proptest::{
    collection::vec,
    prelude::*,
    test_runner::{Config, TestRunner},
};
use serde_json::{Map, Value as Json, json};

use crate::support::try_render;

/// Configures the number of generated cases, which is larger if `AGCORE_SOAK` is set.
pub(crate) fn cases(usual: u32) -> Config {
    let factor = if std::env::var_os("AGCORE_SOAK").is_some() {
        50
    } else {
        1
    };
    Config {
        cases: usual * factor,
        failure_persistence: None,
        ..Config::default()
    }
}

/// The kind of value that `this` is, which determines the names that a fragment of a template may use.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Scope {
    Root,
    Row,
    Word,
    Field,
}

impl Scope {
    const ALL: [Self; 4] = [Self::Root, Self::Row, Self::Word, Self::Field];

    /// Names that print as text.
    fn scalars(self) -> &'static [&'static str] {
        match self {
            Self::Root => &[
                "word",
                "empty",
                "whole",
                "part",
                "yes",
                "no",
                "none",
                "user.name",
                "user.age",
                "用户.名字",
                "words2.0",
                "words2.1",
                "this.word",
                "rows2.0.name",
            ],
            Self::Row => &[
                "name",
                "count",
                "ok",
                "none",
                "this.name",
                "deep.er.est",
                "tags2.1",
                "@index",
                "@first",
                "@last",
            ],
            Self::Word => &["this", "@index", "@first", "@last"],
            Self::Field => &["this", "@key", "@index", "@first", "@last"],
        }
    }

    /// Names that may be used only in conditions.
    fn containers(self) -> &'static [&'static str] {
        match self {
            Self::Root => &["rows", "words", "nothing", "user", "fields", "hollow"],
            Self::Row => &["tags", "deep", "nothing"],
            Self::Word | Self::Field => &[],
        }
    }

    /// Names that can be iterated over, and the scopes of their elements.
    fn lists(self) -> &'static [(&'static str, Self)] {
        match self {
            Self::Root => &[
                ("rows", Self::Row),
                ("words", Self::Word),
                ("nothing", Self::Word),
                ("fields", Self::Field),
                ("hollow", Self::Field),
                ("none", Self::Word),
                ("user.tags", Self::Word),
                ("table", Self::Row),
            ],
            Self::Row => &[("tags", Self::Word), ("nothing", Self::Row), ("kin", Self::Row)],
            Self::Word | Self::Field => &[],
        }
    }

    /// Returns the name of the partial for this scope.
    fn partial(self) -> &'static str {
        match self {
            Self::Root => "root",
            Self::Row => "部/row",
            Self::Word => "word-p",
            Self::Field => "field_p",
        }
    }
}

/// A source of decisions, one per byte. After the last byte it always picks the first and simplest option.
struct Choices(std::vec::IntoIter<u8>);

impl Choices {
    fn below(&mut self, options: usize) -> usize {
        usize::from(self.0.next().unwrap_or(0)) % options
    }

    fn pick<T: Copy>(&mut self, options: &[T]) -> T {
        options[self.below(options.len())]
    }

    /// Generates a template for this scope with up to `levels` levels of blocks.
    fn template(&mut self, scope: Scope, levels: usize) -> String {
        let fragments: Vec<String> = (0..self.below(5)).map(|_| self.fragment(scope, levels)).collect();
        join(&fragments)
    }

    fn fragment(&mut self, scope: Scope, levels: usize) -> String {
        match self.below(if levels > 0 { 16 } else { 12 }) {
            0..=4 => self.text(),
            5..=8 => self.print(scope),
            9 => self.comment(scope),
            10 => self.pick(&["\\{{name}}", "\\{{#if x}} ", "a\\{{b"]).to_owned(),
            11 => self.pick(&["\\\\", "\\\\\\"]).to_owned() + &format!("{{{{{}}}}}", self.pick(scope.scalars())),
            12 => self.include(scope),
            13 if !scope.lists().is_empty() => self.each(scope, levels - 1),
            _ => self.condition(scope, levels - 1),
        }
    }

    fn text(&mut self) -> String {
        const FRAGMENTS: [&str; 18] = [
            "a",
            "Z9",
            " ",
            "  ",
            "\t",
            "\n",
            "\r\n",
            "é",
            "你好",
            "\u{3000}",
            "}",
            "}}",
            "{ ",
            "\\ ",
            "\"",
            "<&>",
            "- ",
            "\u{1F600}",
        ];
        (0..=self.below(5)).map(|_| self.pick(&FRAGMENTS)).collect()
    }

    /// Generates a variable, possibly with whitespace and `~` in its tag.
    fn print(&mut self, scope: Scope) -> String {
        let name = self.pick(scope.scalars());
        let [open, close] = [self.pick(&["", "", " ", "\n"]), self.pick(&["", "", " ", "\n"])];
        let [before, behind] = [self.pick(&["", "", "", "~"]), self.pick(&["", "", "", "~"])];
        format!("{{{{{before}{open}{name}{close}{behind}}}}}")
    }

    /// Generates a comment after a variable without `~`, which the reference would apply to the comment.
    fn comment(&mut self, scope: Scope) -> String {
        let comment = self.pick(&[
            "{{! c }}",
            "{{!-- {{a}} }} --}}",
            "\n  {{! alone }}  \n",
            "\n{{!-- a\nb --}}\n",
        ]);
        format!("{{{{{}}}}}{comment}", self.pick(scope.scalars()))
    }

    /// Generates a partial that is standalone or next to visible text. With `~` before the indentation of a standalone
    /// partial, the reference differs from handlebars.js.
    fn include(&mut self, scope: Scope) -> String {
        let name = scope.partial();
        match self.below(4) {
            0 => format!("\n{{{{> {name}}}}}\n"),
            1 => format!("x\n  {{{{> {name} }}}}  \n"),
            2 => format!("x{{{{>{name}}}}}"),
            _ => format!("x {{{{~> {name}~}}}} x"),
        }
    }

    /// Generates a tag of a block, possibly standalone, and possibly with `~`. A tag with `~` is never placed at the end
    /// of a line, where the reference differs from handlebars.js.
    fn block_tag(&mut self, inside: &str) -> String {
        match self.below(7) {
            0 | 1 => format!("{{{{{inside}}}}}"),
            2 | 3 => format!(
                "{}{{{{{inside}}}}}{}",
                self.pick(&["\n", "\n  ", "\n\t"]),
                self.pick(&["\n", " \n", "\r\n"])
            ),
            4 => format!("{{{{~{inside}}}}}"),
            5 => format!("{{{{{inside}~}}}} x"),
            _ => format!("{{{{~{inside}~}}}}x"),
        }
    }

    fn condition(&mut self, scope: Scope, levels: usize) -> String {
        let block = self.pick(&["if", "unless"]);
        let mut source = self.arm(&format!("#{block}"), scope, levels);
        for _ in 0..self.below(3) {
            source += &self.arm("else if", scope, levels);
        }
        source + &self.otherwise(scope, levels) + &self.block_tag(&format!("/{block}"))
    }

    fn arm(&mut self, keyword: &str, scope: Scope, levels: usize) -> String {
        let name = self.pick(&[scope.scalars(), scope.containers()].concat());
        self.block_tag(&format!("{keyword} {name}")) + &self.template(scope, levels)
    }

    fn otherwise(&mut self, scope: Scope, levels: usize) -> String {
        if self.below(2) == 0 {
            String::new()
        } else {
            self.block_tag("else") + &self.template(scope, levels)
        }
    }

    fn each(&mut self, scope: Scope, levels: usize) -> String {
        let (list, element) = self.pick(scope.lists());
        let body = self.block_tag(&format!("#each {list}")) + &self.template(element, levels);
        body + &self.otherwise(scope, levels) + &self.block_tag("/each")
    }

    /// Generates a partial. It includes no other partials and has no blank lines, because the reference indents those
    /// differently from handlebars.js.
    fn partial(&mut self, scope: Scope) -> String {
        let lines: Vec<String> = (0..self.below(4))
            .map(|_| format!("{}{}|", self.pick(&["a", "- ", "你好"]), self.print(scope)))
            .collect();
        lines.join("\n") + if lines.is_empty() { "" } else { self.pick(&["", "\n"]) }
    }

    fn word(&mut self) -> Json {
        self.pick(&["", "a", "two words", "你好 \u{1F600}", "{{x}}", "<b>&'\""])
            .into()
    }

    fn scalar(&mut self) -> Json {
        let mut number = || u64::from_le_bytes(std::array::from_fn(|_| self.0.next().unwrap_or(0)));
        match number() % 9 {
            0 | 1 => self.word(),
            2 => json!(number()),
            3 => json!(number() as i64),
            // The reference treats subnormal numbers as false.
            4 => Some(f64::from_bits(number())).filter(|float| float.is_normal()).into(),
            5 => json!(f64::from(number() as i8) / 8.0),
            _ => [json!(0), json!(null), json!(0.0), json!(true), json!(false), json!(1)][self.below(6)].clone(),
        }
    }

    fn scalars(&mut self) -> Json {
        (0..self.below(4)).map(|_| self.scalar()).collect()
    }

    fn row(&mut self, levels: usize) -> Json {
        let kin: Json = (0..if levels == 0 { 0 } else { self.below(3) })
            .map(|_| self.row(levels - 1))
            .collect();
        json!({
            "name": self.word(), "count": self.scalar(), "ok": self.scalar(), "none": null, "deep": {"er": {"est": self.scalar()}},
            "tags": self.scalars(), "tags2": [self.scalar(), self.scalar()], "nothing": [], "kin": kin,
        })
    }

    fn fields(&mut self) -> Json {
        let names = ["z", "a", "key", "键", "with blank", "0"];
        (0..=self.below(4))
            .map(|_| (self.pick(&names).to_owned(), self.scalar()))
            .collect::<Map<_, _>>()
            .into()
    }

    fn context(&mut self) -> Json {
        json!({
            "word": self.word(), "empty": "", "whole": self.scalar(), "part": self.scalar(), "yes": true, "no": false, "none": null,
            "user": {"name": "Ada", "age": 36, "tags": self.scalars()}, "用户": {"名字": "小明"},
            "rows": (0..self.below(4)).map(|_| self.row(1)).collect::<Json>(), "rows2": [self.row(0)],
            "words": self.scalars(), "words2": [self.scalar(), self.scalar()], "nothing": [], "fields": self.fields(), "hollow": {},
            "table": (0..=self.below(2)).map(|at| (format!("row {at}"), self.row(0))).collect::<Map<_, _>>(),
        })
    }
}

/// Joins fragments, with a visible character between those that would together form a different tag.
fn join(fragments: &[String]) -> String {
    let mut source = String::new();
    for fragment in fragments.iter().map(String::as_str).chain([""]) {
        if source.ends_with(['{', '\\']) {
            source.push('|');
        }
        source += fragment;
    }
    source
}

fn compare(main: &str, partials: &[String], context: &Json) -> Result<(), TestCaseError> {
    let mut reference = Handlebars::new();
    reference.register_escape_fn(no_escape);
    let mut ours = PromptTemplateRegistry::new();
    let partials = Scope::ALL
        .iter()
        .map(|scope| scope.partial())
        .zip(partials.iter().map(String::as_str));
    for (name, source) in partials.chain([("main", main)]) {
        reference
            .register_template_string(name, source)
            .map_err(|error| TestCaseError::fail(format!("reference: {error}")))?;
        ours.register(name, source)
            .map_err(|error| TestCaseError::fail(error.to_string()))?;
    }
    let expected = reference
        .render("main", context)
        .map_err(|error| TestCaseError::fail(format!("reference: {error}")))?;
    let found =
        try_render(&ours.get("main").unwrap(), context).map_err(|error| TestCaseError::fail(error.to_string()))?;
    prop_assert_eq!(
        found,
        expected,
        "{:?} with {:?} and {}",
        main,
        partials_of(&ours),
        context
    );
    Ok(())
}

fn partials_of(registry: &PromptTemplateRegistry) -> Vec<String> {
    Scope::ALL
        .iter()
        .map(|scope| registry.get(scope.partial()).unwrap().to_string())
        .collect()
}

#[test]
fn renders_the_shared_subset_like_the_reference() {
    let choices = (
        vec(any::<u8>(), 0..400),
        vec(any::<u8>(), 0..60),
        vec(any::<u8>(), 0..600),
    );
    let outcome = TestRunner::new(cases(2000)).run(&choices, |(main, partials, context)| {
        let [mut main, mut partials, mut context] = [main, partials, context].map(|bytes| Choices(bytes.into_iter()));
        let partials = Scope::ALL.map(|scope| partials.partial(scope));
        compare(&main.template(Scope::Root, 4), &partials, &context.context())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
}
