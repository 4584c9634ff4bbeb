"""What the XML formats share."""

from __future__ import annotations

from xml.etree import ElementTree

from .format_registry import Output


def write_xml(root: ElementTree.Element, output: Output) -> None:
    """Write a document; in ASCII, so that no locale can spoil it."""
    ElementTree.indent(root)
    output.write('<?xml version="1.0" encoding="utf-8"?>')
    output.write(ElementTree.tostring(root, encoding="us-ascii", xml_declaration=False).decode("ascii"))
