"""`tree -H`: the drawing as a page of HTML, each name a link."""

from __future__ import annotations

import stat

from agentsandbox.commands._tree_forms import Drawing
from agentsandbox.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.commands._tree_forms import Node

__all__ = ["Html"]

_INTRO = """<!DOCTYPE html>
<html>
<head>
 <meta http-equiv="Content-Type" content="text/html; charset=%s">
 <meta name="Author" content="Made by 'tree'">
 <meta name="GENERATOR" content="tree v2.1.0 %s 1996 - 2022 by Steve Baker, Thomas Moore, Francesc Rocher, Florian Sesser, Kyosuke Tokoro">
 <title>%s</title>
 <style type="text/css">
  BODY { font-family : monospace, sans-serif;  color: black;}
  P { font-family : monospace, sans-serif; color: black; margin:0px; padding: 0px;}
  A:visited { text-decoration : none; margin : 0px; padding : 0px;}
  A:link    { text-decoration : none; margin : 0px; padding : 0px;}
  A:hover   { text-decoration: underline; background-color : yellow; margin : 0px; padding : 0px;}
  A:active  { margin : 0px; padding : 0px;}
  .VERSION { font-size: small; font-family : arial, sans-serif; }
  .NORM  { color: black;  }
  .FIFO  { color: purple; }
  .CHAR  { color: yellow; }
  .DIR   { color: blue;   }
  .BLOCK { color: yellow; }
  .LINK  { color: aqua;   }
  .SOCK  { color: fuchsia;}
  .EXEC  { color: green;  }
 </style>
</head>
<body>
\t<h1>%s</h1><p>
"""
_OUTRO = """\t<hr>
\t<p class="VERSION">
\t\t tree v2.1.0 %s 1996 - 2022 by Steve Baker and Thomas Moore <br>
\t\t HTML output hacked and copyleft %s 1998 by Francesc Rocher <br>
\t\t JSON output hacked and copyleft %s 2014 by Florian Sesser <br>
\t\t Charsets / OS/2 support %s 2001 by Kyosuke Tokoro
\t</p>
</body>
</html>
"""
_CLASSES = {
    stat.S_IFDIR: "DIR", stat.S_IFIFO: "FIFO", stat.S_IFSOCK: "SOCK", stat.S_IFBLK: "BLOCK", stat.S_IFCHR: "CHAR",
}  # fmt: skip
_SAFE = frozenset(b"!$'()*,-./0123456789:;=ABCDEFGHIJKLMNOPQRSTUVWXYZ_`abcdefghijklmnopqrstuvwxyz{|}~")
"""Bytes that an address may have as they are."""


class Html(Drawing):
    """`-H`."""

    def begin(self) -> None:
        options = self.options
        self._cut = 0
        """How much of a path its address leaves out: that of the starting point."""
        if options.intro is not None:
            self._copy(options.intro)
            return
        self.write(_INTRO % (options.charset or "iso-8859-1", self.lines.copyright, options.title, options.title))

    def top(self, node: Node | None, name: str, *, last: bool) -> None:
        if node is not None:
            self._cut = len(node.path) + node.slash
            self.blank = "    " if self.options.ansi else "&nbsp;&nbsp;&nbsp; "
        super().top(node, name, last=last)

    def end(self, directories: int, files: int, size: int) -> None:
        if self.options.report:
            self.write(f"<br><br><p>\n\n{self.report(directories, files, size)}\n\n</p>\n")
        if self.options.outro is not None:
            self._copy(self.options.outro)
        else:
            self.write(_OUTRO.replace("%s", self.lines.copyright))

    def unread(self, node: Node | None, name: str) -> None:
        if node is None:
            self.write(f"<a>{_escaped(self.options.base)}</a>  [error opening dir]<br>\n")
        else:
            self.entry(self.stem(""), node, self.facts(node), f"{self.shown_top(node, name)}  [{node.comment}]")

    def entry(self, stem: str, node: Node, facts: str, shown: str) -> None:
        super().entry(stem or self.stem(""), node, facts.replace(" ", "&nbsp;") + "&nbsp;&nbsp;" if facts else "", f"{shown}<br>")

    def stem(self, lines: str) -> str:
        if self.options.no_indent:
            return ""
        return super().stem(lines) if self.options.ansi and lines else f"\t{lines}" if not self.options.ansi else ""

    def comment(self, node: Node, stem: str, margin: str) -> None:
        """It stands in the title of the link."""

    def shown_top(self, node: Node, name: str) -> str:
        return self._link(node, f"{self.options.base}/", self.options.base)

    def shown(self, node: Node) -> str:
        name = node.path if self.options.full_path else node.name
        parent = node.path[: max(node.path.rfind("/"), 0)]
        slash = "/" if node.leads_to_directory else ""
        text = self._link(node, f"{self.options.base}{_address(parent[self._cut :])}/{_address(name)}{slash}", name)
        return f"{text}  [{node.comment}]" if node.comment else text

    def _link(self, node: Node, address: str, text: str) -> str:
        attributes = f' class="{self._class(node)}"' if self.options.colors else ""
        if node.notes is not None:
            attributes += f' title="{_escaped(chr(10).join(node.notes))}"'
        if self.options.links:
            attributes += f' href="{address}"'
        return f"<a{attributes}>{_escaped(text)}</a>"

    def _class(self, node: Node) -> str:
        mode = (node.target_info or node.info).mode if node.target is not None else node.info.mode
        if node.target is not None and node.target_info is None:
            return "NORM"
        return _CLASSES.get(stat.S_IFMT(mode)) or ("EXEC" if mode & 0o111 else "NORM")

    def _copy(self, name: str) -> None:
        """Write a file; of one that cannot be read nothing is said."""
        try:
            source = self.ctx.open_input(f"./{name}" if name == "-" else name)
        except OSError:
            return
        for block in source.blocks():
            self.ctx.budget.step()
            self.writer.write(block)


def _escaped(text: str) -> str:
    for character, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;")):
        text = text.replace(character, entity)
    return text


def _address(path: str) -> str:
    """A path as part of an address."""
    return "".join([chr(byte) if byte in _SAFE else "&amp;" if byte == 38 else f"%{byte:02X}" for byte in encode(path)])
