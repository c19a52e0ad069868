"""The content of a page written as HTML, Markdown, text or JSON, and what people say of it in rules."""
