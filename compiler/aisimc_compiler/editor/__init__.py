"""What editors ask about a campaign: pure functions of texts, checks and places in them."""
