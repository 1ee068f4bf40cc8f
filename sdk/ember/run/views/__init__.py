"""A profile becomes what pages and other tools draw of it."""
