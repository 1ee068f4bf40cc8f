"""What leaves with a release: bills of materials, signed models, keys."""
