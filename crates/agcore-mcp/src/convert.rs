//! Conversion between the contents of the protocol and those of agcore.

#[cfg(feature = "server")]
mod blocks;
#[cfg(feature = "client")]
mod call_result;
#[cfg(feature = "client")]
mod content;
#[cfg(feature = "client")]
mod lenient;
#[cfg(feature = "client")]
mod received;
#[cfg(feature = "client")]
mod schema;
#[cfg(feature = "server")]
mod sampling;
#[cfg(feature = "server")]
mod sent;

#[cfg(feature = "server")]
pub(crate) use self::{
    blocks::blocks,
    sampling::{sample_answer, sample_params},
    sent::{
        prompt as sent_prompt, prompt_info as sent_prompt_info, resource_contents as sent_contents,
        resource_info as sent_resource, resource_template as sent_template, tool as sent_tool,
    },
};
#[cfg(feature = "client")]
pub(crate) use self::{
    call_result::lenient_result,
    content::{part, tool_output},
    lenient::{lenient_contents, lenient_prompt},
    received::{prompt, prompt_info, resource_contents, resource_info, resource_template},
    schema::repair as repair_schema,
};
