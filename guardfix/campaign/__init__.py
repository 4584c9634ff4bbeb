"""Campaigns: many repositories, checked and migrated on whatever `concurrent.futures.Executor` there is."""
