//! Positions of passages.

use crate::support::{patient, read_with};

/// The passages of a text are parts of it, at the positions that they name.
#[test]
fn passages_are_where_they_say() {
    let words = [
        "alpha",
        "β",
        "词语。",
        "\n",
        "\n\n",
        "# head\n",
        " ",
        "😀",
        ". ",
        "- item\n",
        "| a |\n",
    ];
    for seed in 0..200 {
        let mut random = fastrand::Rng::with_seed(seed);
        let text: String = (0..random.usize(..200))
            .map(|_| *random.choice(&words).unwrap())
            .collect();
        let longest = random.usize(1..40);
        for name in ["a.txt", "a.md"] {
            let limits = patient().with_passage_chars(longest);
            let found = read_with(limits, name, text.as_bytes()).unwrap();
            for passage in &found.documents[0].passages {
                let position = &passage.position;
                let there: String = text
                    .chars()
                    .skip(position.start)
                    .take(position.end - position.start)
                    .collect();
                assert_eq!(there, passage.text, "{name}, seed {seed}");
                let before: String = text.chars().take(position.start).collect();
                let line = before.matches('\n').count() + 1;
                assert_eq!(position.line, Some(u32::try_from(line).unwrap()), "{name}, seed {seed}");
                assert!(passage.text.chars().count() <= longest, "{name}, seed {seed}");
            }
            // Every word is in a passage.
            let expected = text.matches("alpha").count();
            let kept = found.documents[0].text();
            assert!(
                longest < 5 || kept.matches("alpha").count() <= expected,
                "{name}, seed {seed}"
            );
            let letters = |text: &str| text.chars().filter(|char| char.is_alphanumeric()).count();
            assert_eq!(letters(&kept), letters(&text), "{name}, seed {seed}");
        }
    }
}
