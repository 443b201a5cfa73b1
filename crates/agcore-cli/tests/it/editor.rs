//! [`Editor`]: an editor that has started `agcore acp`, and writes the lines of the protocol by hand.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Stdio},
};

use serde_json::{Value, json};

use crate::support::Agcore;

/// An editor with a running `agcore acp`. Questions are answered with the next of its answers, and left open without one.
pub(crate) struct Editor {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    next: u64,
    /// The requests and notifications of the program.
    pub(crate) seen: Vec<Value>,
    /// The options that are selected in the next questions.
    pub(crate) answers: Vec<&'static str>,
    /// The text of every file as the editor has it.
    pub(crate) unsaved: Option<&'static str>,
}

impl Editor {
    /// Starts the program, which can read files of the editor, and initializes the connection.
    pub(crate) fn start(agcore: &Agcore, arguments: &[&str]) -> Self {
        let arguments = ["acp"].iter().chain(arguments);
        let mut command = agcore.command();
        command.args(agcore.arguments(arguments.copied()));
        let child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let mut child = child.unwrap();
        let (input, output) = (child.stdin.take(), child.stdout.take().unwrap());
        let mut editor = Self {
            child,
            input,
            output: BufReader::new(output),
            next: 0,
            seen: Vec::new(),
            answers: Vec::new(),
            unsaved: None,
        };
        let capabilities = json!({"fs": {"readTextFile": true}, "session": {"notices": {}}});
        editor.ok(
            "initialize",
            json!({"protocolVersion": 1, "clientCapabilities": capabilities}),
        );
        editor
    }

    /// Opens a session in a folder and returns its id.
    pub(crate) fn session(&mut self, folder: &Path) -> String {
        let opened = self.ok("session/new", json!({"cwd": folder, "mcpServers": []}));
        opened["sessionId"].as_str().unwrap().to_owned()
    }

    /// Sends a prompt and returns its answer.
    pub(crate) fn prompt(&mut self, session: &str, text: &str) -> Value {
        let id = self.begin_prompt(session, text);
        self.answer(id)
    }

    pub(crate) fn begin_prompt(&mut self, session: &str, text: &str) -> u64 {
        let prompt = json!([{"type": "text", "text": text}]);
        self.begin("session/prompt", json!({"sessionId": session, "prompt": prompt}))
    }

    /// Sends a request and returns its result.
    pub(crate) fn ok(&mut self, method: &str, params: Value) -> Value {
        let answer = self.call(method, params);
        assert!(answer.get("result").is_some(), "{method}: {answer}");
        answer["result"].clone()
    }

    /// Sends a request and returns its answer.
    pub(crate) fn call(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params);
        self.answer(id)
    }

    fn begin(&mut self, method: &str, params: Value) -> u64 {
        self.next += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params}));
        self.next
    }

    pub(crate) fn send(&mut self, message: &Value) {
        let input = self.input.as_mut().unwrap();
        writeln!(input, "{message}").unwrap();
        input.flush().unwrap();
    }

    pub(crate) fn answer(&mut self, id: u64) -> Value {
        loop {
            let message = self.receive().expect("the program has ended");
            if message["id"] == id && message.get("method").is_none() {
                return message;
            }
        }
    }

    /// Waits for a question about a call.
    pub(crate) fn asked(&mut self) -> Value {
        loop {
            let message = self.receive().expect("the program has ended");
            if message["method"] == "session/request_permission" {
                return message;
            }
        }
    }

    /// Returns the first question that was asked.
    pub(crate) fn asked_before(&self) -> Value {
        let mut seen = self.seen.iter();
        seen.find(|message| message["method"] == "session/request_permission")
            .unwrap()
            .clone()
    }

    fn receive(&mut self) -> Option<Value> {
        let mut line = String::new();
        if self.output.read_line(&mut line).unwrap() == 0 {
            return None;
        }
        let message: Value = serde_json::from_str(&line).expect(&line);
        let id = &message["id"];
        match message["method"].as_str() {
            Some("session/request_permission") if !self.answers.is_empty() => {
                let outcome = json!({"outcome": {"outcome": "selected", "optionId": self.answers.remove(0)}});
                self.send(&json!({"jsonrpc": "2.0", "id": id, "result": outcome}));
            }
            Some("fs/read_text_file") => {
                let answer = match self.unsaved {
                    Some(text) => json!({"jsonrpc": "2.0", "id": id, "result": {"content": text}}),
                    None => json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32002, "message": "not open"}}),
                };
                self.send(&answer);
            }
            _ => {}
        }
        if message.get("method").is_some() {
            self.seen.push(message.clone());
        }
        Some(message)
    }

    /// Returns the updates of a kind.
    pub(crate) fn updates(&self, kind: &str) -> Vec<Value> {
        let updates = self.seen.iter().map(|message| &message["params"]["update"]);
        updates
            .filter(|update| update["sessionUpdate"] == kind)
            .cloned()
            .collect()
    }

    /// Closes standard input, and returns the exit code of the program.
    pub(crate) fn leave(mut self) -> Option<i32> {
        drop(self.input.take());
        while self.receive_rest() {}
        self.child.wait().unwrap().code()
    }

    fn receive_rest(&mut self) -> bool {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap() > 0
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        // It has ended already unless the test has failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
