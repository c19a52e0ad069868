"""Captures from WARC files, HAR files and folders of HTML, and WARC files from captures."""
