//! Counts wrong guesses of the static token, and makes each guesser wait after too many.
//!
//! Nobody waits because of another's guesses, and nothing sleeps. A guess that comes too soon is
//! not compared, so it tells nothing even if it is right.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::session::SessionId;
use crate::meter::Counter;

/// The most wrong guesses without a wait.
const FREE: u32 = 5;
/// The first wait; each is twice the one before.
const FIRST: Duration = Duration::from_secs(1);
/// The longest wait.
const LONGEST: Duration = Duration::from_mins(5);
/// After so long without a guess, earlier guesses are forgotten.
const MEMORY: Duration = Duration::from_hours(1);
/// The most guessers that are remembered; beyond it, the one that guessed longest ago is evicted.
const MANY: usize = 1_024;

/// The record of one guesser.
#[derive(Debug)]
struct Guesser {
    wrong: u32,
    last: Instant,
}

impl Guesser {
    fn waits_until(&self) -> Instant {
        let Some(doublings) = self.wrong.checked_sub(FREE) else {
            return self.last;
        };
        let wait = 2u32
            .checked_pow(doublings)
            .map_or(LONGEST, |times| FIRST.checked_mul(times).unwrap_or(LONGEST));
        self.last + wait.min(LONGEST)
    }
}

/// The wrong guesses of everybody.
#[derive(Debug, Default)]
pub(super) struct Guesses {
    guessers: Mutex<HashMap<Arc<str>, Guesser>>,
    /// The number of wrong ones.
    pub(super) wrong: Counter,
}

/// The reason why a guess did not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Missed {
    /// It was wrong.
    Wrong,
    /// It came too soon after too many wrong ones, and was not looked at.
    TooSoon(Duration),
}

impl Guesses {
    /// Looks at a guess, unless its guesser has to wait.
    pub(super) fn look(
        &self,
        now: Instant,
        of: &SessionId,
        is_right: impl FnOnce() -> bool,
    ) -> Result<(), Missed> {
        let mut guessers = self.guessers.lock();
        guessers.retain(|_, guesser| now.saturating_duration_since(guesser.last) < MEMORY);
        let name = of.guesser();
        if let Some(guesser) = guessers.get(name) {
            let wait = guesser.waits_until().saturating_duration_since(now);
            if !wait.is_zero() {
                return Err(Missed::TooSoon(wait));
            }
        }
        if is_right() {
            guessers.remove(name);
            return Ok(());
        }
        self.wrong.add();
        if guessers.len() >= MANY && !guessers.contains_key(name) {
            let oldest = guessers.iter().min_by_key(|(_, guesser)| guesser.last);
            let oldest = oldest.map(|(name, _)| Arc::clone(name));
            oldest.and_then(|name| guessers.remove(&name));
        }
        let guesser = guessers.entry(Arc::clone(name)).or_insert(Guesser {
            wrong: 0,
            last: now,
        });
        guesser.wrong = guesser.wrong.saturating_add(1);
        guesser.last = now;
        tracing::warn!(
            guesses = guesser.wrong,
            "a wrong confirm token; after {FREE} of them each has to wait longer"
        );
        Err(Missed::Wrong)
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::{Guesses, LONGEST, MANY, MEMORY, Missed, SessionId};

    fn wait(missed: Result<(), Missed>) -> Option<Duration> {
        match missed {
            Err(Missed::TooSoon(wait)) => Some(wait),
            _ => None,
        }
    }

    #[test]
    fn after_five_wrong_guesses_each_waits_longer_and_the_right_one_too() {
        let (guesses, me, mut now) = (Guesses::default(), SessionId::new("me"), Instant::now());
        for _ in 0..5 {
            assert_eq!(guesses.look(now, &me, || false), Err(Missed::Wrong));
        }
        let mut waits = Vec::new();
        for _ in 0..12 {
            let wait = wait(guesses.look(now, &me, || true)).expect("a wait");
            waits.push(wait.as_secs());
            now += wait;
            assert_eq!(guesses.look(now, &me, || false), Err(Missed::Wrong));
        }
        assert_eq!(waits, [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300]);
        assert_eq!(guesses.wrong.get(), 17);
        // Nobody else waits, and the right token ends the wait.
        assert_eq!(guesses.look(now, &SessionId::new("other"), || true), Ok(()));
        now += LONGEST;
        assert_eq!(guesses.look(now, &me, || true), Ok(()));
        assert_eq!(guesses.look(now, &me, || false), Err(Missed::Wrong));
        assert_eq!(guesses.look(now, &me, || true), Ok(()));
    }

    #[test]
    fn a_named_client_is_one_guesser_in_all_its_sessions() {
        let (guesses, now) = (Guesses::default(), Instant::now());
        let session = |name: &str| SessionId::new(name.to_owned()).of_client("ci#1");
        for name in ["a", "b", "c", "d", "e"] {
            assert_eq!(
                guesses.look(now, &session(name), || false),
                Err(Missed::Wrong)
            );
        }
        assert!(wait(guesses.look(now, &session("f"), || true)).is_some());
    }

    #[test]
    fn what_is_remembered_has_a_bound_and_an_end() {
        let (guesses, now) = (Guesses::default(), Instant::now());
        for name in 0..2 * MANY {
            let name = SessionId::new(name.to_string());
            assert_eq!(guesses.look(now, &name, || false), Err(Missed::Wrong));
        }
        assert_eq!(guesses.guessers.lock().len(), MANY);
        let late = now + MEMORY;
        assert_eq!(guesses.look(late, &SessionId::new("x"), || true), Ok(()));
        assert!(guesses.guessers.lock().is_empty());
    }
}
