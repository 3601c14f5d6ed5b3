"""Campaigns: many workloads on one drive, journalled, resumed, exported."""
