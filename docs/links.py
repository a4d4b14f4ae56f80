"""python3 docs/links.py BOOK: every link of the built book leads to a file and a heading of it, and the search knows each page."""
import os
import sys
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.names, self.links = set(), []
        with open(path, encoding="utf-8") as file:
            self.feed(file.read())

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.names.update(filter(None, [attrs.get("id"), attrs.get("name")]))
        self.links.extend(filter(None, [attrs.get("href"), attrs.get("src")]))


def main():
    book = sys.argv[1]
    left_out = ("print.html", "404.html", "toc.html")  # mdBook's own
    names = [name for name in os.listdir(book) if name.endswith(".html") and name not in left_out]
    pages = {name: Page(os.path.join(book, name)) for name in names}
    faults, count = [], 0
    for name, page in sorted(pages.items()):
        for link in page.links:
            to = urlsplit(link)
            if to.scheme or to.netloc:
                continue
            count += 1
            path = unquote(to.path) or name
            if not os.path.exists(os.path.join(book, path)):
                faults.append("%s: %s leads nowhere" % (name, link))
            elif to.fragment and path in pages and unquote(to.fragment) not in pages[path].names:
                faults.append("%s: %s names no heading" % (name, link))
    with open(os.path.join(book, "searchindex.js"), encoding="utf-8") as file:
        index = file.read()
    faults += ["%s: the search does not know it" % name for name in pages if '"%s#' % name not in index]
    print("%d pages, %d links" % (len(pages), count), *faults, sep="\n")
    sys.exit(bool(faults) or count < 100)


main()
