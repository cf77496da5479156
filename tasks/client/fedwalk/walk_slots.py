"""Which draw of a walk's stream decides what; shared by the devices and the compiled loop."""

START_CLIMB, START_PICK = 0, 1
NEIGHBOUR, NEIGHBOUR_CLIMB, NEIGHBOUR_PICK, TRIGGER, SECOND, SECOND_CLIMB, SECOND_PICK = range(7)
PER_STEP = 8
"""Slots of one step; the step that sees ``remaining`` = l uses l * PER_STEP and on, the start 0 and 1."""
