"""Mock rules: what a rule file says, which rule a request meets, and what it answers. Pure: no sockets, no clock, no chance."""
