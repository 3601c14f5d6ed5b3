//! Names of the settings of a trace, so that errors can say what to write.

pub(crate) const ADDRESS_UNIT: &str = "--address-unit";
pub(crate) const COLUMN: &str = "--column MEANING=COLUMN";
pub(crate) const DEVICE_SIZE: &str = "--device-size";
pub(crate) const DROP: &str = "--drop";
pub(crate) const FORMAT: &str = "--format";
pub(crate) const SKIP_BAD_LINES: &str = "--on-bad skip";
pub(crate) const SORT_WINDOW: &str = "--sort-window";
pub(crate) const TIME_UNIT: &str = "--time-unit";
pub(crate) const WINDOW: &str = "--window";
