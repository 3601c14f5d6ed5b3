//! The closed sets of words that a preset may use; messages list them from here.

use serde::{Serialize, Serializer};

pub use drivelab_ftl::{Allocation, Isolation, Pace, Replacement, StripingOrder, VictimPolicy};

macro_rules! choices {
    ($(#[$about:meta])* $name:ident { $($choices:tt)+ }) => {
        drivelab_ftl::named! { $(#[$about])* $name { $($choices)+ } }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.word())
            }
        }
    };
}

/// How a choice of the firmware is written: as its word.
macro_rules! written_by_word {
    ($($module:ident: $name:ty,)+) => { $(
        pub(super) mod $module {
            pub fn serialize<S: serde::Serializer>(choice: &$name, to: S) -> Result<S::Ok, S::Error> {
                to.serialize_str(choice.word())
            }
        }
    )+ };
}

written_by_word! {
    pace_word: drivelab_ftl::Pace,
    victim_word: drivelab_ftl::VictimPolicy,
    order_word: drivelab_ftl::StripingOrder,
    allocation_word: drivelab_ftl::Allocation,
    isolation_word: drivelab_ftl::Isolation,
}

/// A choice that not every drive has.
pub(super) mod replacement_word {
    pub fn serialize<S: serde::Serializer>(
        choice: &Option<drivelab_ftl::Replacement>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        to.serialize_str(choice.map_or("", drivelab_ftl::Replacement::word))
    }
}

choices! {
    /// What kind of drive a preset describes.
    DriveKind {
        /// A solid-state drive.
        Ssd = "ssd",
        /// A hard disk.
        Hdd = "hdd",
        /// Drives side by side, stripes in turn on each.
        Raid0 = "raid0",
        /// An array of any level.
        Raid = "raid",
    }
}

choices! {
    /// The state in which a drive is before the first measured request.
    Condition {
        /// Never written: out of the box.
        Fresh = "fresh",
        /// Every logical page written once, sequentially.
        Filled = "filled",
        /// 128 KiB sequential writes of twice the capacity.
        Preconditioned = "preconditioned",
        /// As preconditioned, with blocks that were erased as often as `[wear]` says.
        Worn = "worn",
    }
}

choices! {
    /// Which pages of a drive hold data, and in what order they were written.
    FillOrder {
        /// The first ones, one after the other.
        InOrder = "in_order",
        /// Any, in a random order; the same for every run.
        Random = "random",
    }
}

choices! {
    /// What the firmware maps, and where the map is.
    MappingScheme {
        /// Every page may lie anywhere; the whole map is in the controller's memory.
        Page = "page",
        /// The same; the map lies on the flash, and a part of it in the memory.
        DemandCachedPage = "demand_cached_page",
        /// Whole blocks; overwrites go to a replacement block.
        Block = "block",
        /// Whole blocks; overwrites go to a log block of their own.
        Bast = "bast",
        /// Whole blocks; overwrites go to log blocks that all share.
        Fast = "fast",
    }
}

choices! {
    /// How page operations are handed to the flash.
    Dispatch {
        /// One stage for the whole drive; its head waits until its unit is free.
        InOrder = "in_order",
        /// A queue at every unit; nobody waits for another unit.
        PerDie = "per_die",
    }
}

choices! {
    /// How long the firmware works on what it is asked.
    FirmwareTime {
        /// No time.
        Free = "free",
        /// The same for every command.
        Fixed = "fixed",
        /// The sum of what each thing that it does costs.
        Counted = "counted",
    }
}

choices! {
    /// When a write into the buffer is complete.
    BufferPolicy {
        /// When its data is there.
        WriteBack = "write_back",
        /// When it is programmed.
        WriteThrough = "write_through",
    }
}

choices! {
    /// The link between host and drive.
    HostInterface {
        /// Requests and data cross in no time, any number at once.
        Free = "free",
        /// Serial ATA with native command queueing: one thing at a time on the link.
        Sata = "sata",
        /// Serial attached SCSI: both ways at once.
        Sas = "sas",
        /// NVMe over PCI Express: both ways at once, several queue pairs.
        Nvme = "nvme",
    }
}

choices! {
    /// Which operations of one kind a die executes together on several of its planes.
    MultiPlane {
        /// None: one after the other.
        Off = "off",
        /// Those whose pages have the same place in their blocks, as ONFI asks.
        SamePage = "same_page",
        /// Those on different planes, whatever their pages.
        AnyPage = "any_page",
    }
}

choices! {
    /// What takes one operation at a time.
    WorkUnit {
        /// A die.
        Die = "die",
        /// A chip: its dies wait for each other.
        Chip = "chip",
    }
}

choices! {
    /// What goes first on a channel.
    ChannelOrder {
        /// A free die begins whenever something waits for it; transfers go as they were asked for.
        CommandsFirst = "commands_first",
        /// A die begins only when its channel is free and nothing that was read waits for it.
        DataOutFirst = "data_out_first",
    }
}

choices! {
    /// In what order a die takes what waits for it.
    Order {
        /// As it was emitted.
        FirstCome = "first_come",
        /// The host's reads before programs and erases.
        ReadsFirst = "reads_first",
        /// The same, and the reads of a stream of a better class before those of others.
        Priority = "priority",
    }
}

choices! {
    /// Which of the waiting accesses a hard disk serves next.
    SeekOrder {
        /// First come, first served.
        Fcfs = "fcfs",
        /// Shortest seek first.
        Sstf = "sstf",
        /// Shortest positioning, seek and rotation, first.
        Sptf = "sptf",
        /// In one direction as far as anything waits, then back.
        Elevator = "elevator",
    }
}
