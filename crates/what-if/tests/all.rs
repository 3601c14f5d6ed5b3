//! Questions and answers of the what-if page.

mod answers;
mod scaled;
