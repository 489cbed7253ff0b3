"""The policy `agent`: the model that the settings name dispatches, and without one a stand-in does.

It joins settings, provider and runner. How a model is asked and how time passes, those know.
"""

from collections.abc import Callable

from hadr_agent.provider import OpenAIProvider, Provider, ProviderError, connect
from hadr_agent.scripted import ScriptedProvider
from hadr_agent.settings import Settings, SettingsError, load_settings, prompts_folder
from hadr_dispatch.evaluate import EvaluateError
from hadr_dispatch.officer import Officer
from hadr_dispatch.runner import Runner
from hadr_dispatch.scenario import Scenario
from hadr_dispatch.score import Outcome, outcome
from hadr_dispatch.session import Session
from hadr_dispatch.tools import Desk


def system_prompt() -> str:
    """The dispatcher's, from the folder of the prompts."""
    return (prompts_folder() / "dispatcher.md").read_text(encoding="utf-8").strip()


def provider_of(settings: Settings, desk: Desk, on_retry: Callable[[str], object] | None = None) -> Provider:
    """The model of the settings; offline the stand-in, which works on the desk. Raises ValueError as `connect` does."""
    if settings.offline:
        return ScriptedProvider(Officer(desk))
    client = connect(settings.base_url, settings.api_key or "none", on_retry)
    return OpenAIProvider(client, settings.model, drop_fields=settings.drop_fields)


def by_agent(scenario: Scenario, seed: int) -> Outcome:
    """A whole operation, as `Play` of `evaluate`: with the settings of the machine that it is played on.

    Raises EvaluateError if the provider ends it.
    """
    runner = Runner(Session.open(scenario, seed), system_prompt())
    try:
        provider = provider_of(load_settings(), runner.desk)
        while not runner.world.over:
            runner.tick(provider)
    except (SettingsError, ProviderError, ValueError) as error:
        raise EvaluateError(f"{scenario.id} with seed {seed} stopped at tick {runner.world.tick}: {error}") from error
    return outcome("agent", runner.world, runner.effort)
