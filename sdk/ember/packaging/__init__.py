"""A folder of sources gets the manifests that build systems need, from templates/."""
