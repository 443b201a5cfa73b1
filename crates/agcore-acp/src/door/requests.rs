//! The requests of an editor.

use std::{path::PathBuf, sync::Arc};

use agcore_chat::text::sanitized_line;
use agent_client_protocol::{
    Client, Error,
    schema::ProtocolVersion,
    v1::{
        ConnectionTo, Responder,
        schema::{
            AgentCapabilities, AuthMethod, AuthMethodAgent, AuthenticateRequest, AuthenticateResponse, ClientRequest,
            CloseSessionRequest, CloseSessionResponse, DeleteSessionRequest, DeleteSessionResponse, Implementation,
            InitializeRequest, InitializeResponse, ListSessionsRequest, ListSessionsResponse, LoadSessionRequest,
            LoadSessionResponse, LogoutResponse, McpCapabilities, McpServer, NewSessionRequest, NewSessionResponse,
            PromptCapabilities, PromptRequest, PromptResponse, ResumeSessionRequest, ResumeSessionResponse,
            SessionCapabilities, SessionCloseCapabilities, SessionConfigOptionValue, SessionDeleteCapabilities,
            SessionId, SessionInfo, SessionListCapabilities, SessionResumeCapabilities, SetSessionConfigOptionRequest,
            SetSessionConfigOptionResponse, SetSessionModeRequest, SetSessionModeResponse, StopReason,
        },
    },
};
use serde::Serialize;

use super::Door;
use crate::{
    error::{AcpError, AcpErrorKind},
    history::history,
    host::{ListedSession, OpenRequest},
    live::Live,
    turns,
};

/// The id of the way to give the program a key.
const SIGN_IN: &str = "agcore-keys";

impl Door {
    /// Takes a request, and answers it on a task of its own. The start and the end of turns are in the order of the requests.
    pub(super) fn accept(
        self: &Arc<Self>,
        request: ClientRequest,
        responder: Responder,
        connection: ConnectionTo<Client>,
    ) -> Result<(), Error> {
        let door = Arc::clone(self);
        match request {
            ClientRequest::InitializeRequest(request) => answer(responder, self.initialize(request)),
            ClientRequest::PromptRequest(request) => self.prompt(request, responder),
            request => {
                self.tasks
                    .spawn(async move { door.respond(request, responder, connection).await });
                Ok(())
            }
        }
    }

    async fn respond(
        self: Arc<Self>,
        request: ClientRequest,
        responder: Responder,
        connection: ConnectionTo<Client>,
    ) -> Result<(), Error> {
        match request {
            ClientRequest::NewSessionRequest(request) => self.create(request, responder, connection).await,
            ClientRequest::LoadSessionRequest(request) => self.load(request, responder, connection).await,
            ClientRequest::ResumeSessionRequest(request) => self.resume(request, responder, connection).await,
            ClientRequest::ListSessionsRequest(request) => answer(responder, self.list(request).await),
            ClientRequest::CloseSessionRequest(request) => answer(responder, self.close_one(request).await),
            ClientRequest::DeleteSessionRequest(request) => answer(responder, self.delete(request).await),
            ClientRequest::SetSessionModeRequest(request) => answer(responder, self.set_mode(request).await),
            ClientRequest::SetSessionConfigOptionRequest(request) => answer(responder, self.configure(request).await),
            ClientRequest::AuthenticateRequest(request) => answer(responder, self.authenticate(request).await),
            // There is nothing to forget: keys are not given over the protocol.
            ClientRequest::LogoutRequest(_) => answer(responder, Ok(LogoutResponse::new())),
            _ => responder.respond_with_error(Error::method_not_found()),
        }
    }

    fn initialize(&self, request: InitializeRequest) -> Result<InitializeResponse, AcpError> {
        if self.capabilities.set(Arc::new(request.client_capabilities)).is_err() {
            return Err(AcpError::busy("the connection is initialized already"));
        }
        let program = self.host.program();
        let sessions = SessionCapabilities::new()
            .list(SessionListCapabilities::new())
            .resume(SessionResumeCapabilities::new())
            .close(SessionCloseCapabilities::new())
            .delete(SessionDeleteCapabilities::new());
        let capabilities = AgentCapabilities::new()
            .load_session(true)
            .prompt_capabilities(PromptCapabilities::new().image(true).audio(true).embedded_context(true))
            .mcp_capabilities(McpCapabilities::new().http(true))
            .session_capabilities(sessions);
        let mut response = InitializeResponse::new(ProtocolVersion::V1)
            .agent_capabilities(capabilities)
            .agent_info(Implementation::new(program.name, program.version).title(program.title));
        if !program.sign_in.is_empty() {
            let method = AuthMethodAgent::new(SIGN_IN, "API key").description(program.sign_in);
            response = response.auth_methods(vec![AuthMethod::Agent(method)]);
        }
        Ok(response)
    }

    async fn authenticate(&self, request: AuthenticateRequest) -> Result<AuthenticateResponse, AcpError> {
        if &*request.method_id.0 != SIGN_IN {
            return Err(AcpError::invalid(format!("there is no way to sign in but `{SIGN_IN}`")));
        }
        self.host.check_sign_in().await.map(|()| AuthenticateResponse::new())
    }

    async fn create(
        self: Arc<Self>,
        request: NewSessionRequest,
        responder: Responder,
        connection: ConnectionTo<Client>,
    ) -> Result<(), Error> {
        let wanted = OpenRequest::new(request.cwd, request.mcp_servers);
        let opened = self.open(None, wanted, connection).await;
        let (live, error) = parts(opened);
        let response = live.as_ref().map(|live| {
            NewSessionResponse::new(SessionId::new(live.hosted.session().id()))
                .modes(live.mode_state())
                .config_options(live.config())
        });
        answer(responder, response.ok_or(error))?;
        introduce(live).await
    }

    async fn load(
        self: Arc<Self>,
        request: LoadSessionRequest,
        responder: Responder,
        connection: ConnectionTo<Client>,
    ) -> Result<(), Error> {
        let wanted = OpenRequest::new(request.cwd, request.mcp_servers);
        let opened = self.open(Some(&request.session_id.0), wanted, connection).await;
        let (live, error) = parts(opened);
        if let Some(live) = &live {
            for update in history(&live.hosted.session().messages().await, &**live) {
                live.editor.update(update).await;
            }
        }
        let response = live.as_ref().map(|live| {
            LoadSessionResponse::new()
                .modes(live.mode_state())
                .config_options(live.config())
        });
        answer(responder, response.ok_or(error))?;
        introduce(live).await
    }

    async fn resume(
        self: Arc<Self>,
        request: ResumeSessionRequest,
        responder: Responder,
        connection: ConnectionTo<Client>,
    ) -> Result<(), Error> {
        let wanted = OpenRequest::new(request.cwd, request.mcp_servers);
        let opened = self.open(Some(&request.session_id.0), wanted, connection).await;
        let (live, error) = parts(opened);
        let response = live.as_ref().map(|live| {
            ResumeSessionResponse::new()
                .modes(live.mode_state())
                .config_options(live.config())
        });
        answer(responder, response.ok_or(error))?;
        introduce(live).await
    }

    /// Opens a session, or creates one if there is no id. One that is open already is opened again, as it is stored now.
    async fn open(
        &self,
        id: Option<&str>,
        wanted: OpenRequest,
        connection: ConnectionTo<Client>,
    ) -> Result<Arc<Live>, AcpError> {
        if !wanted.folder.is_absolute() {
            return Err(AcpError::invalid("`cwd` must be an absolute path"));
        }
        if wanted
            .mcp_servers
            .iter()
            .any(|server| matches!(server, McpServer::Sse(_)))
        {
            return Err(AcpError::invalid(
                "MCP servers over SSE are not supported; use HTTP or a command",
            ));
        }
        let _one_at_a_time = self.opening.lock().await;
        let editor = self.editor(connection)?;
        if let Some(open) = id.and_then(|id| self.live(id)) {
            open.retire()?;
            if self.take(&open) {
                open.hosted.release().await;
            }
        }
        let named = wanted.folder.clone();
        let hosted = match id {
            None => self.host.create(wanted, editor.clone()).await?,
            Some(id) => self.host.open(id, wanted, editor.clone()).await?,
        };
        let id = hosted.session().id().to_owned();
        editor.map_root(hosted.folder().to_owned(), named);
        editor.bind(SessionId::new(id.as_str()));
        let live = Arc::new(Live::new(hosted, editor));
        if self.gone.is_cancelled() {
            live.hosted.close().await;
            return Err(AcpError::new(AcpErrorKind::Closed, "the editor has gone"));
        }
        self.lock().insert(id, Arc::clone(&live));
        Ok(live)
    }

    fn prompt(self: &Arc<Self>, request: PromptRequest, responder: Responder) -> Result<(), Error> {
        let started = self
            .open_session(&request.session_id.0)
            .and_then(|live| Ok((live.begin()?, live)));
        let (token, live) = match started {
            Ok(started) => started,
            Err(error) => return responder.respond_with_error(error.into_protocol().into()),
        };
        self.tasks.spawn(async move {
            let cancellation = responder.cancellation();
            let result = {
                let turn = turns::run(&live, request.prompt, &token);
                let mut turn = std::pin::pin!(turn);
                tokio::select! {
                    result = &mut turn => result,
                    // The request itself was cancelled: its turn ends like one that the session's own method cancels.
                    () = cancellation.cancelled() => {
                        token.cancel();
                        turn.await
                    }
                }
            };
            live.end();
            let result = match result {
                Err(_) if token.is_cancelled() => Ok(StopReason::Cancelled),
                result => result,
            };
            answer(responder, result.map(PromptResponse::new))
        });
        Ok(())
    }

    async fn list(&self, request: ListSessionsRequest) -> Result<ListSessionsResponse, AcpError> {
        let page = self
            .host
            .list(request.cwd.as_deref(), request.cursor.as_deref())
            .await?;
        let sessions = page.sessions.into_iter().map(listed).collect();
        Ok(ListSessionsResponse::new(sessions).next_cursor(page.next))
    }

    async fn close_one(&self, request: CloseSessionRequest) -> Result<CloseSessionResponse, AcpError> {
        let live = self.open_session(&request.session_id.0)?;
        live.shut();
        let _one_at_a_time = self.opening.lock().await;
        live.ended().await;
        if self.take(&live) {
            live.hosted.close().await;
        }
        Ok(CloseSessionResponse::new())
    }

    async fn delete(&self, request: DeleteSessionRequest) -> Result<DeleteSessionResponse, AcpError> {
        let id = &*request.session_id.0;
        let _one_at_a_time = self.opening.lock().await;
        if let Some(live) = self.live(id) {
            live.retire()?;
            if self.take(&live) {
                live.hosted.close().await;
            }
        }
        self.host.delete(id).await.map(|()| DeleteSessionResponse::new())
    }

    async fn set_mode(&self, request: SetSessionModeRequest) -> Result<SetSessionModeResponse, AcpError> {
        let live = self.open_session(&request.session_id.0)?;
        live.change_mode(&request.mode_id.0).await?;
        Ok(SetSessionModeResponse::new())
    }

    async fn configure(
        &self,
        request: SetSessionConfigOptionRequest,
    ) -> Result<SetSessionConfigOptionResponse, AcpError> {
        let live = self.open_session(&request.session_id.0)?;
        let SessionConfigOptionValue::ValueId { value } = &request.value else {
            return Err(AcpError::invalid(format!(
                "the option `{}` has named values, and no switch",
                sanitized_line(&request.config_id.0)
            )));
        };
        live.configure(&request.config_id.0, &value.0).await?;
        Ok(SetSessionConfigOptionResponse::new(live.config()))
    }
}

impl OpenRequest {
    fn new(folder: PathBuf, mcp_servers: Vec<McpServer>) -> Self {
        Self { folder, mcp_servers }
    }
}

/// Splits a result, so that both parts can be used after the answer.
fn parts(opened: Result<Arc<Live>, AcpError>) -> (Option<Arc<Live>>, AcpError) {
    match opened {
        Ok(live) => (Some(live), AcpError::new(AcpErrorKind::Internal, "")),
        Err(error) => (None, error),
    }
}

async fn introduce(live: Option<Arc<Live>>) -> Result<(), Error> {
    if let Some(live) = live {
        live.introduce().await;
    }
    Ok(())
}

fn listed(session: ListedSession) -> SessionInfo {
    SessionInfo::new(SessionId::new(session.id), session.folder)
        .title(session.title)
        .updated_at(session.updated_at)
}

fn answer(responder: Responder, result: Result<impl Serialize, AcpError>) -> Result<(), Error> {
    match result.map(serde_json::to_value) {
        Ok(Ok(value)) => responder.respond(value),
        Ok(Err(error)) => responder.respond_with_error(Error::into_internal_error(error)),
        Err(error) => responder.respond_with_error(error.into_protocol().into()),
    }
}
