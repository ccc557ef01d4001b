"""From a schedule to text: plain Python over numbers and views, with the user's lines as comments."""
