"""Pagemason, the default method: passages of a page as numbers, a small trained model, the evidence of the site."""
