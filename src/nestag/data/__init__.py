"""Values: entities, sentences, trees and documents, a report of reading them, and validation of settings."""
