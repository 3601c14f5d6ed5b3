//! Whose the programs of the flash are, on a drive with namespaces.

use drivelab_ftl::{Cause, OperationKind};

use crate::host::NamespaceCounters;
use crate::preset::{Namespaces, SsdConfig};

/// What has been programmed of each namespace since the window opened.
#[derive(Clone, Debug)]
pub struct NamespaceTally {
    /// The first page behind each.
    ends: Vec<u64>,
    counted: NamespaceCounters,
}

impl NamespaceTally {
    /// That of a drive, where it has namespaces.
    pub fn new(config: &SsdConfig) -> Option<Self> {
        let page_bytes = u64::from(config.geometry.page_size_bytes);
        let end = |(_, start, bytes): (&str, u64, u64)| (start + bytes) / page_bytes;
        let each = config.namespaces.as_ref().map(Namespaces::each)?;
        Some(Self::of(each.map(end).collect()))
    }

    fn of(ends: Vec<u64>) -> Self {
        let nothing = vec![0; ends.len()];
        let counted = NamespaceCounters {
            host_pages: nothing.clone(),
            media_pages: nothing,
        };
        Self { ends, counted }
    }

    /// Nothing is counted yet.
    pub fn reset(&mut self) {
        *self = Self::of(std::mem::take(&mut self.ends));
    }

    /// An operation on a logical page is complete. The map's pages are nobody's.
    pub fn count(&mut self, kind: OperationKind, cause: Cause, page: u32) {
        if kind != OperationKind::Program || cause == Cause::Map {
            return;
        }
        let place = self.ends.partition_point(|&end| end <= u64::from(page));
        if let Some(media) = self.counted.media_pages.get_mut(place) {
            *media += 1;
            self.counted.host_pages[place] += u64::from(cause == Cause::Host);
        }
    }

    /// What it counted.
    pub fn counters(&self) -> NamespaceCounters {
        self.counted.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_page_is_of_the_namespace_in_which_it_lies() {
        let mut tally = NamespaceTally::of(vec![4, 6]);
        for page in 0..8 {
            tally.count(OperationKind::Program, Cause::Host, page);
        }
        tally.count(OperationKind::Program, Cause::Collection, 3);
        tally.count(OperationKind::Program, Cause::Fold, 4);
        // Neither reads nor the map's pages nor erases are data written.
        tally.count(OperationKind::Read, Cause::Collection, 3);
        tally.count(OperationKind::Program, Cause::Map, 0);
        let counted = tally.counters();
        assert_eq!(counted.host_pages, [4, 2]);
        assert_eq!(counted.media_pages, [5, 3]);
        tally.reset();
        assert_eq!(tally.counters().media_pages, [0, 0]);
    }
}
