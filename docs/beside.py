"""A preprocessor of mdBook: links that lead out of docs/ keep their text, and lead to the repository where it is known."""
import json
import re
import sys

LINK = re.compile(r"\[([^\]]*)\]\(\.\./([^)\s]*)\)")


def changed(text, repository):
    to = r"[\1](%s/\2)" % repository if repository else r"\1"
    return LINK.sub(to, text)


def walk(items, repository):
    for item in items:
        chapter = item.get("Chapter") if isinstance(item, dict) else None
        if chapter:
            chapter["content"] = changed(chapter["content"], repository)
            walk(chapter["sub_items"], repository)


def main():
    if sys.argv[1:2] == ["supports"]:
        return
    context, book = json.load(sys.stdin)
    own = context["config"].get("preprocessor", {}).get("beside", {})
    walk(book.get("sections", book.get("items", [])), own.get("repository"))
    json.dump(book, sys.stdout)


main()
