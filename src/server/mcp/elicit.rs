//! Has a client ask its person, on both generations of the protocol.
//!
//! Up to 2025-11-25 the server sends the client a request while the call waits. From
//! 2026-07-28 on the call is answered with the question and a state, and the client calls again with the answer
//! and that state.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CancelledNotificationParam, ClientCapabilities, ClientResult,
    ConstTitle, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction,
    ElicitationSchema, EnumSchema, InputRequest, InputRequiredResult, LegacyEnumSchema,
    PrimitiveSchemaDefinition, ProtocolVersion, RequestId, ServerRequest, SingleSelectEnumSchema,
    TitledSingleSelectEnumSchema,
};
use rmcp::service::{Peer, PeerRequestOptions, RequestContext, RoleServer};
use serde_json::{Map, Value};
use time::OffsetDateTime;
use tokio::runtime::Handle;
use tokio::sync::mpsc;

use super::caller::CallerContext;
use super::shared_questions::{NAMED, SharedQuestions};
use crate::audit::CallId;
use crate::gates::{ApprovalScope, Asked};
use crate::notice::Invitation;
use crate::write::{AskPerson, Asker, HandedOut, Handout, PersonReply, Question};

/// The form's one member, and the name of the one question of a call.
const ANSWER: &str = "answer";
const NO: &str = "no";

/// True if a client declares that it can ask its person.
pub(in crate::server) fn asks(client: &ClientCapabilities) -> bool {
    let modes = client.elicitation.as_ref();
    modes.is_some_and(|modes| modes.form.is_some() || modes.url.is_none())
}

/// True if the person behind a request's client can be asked.
pub(in crate::server) fn can_ask(context: &RequestContext<RoleServer>, has_session: bool) -> bool {
    let version = context.protocol_version().unwrap_or_default();
    // The old generation answers within a session, so without one no answer would come.
    (has_session || version >= ProtocolVersion::V_2026_07_28)
        && context.client_capabilities().as_ref().is_some_and(asks)
}

/// Chooses how to ask the person behind a call's client, and makes the receiver of questions that
/// outlive the call.
pub(in crate::server) fn asker(
    request: &CallToolRequestParams,
    arguments: &Map<String, Value>,
    context: &RequestContext<RoleServer>,
    visit: &CallerContext,
) -> (Asker, mpsc::Receiver<HandedOut>) {
    let (handout, handed_out) = Handout::new();
    let version = context.protocol_version().unwrap_or_default();
    let asker = if !can_ask(context, visit.session.lasts()) {
        Asker::Nobody
    } else if version < ProtocolVersion::V_2026_07_28 {
        Asker::Within(Arc::new(ElicitationPeer {
            peer: context.peer.clone(),
            version,
            shared: visit.questions.clone(),
        }))
    } else {
        let asked = Asked::new(request.name.clone(), arguments.clone());
        match &request.request_state {
            Some(state) => brought(request, asked, state),
            None => Asker::Between { handout, asked },
        }
    };
    (asker, handed_out)
}

/// The answer to a call that must be repeated with a person's answer. Its state is the question's name, which
/// nobody can guess and which counts for its session and its call alone, and the time at which it ends.
pub(in crate::server) fn input_required(handed_out: &HandedOut) -> InputRequiredResult {
    let form = form(&handed_out.question, ANSWER, &ProtocolVersion::V_2026_07_28);
    let ask = InputRequest::Elicitation(ElicitRequest::new(form));
    let end = OffsetDateTime::now_utc() + handed_out.limit;
    let state = format!("{}.{}", handed_out.name, end.unix_timestamp_nanos());
    InputRequiredResult::new(Some([(ANSWER.to_owned(), ask)].into()), Some(state))
}

/// The answer that a repeated call brings.
fn brought(request: &CallToolRequestParams, asked: Asked, state: &str) -> Asker {
    let parsed = state.split_once('.');
    let parsed = parsed.and_then(|(name, end)| Some((name, end.parse::<i128>().ok()?)));
    let (question, reply) = match parsed {
        None => ("", PersonReply::NotOurs),
        // The name itself ends by then; this tells why.
        Some((_, end)) if end <= OffsetDateTime::now_utc().unix_timestamp_nanos() => {
            ("", PersonReply::TimedOut)
        }
        Some((name, _)) => {
            let responses = request.input_responses.as_ref();
            let response = responses.and_then(|all| all.get(ANSWER)).cloned();
            let result = response.and_then(|answer| serde_json::from_value(answer).ok());
            (
                name,
                result.map_or(PersonReply::Failed, |result| reply_of(&result, ANSWER)),
            )
        }
    };
    Asker::Answered {
        question: question.to_owned(),
        reply,
        asked,
    }
}

/// A person who is asked while the call waits.
#[derive(Debug)]
struct ElicitationPeer {
    peer: Peer<RoleServer>,
    version: ProtocolVersion,
    /// The servers that may get the answer, where several share a store.
    shared: Option<Arc<dyn SharedQuestions>>,
}

impl AskPerson for ElicitationPeer {
    fn ask(&self, question: Question) -> Pin<Box<dyn Future<Output = PersonReply> + Send + '_>> {
        Box::pin(async move {
            let mut member = ANSWER.to_owned();
            let mut shared = None;
            if let Some(servers) = &self.shared {
                // The requests of two servers may have one id: the answer names the call that asks.
                let Ok(call) = CallId::current_or_new() else {
                    return PersonReply::Failed;
                };
                member = format!("{NAMED}{call}");
                shared = Some((&**servers, call.to_string()));
            }
            let form = form(&question, &member, &self.version);
            match answer_to(&self.peer, form, shared).await {
                Some(ClientResult::ElicitResult(result)) => reply_of(&result, &member),
                _ => PersonReply::Failed,
            }
        })
    }
}

/// Sends a client a question and waits for its answer, also at another server, where it has a name there;
/// `None` if none comes.
async fn answer_to(
    peer: &Peer<RoleServer>,
    question: ElicitRequestParams,
    shared: Option<(&dyn SharedQuestions, String)>,
) -> Option<ClientResult> {
    let sent = peer.send_request_with_option(
        ServerRequest::ElicitRequest(ElicitRequest::new(question)),
        PeerRequestOptions::no_options(),
    );
    let handle = sent.await.ok()?;
    let mut open = PendingElicitation {
        peer: peer.clone(),
        question: Some(handle.id.clone()),
    };
    let id = handle.id.clone();
    let elsewhere = async {
        match shared {
            Some((shared, name)) => shared.watch(&name, &id).await,
            None => std::future::pending().await,
        }
    };
    let answer = tokio::select! {
        answer = handle.await_response() => answer,
        never = elsewhere => match never {},
    };
    open.question = None;
    answer.ok()
}

/// Asks a client to open a page for its person, if it can; never returns. The client's answer
/// decides nothing: people decide on the page.
pub(in crate::server) async fn invite(
    peer: &Peer<RoleServer>,
    mut invitations: mpsc::Receiver<Invitation>,
) -> Infallible {
    while let Some(Invitation { id, page }) = invitations.recv().await {
        let question = ElicitRequestParams::UrlElicitationParams {
            meta: None,
            message: "A write waits for a person's decision on this page.".to_owned(),
            url: page,
            elicitation_id: id,
        };
        if answer_to(peer, question, None).await.is_none() {
            tracing::debug!("the client did not open the page of a decision");
        }
    }
    std::future::pending().await
}

/// True if a client can be asked to open a page during a call.
pub(in crate::server) fn opens_pages(
    context: &RequestContext<RoleServer>,
    has_session: bool,
) -> bool {
    let version = context.protocol_version().unwrap_or_default();
    let capabilities = context.client_capabilities();
    let modes = capabilities
        .as_ref()
        .and_then(|all| all.elicitation.as_ref());
    // From 2026-07-28 on a server asks nothing during a call; the answer names the page.
    has_session
        && version < ProtocolVersion::V_2026_07_28
        && modes.is_some_and(|modes| modes.url.is_some())
}

/// A question that the client may still show; when dropped, the client is told that nobody waits
/// for it any more.
struct PendingElicitation {
    peer: Peer<RoleServer>,
    question: Option<RequestId>,
}

impl Drop for PendingElicitation {
    fn drop(&mut self) {
        let (Some(question), Ok(runtime)) = (self.question.take(), Handle::try_current()) else {
            return;
        };
        let peer = self.peer.clone();
        let reason = "nobody waits for the answer any more".to_owned();
        let told = CancelledNotificationParam::new(Some(question), Some(reason));
        runtime.spawn(async move {
            // A connection that is closing takes no more notifications.
            tokio::time::timeout(Duration::from_millis(250), peer.notify_cancelled(told)).await
        });
    }
}

/// The meaning of a client's result, by a member of its form. Only an explicit yes is a yes.
fn reply_of(result: &ElicitResult, member: &str) -> PersonReply {
    match result.action {
        ElicitationAction::Accept => {}
        ElicitationAction::Decline => return PersonReply::No,
        _ => return PersonReply::Closed,
    }
    let content = result.content.as_ref();
    let scope = |word: &str| {
        ApprovalScope::ALL
            .into_iter()
            .find(|it| it.as_str() == word)
    };
    match content.and_then(|content| content.get(member)?.as_str()) {
        Some(NO) => PersonReply::No,
        word => word
            .and_then(scope)
            .map_or(PersonReply::Failed, PersonReply::Yes),
    }
}

fn form(question: &Question, member: &str, version: &ProtocolVersion) -> ElicitRequestParams {
    let mut choices: Vec<(&str, &str)> = question
        .scopes
        .iter()
        .map(|scope| (scope.as_str(), title(*scope)))
        .collect();
    choices.push((NO, "No"));
    // Since 2025-11-25 titles are beside the values, before that in a separate list.
    let schema = if *version < ProtocolVersion::V_2025_11_25 {
        let (values, titles) = choices
            .into_iter()
            .map(|(value, title)| (value.to_owned(), title.to_owned()))
            .unzip();
        let mut schema = LegacyEnumSchema::new(values);
        schema.enum_names = Some(titles);
        EnumSchema::Legacy(schema)
    } else {
        let choices = choices
            .into_iter()
            .map(|(value, title)| ConstTitle::new(value, title));
        EnumSchema::Single(SingleSelectEnumSchema::Titled(
            TitledSingleSelectEnumSchema::new(choices.collect()),
        ))
    };
    let schema = PrimitiveSchemaDefinition::Enum(schema);
    ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: question.message.clone(),
        requested_schema: ElicitationSchema::new([(member.to_owned(), schema)].into())
            .with_required(vec![member.to_owned()]),
    }
}

const fn title(scope: ApprovalScope) -> &'static str {
    match scope {
        ApprovalScope::Once => "Yes, this once",
        ApprovalScope::Page => "Yes, and more changes of this page for 30 minutes, 20 at most",
        ApprovalScope::Kind => {
            "Yes, and more writes of this kind to any page for 30 minutes, 20 at most"
        }
    }
}
