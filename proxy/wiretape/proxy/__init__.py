"""Floor 2: the sidecar that stands between an agent and its model and tool endpoints."""
