//! Values computed from other counters.

use super::{ArrayCounters, Energy, FlashCounters, Media, ZoneCounters};

impl FlashCounters {
    /// Flash page programs inside the window, for any cause.
    #[must_use]
    pub fn programs(&self) -> u64 {
        let own = self.collection_page_programs + self.wear_page_programs + self.map_page_programs;
        self.host_page_programs + own + self.fold_page_programs + self.refresh_page_programs
    }

    /// Pages that the host wrote: programmed for it, or saved by compression.
    #[must_use]
    pub fn host_pages(&self) -> u64 {
        self.host_page_programs + self.packed_pages + self.zero_pages
    }

    /// Flash page programs over host page writes; `None` without writes.
    #[must_use]
    pub fn write_amplification_ratio(&self) -> Option<f64> {
        let (programs, pages) = (self.programs(), self.host_pages());
        (pages > 0).then(|| programs as f64 / pages as f64)
    }
}

impl ArrayCounters {
    /// Bytes of a member rebuilt per second; `None` if nothing was rebuilt.
    #[must_use]
    pub fn rebuild_bytes_per_second(&self) -> Option<f64> {
        let nanos = self.rebuild_ended_ns.unwrap_or(self.window_ns);
        let is_told = self.rebuilt_bytes > 0 && nanos > 0;
        is_told.then(|| self.rebuilt_bytes as f64 * 1e9 / nanos as f64)
    }

    /// How long the rest of the rebuild takes at that speed; `None` without a rest or a speed.
    #[must_use]
    pub fn rebuild_left_seconds(&self) -> Option<f64> {
        let left = self.rebuild_left_bytes.filter(|&left| left > 0)?;
        Some(left as f64 / self.rebuild_bytes_per_second()?)
    }
}

impl ZoneCounters {
    /// Commands refused for any reason.
    #[must_use]
    pub fn refused_commands(&self) -> u64 {
        let places = self.refused_not_at_pointer + self.refused_full + self.refused_across_end;
        let limits = self.refused_too_many_active + self.refused_too_many_open;
        places + limits + self.refused_transition + self.refused_invalid
    }
}

impl Energy {
    /// The total energy.
    #[must_use]
    pub fn joules(&self) -> f64 {
        self.cell_joules + self.channel_joules + self.idle_joules
    }

    /// Requests per second and watt, that is requests per joule; 0 if no energy was used.
    #[must_use]
    pub fn iops_per_watt(&self) -> f64 {
        let joules = self.joules();
        if joules > 0.0 {
            self.requests as f64 / joules
        } else {
            0.0
        }
    }

    /// The energy of an array, summed over its members, for this many requests. `None` if no member
    /// reports energy.
    pub(crate) fn of_members(media: &Media, requests: u64) -> Option<Self> {
        let members: Vec<_> = media.members().iter().filter_map(|m| m.energy).collect();
        Self::joined(members.iter()).map(|energy| Self { requests, ..energy })
    }
}
