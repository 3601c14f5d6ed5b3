//! Regression trees with linear leaves
