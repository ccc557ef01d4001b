"""Arrays as such: making them, joining them, their shapes, order and views, and questions about them."""
