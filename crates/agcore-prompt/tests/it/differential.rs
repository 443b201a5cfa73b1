//! The shared subset of the language against a well-known Handlebars library: the same bytes, on generated templates
//! and contexts.
//!
//! Left out of the subset are raw blocks, arrays and objects as text, missing names and outer names, and what that
//! library and handlebars.js render differently: blanks around a partial that is not alone on its line, line ends
//! right behind a block tag with `~`, comments behind a tag with `~`.

use agcore_prompt::PromptTemplateRegistry;
use handlebars::{Handlebars, no_escape};
use proptest::{
    collection::vec,
    prelude::*,
    sample::select,
    strategy::Union,
    test_runner::{Config, TestRunner},
};
use serde_json::{Map, Value as Json, json};

use crate::support::try_render;

/// How many cases are tried; many more for a long run.
pub(crate) fn cases(usual: u32) -> Config {
    let factor = if std::env::var_os("AGCORE_SOAK").is_some() { 50 } else { 1 };
    Config { cases: usual * factor, failure_persistence: None, ..Config::default() }
}

/// What `this` is where a piece of template stands, and so which names it may use.
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
            Self::Root => &["word", "empty", "whole", "part", "yes", "no", "none", "user.name", "user.age", "用户.名字", "words2.0", "words2.1", "this.word", "rows2.0.name"],
            Self::Row => &["name", "count", "ok", "none", "this.name", "deep.er.est", "tags2.1", "@index", "@first", "@last"],
            Self::Word => &["this", "@index", "@first", "@last"],
            Self::Field => &["this", "@key", "@index", "@first", "@last"],
        }
    }

    /// Names that can be asked for in a condition.
    fn conditions(self) -> Vec<&'static str> {
        let containers: &[&str] = match self {
            Self::Root => &["rows", "words", "nothing", "user", "fields", "hollow"],
            Self::Row => &["tags", "deep", "nothing"],
            Self::Word | Self::Field => &[],
        };
        [self.scalars(), containers].concat()
    }

    /// Names that can be walked, and what their elements are.
    fn lists(self) -> &'static [(&'static str, Self)] {
        match self {
            Self::Root => &[("rows", Self::Row), ("words", Self::Word), ("nothing", Self::Word), ("fields", Self::Field), ("hollow", Self::Field), ("none", Self::Word), ("user.tags", Self::Word), ("table", Self::Row)],
            Self::Row => &[("tags", Self::Word), ("nothing", Self::Row), ("kin", Self::Row)],
            Self::Word | Self::Field => &[],
        }
    }

    /// The partial for this scope.
    fn partial(self) -> &'static str {
        match self {
            Self::Root => "root",
            Self::Row => "部/row",
            Self::Word => "word-p",
            Self::Field => "field_p",
        }
    }
}

fn text() -> BoxedStrategy<String> {
    let piece = select(vec!["a", "Z9", " ", "  ", "\t", "\n", "\r\n", "é", "你好", "\u{3000}", "}", "}}", "{ ", "\\ ", "\"", "<&>", "- ", "\u{1F600}"]);
    vec(piece, 0..6).prop_map(|pieces| pieces.concat()).boxed()
}

/// A tag with perhaps blanks and `~` in it.
fn tag(inside: impl Strategy<Value = String> + 'static) -> BoxedStrategy<String> {
    let blank = || select(vec!["", "", " ", "\n"]);
    let tilde = || select(vec!["", "", "", "~"]);
    (tilde(), blank(), inside, blank(), tilde())
        .prop_map(|(before, open, inside, close, after)| format!("{{{{{before}{open}{inside}{close}{after}}}}}"))
        .boxed()
}

/// The tag of a block or of a part of it; perhaps alone on its line, then without `~`.
fn block_tag(inside: String) -> BoxedStrategy<String> {
    let plain = format!("{{{{{inside}}}}}");
    let alone = (select(vec!["\n", "\n  ", "\n\t"]), select(vec!["\n", " \n", "\r\n"]));
    let alone = alone.prop_map({
        let plain = plain.clone();
        move |(before, behind)| format!("{before}{plain}{behind}")
    });
    // Behind `~` stands a visible character: a line end there is where the judge differs from handlebars.js.
    let trimming = select(vec![format!("{{{{~{inside}}}}}"), format!("{{{{{inside}~}}}} x"), format!("{{{{~{inside}~}}}}x")]);
    prop_oneof![Just(plain), alone, trimming].boxed()
}

fn print(scope: Scope) -> BoxedStrategy<String> {
    tag(select(scope.scalars()).prop_map(str::to_owned))
}

/// A comment behind a variable without `~`, which the judge would take for a mark of the comment.
fn comment(scope: Scope) -> BoxedStrategy<String> {
    let comment = select(vec!["{{! c }}", "{{!-- {{a}} }} --}}", "\n  {{! alone }}  \n", "\n{{!-- a\nb --}}\n"]);
    (select(scope.scalars()), comment).prop_map(|(name, comment)| format!("{{{{{name}}}}}{comment}")).boxed()
}

fn escaped() -> BoxedStrategy<String> {
    select(vec!["\\{{name}}", "\\{{#if x}} ", "a\\{{b"]).prop_map(str::to_owned).boxed()
}

fn backslash(scope: Scope) -> BoxedStrategy<String> {
    (select(vec!["\\\\", "\\\\\\"]), select(scope.scalars())).prop_map(|(slashes, name)| format!("{slashes}{{{{{name}}}}}")).boxed()
}

/// A partial alone on its line, or close to visible text; `~` before its indentation is where the judge differs from
/// handlebars.js.
fn include(scope: Scope) -> BoxedStrategy<String> {
    let name = scope.partial();
    let forms = vec![format!("\n{{{{> {name}}}}}\n"), format!("x\n  {{{{> {name} }}}}  \n"), format!("x{{{{>{name}}}}}"), format!("x {{{{~> {name}~}}}} x")];
    select(forms).boxed()
}

fn condition(scope: Scope, depth: u32) -> BoxedStrategy<String> {
    let arm = move |keyword: &'static str| {
        let tags = select(scope.conditions()).prop_flat_map(move |name| block_tag(format!("{keyword} {name}")));
        (tags, template(scope, depth)).prop_map(|(tag, body)| tag + &body)
    };
    let otherwise = (block_tag("else".to_owned()), template(scope, depth)).prop_map(|(tag, body)| tag + &body);
    let block = move |name: &'static str, open: &'static str| {
        let more = vec(arm("else if"), 0..3).prop_map(|arms| arms.concat());
        let otherwise = prop_oneof![Just(String::new()), otherwise.clone()];
        (arm(open), more, otherwise, block_tag(format!("/{name}")))
            .prop_map(|(first, more, otherwise, close)| [first, more, otherwise, close].concat())
    };
    prop_oneof![block.clone()("if", "#if"), block("unless", "#unless")].boxed()
}

fn each(scope: Scope, depth: u32) -> BoxedStrategy<String> {
    let block = move |(list, element): (&'static str, Scope)| {
        let otherwise = (block_tag("else".to_owned()), template(scope, depth)).prop_map(|(tag, body)| tag + &body);
        let otherwise = prop_oneof![Just(String::new()), otherwise];
        (block_tag(format!("#each {list}")), template(element, depth), otherwise, block_tag("/each".to_owned()))
            .prop_map(|(open, body, otherwise, close)| [open, body, otherwise, close].concat())
    };
    select(scope.lists()).prop_flat_map(block).boxed()
}

/// A piece of template for this scope; without blocks at depth 0.
fn template(scope: Scope, depth: u32) -> BoxedStrategy<String> {
    let mut pieces: Vec<(u32, BoxedStrategy<String>)> =
        vec![(6, text()), (5, print(scope)), (1, comment(scope)), (1, escaped()), (1, backslash(scope))];
    if depth > 0 {
        pieces.push((2, condition(scope, depth - 1)));
        pieces.push((1, include(scope)));
        if !scope.lists().is_empty() {
            pieces.push((2, each(scope, depth - 1)));
        }
    }
    vec(Union::new_weighted(pieces), 0..5).prop_map(|pieces| join(&pieces)).boxed()
}

/// Joins pieces of template, with a visible character where two would make a tag of another kind.
fn join(pieces: &[String]) -> String {
    let mut all = String::new();
    for piece in pieces {
        if all.ends_with(['{', '\\']) {
            all.push('|');
        }
        all += piece;
    }
    if all.ends_with(['{', '\\']) { all + "|" } else { all }
}

fn word() -> BoxedStrategy<Json> {
    select(vec![json!(""), json!("a"), json!("two words"), json!("你好 \u{1F600}"), json!("{{x}}"), json!("<b>&'\"")]).boxed()
}

fn scalar() -> BoxedStrategy<Json> {
    prop_oneof![
        word(),
        any::<i64>().prop_map(Json::from),
        any::<u64>().prop_map(Json::from),
        proptest::num::f64::NORMAL.prop_map(Json::from),
        (-1000..1000i32).prop_map(|n| json!(f64::from(n) / 8.0)),
        select(vec![json!(true), json!(false), json!(null), json!(0), json!(0.0), json!(1)]),
    ]
    .boxed()
}

fn row(depth: u32) -> BoxedStrategy<Json> {
    let kin = if depth == 0 { Just(Vec::new()).boxed() } else { vec(row(depth - 1), 0..3).boxed() };
    let fields = (word(), scalar(), scalar(), vec(scalar(), 0..4), [scalar(), scalar()], kin);
    let row = fields.prop_map(|(name, count, ok, tags, tags2, kin)| {
        json!({"name": name, "count": count, "ok": ok, "none": null, "deep": {"er": {"est": count}}, "tags": tags, "tags2": tags2, "nothing": [], "kin": kin})
    });
    row.boxed()
}

fn context() -> BoxedStrategy<Json> {
    let fields = vec((select(vec!["z", "a", "key", "键", "with blank", "0"]), scalar()), 1..5);
    let fields = fields.prop_map(|fields| fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect::<Map<_, _>>());
    let parts = (vec(row(1), 0..4), row(0), vec(scalar(), 0..4), [scalar(), scalar()], fields, [scalar(), scalar(), scalar()], vec(row(0), 1..3));
    let context = parts.prop_map(|(rows, first, words, words2, fields, [word, whole, part], table)| {
        json!({
            "word": word, "empty": "", "whole": whole, "part": part, "yes": true, "no": false, "none": null,
            "user": {"name": "Ada", "age": 36, "tags": words}, "用户": {"名字": "小明"},
            "rows": rows, "rows2": [first], "words": words, "words2": words2, "nothing": [], "fields": fields, "hollow": {},
            "table": table.into_iter().enumerate().map(|(at, row)| (format!("row {at}"), row)).collect::<Map<_, _>>(),
        })
    });
    context.boxed()
}

/// The main template, a partial per scope, and a context.
fn case() -> impl Strategy<Value = (String, Vec<String>, Json)> {
    let partials: Vec<_> = Scope::ALL.iter().map(|scope| partial(*scope)).collect();
    (template(Scope::Root, 4), partials, context())
}

/// A partial asks for no others, and none of its lines is blank: a blank line that is indented is where the judge
/// differs from handlebars.js.
fn partial(scope: Scope) -> BoxedStrategy<String> {
    let line = (select(vec!["a", "- ", "你好"]), prop_oneof![Just("x".to_owned()), print(scope)]);
    let line = line.prop_map(|(text, value)| format!("{text}{value}|"));
    let lines = (vec(line, 1..3), select(vec!["", "\n"])).prop_map(|(lines, end)| lines.join("\n") + end);
    prop_oneof![1 => Just(String::new()), 4 => lines].boxed()
}

fn compare((main, partials, context): (String, Vec<String>, Json)) -> Result<(), TestCaseError> {
    let mut judge = Handlebars::new();
    judge.register_escape_fn(no_escape);
    let mut ours = PromptTemplateRegistry::new();
    for (name, source) in Scope::ALL.iter().map(|scope| scope.partial()).zip(&partials).chain([("main", &main)]) {
        judge.register_template_string(name, source).map_err(|error| TestCaseError::fail(format!("judge: {error}")))?;
        ours.register(name, source.as_str()).map_err(|error| TestCaseError::fail(error.to_string()))?;
    }
    let expected = judge.render("main", &context).map_err(|error| TestCaseError::fail(format!("judge: {error}")))?;
    let found = try_render(&ours.get("main").unwrap(), &context).map_err(|error| TestCaseError::fail(error.to_string()))?;
    prop_assert_eq!(found, expected);
    Ok(())
}

#[test]
fn the_shared_subset_renders_as_the_judge_does() {
    TestRunner::new(cases(2000)).run(&case(), compare).unwrap_or_else(|fault| panic!("{fault}"));
}
