"""nestag inside other libraries: spaCy, Hugging Face, and the encodings for any tagging library."""
