"""Floor 1: request in, recorded answer or miss out. Pure: no sockets, no SQLite, no clock."""
