//! The keys of `[occupancy]`: which pages hold data before the first measured request.

use serde::Serialize;

use super::assemble::Keys;
use super::choices::{Condition, FillOrder};
use super::config::SsdConfig;
use super::drive::DriveConfig;
use super::error::PresetError;
use super::exclusion;
use super::raid::MemberConfig;
use super::schema::Rule;

/// How much of a drive may be filled.
pub(crate) const SHARE: Rule = Rule::Ratio {
    least: 1e-6,
    most: 1.0,
};
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

    /// As a configuration keeps it: `None` for the default.
    fn unless_usual(self) -> Option<Self> {
        (self != Self::USUAL).then_some(self)
    }
}

impl DriveConfig {
    /// The same drive with other pages that hold data. In an array this is about each member. On a
    /// disk it changes nothing, because a disk takes as long for a place that was never written.
    ///
    /// # Errors
    ///
    /// The reason why this drive cannot be filled in this way.
    pub fn with_occupancy(mut self, occupancy: Occupancy) -> Result<Self, String> {
        // Not the number itself: it may be none.
        if !(occupancy.filled > 0.0 && occupancy.filled <= 1.0) {
            return Err(format!(
                "{} of the drive cannot hold data; allowed: a share above 0, up to 1",
                occupancy.filled
            ));
        }
        match &mut self {
            Self::Ssd(config) => config.occupy(occupancy)?,
            Self::Hdd(_) => {}
            Self::Raid(config) => {
                for member in config.every_preset() {
                    if let MemberConfig::Ssd(member) = member {
                        member.occupy(occupancy)?;
                    }
                }
            }
        }
        Ok(self)
    }
}

/// The occupancy; `None` for the default, where every page holds data that was written in order.
pub(super) fn occupancy(keys: &Keys<'_>) -> Result<Option<Occupancy>, PresetError> {
    let occupancy = Occupancy {
        filled: keys.ratio_or_usual(FILLED)?,
        order: keys.word_or_usual(ORDER, FillOrder::from_word)?,
        steady: keys.switch(STEADY)?,
    };
    Ok(occupancy.unless_usual())
}

impl SsdConfig {
    fn occupy(&mut self, occupancy: Occupancy) -> Result<(), String> {
        if self.condition == Condition::Fresh {
            return Err(format!(
                "{} is fresh and no page holds data; choose a drive whose condition is \"filled\" \
                 or \"preconditioned\"",
                self.name
            ));
        }
        let other = [
            (ORDER, occupancy.order != FillOrder::InOrder),
            (STEADY, occupancy.steady),
        ];
        let other = other.into_iter().filter(|&(_, is_other)| is_other);
        let excluded = |(key, _)| Some((key, exclusion::of_table("zones", key)?));
        if let Some((key, (allowed, reason))) = other.filter_map(excluded).next()
            && self.zones.is_some()
        {
            return Err(format!(
                "{key} on {}: allowed is {allowed}, as a drive with [zones] {reason}",
                self.name
            ));
        }
        self.occupancy = occupancy.unless_usual();
        Ok(())
    }

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
