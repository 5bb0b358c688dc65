//! Chooses the layers that give a key the content of pages, and the number of pages of one request.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::wiki::ContentLayer;

/// After this many refusals in a row a layer is not asked again in this pass.
const MOST_REFUSALS: usize = 20;
/// After a slower answer the next request is smaller.
const SLOW: Duration = Duration::from_secs(1);
/// After a larger answer, in bytes, the next request is smaller.
const LARGE: usize = 8 * 1024 * 1024;
/// The number of pages read at a time if each takes its own request.
const ONE_BY_ONE: usize = 12;
/// After this many good answers in a row requests may be larger again.
const GOOD: usize = 8;

/// Chooses the layers that give this key the content of pages, by the answers in one pass.
#[derive(Debug, Default)]
pub(super) struct LayerSelector {
    /// The layer that last gave a page.
    last: Option<ContentLayer>,
    /// The refusals of each in a row.
    refusals: HashMap<ContentLayer, usize>,
}

impl LayerSelector {
    /// The layers worth asking, the last successful one first. The readers' view gives no source,
    /// so it always comes after the layers that do.
    pub(super) fn worth_asking(&self) -> Vec<ContentLayer> {
        let mut layers = ContentLayer::ALL.to_vec();
        if let Some((_view, sources)) = layers.split_last_mut() {
            let last = sources.iter().position(|layer| Some(*layer) == self.last);
            sources.rotate_left(last.unwrap_or_default());
        }
        layers.retain(|layer| {
            self.refusals
                .get(layer)
                .is_none_or(|count| *count < MOST_REFUSALS)
        });
        layers
    }

    /// Notes how many pages a layer gave and refused.
    pub(super) fn learn(&mut self, layer: ContentLayer, given: usize, refused: usize) {
        if given > 0 {
            self.last = Some(layer);
            self.refusals.remove(&layer);
        } else {
            *self.refusals.entry(layer).or_default() += refused;
        }
    }

    /// The number of pages read before the queue is checked for more urgent ones: one until a layer
    /// has given a page.
    pub(super) fn at_a_time(&self) -> usize {
        self.last
            .map_or(1, |layer| layer.most_at_once().max(ONE_BY_ONE))
    }
}

/// The most pages of one request, adapted to the speed and size of the wiki's answers.
#[derive(Debug)]
pub(super) struct Batches {
    most: AtomicUsize,
    good: AtomicUsize,
}

impl Default for Batches {
    fn default() -> Self {
        Self {
            most: AtomicUsize::new(usize::MAX),
            good: AtomicUsize::new(0),
        }
    }
}

impl Batches {
    /// The most pages that the next request may read of a layer.
    pub(super) fn most(&self, layer: ContentLayer) -> usize {
        self.most
            .load(Ordering::Relaxed)
            .clamp(1, layer.most_at_once())
    }

    /// Notes an answer: its pages, time and bytes.
    pub(super) fn answered(&self, pages: usize, took: Duration, bytes: usize) {
        if took > SLOW || bytes > LARGE {
            self.too_much(pages);
        } else if self.good.fetch_add(1, Ordering::Relaxed) + 1 >= GOOD {
            self.good.store(0, Ordering::Relaxed);
            let most = self.most.load(Ordering::Relaxed).saturating_mul(2);
            self.most.store(most, Ordering::Relaxed);
        }
    }

    /// Notes that a request for this many pages failed or was too large.
    pub(super) fn too_much(&self, pages: usize) {
        self.good.store(0, Ordering::Relaxed);
        self.most.store((pages / 2).max(1), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Batches, GOOD, LARGE, LayerSelector, MOST_REFUSALS, ONE_BY_ONE, SLOW};
    use crate::wiki::ContentLayer::{Latest, Single, Source, View};

    #[test]
    fn slow_and_large_answers_make_batches_smaller_and_good_ones_larger_again() {
        let batches = Batches::default();
        let quick = Duration::from_millis(50);
        assert_eq!(batches.most(Single), 50);
        assert_eq!(batches.most(Source), 1);
        batches.answered(50, SLOW * 2, 1);
        assert_eq!(batches.most(Single), 25);
        batches.answered(25, quick, LARGE + 1);
        assert_eq!(batches.most(Single), 12);
        batches.too_much(12);
        batches.too_much(1);
        assert_eq!(batches.most(Single), 1);
        for _ in 0..GOOD {
            batches.answered(1, quick, 1);
        }
        assert_eq!(batches.most(Single), 2);
    }

    #[test]
    fn the_layer_that_gave_last_is_asked_first_and_one_that_only_refuses_no_more() {
        let mut layers = LayerSelector::default();
        assert_eq!(layers.worth_asking(), [Single, Latest, Source, View]);
        layers.learn(Single, 0, 1);
        layers.learn(Latest, 0, 1);
        assert_eq!(layers.at_a_time(), 1);
        layers.learn(Source, 1, 0);
        assert_eq!(layers.at_a_time(), ONE_BY_ONE);
        assert_eq!(layers.worth_asking(), [Source, Single, Latest, View]);
        layers.learn(Single, 0, MOST_REFUSALS);
        assert_eq!(layers.worth_asking(), [Source, Latest, View]);
        // A page from the readers' view says nothing about sources of other pages.
        layers.learn(View, 1, 0);
        assert_eq!(layers.worth_asking(), [Latest, Source, View]);
    }
}
