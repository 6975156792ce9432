"""Builders of small run folders and canonical records, for tests of everything that reads them."""
