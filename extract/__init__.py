"""Which blocks of a page are content: one module a method, named as in its paper."""
