"""A folder of sources gets what build systems ask for: manifests out of templates/."""
