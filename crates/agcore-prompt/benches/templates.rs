//! Compares the cost of rendering a typical prompt with agcore-prompt, with other template engines and by hand.
//!
//! Run it with `cargo bench -p agcore-prompt`. It measures thread CPU time in interleaved rounds, and counts allocations.
//! The "prebuilt" rows render a context that was built before; the "from struct" rows serialize a struct each time, as an
//! agent does. Ratios are relative to the hand-written `write!` of the same round.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark is a standalone program"
)]

use std::{fmt::Write, hint::black_box, time::Duration};

use agcore_prompt::{PromptTemplate, Value};
use minijinja::UndefinedBehavior;
use rustix::time::{ClockId, clock_gettime};
use serde::Serialize;

const ROUNDS: usize = 31;
const RENDERS: u32 = 300;

#[derive(Serialize)]
struct Prompt {
    name: String,
    company: String,
    user: String,
    language: String,
    date: String,
    tone: String,
    plan: String,
    goal: String,
    max_words: u32,
    budget: i64,
    expert: bool,
    note: Option<String>,
    items: Vec<Item>,
}

#[derive(Serialize)]
struct Item {
    title: String,
    price: u32,
    tag: String,
}

const HANDLEBARS: &str = "You are {{name}}, the assistant of {{company}}. Today is {{date}}.
You talk to {{user}} in {{language}}, and your tone is {{tone}}.
The user is on the plan {{plan}} with a budget of {{budget}}.
{{#if expert}}
The user knows the subject well: be brief and precise, and leave out what a manual would say.
{{else}}
The user is new to the subject: explain each term when it comes up for the first time.
{{/if}}
These are the items to choose from:
{{#each items}}
- {{title}} costs {{price}} ({{tag}})
{{/each}}
{{#if note}}
Note from the team: {{note}}
{{/if}}
The goal of this conversation: {{goal}}
Answer in at most {{max_words}} words.
";

/// The same prompt for the engines of the Jinja family, with explicit trimming of the line breaks around blocks.
const JINJA: &str = "You are {{ name }}, the assistant of {{ company }}. Today is {{ date }}.
You talk to {{ user }} in {{ language }}, and your tone is {{ tone }}.
The user is on the plan {{ plan }} with a budget of {{ budget }}.
{% if expert -%}
The user knows the subject well: be brief and precise, and leave out what a manual would say.
{% else -%}
The user is new to the subject: explain each term when it comes up for the first time.
{% endif -%}
These are the items to choose from:
{% for item in items -%}
- {{ item.title }} costs {{ item.price }} ({{ item.tag }})
{% endfor -%}
{% if note -%}
Note from the team: {{ note }}
{% endif -%}
The goal of this conversation: {{ goal }}
Answer in at most {{ max_words }} words.
";

fn by_hand(p: &Prompt) -> String {
    let mut out = String::new();
    writeln!(
        out,
        "You are {}, the assistant of {}. Today is {}.",
        p.name, p.company, p.date
    )
    .unwrap();
    writeln!(
        out,
        "You talk to {} in {}, and your tone is {}.",
        p.user, p.language, p.tone
    )
    .unwrap();
    writeln!(out, "The user is on the plan {} with a budget of {}.", p.plan, p.budget).unwrap();
    if p.expert {
        out.push_str("The user knows the subject well: be brief and precise, and leave out what a manual would say.\n");
    } else {
        out.push_str("The user is new to the subject: explain each term when it comes up for the first time.\n");
    }
    out.push_str("These are the items to choose from:\n");
    for item in &p.items {
        writeln!(out, "- {} costs {} ({})", item.title, item.price, item.tag).unwrap();
    }
    if let Some(note) = &p.note {
        writeln!(out, "Note from the team: {note}").unwrap();
    }
    writeln!(out, "The goal of this conversation: {}", p.goal).unwrap();
    writeln!(out, "Answer in at most {} words.", p.max_words).unwrap();
    out
}

fn prompt(words: [&str; 11]) -> Prompt {
    let [name, company, user, language, date, tone, plan, goal, note, title, tag] = words.map(str::to_owned);
    let items = (0..50).map(|n| Item {
        title: format!("{title} {n}"),
        price: 17 * n + 3,
        tag: format!("{tag}{}", n % 7),
    });
    Prompt {
        items: items.collect(),
        note: Some(note),
        expert: true,
        max_words: 250,
        budget: 12_500,
        ..Prompt {
            name,
            company,
            user,
            language,
            date,
            tone,
            plan,
            goal,
            ..empty()
        }
    }
}

fn empty() -> Prompt {
    let text = String::new;
    Prompt {
        name: text(),
        company: text(),
        user: text(),
        language: text(),
        date: text(),
        tone: text(),
        plan: text(),
        goal: text(),
        max_words: 0,
        budget: 0,
        expert: false,
        note: None,
        items: Vec::new(),
    }
}

fn ascii() -> Prompt {
    prompt([
        "Ada",
        "Analytical Engines Ltd.",
        "Mr. Babbage",
        "British English",
        "Monday, 21 July 1842",
        "warm but to the point",
        "professional",
        "find the three items that fit the budget best and say why, in order of preference",
        "offer the annual discount only when the user asks about prices twice",
        "Difference engine part",
        "brass cog ",
    ])
}

fn chinese() -> Prompt {
    prompt([
        "小艾",
        "分析引擎有限公司",
        "巴贝奇先生",
        "简体中文",
        "一八四二年七月二十一日",
        "亲切而扼要",
        "专业版",
        "在预算之内选出最合适的三件商品，按照偏好排序并说明理由",
        "只有当用户两次问到价格时才提供年度折扣",
        "差分机零件",
        "黄铜齿轮",
    ])
}

/// A closure that renders the prompt with one engine.
type Render<'p> = Box<dyn Fn() -> String + 'p>;

fn engines(prompt: &Prompt) -> Vec<(&'static str, Render<'_>)> {
    let mut all: Vec<(&'static str, Render<'_>)> = vec![("write! by hand", Box::new(move || by_hand(prompt)))];
    ours(prompt, &mut all);
    tera(prompt, &mut all);
    minijinja(prompt, &mut all);
    handlebars(prompt, &mut all);
    all
}

fn ours<'p>(prompt: &'p Prompt, all: &mut Vec<(&'static str, Render<'p>)>) {
    let template = PromptTemplate::compile(HANDLEBARS).unwrap();
    let context = Value::from_serialize(prompt).unwrap();
    let clone = template.clone();
    all.push((
        "agcore-prompt, prebuilt",
        Box::new(move || template.render(&context).unwrap()),
    ));
    all.push((
        "agcore-prompt, from struct",
        Box::new(move || clone.render_from(prompt).unwrap()),
    ));
}

fn tera<'p>(prompt: &'p Prompt, all: &mut Vec<(&'static str, Render<'p>)>) {
    let mut engine = tera::Tera::new();
    engine.add_raw_template("prompt", JINJA).unwrap();
    let context = tera::Context::from_serialize(prompt).unwrap();
    let clone = engine.clone();
    all.push((
        "tera, prebuilt",
        Box::new(move || engine.render("prompt", &context).unwrap()),
    ));
    let from_struct = move || {
        clone
            .render("prompt", &tera::Context::from_serialize(prompt).unwrap())
            .unwrap()
    };
    all.push(("tera, from struct", Box::new(from_struct)));
}

fn minijinja<'p>(prompt: &'p Prompt, all: &mut Vec<(&'static str, Render<'p>)>) {
    let mut engine = minijinja::Environment::new();
    engine.set_syntax(
        minijinja::syntax::SyntaxConfig::builder()
            .keep_trailing_newline(true)
            .build()
            .unwrap(),
    );
    engine.set_undefined_behavior(UndefinedBehavior::Strict);
    engine.add_template("prompt", JINJA).unwrap();
    let context = minijinja::Value::from(minijinja::value::Serde(prompt));
    let clone = engine.clone();
    let prebuilt = move || engine.get_template("prompt").unwrap().render(&context).unwrap();
    all.push(("minijinja, prebuilt", Box::new(prebuilt)));
    let from_struct = move || {
        clone
            .get_template("prompt")
            .unwrap()
            .render(minijinja::value::Serde(prompt))
            .unwrap()
    };
    all.push(("minijinja, from struct", Box::new(from_struct)));
}

fn handlebars<'p>(prompt: &'p Prompt, all: &mut Vec<(&'static str, Render<'p>)>) {
    let mut engine = handlebars::Handlebars::new();
    engine.register_escape_fn(handlebars::no_escape);
    engine.register_template_string("prompt", HANDLEBARS).unwrap();
    let context = handlebars::Context::wraps(prompt).unwrap();
    let clone = engine.clone();
    let prebuilt = move || engine.render_with_context("prompt", &context).unwrap();
    all.push(("handlebars, prebuilt", Box::new(prebuilt)));
    all.push((
        "handlebars, from struct",
        Box::new(move || clone.render("prompt", prompt).unwrap()),
    ));
}

fn cpu_time() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec.try_into().unwrap(), now.tv_nsec.try_into().unwrap())
}

/// Measures the CPU time per render in nanoseconds.
fn measure(render: &Render<'_>) -> f64 {
    let start = cpu_time();
    for _ in 0..RENDERS {
        black_box(render());
    }
    (cpu_time() - start).as_nanos() as f64 / f64::from(RENDERS)
}

fn median(mut samples: Vec<f64>) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples[samples.len() / 2]
}

fn compare(language: &str, prompt: &Prompt) {
    let engines = engines(prompt);
    let expected = by_hand(prompt);
    for (name, render) in &engines {
        assert_eq!(render(), expected, "{name}");
    }
    let mut rounds: Vec<Vec<f64>> = vec![Vec::new(); engines.len()];
    for _ in 0..ROUNDS {
        for (samples, (_, render)) in rounds.iter_mut().zip(&engines) {
            samples.push(measure(render));
        }
    }
    println!(
        "\n{language}, {} bytes\n\n| engine | ns | x by hand | allocations |\n|---|---|---|---|",
        expected.len()
    );
    for (samples, (name, render)) in rounds.iter().zip(&engines) {
        let ratio = median(
            samples
                .iter()
                .zip(&rounds[0])
                .map(|(ns, baseline)| ns / baseline)
                .collect(),
        );
        let allocations = allocation_counter::measure(|| drop(black_box(render()))).count_total;
        println!(
            "| {name} | {:.0} | {ratio:.2} | {allocations} |",
            median(samples.clone())
        );
    }
}

fn main() {
    compare("ASCII", &ascii());
    compare("Chinese", &chinese());
}
