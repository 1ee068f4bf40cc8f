"""Results of commands become tables, pages and reports for people."""
