"""The strategies, and those among them that are rules, from the schema of plans. HOPSCOPE_ROOT names the repository."""
import json
import os
from pathlib import Path

SCHEMA = Path(os.environ["HOPSCOPE_ROOT"]) / "resources/schemas/plan-1.schema.json"
STRATEGIES = tuple(json.loads(SCHEMA.read_text())["properties"]["strategy"]["enum"])
RULES = tuple(name for name in STRATEGIES if name not in ("optimal", "local-search"))
