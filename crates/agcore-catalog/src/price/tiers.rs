//! [`TierTable`]: rates that depend on the length of the prompt.

use agcore_chat::Amount;

use super::{quantities::Quantities, rate::Rate};
use crate::problem::Problem;

/// The rates for prompts up to a number of tokens.
///
/// Rates of tokens are for a million of them. A rate of 0 for `hit`, `write`, `write_long`, `reasoning` and audio means that the
/// rate of the input or output applies.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tier {
    /// The largest prompt, in tokens; `None` for the open tier, which has no limit.
    pub max_prompt_tokens: Option<u64>,
    /// The rate of prompt tokens.
    pub input: Rate,
    /// The rate of generated tokens; `None` for models that generate none.
    pub output: Option<Rate>,
    /// The rate of prompt tokens that were read from a cache.
    pub hit: Rate,
    /// The rate of prompt tokens that were written to a cache.
    pub write: Rate,
    /// The rate of prompt tokens that were written to a cache that keeps them for longer; that of `write` if it is 0.
    pub write_long: Rate,
    /// The rate of generated tokens that were reasoning.
    pub reasoning: Rate,
    /// The rate of audio tokens in the prompt.
    pub audio_input: Rate,
    /// The rate of generated audio tokens.
    pub audio_output: Rate,
    /// The price of each request.
    pub request: Rate,
    /// The price of each image that is generated.
    pub image: Rate,
    /// The price of each second of audio or video.
    pub second: Rate,
    /// The price of each minute of audio or video, in proportion for parts of a minute. It is added to that of seconds.
    pub minute: Rate,
    /// The price of a million characters that are spoken.
    pub characters: Rate,
    /// The price of each search that a reranker bills.
    pub search: Rate,
    /// The price of each document that a reranker rates.
    pub document: Rate,
}

impl Tier {
    /// Creates a tier with these rates of input and output.
    pub fn new(max_prompt_tokens: Option<u64>, input: Rate, output: Option<Rate>) -> Self {
        let zero = Rate::default();
        Self {
            max_prompt_tokens,
            input,
            output,
            hit: zero,
            write: zero,
            write_long: zero,
            reasoning: zero,
            audio_input: zero,
            audio_output: zero,
            request: zero,
            image: zero,
            second: zero,
            minute: zero,
            characters: zero,
            search: zero,
            document: zero,
        }
    }

    /// Returns the rates besides those of input and output, each with its name in catalogs.
    pub(crate) fn others(&self) -> [(&'static str, Rate); 13] {
        let mut tier = self.clone();
        tier.others_mut().map(|(name, rate)| (name, *rate))
    }

    /// Returns the rates besides those of input and output, to set them.
    pub(crate) fn others_mut(&mut self) -> [(&'static str, &mut Rate); 13] {
        [
            ("hit", &mut self.hit),
            ("write", &mut self.write),
            ("write_long", &mut self.write_long),
            ("reasoning", &mut self.reasoning),
            ("audio_input", &mut self.audio_input),
            ("audio_output", &mut self.audio_output),
            ("request", &mut self.request),
            ("image", &mut self.image),
            ("second", &mut self.second),
            ("minute", &mut self.minute),
            ("characters", &mut self.characters),
            ("search", &mut self.search),
            ("document", &mut self.document),
        ]
    }

    /// Returns whether nothing costs anything.
    pub(crate) fn is_free(&self) -> bool {
        let rates = self.others().map(|(_, rate)| rate);
        let all = [self.input, self.output.unwrap_or_default()].into_iter().chain(rates);
        all.into_iter().all(Rate::is_zero)
    }

    /// Returns the rates that are not for tokens and that are set, each with its unit.
    pub fn units(&self) -> impl Iterator<Item = (&'static str, Rate)> {
        let units = [
            ("request", self.request),
            ("image", self.image),
            ("second", self.second),
            ("minute", self.minute),
            ("million characters", self.characters),
            ("search", self.search),
            ("document", self.document),
        ];
        units.into_iter().filter(|(_, rate)| !rate.is_zero())
    }

    /// Returns the exact price of a call, or the term that does not fit.
    fn cost(&self, used: &Quantities) -> Result<Amount, &'static str> {
        let set = |rate: Rate, other: Rate| if rate.is_zero() { other } else { rate };
        let output = match self.output {
            Some(rate) => rate,
            None if used.completion == 0 => Rate::default(),
            None => return Err("the model generated tokens, and its price has no rate for output"),
        };
        let write = set(self.write, self.input);
        let tokens = [
            (used.plain_input(), self.input),
            (used.cached, set(self.hit, self.input)),
            (used.cache_write - used.cache_write_long, write),
            (used.cache_write_long, set(self.write_long, write)),
            (used.audio_input, set(self.audio_input, self.input)),
            (used.plain_output(), output),
            (used.reasoning, set(self.reasoning, output)),
            (used.audio_output, set(self.audio_output, output)),
        ];
        let terms = tokens.map(|(tokens, rate)| rate.of_tokens(tokens));
        let others = [
            self.request.of_units(1),
            self.image.of_units(used.images),
            self.second.of_thousandths(used.milliseconds),
            self.minute.of_minutes(used.milliseconds),
            self.characters.of_tokens(used.characters),
            self.search.of_units(used.searches),
            self.document.of_units(used.documents),
        ];
        let mut terms = terms.into_iter().chain(others);
        let sum = terms.try_fold(Amount::ZERO, |sum, term| sum.checked_add(term?));
        sum.ok_or("the amount does not fit; check the usage and the rates")
    }
}

/// Tiers in ascending order. The first whose limit is at least the number of prompt tokens prices the whole call.
///
/// ```
/// use agcore_catalog::{Rate, Tier, TierTable};
///
/// let rate = |text| Rate::parse("rate", text);
/// let short = Tier::new(Some(32_000), rate("0.8")?, Some(rate("2")?));
/// let open = Tier::new(None, rate("2.4")?, Some(rate("20")?));
/// let table = TierTable::new(vec![short.clone(), open]).unwrap();
/// assert_eq!((table.position(32_000), table.position(32_001)), (0, 1));
///
/// let problems = TierTable::new(vec![short]).unwrap_err();
/// assert_eq!(problems[0].field(), "tiers[0].max_prompt_tokens");
/// # Ok::<(), agcore_catalog::Problem>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TierTable(Vec<Tier>);

impl TierTable {
    /// Creates a table.
    ///
    /// # Errors
    /// Fails unless the limits ascend strictly and the last tier, and only this one, is open. The tiers are never sorted.
    pub fn new(tiers: Vec<Tier>) -> Result<Self, Vec<Problem>> {
        let Some(last) = tiers.len().checked_sub(1) else {
            let rule = "a price has at least one tier; the last one has no limit";
            return Err(vec![Problem::shown("tiers", "an empty list", rule)]);
        };
        let mut problems = Vec::new();
        let mut before = None;
        for (index, tier) in tiers.iter().enumerate() {
            let rule = match tier.max_prompt_tokens {
                None if index < last => "only the last tier is open; give this one a limit, or move it to the end",
                Some(limit) if before.is_some_and(|before| limit <= before) => {
                    "limits ascend strictly; sort the tiers, and remove those that overlap"
                }
                Some(_) if index == last => "the last tier is open; add one without a limit",
                _ => "",
            };
            if !rule.is_empty() {
                let value = tier
                    .max_prompt_tokens
                    .map_or_else(|| "null".to_owned(), |limit| limit.to_string());
                problems.push(Problem::shown(format!("tiers[{index}].max_prompt_tokens"), value, rule));
            }
            before = tier.max_prompt_tokens.or(before);
        }
        if problems.is_empty() {
            Ok(Self(tiers))
        } else {
            Err(problems)
        }
    }

    /// Returns the tiers.
    pub fn tiers(&self) -> &[Tier] {
        &self.0
    }

    /// Returns the position of the tier for a prompt of this length.
    pub fn position(&self, prompt_tokens: u64) -> usize {
        let fits = |tier: &Tier| tier.max_prompt_tokens.is_none_or(|limit| prompt_tokens <= limit);
        self.0.iter().position(fits).unwrap_or(self.0.len() - 1)
    }

    /// Returns the exact price of a call and the position of its tier, or what does not fit.
    pub(crate) fn cost(&self, used: &Quantities) -> Result<(Amount, usize), &'static str> {
        let position = self.position(used.prompt);
        let amount = self.0[position].cost(used)?;
        Ok((amount, position))
    }
}
