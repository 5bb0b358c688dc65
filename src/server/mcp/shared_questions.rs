//! Names the questions that one of several servers asks within a session.

use std::convert::Infallible;
use std::fmt;

use futures_util::future::BoxFuture;
use rmcp::model::{ElicitResult, RequestId};

/// The begin of a form's member that holds a question's name.
pub(super) const NAMED: &str = "answer_";

/// Servers of one store, of which any may get the answer to a question that another asks.
pub(in crate::server) trait SharedQuestions: fmt::Debug + Send + Sync {
    /// Waits for the answer that another server gets to this request, and has it come as if it had come
    /// here.
    fn watch<'a>(&'a self, question: &'a str, id: &'a RequestId) -> BoxFuture<'a, Infallible>;
}

/// The name of the question that a result answers, where it has one.
pub(in crate::server) fn question_of(result: &ElicitResult) -> Option<String> {
    let members = result.content.as_ref()?.as_object()?;
    let mut names = members.keys().filter_map(|name| name.strip_prefix(NAMED));
    names.next().map(str::to_owned)
}
