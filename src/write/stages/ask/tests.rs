use std::future::pending;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use super::{Asking, ToAsk};
use crate::change::Change;
use crate::error::{Code, Failure};
use crate::gates::{
    ApprovalScope, Approved, Asked, ChangeSet, Fallback, Gate, Refusal, WritePolicy,
};
use crate::page::testing::page;
use crate::write::caller::{AskPerson, Asker, Caller, Handout, PersonReply, Question};
use crate::write::route::Brought;
use crate::write::testing::{
    self, Office, caller, checked, person, policy, record, session, set, update,
};

const LONG: Duration = Duration::from_mins(1);

/// A person who answers so, or never.
#[derive(Debug)]
struct Person(Option<PersonReply>);

impl AskPerson for Person {
    fn ask(&self, _: Question) -> Pin<Box<dyn Future<Output = PersonReply> + Send + '_>> {
        Box::pin(async {
            match self.0 {
                Some(reply) => reply,
                None => pending().await,
            }
        })
    }
}

/// A person who has heard the question, and says nothing.
#[derive(Debug, Default)]
struct Silent(tokio::sync::Notify);

impl AskPerson for Silent {
    fn ask(&self, _: Question) -> Pin<Box<dyn Future<Output = PersonReply> + Send + '_>> {
        self.0.notify_one();
        Box::pin(pending())
    }
}

fn office() -> Office {
    Office::new(policy(person()))
}

fn within(reply: Option<PersonReply>) -> Asker {
    Asker::Within(Arc::new(Person(reply)))
}

/// Asks about a set within a call.
async fn asked(
    office: &Office,
    asker: Asker,
    set: &ChangeSet,
    limit: Duration,
) -> Result<Approved, Refusal> {
    let to_ask = ToAsk {
        set: set.clone(),
        checked: checked(),
    };
    let policy = policy(WritePolicy::Person {
        limit,
        fallback: Fallback::None,
    });
    let caller = caller(asker);
    let questions = questions(office, &caller);
    questions.approval(&policy, &record(set), to_ask).await
}

fn questions<'a>(office: &'a Office, caller: &'a Caller) -> Asking<'a> {
    Asking {
        context: &office.desk,
        caller,
    }
}

/// The call that the tests make.
fn call(note: &str) -> Asked {
    let arguments = serde_json::json!({ "id": 1, "note": note });
    Asked::new(
        "wikijs_update_page",
        arguments.as_object().cloned().unwrap(),
    )
}

/// Brings an answer to a question that was handed out.
async fn answer(office: &Office, question: &str, reply: PersonReply) -> Result<Brought, Refusal> {
    let asker = Asker::Answered {
        question: question.to_owned(),
        reply,
        asked: call("why"),
    };
    let mut record = record(&set(update(1)));
    let caller = caller(asker);
    questions(office, &caller).brought(&mut record).await
}

/// The reason of a refusal for want of a yes.
fn reason(refusal: Refusal) -> String {
    let Refusal { gate, failure } = refusal;
    let Failure { code, details, .. } = failure;
    assert_eq!((gate, code), (Gate::Confirm, Code::ApprovalDenied));
    details["reason"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn only_a_yes_of_an_offered_scope_approves_and_each_answer_is_on_record() {
    let delete = set(Change::delete(page()));
    for (reply, expected) in [
        (PersonReply::Yes(ApprovalScope::Once), Ok("once")),
        (PersonReply::Yes(ApprovalScope::Kind), Err("failed")),
        (PersonReply::Yes(ApprovalScope::Page), Err("failed")),
        (PersonReply::No, Err("no")),
        (PersonReply::Closed, Err("closed")),
        (PersonReply::Failed, Err("failed")),
        (PersonReply::NotOurs, Err("not_ours")),
    ] {
        let office = office();
        let given = asked(&office, within(Some(reply)), &delete, LONG).await;
        match &given {
            Ok(approved) => assert!(approved.set().is_same_write(&delete)),
            Err(_) => assert!(expected.is_err(), "{reply:?}"),
        }
        let word = given.map(|_| "once".to_owned()).map_err(reason);
        assert_eq!(word.as_deref().map_err(String::as_str), expected);
        assert_eq!(office.words("event"), ["approval"]);
        let words = office.words("decision");
        assert_eq!(words, [expected.unwrap_or_else(|word| word)]);
        // The record is of the call that asked, so it names no other.
        assert_eq!(office.words("call"), [delete.id().to_string()]);
        assert_eq!(office.words("confirms"), [""], "{reply:?}");
    }
}

#[tokio::test]
async fn a_standing_yes_covers_later_writes_of_its_kind_without_a_question() {
    let office = office();
    let yes = within(Some(PersonReply::Yes(ApprovalScope::Kind)));
    let first = asked(&office, yes, &set(update(1)), LONG).await.unwrap();
    let second = asked(&office, Asker::Nobody, &set(update(2)), LONG).await;
    assert_eq!(second.unwrap().approval(), first.approval());
    let delete = set(Change::delete(page()));
    let refused = asked(&office, Asker::Nobody, &delete, LONG).await;
    assert_eq!(reason(refused.unwrap_err()), "cannot_ask");
}

#[tokio::test]
async fn a_yes_that_is_not_on_record_counts_neither_now_nor_later() {
    let office = office();
    office.without_log().await;
    let yes = within(Some(PersonReply::Yes(ApprovalScope::Kind)));
    let refused = asked(&office, yes, &set(update(1)), LONG).await;
    assert_eq!(refused.unwrap_err().gate, Gate::Record);
    let refused = asked(&office, Asker::Nobody, &set(update(1)), LONG).await;
    assert_eq!(reason(refused.unwrap_err()), "cannot_ask");
}

#[tokio::test]
async fn a_person_who_takes_too_long_has_not_said_yes() {
    let office = office();
    let refused = asked(&office, within(None), &set(update(1)), Duration::ZERO).await;
    assert_eq!(reason(refused.unwrap_err()), "timed_out");
    assert_eq!(office.words("decision"), ["timed_out"]);
}

#[tokio::test]
async fn a_question_whose_call_ends_is_on_record_as_cancelled() {
    let office = office();
    let update = set(update(1));
    let person = Arc::new(Silent::default());
    {
        let asker = Asker::Within(Arc::<Silent>::clone(&person));
        let asking = asked(&office, asker, &update, LONG);
        tokio::select! {
            _ = asking => panic!("nobody answers"),
            () = person.0.notified() => {}
        }
    }
    let tasks = &office.desk.house.tasks;
    tasks.close();
    tasks.wait().await;
    assert_eq!(office.words("decision"), ["cancelled"]);
}

/// Has a question handed out; its name.
async fn handed_out(office: &Office, set: &ChangeSet, note: &str) -> String {
    let (handout, mut questions) = Handout::new();
    let asked_by = Asker::Between {
        handout,
        asked: call(note),
    };
    let asking = asked(office, asked_by, set, LONG);
    tokio::select! {
        _ = asking => panic!("the receiver ends the call"),
        handed_out = questions.recv() => handed_out.unwrap().name,
    }
}

#[tokio::test]
async fn a_question_that_was_handed_out_is_answered_once_by_its_name() {
    let office = office();
    let update = set(update(1));
    let name = handed_out(&office, &update, "why").await;
    assert_eq!(office.words("decision"), ["asked"]);
    let yes = PersonReply::Yes(ApprovalScope::Once);
    let Ok(Brought::Yes(approved)) = answer(&office, &name, yes).await else {
        panic!("a yes");
    };
    assert!(approved.set().is_same_write(&update));
    let again = answer(&office, &name, yes).await.err().unwrap();
    assert_eq!(reason(again), "not_ours");
    assert_eq!(office.words("decision"), ["asked", "once", "not_ours"]);
    // The answer comes in a call of its own, and its record names the call that asked.
    let asked = update.id().to_string();
    assert_eq!(office.words("confirms"), ["", asked.as_str(), ""]);
    assert_eq!(office.words("call")[0], asked);
    assert_ne!(office.words("call")[1], asked);
}

#[tokio::test]
async fn any_server_takes_the_answer_to_a_question_once_and_for_its_call_alone() {
    let one = office();
    one.shares_store();
    let other = one.beside(policy(person()));
    let yes = PersonReply::Yes(ApprovalScope::Once);
    let update = set(update(1));
    let name = handed_out(&one, &update, "why").await;
    // Its name confirms no preview.
    let caller = caller(Asker::Nobody);
    let previews = other.desk.previews(&caller);
    assert!(previews.place.is_some());
    previews.fetch(&name).await.unwrap();
    assert!(previews.here.look(&session(), &name).is_err());
    let Ok(Brought::Yes(approved)) = answer(&other, &name, yes).await else {
        panic!("a yes");
    };
    assert!(approved.set().is_same_write(&update));
    for server in [&one, &other] {
        let again = answer(server, &name, yes).await.err().unwrap();
        assert_eq!(reason(again), "not_ours");
    }
    let of_another_call = handed_out(&one, &update, "another").await;
    for server in [&one, &other] {
        let refused = answer(server, &of_another_call, yes).await.err().unwrap();
        assert_eq!(reason(refused), "not_ours");
    }
}

#[tokio::test]
async fn an_answer_to_an_unknown_question_is_no_yes_but_may_be_late() {
    let office = office();
    for (reply, expected) in [
        (PersonReply::Yes(ApprovalScope::Once), "not_ours"),
        (PersonReply::No, "not_ours"),
        (PersonReply::TimedOut, "timed_out"),
    ] {
        let answered = answer(&office, "unknown", reply).await;
        assert_eq!(reason(answered.err().unwrap()), expected, "{reply:?}");
    }
}

#[tokio::test]
async fn a_call_that_brings_no_answer_brings_nothing() {
    let office = testing::office();
    for asker in [
        Asker::Nobody,
        within(Some(PersonReply::Yes(ApprovalScope::Once))),
    ] {
        let mut record = record(&set(update(1)));
        let caller = caller(asker);
        let nothing = questions(&office, &caller).brought(&mut record).await;
        assert!(matches!(nothing, Ok(Brought::Nothing)));
    }
}
