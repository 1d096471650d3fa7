"""Floor 4: one verb a file over the floors below, no logic of its own."""
