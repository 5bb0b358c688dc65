//! A client that plays tasks: each call counts, with its arguments and the text of its answer.

use crate::prelude::*;

/// Cost of a task: calls, and bytes of arguments and of the text of answers.
#[derive(Clone, Copy, Default)]
pub(super) struct Spent {
    pub(super) calls: usize,
    pub(super) bytes: usize,
}

/// The client, and the sums so far.
pub(super) struct Player<'a> {
    pub(super) wiki: &'a DemoWiki,
    served: &'a Served,
    task: Spent,
    tasks: Vec<(&'static str, Spent)>,
}

impl<'a> Player<'a> {
    pub(super) fn new(wiki: &'a DemoWiki, served: &'a Served) -> Self {
        Self {
            wiki,
            served,
            task: Spent::default(),
            tasks: Vec::new(),
        }
    }

    /// Ends a task: what was called since the last one was for it.
    pub(super) fn done(&mut self, task: &'static str) {
        let spent = std::mem::take(&mut self.task);
        assert!(spent.calls > 0, "{task}");
        self.tasks.push((task, spent));
    }

    /// The table of the tasks, and their sum.
    pub(super) fn finish(self) -> (String, Spent) {
        assert_eq!(self.tasks.len(), 25);
        let mut table = "| task | calls | bytes |\n|---|---|---|\n".to_owned();
        let mut sum = Spent::default();
        for (task, spent) in &self.tasks {
            writeln!(table, "| {task} | {} | {} |", spent.calls, spent.bytes).unwrap();
            sum.calls += spent.calls;
            sum.bytes += spent.bytes;
        }
        writeln!(table, "| all of them | {} | {} |", sum.calls, sum.bytes).unwrap();
        (table, sum)
    }

    /// The content of a page, as the wiki has it.
    pub(super) fn content(&self, path: &str) -> String {
        self.page(path, |page| page.content.clone())
    }

    /// A member of a page, as the wiki has it.
    pub(super) fn page<T>(
        &self,
        path: &str,
        take: impl FnOnce(&wikijs_gate::demo::PageRow) -> T,
    ) -> T {
        self.wiki.with_store(|store| {
            let page = store.page_at("en", path);
            take(page.unwrap_or_else(|| panic!("no page {path}")))
        })
    }

    /// A call, whatever comes of it.
    pub(super) async fn attempt(&mut self, tool: &str, arguments: Value) -> Result<Value, Value> {
        self.task.calls += 1;
        self.task.bytes += arguments.to_string().len();
        let mut request = CallToolRequestParams::new(tool.to_owned());
        request.arguments = arguments.as_object().cloned();
        match self.served.client.call_tool(request).await {
            Ok(result) => {
                let content = serde_json::to_value(&result.content).unwrap();
                self.task.bytes += content[0]["text"].as_str().unwrap().len();
                read(&result)
            }
            Err(rmcp::ServiceError::McpError(error)) => {
                self.task.bytes += error.message.len();
                Err(json!({ "code": error.code.0, "message": error.message }))
            }
            Err(error) => panic!("{tool}: {error}"),
        }
    }

    /// A call that must succeed.
    pub(super) async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let said = arguments.to_string();
        let answer = self.attempt(tool, arguments).await;
        answer.unwrap_or_else(|error| panic!("{tool} {said}: {error}"))
    }

    /// The error of a call that must fail with this code.
    pub(super) async fn fails(&mut self, tool: &str, arguments: Value, code: &str) -> Value {
        match self.attempt(tool, arguments).await {
            Err(error) if error["code"] == code => error,
            other => panic!("{tool} is not {code}: {other:?}"),
        }
    }

    /// A write: its preview, then the same with its token, by the argument that names the target.
    pub(super) async fn write(&mut self, tool: &str, arguments: Value) -> Value {
        let preview = self.call(tool, arguments.clone()).await;
        self.confirm(tool, &arguments, &preview).await
    }

    /// Confirms a preview.
    pub(super) async fn confirm(
        &mut self,
        tool: &str,
        arguments: &Value,
        preview: &Value,
    ) -> Value {
        assert!(preview["confirm"].is_string(), "{tool}: {preview}");
        let mut confirming = json!({ "confirm": preview["confirm"] });
        for name in ["id", "page", "path", "draft", "callId", "commentId"] {
            if let Some(value) = arguments.get(name) {
                confirming[name] = value.clone();
            }
        }
        // A page is named by what it is called now, not by the path that it goes to.
        if arguments.get("page").is_some() || arguments.get("id").is_some() {
            confirming.as_object_mut().unwrap().remove("path");
        }
        let answer = self.call(tool, confirming).await;
        assert_eq!(answer["outcome"], "applied", "{tool}: {answer}");
        answer
    }
}
