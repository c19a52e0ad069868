"""The whole program, as people start it, between a real client and a real origin on loopback."""
