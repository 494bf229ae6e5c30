"""The hub: folders of models, uploaded with a card that says how they are loaded, and downloaded."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from nestag.errors import InputError, MissingExtraError


def upload(
    folder: Path, files: Sequence[str], name: str, *, private: bool, token: str | None, revision: str | None
) -> str:
    """Upload files of a saved model under a name such as `you/model`, and return where it is."""
    from huggingface_hub import HfApi
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError

    hub = HfApi(token=token, library_name="nestag")
    try:
        hub.create_repo(name, private=private, exist_ok=True)
        if revision is not None:
            hub.create_branch(name, branch=revision, exist_ok=True)
        done = hub.upload_folder(repo_id=name, folder_path=folder, revision=revision, allow_patterns=list(files))
    except HFValidationError as error:
        raise InputError(f"no name of the hub ({error}); write you/model", name) from None
    except (HfHubHTTPError, OSError) as error:
        reason = " ".join(str(error).split())[:200]
        raise InputError(f"cannot be uploaded ({reason}); check the name and the token", name) from None
    return str(done.commit_url)


def download(name: str, files: Sequence[str], revision: str | None = None, token: str | None = None) -> Path:
    """Download those of some files that the hub holds under a name, and return their folder."""
    try:
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError
    except ImportError:
        raise MissingExtraError(
            f"there is no folder {name}, and a model of the hub needs huggingface_hub", "model"
        ) from None
    try:
        return Path(snapshot_download(name, revision=revision, token=token, allow_patterns=list(files)))
    except (HfHubHTTPError, LocalEntryNotFoundError, OSError) as error:
        raise InputError(f"neither a folder nor on the hub ({type(error).__name__}); check the name", name) from None


def plain_card(name: str, types: Sequence[str]) -> str:
    """The card of a model that has none: what it is, and how it is loaded."""
    return "\n".join(
        [
            "---",
            "library_name: nestag",
            "tags: [nested-ner, token-classification]",
            "---",
            f"# {name}",
            "",
            "A recognizer of nested named entities, trained with nestag.",
            "",
            "    import nestag",
            f'    nestag.load("{name}")("A text.")',
            "",
            f"Types: {', '.join(types)}.",
            "",
        ]
    )
