"""Audits that only play: many runs on two tables, an event chosen on one half of them, its counts
on the other.

`play` makes outputs, `statistics` the quantities whose thresholds are events, `choice` chooses one
event and one direction, `certificate` counts it on fresh runs.
"""
