"""Floor 3: scenario and suite files, wiretape.toml, golden recordings, and the jobs behind the verbs."""
