import sys
from pathlib import Path

# The tests share modules that are no tests; importlib mode leaves their folder off the path.
sys.path.insert(0, str(Path(__file__).parent))
