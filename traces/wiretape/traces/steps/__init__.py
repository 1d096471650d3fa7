"""How exchanges and events become steps: one source of steps a file, all writing into one `Work`."""
