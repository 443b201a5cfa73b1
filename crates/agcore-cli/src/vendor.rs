//! What the command line knows of vendors: where their users keep the key.

use agcore::llm::ProviderType;

/// The variable of a provider's key: the one that its vendor names, else one made of its name.
pub(crate) fn key_variable(provider: &ProviderType) -> String {
    if let Some(variable) = provider.dialect().key_variable {
        return variable.to_owned();
    }
    let upper = |c: char| {
        if c.is_ascii_alphanumeric() {
            c.to_ascii_uppercase()
        } else {
            '_'
        }
    };
    let name: String = provider.name().chars().map(upper).collect();
    format!("{name}_API_KEY")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_a_variable() {
        let check = |name: &str, expected: &str| assert_eq!(key_variable(&name.parse().unwrap()), expected);
        check("openai", "OPENAI_API_KEY");
        check("qwen", "DASHSCOPE_API_KEY");
        check("llama.cpp", "LLAMA_CPP_API_KEY");
    }
}
