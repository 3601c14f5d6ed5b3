//! The shape of the flash, computed from a drive's keys.

use drivelab_ftl::{FlashLayout, Policies};

use super::choices::WorkUnit;
use super::config::SsdConfig;

impl SsdConfig {
    /// Channels x ways x dies.
    #[must_use]
    pub fn dies(&self) -> u32 {
        let geometry = &self.geometry;
        product(&[
            geometry.channels,
            geometry.ways_per_channel,
            geometry.dies_per_way,
        ])
    }

    /// Planes of the drive.
    #[must_use]
    pub fn planes(&self) -> u32 {
        product(&[self.dies(), self.geometry.planes_per_die])
    }

    /// What executes one operation at a time: a plane in plane mode, otherwise a die or a chip.
    #[must_use]
    pub fn units(&self) -> u32 {
        match self.scheduling.unit {
            _ if self.geometry.plane_mode => self.planes(),
            WorkUnit::Die => self.dies(),
            WorkUnit::Chip => self.dies() / self.geometry.dies_per_way,
        }
    }

    /// Pages of the flash; always below `u32::MAX`.
    #[must_use]
    pub fn physical_pages(&self) -> u32 {
        product(&[
            self.planes(),
            self.geometry.blocks_per_plane,
            self.geometry.pages_per_block,
        ])
    }

    /// Pages that the host sees.
    #[must_use]
    pub fn logical_pages(&self) -> u32 {
        let pages = self.geometry.user_capacity_bytes / u64::from(self.geometry.page_size_bytes);
        u32::try_from(pages).unwrap_or(u32::MAX)
    }

    /// The shape of the flash as the firmware sees it.
    #[must_use]
    pub fn layout(&self) -> FlashLayout {
        FlashLayout {
            planes: self.planes(),
            blocks_per_plane: self.geometry.blocks_per_plane,
            pages_per_block: self.geometry.pages_per_block,
            logical_pages: self.logical_pages(),
            reserve_blocks: self.collection.reserve_blocks_per_plane,
        }
    }

    /// The policies that the firmware follows.
    #[must_use]
    pub fn policies(&self) -> Policies {
        let usual = Policies::from(self.collection.pace);
        Policies {
            victim: self.collection.policy,
            victim_choices: self
                .collection
                .victim_choices
                .unwrap_or(usual.victim_choices),
            stop_blocks: self.collection.stop_blocks_per_plane,
            least_worn_first: self.wear.least_worn_first,
            wear_spread: self.wear.static_spread,
            temperature_classes: self.collection.temperature_classes,
            background_blocks: self.collection.background_blocks_per_plane,
            failures: self.failures(),
            allocation: self.mapping.allocation,
            order: self.mapping.order,
            axes: [
                self.geometry.channels,
                self.geometry.ways_per_channel,
                self.geometry.dies_per_way,
                self.geometry.planes_per_die,
            ],
            ..usual
        }
    }

    /// (physical - user) / user.
    #[must_use]
    pub fn over_provisioning_ratio(&self) -> f64 {
        let logical = match self.zone_policies() {
            // Pages beyond the capacity of a zone hold nothing.
            Some(policies) => self.zone_count() * policies.capacity_pages,
            None => self.logical_pages(),
        };
        let logical = f64::from(logical);
        (f64::from(self.physical_pages()) - logical) / logical
    }
}

fn product(factors: &[u32]) -> u32 {
    factors
        .iter()
        .fold(1_u32, |product, &factor| product.saturating_mul(factor))
}
