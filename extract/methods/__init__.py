"""The methods of the papers, one module each, and what several of them share."""
