//! All tests of requests and histograms in one program, so that shared code is compiled and linked
//! once.

mod batch_means;
mod histogram;
mod window;
