//! The entry points of the commands that a build does not have: each fails with the sentence of its part.

/// `agcore acp`.
pub(crate) mod acp {
    use agcore_terminal::{interrupt::Interrupts, render::Color};

    use crate::{
        args::AcpArgs,
        exit::{Failure, missing::ACP},
    };

    /// Fails.
    pub(crate) async fn run(_: AcpArgs, _: &Interrupts, _: Color) -> Result<(), Failure> {
        Err(ACP.failure("agcore acp"))
    }
}

/// `agcore eval`.
pub(crate) mod eval {
    use agcore_terminal::{interrupt::Interrupts, render::Color};

    use crate::{
        args::EvalArgs,
        exit::{Failure, missing::EVAL},
    };

    /// Fails.
    pub(crate) async fn run(_: &EvalArgs, _: &Interrupts, _: Color) -> Result<(), Failure> {
        Err(EVAL.failure("agcore eval"))
    }
}

/// `agcore flow`, and `agcore run --flow`.
pub(crate) mod flow {
    use std::path::Path;

    use agcore_terminal::{interrupt::Interrupts, render::Color};

    use crate::{
        args::{ChatArgs, FlowCommand, FlowValues},
        command::chat::Front,
        exit::{Failure, missing::FLOW},
        output::Output,
    };

    /// A run of a flow file.
    pub(crate) struct FlowRun<'a> {
        pub(crate) file: &'a Path,
        pub(crate) chat: &'a ChatArgs,
        pub(crate) values: &'a FlowValues,
    }

    /// Fails.
    pub(crate) async fn run(_: &FlowCommand, _: &Interrupts, _: Color, _: Option<&Output>) -> Result<(), Failure> {
        Err(FLOW.failure("agcore flow"))
    }

    /// Fails.
    pub(in crate::command) async fn run_file(_: &FlowRun<'_>, _: &Front<'_>) -> Result<(), Failure> {
        Err(FLOW.failure("agcore run --flow"))
    }
}

/// `agcore mcp`.
pub(crate) mod mcp {
    use agcore_terminal::{interrupt::Interrupts, render::Color};

    use crate::{
        args::McpCommand,
        exit::{Failure, missing::MCP},
    };

    /// Fails.
    pub(crate) async fn run(_: &McpCommand, _: &Interrupts, _: Color) -> Result<(), Failure> {
        Err(MCP.failure("agcore mcp"))
    }
}

/// `agcore serve`.
pub(crate) mod serve {
    use agcore_terminal::{interrupt::Interrupts, render::Color};

    use crate::{
        args::ServeArgs,
        exit::{Failure, missing::SERVE},
    };

    /// Fails.
    pub(crate) async fn run(_: &ServeArgs, _: &Interrupts, _: Color) -> Result<(), Failure> {
        Err(SERVE.failure("agcore serve"))
    }
}

/// `agcore admin`, `agcore knowledge`, `agcore memory`, `agcore quotas`, `agcore schedules`, `agcore store` and `agcore webhooks`.
pub(crate) mod stored {
    /// `agcore admin`.
    pub(crate) mod admin {
        use crate::{
            args::AdminCommand,
            exit::{Failure, missing::STORE},
        };

        /// Fails.
        pub(crate) async fn run(_: &AdminCommand) -> Result<(), Failure> {
            Err(STORE.failure("agcore admin"))
        }
    }

    /// `agcore knowledge`.
    pub(crate) mod knowledge {
        use crate::{
            args::KnowledgeCommand,
            exit::{Failure, missing::STORE},
        };

        /// Fails.
        pub(crate) async fn run(_: &KnowledgeCommand) -> Result<(), Failure> {
            Err(STORE.failure("agcore knowledge"))
        }
    }

    /// `agcore memory`.
    pub(crate) mod memory {
        use crate::{
            args::MemoryCommand,
            exit::{Failure, missing::STORE},
        };

        /// Fails.
        pub(crate) async fn run(_: &MemoryCommand) -> Result<(), Failure> {
            Err(STORE.failure("agcore memory"))
        }
    }

    /// `agcore quotas`.
    pub(crate) mod quotas {
        use crate::{
            args::QuotasCommand,
            exit::{Failure, missing::STORE},
        };

        /// Fails.
        pub(crate) async fn run(_: &QuotasCommand) -> Result<(), Failure> {
            Err(STORE.failure("agcore quotas"))
        }
    }

    /// `agcore schedules`.
    pub(crate) mod schedules {
        use crate::{
            args::SchedulesCommand,
            exit::{Failure, missing::STORE},
        };

        /// Fails.
        pub(crate) async fn run(_: &SchedulesCommand) -> Result<(), Failure> {
            Err(STORE.failure("agcore schedules"))
        }
    }

    /// `agcore webhooks`.
    pub(crate) mod webhooks {
        use crate::{
            args::WebhooksCommand,
            exit::{Failure, missing::STORE},
        };

        /// Fails.
        pub(crate) async fn run(_: &WebhooksCommand) -> Result<(), Failure> {
            Err(STORE.failure("agcore webhooks"))
        }
    }

    /// `agcore store`.
    pub(crate) mod store {
        use crate::{
            args::StoreCommand,
            exit::{Failure, missing::STORE},
        };

        /// Fails.
        pub(crate) async fn run(_: &StoreCommand) -> Result<(), Failure> {
            Err(STORE.failure("agcore store"))
        }
    }
}
