"""Where skills come from: folders of the host, packages, archives, memory."""

from agentsandbox.skills.sources.files import FileSystemSkillSource as FileSystemSkillSource
from agentsandbox.skills.sources.files import InMemorySkillSource as InMemorySkillSource
from agentsandbox.skills.sources.files import PackageSkillSource as PackageSkillSource
from agentsandbox.skills.sources.files import SkillFile as SkillFile
from agentsandbox.skills.sources.files import SkillSource as SkillSource
