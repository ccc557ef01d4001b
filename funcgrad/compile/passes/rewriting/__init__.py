"""Programs to equal Programs: simpler equations, in an order that loops like. Nothing here knows of loops."""
