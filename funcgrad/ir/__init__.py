"""The intermediate representation: avals, Programs, their check, their text, their fingerprint."""
