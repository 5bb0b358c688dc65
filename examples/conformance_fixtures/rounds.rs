//! Tools and prompts that end a call with questions, and are called again with the answers.

use rmcp::ErrorData;
use rmcp::model::{
    ClientCapabilities, CreateMessageResult, ElicitResult, ElicitationAction, InputRequest,
    InputRequests, InputRequiredResult, InputResponses, ListRootsResult, RequestStateCodec,
    SealOptions,
};
use serde_json::{Value, from_value};

/// What a call brings with it.
pub(crate) struct Brought {
    pub(crate) state: Option<String>,
    pub(crate) responses: InputResponses,
    pub(crate) client: ClientCapabilities,
}

/// What a call comes to.
pub(crate) enum Round {
    Asks(InputRequiredResult),
    Done(String),
}

/// The next questions, or the answers to the last ones.
pub(crate) fn next(
    codec: &RequestStateCodec,
    name: &str,
    rounds: &[InputRequests],
    brought: &Brought,
) -> Result<Round, ErrorData> {
    let number = match &brought.state {
        Some(state) => codec
            .open_with(state, name.as_bytes())
            .ok()
            .and_then(|bytes| bytes.first().copied())
            .ok_or_else(|| ErrorData::invalid_params("this state is none of ours", None))?,
        None => 0,
    };
    let asked = |number: u8| {
        let mut round = rounds.get(usize::from(number))?.clone();
        round.retain(|_, request| can(&brought.client, request));
        Some(round)
    };
    let answered = |round: &InputRequests| {
        round.iter().all(|(key, request)| {
            brought
                .responses
                .get(key)
                .is_some_and(|response| answers(request, response))
        })
    };
    let (number, round) = match asked(number) {
        Some(round) if answered(&round) => (number + 1, asked(number + 1)),
        round => (number, round),
    };
    if let Some(round) = round {
        let options = SealOptions::new().associated_data(name.as_bytes());
        let state = codec.seal_with(&[number], &options);
        let asks = InputRequiredResult::new(Some(round), Some(state));
        return Ok(Round::Asks(asks));
    }
    let answers: Vec<_> = brought.responses.values().map(Value::to_string).collect();
    Ok(Round::Done(format!("state-ok: {}", answers.join(" "))))
}

/// Nobody is asked for what it did not declare.
fn can(client: &ClientCapabilities, request: &InputRequest) -> bool {
    match request {
        InputRequest::CreateMessage(_) => client.sampling.is_some(),
        InputRequest::Elicitation(_) => client.elicitation.is_some(),
        InputRequest::ListRoots(_) => client.roots.is_some(),
        _ => false,
    }
}

fn answers(request: &InputRequest, response: &Value) -> bool {
    let response = response.clone();
    match request {
        InputRequest::CreateMessage(_) => from_value::<CreateMessageResult>(response).is_ok(),
        InputRequest::Elicitation(_) => from_value::<ElicitResult>(response)
            .is_ok_and(|result| result.action == ElicitationAction::Accept),
        InputRequest::ListRoots(_) => from_value::<ListRootsResult>(response).is_ok(),
        _ => false,
    }
}
