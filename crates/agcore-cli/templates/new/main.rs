//! An agent that answers a question with the help of a tool.
//!
//! ```sh
//! cargo run -- 'How many words are in this sentence?'
//! ```

mod model;
mod word_count;

use std::{
    env,
    error::Error,
    io::{self, Write},
};

use crate::word_count::word_count_tool;

/// The question that is asked if there are no arguments.
const QUESTION: &str = "How many words are in this sentence?";

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let question = if arguments.is_empty() {
        QUESTION.to_owned()
    } else {
        arguments.join(" ")
    };
    let session = agcore::agent(model::from_environment()?)
        .with_instructions("Answer in one sentence. Count words with the tool word_count.")
        .with_tool(word_count_tool())
        .session()?;

    // Prints the answer while it is written.
    let mut text = session.turn(question).text_stream();
    while let Some(piece) = text.next().await {
        print!("{}", piece?);
        io::stdout().flush()?;
    }
    println!();
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[tokio::test]
    async fn the_agent_counts_words_with_the_tool() {
        let session = agcore::agent(Arc::new(model::offline()))
            .with_tool(word_count_tool())
            .session()
            .unwrap();
        let outcome = session.turn("one two three").await.unwrap();
        assert_eq!(outcome.text(), "The tool counts 3 words.");
    }
}
