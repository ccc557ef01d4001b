"""The laws that every primitive and every Program obeys, apart from the tests that apply them."""
