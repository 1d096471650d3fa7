"""What several test rooms need: scripted upstreams, raw clients, a sidecar on a loop of its own."""
