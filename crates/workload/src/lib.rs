//! Request generators from workload characteristics
