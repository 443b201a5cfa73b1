//! The attribute [`#[tool]`](macro@tool) of `agcore-tools`.

mod problems;
mod documentation;
mod types;
mod options;
mod parameter;
mod function;
mod tool;
mod expand;

use proc_macro::TokenStream;

/// todo
#[proc_macro_attribute]
pub fn tool(options: TokenStream, item: TokenStream) -> TokenStream {
    match tool::Tool::read(options.into(), item.into()) {
        Ok(tool) => expand::expand(&tool).into(),
        Err(error) => error.into_compile_error().into(),
    }
}

#[cfg(test)]
mod refusals;
