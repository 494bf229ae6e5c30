"""Other models, trained and scored under the same conditions as nestag."""
