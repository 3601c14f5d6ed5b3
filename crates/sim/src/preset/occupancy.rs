//! The keys of `[occupancy]`: which pages hold data before the first measured request.

use serde::Serialize;

use super::assemble::Keys;
use super::choices::{Condition, FillOrder};
use super::config::SsdConfig;
use super::error::PresetError;
use super::schema;

pub(super) const FILLED: &str = "occupancy.filled";
pub(super) const ORDER: &str = "occupancy.order";
pub(super) const STEADY: &str = "occupancy.steady";

/// Which pages of a drive hold data, and how they were written.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Occupancy {
    /// Fraction of the pages that the host sees.
    pub filled: f64,
    /// Which pages, and in what order they were written.
    pub order: FillOrder,
    /// Pages were then overwritten one by one at random places until more of it changes nothing.
    pub steady: bool,
}

impl Occupancy {
    /// All pages, in order.
    pub const USUAL: Self = Self {
        filled: 1.0,
        order: FillOrder::InOrder,
        steady: false,
    };
}

/// The occupancy; `None` for the default, where every page holds data that was written in order.
pub(super) fn occupancy(keys: &Keys<'_>) -> Result<Option<Occupancy>, PresetError> {
    let occupancy = Occupancy {
        filled: keys.ratio_or_usual(FILLED)?,
        order: keys.word_or_usual(ORDER, FillOrder::from_word)?,
        steady: keys.switch(STEADY)?,
    };
    if occupancy == Occupancy::USUAL {
        return Ok(None);
    }
    if keys.word("condition", Condition::from_word)? == Condition::Fresh {
        let is_said = |key: &&str| keys.entry(key).is_some();
        let key = [FILLED, ORDER, STEADY].into_iter().find(is_said);
        let key = key.unwrap_or(FILLED);
        let allowed = "nothing, as condition is \"fresh\" and no page holds data; \
                       for data there say condition = \"filled\""
            .to_owned();
        return Err(schema::wrong_value(key, keys.need(key)?, allowed));
    }
    Ok(Some(occupancy))
}

impl SsdConfig {
    /// How many of the host's pages hold data before the first measured request, and whether these
    /// are the first ones or random ones.
    #[must_use]
    pub fn filled_pages(&self) -> (u32, FillOrder) {
        let occupancy = self.occupancy.unwrap_or(Occupancy::USUAL);
        let pages = (f64::from(self.logical_pages()) * occupancy.filled).round() as u32;
        match self.condition {
            Condition::Fresh => (0, occupancy.order),
            _ => (pages.max(1), occupancy.order),
        }
    }

    /// Whether some pages hold data and others do not. The others read as zeroes without the flash.
    #[must_use]
    pub fn is_partly_filled(&self) -> bool {
        self.occupancy
            .is_some_and(|occupancy| occupancy.filled < 1.0)
    }

    /// Which pages hold data before the first measured request, in words.
    #[must_use]
    pub fn filled_words(&self) -> String {
        let all = self.logical_pages();
        match self.filled_pages() {
            (0, _) => format!("none of {all} pages hold data"),
            (pages, _) if self.zones.is_some() => {
                let (full, zones) = (self.full_zones(pages), self.zone_count());
                format!("{full} of {zones} zones are full, the others empty")
            }
            (pages, _) if pages == all => format!("all {all} pages hold data"),
            (pages, FillOrder::InOrder) => {
                format!("pages 0 to {} of {all} hold data", pages - 1)
            }
            (pages, FillOrder::Random) => {
                format!("{pages} of {all} pages, drawn at random, hold data")
            }
        }
    }
}
