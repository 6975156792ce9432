"""Campaign texts to start from: `aisimc new` and `aisimc import`."""
