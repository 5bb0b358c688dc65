//! A person behind a client, who is asked and answers as a test wants it.

use rmcp::handler::client::ClientHandler;
use rmcp::model::{
    ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationAction,
    Implementation, ProtocolVersion,
};
use rmcp::service::RequestContext;
use tokio::sync::{mpsc, oneshot};

use crate::prelude::*;

/// How the person is asked: within a call, or between two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Generation {
    Within,
    Between,
}

pub(crate) const BOTH: [Generation; 2] = [Generation::Within, Generation::Between];

/// A client that can ask a person.
#[derive(Debug, Clone)]
pub(crate) struct Asking {
    version: ProtocolVersion,
    questions: mpsc::UnboundedSender<Asked>,
}

/// What the person sees, and how they answer.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) message: String,
    /// The form, as JSON.
    pub(crate) form: Value,
    answer: oneshot::Sender<ElicitResult>,
}

/// The person.
#[derive(Debug)]
pub(crate) struct Person {
    questions: mpsc::UnboundedReceiver<Asked>,
}

impl ClientHandler for Asking {
    fn get_info(&self) -> ClientConfig {
        let capabilities = ClientCapabilities::builder().enable_elicitation().build();
        ClientConfig::new(capabilities, Implementation::new("asking", "1"))
            .with_protocol_version(self.version.clone())
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, rmcp::ErrorData> {
        let ElicitRequestParams::FormElicitationParams {
            message,
            requested_schema,
            ..
        } = request
        else {
            panic!("not a form");
        };
        let (answer, answered) = oneshot::channel();
        let form = serde_json::to_value(requested_schema).unwrap();
        self.questions
            .send(Asked {
                message,
                form,
                answer,
            })
            .unwrap();
        let gone = |_| rmcp::ErrorData::internal_error("nobody is there", None);
        answered.await.map_err(gone)
    }
}

impl Person {
    /// Waits for a question.
    pub(crate) async fn is_asked(&mut self) -> Asked {
        self.questions.recv().await.unwrap()
    }

    /// Whether nobody asked anything yet.
    pub(crate) fn is_left_alone(&mut self) -> bool {
        self.questions.try_recv().is_err()
    }
}

impl Asked {
    pub(crate) fn answers(self, word: &str) {
        let content = json!({ "answer": word });
        self.ends(ElicitResult::new(ElicitationAction::Accept).with_content(content));
    }

    pub(crate) fn ends(self, result: ElicitResult) {
        // A client that was told to close the question takes no answer any more.
        let _ = self.answer.send(result);
    }

    /// The answers that are offered.
    pub(crate) fn offered(&self) -> Vec<String> {
        let answer = &self.form["properties"]["answer"];
        let words = answer["oneOf"].as_array().map_or_else(
            || answer["enum"].as_array().unwrap().clone(),
            |choices| choices.iter().map(|one| one["const"].clone()).collect(),
        );
        let word = |word: &Value| word.as_str().unwrap().to_owned();
        words.iter().map(word).collect()
    }
}

/// A server whose writes a person confirms.
pub(crate) fn setup(wiki: &DemoWiki) -> Setup {
    Setup::admin(wiki).with("WIKI_CONFIRM", "person")
}

/// Serves a client that can ask a person.
pub(crate) async fn serve(setup: Setup, generation: Generation) -> (Served<Asking>, Person) {
    let (version, lifecycle) = match generation {
        Generation::Within => (
            ProtocolVersion::V_2025_11_25,
            ClientLifecycleMode::Initialize,
        ),
        Generation::Between => (
            ProtocolVersion::V_2026_07_28,
            ClientLifecycleMode::Discover {
                preferred_versions: vec![ProtocolVersion::V_2026_07_28],
            },
        ),
    };
    serve_as(setup, version, lifecycle).await
}

/// Serves a client of one version of the protocol.
pub(crate) async fn serve_as(
    setup: Setup,
    version: ProtocolVersion,
    lifecycle: ClientLifecycleMode,
) -> (Served<Asking>, Person) {
    let (sender, questions) = mpsc::unbounded_channel();
    let asking = Asking {
        version,
        questions: sender,
    };
    let served = setup.serve_to(asking, lifecycle).await;
    (served, Person { questions })
}

/// Calls a tool while the person answers the one question that comes of it.
pub(crate) async fn answered(
    (served, person): (&Served<Asking>, &mut Person),
    tool: &str,
    arguments: Value,
    word: &str,
) -> Result<Value, Value> {
    let answer = async { person.is_asked().await.answers(word) };
    tokio::join!(served.call(tool, arguments), answer).0
}
