"""Loops of unknown length whose derivatives need no tape: trips are bounded, or derivatives go along."""
