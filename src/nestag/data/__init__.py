"""Values: entities, sentences, trees and documents, what was dropped while reading them, and validation of settings."""
