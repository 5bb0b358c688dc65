//! Bounds the memory of calls that show differences: how large their texts are is known or found
//! out first, and a call that does not fit waits a few seconds.
//!
//! A call runs [`within`] the budget. As soon as it knows how large its texts are it takes room for
//! them ([`hold`]), and has it until it ends. An answer of the wiki whose size nobody knows before
//! takes room while it comes ([`grow`]). Outside of such a call, in commands and in the background,
//! nothing is counted.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::error::{Code, Failure};

/// Time that a call waits for room.
pub const PATIENCE: Duration = Duration::from_secs(5);
/// After how many seconds whoever found no room may try again.
pub const RETRY_AFTER: u64 = 5;
/// Texts of a call that are not counted, in bytes.
const FREE: usize = 16 * 1024;
/// Bytes of an answer of unknown size that come before it takes room for the rest.
const FREE_ANSWER: usize = 32 * 1024;
/// Bytes of such an answer for which a little room is taken first.
const SMALL_ANSWER: usize = 256 * 1024;
/// Bytes of memory for each byte of the texts, until their difference is shown.
const TIMES: usize = 8;
/// The unit of room, in bytes.
const UNIT: usize = 1024;
/// The room of large calls, in bytes: one that takes all of it has no other beside it.
const LARGE: usize = 36 * 1024 * 1024;
/// The least room of a large call, in bytes: few of them work at once, whatever their size.
const LEAST_OF_LARGE: usize = LARGE / 2;
/// The room of small calls, in bytes, so that they need not wait for large ones.
const SMALL: usize = 8 * 1024 * 1024;
/// The most room of a small call, in bytes.
const MOST_OF_SMALL: usize = 2 * 1024 * 1024;

/// No room was found in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("Too many large pages are compared at this moment.")]
pub struct RenderBudgetExceeded;

impl From<RenderBudgetExceeded> for Failure {
    fn from(no_room: RenderBudgetExceeded) -> Self {
        Self::new(Code::RateLimited, no_room.to_string())
            .hint("Nothing was changed. Wait a few seconds, then call again, one call at a time.")
            .detail("retryAfterSeconds", RETRY_AFTER)
    }
}

/// The room that all calls share.
#[derive(Debug)]
struct Budget {
    large: Arc<Semaphore>,
    small: Arc<Semaphore>,
    patience: Duration,
}

/// The room of this process, whose memory it bounds.
static OF_PROCESS: LazyLock<Arc<Budget>> = LazyLock::new(|| Arc::new(Budget::new(PATIENCE)));

tokio::task_local! {
    static CALL: CallBudget;
}

/// The room of a call that shows differences.
#[derive(Debug)]
struct CallBudget {
    budget: Arc<Budget>,
    held: Mutex<BudgetUsage>,
}

#[derive(Debug, Default)]
struct BudgetUsage {
    /// Its texts, in bytes.
    texts: usize,
    /// Answers up to this size are counted with them, in bytes.
    covered: usize,
    /// Bytes up to which the answer that is coming may grow.
    granted: usize,
    room: Option<BudgetPermit>,
}

/// Room that is taken; it is free once this is dropped.
#[derive(Debug)]
pub struct BudgetPermit {
    bytes: usize,
    units: OwnedSemaphorePermit,
}

/// Runs a call that shows differences; with its end its room is free. Within another one it shares
/// that one's room.
pub fn within<F: Future>(work: F) -> impl Future<Output = F::Output> {
    // A call's future is large.
    let work = Box::pin(work);
    async move {
        if is_counted() {
            return work.await;
        }
        let call = CallBudget::new(Arc::clone(&OF_PROCESS));
        CALL.scope(call, work).await
    }
}

/// Reads what holds no texts of pages, such as a list of pages, which others bound: it is not counted.
pub fn uncounted<F: Future>(work: F) -> impl Future<Output = F::Output> {
    let call = CallBudget::new(Arc::clone(&OF_PROCESS));
    call.held.lock().granted = usize::MAX;
    CALL.scope(call, Box::pin(work))
}

/// Takes room for texts of this many bytes in all, before they are loaded; answers of the wiki that
/// hold the same pages are counted with them.
///
/// # Errors
/// [`RenderBudgetExceeded`], if there is none for a while.
pub async fn hold(texts: usize) -> Result<(), RenderBudgetExceeded> {
    let _ = CALL.try_with(|call| {
        let mut held = call.held.lock();
        held.covered = held.covered.max(texts);
    });
    count(texts).await
}

/// Counts texts of this many bytes in all.
async fn count(texts: usize) -> Result<(), RenderBudgetExceeded> {
    let missing = CALL.try_with(|call| {
        let mut held = call.held.lock();
        held.texts = held.texts.max(texts);
        let bytes = Budget::room_for(held.texts);
        // What is too little is given back first: who waits holds nothing that others wait for.
        let is_enough = held.gave_back_for(bytes);
        (!is_enough).then(|| (Arc::clone(&call.budget), bytes))
    });
    let Ok(Some((budget, bytes))) = missing else {
        return Ok(());
    };
    let room = budget.take(bytes).await?;
    let _ = CALL.try_with(|call| call.held.lock().room = room);
    Ok(())
}

/// True within a call that shows differences: large answers then wait for room.
pub fn is_counted() -> bool {
    CALL.try_with(|_| ()).is_ok()
}

/// True if an answer of the wiki needs more room to be of this many bytes.
pub(crate) fn lacks_room(come: usize) -> bool {
    let is_counted = CALL.try_with(|call| {
        let held = call.held.lock();
        come <= FREE_ANSWER.max(held.covered).max(held.granted)
    });
    !is_counted.unwrap_or(true)
}

/// Takes room for the rest of an answer of the wiki, which is of this size in all or unknown.
///
/// # Errors
/// [`RenderBudgetExceeded`], if there is none for a while.
pub async fn grow(come: usize, whole: Option<usize>) -> Result<(), RenderBudgetExceeded> {
    let granted = match whole {
        Some(whole) => whole.max(come),
        None if come <= SMALL_ANSWER => SMALL_ANSWER,
        None => usize::MAX,
    };
    let texts = CALL.try_with(|call| {
        let mut held = call.held.lock();
        held.granted = held.granted.max(granted);
        held.texts.saturating_add(both(granted))
    });
    match texts {
        Ok(texts) => count(texts).await,
        Err(_) => Ok(()),
    }
}

/// Takes room for an answer of the wiki before it is asked for, if it was this large before: who waits
/// for room then has no request under way.
///
/// # Errors
/// [`RenderBudgetExceeded`], if there is none for a while.
pub(crate) async fn expect_answer(bytes: usize) -> Result<(), RenderBudgetExceeded> {
    if lacks_room(bytes) {
        grow(bytes, Some(bytes)).await?;
    }
    Ok(())
}

/// Notes how large an answer was for which room was taken while it came; what is too much is given
/// back.
pub fn grown(before: usize, whole: usize) {
    let _ = CALL.try_with(|call| call.held.lock().shrink_to(before, whole));
}

/// Bytes of texts that are counted for this call; for [`grown`].
pub fn counted() -> usize {
    CALL.try_with(|call| call.held.lock().texts)
        .unwrap_or_default()
}

/// Gives back what this call has: from here on it shows nothing.
pub fn give_back() {
    let _ = CALL.try_with(|call| *call.held.lock() = BudgetUsage::default());
}

/// Keeps the room that an answer of this many bytes needs until it is sent, and frees the rest.
/// `None` if the call has none.
pub fn keep_for_answer(bytes: usize) -> Option<BudgetPermit> {
    let held = CALL.try_with(|call| std::mem::take(&mut *call.held.lock()));
    let mut room = held.ok()?.room?;
    room.shrink_to(bytes.next_multiple_of(UNIT));
    Some(room)
}

/// A page before and after a change, of which the wiki tells one.
const fn both(answer: usize) -> usize {
    answer.saturating_mul(2)
}

impl CallBudget {
    fn new(budget: Arc<Budget>) -> Self {
        Self {
            budget,
            held: Mutex::default(),
        }
    }
}

impl BudgetUsage {
    /// True if it has this much room; if it has less, it gives that back.
    fn gave_back_for(&mut self, bytes: usize) -> bool {
        let is_enough = self.room.as_ref().map_or(0, |room| room.bytes) >= bytes;
        if !is_enough {
            self.room = None;
        }
        is_enough
    }

    /// An answer is no larger than this, of which before it was not known.
    fn shrink_to(&mut self, before: usize, whole: usize) {
        if std::mem::take(&mut self.granted) == 0 {
            return;
        }
        self.texts = before.saturating_add(both(whole)).min(self.texts);
        if let Some(room) = &mut self.room {
            room.shrink_to(Budget::room_for(self.texts));
        }
    }
}

impl BudgetPermit {
    /// Gives back what is more than this. What is little does not move to the room of small calls:
    /// it would have to wait for it.
    fn shrink_to(&mut self, bytes: usize) {
        let more = self.bytes.saturating_sub(bytes) / UNIT;
        drop(self.units.split(more));
        self.bytes -= more * UNIT;
    }
}

impl Budget {
    fn new(patience: Duration) -> Self {
        Self {
            large: Arc::new(Semaphore::new(LARGE / UNIT)),
            small: Arc::new(Semaphore::new(SMALL / UNIT)),
            patience,
        }
    }

    /// The room for texts of this many bytes; at most all of it, so that the largest is shown too.
    const fn room_for(texts: usize) -> usize {
        if texts <= FREE {
            return 0;
        }
        if texts >= LARGE / TIMES {
            return LARGE;
        }
        let bytes = (texts * TIMES).next_multiple_of(UNIT);
        if bytes > MOST_OF_SMALL && bytes < LEAST_OF_LARGE {
            return LEAST_OF_LARGE;
        }
        bytes
    }

    async fn take(&self, bytes: usize) -> Result<Option<BudgetPermit>, RenderBudgetExceeded> {
        if bytes == 0 {
            return Ok(None);
        }
        let of = if bytes <= MOST_OF_SMALL {
            &self.small
        } else {
            &self.large
        };
        let count = u32::try_from(bytes / UNIT).map_err(|_| RenderBudgetExceeded)?;
        let taking = Arc::clone(of).acquire_many_owned(count);
        let taken = tokio::time::timeout(self.patience, taking).await;
        let units = taken
            .map_err(|_| RenderBudgetExceeded)?
            .map_err(|_| RenderBudgetExceeded)?;
        Ok(Some(BudgetPermit { bytes, units }))
    }
}

#[cfg(test)]
mod tests;
