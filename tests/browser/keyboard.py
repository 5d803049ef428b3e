"""A person without a mouse: Tab, arrows, Enter, Space and typing, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

MOST = 400
"""So many presses of Tab lead past everything that a screen has."""
SEEN = """async () => {
  // A page is scrolled to the focus with its next frames.
  for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame);
  const held = document.activeElement;
  if (!held || held === document.body) return "";
  const box = held.getBoundingClientRect(), name = `${held.tagName} ${held.id || held.name || held.textContent}`.slice(0, 80);
  const marked = [held, held.nextElementSibling].some((one) => {
    if (!one) return false;
    const style = getComputedStyle(one);
    return style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0;
  });
  if (!marked) return `${name}: its focus cannot be seen`;
  return box.bottom < 0 || box.top > innerHeight ? `${name}: it has the focus and is out of sight` : "";
}"""
"""What is wrong with the focus as somebody sees it, after a key was pressed."""
REACHED = """() => {
  const shown = (one) => one.checkVisibility({ visibilityProperty: true, opacityProperty: false });
  const all = [...document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex='0']")];
  const wanted = all.filter((one) => shown(one) && !one.disabled && one.tabIndex >= 0 && one.type !== "hidden");
  // Of a group of radio buttons the one that is chosen is reached, and the arrow keys reach the others.
  const group = (one) => all.filter((other) => other.type === "radio" && other.name === one.name && other.form === one.form);
  return wanted.filter((one) => one.type !== "radio" || one === (group(one).find((other) => other.checked) || group(one)[0]));
}"""
"""Everything on a page that the keyboard must reach by Tab."""


class Keyboard:
    """Works a page by its keys."""

    def __init__(self, page: Page) -> None:
        self.page, self.faults = page, list[str]()
        # Where the focus goes is seen at once, and not on the way.
        page.emulate_media(reduced_motion="reduce")

    def press(self, key: str) -> None:
        """One key; what cannot be seen of the focus is a fault."""
        self.page.keyboard.press(key)
        if (fault := self.page.evaluate(SEEN)) and fault not in self.faults:
            self.faults.append(fault)

    def to(self, place: Locator) -> None:
        """Go on with Tab until something has the focus."""
        place = place.first
        place.wait_for()
        for _ in range(MOST):
            if place.evaluate("one => one === document.activeElement"):
                return
            self.press("Tab")
        raise AssertionError(f"Tab does not reach {place}")

    def enter(self, place: Locator) -> None:
        """Go to a button or a link, and press Enter."""
        self.to(place)
        self.page.keyboard.press("Enter")

    def tick(self, place: Locator) -> None:
        """Go to a box, and tick it."""
        self.to(place)
        self.press("Space")
        assert place.is_checked()

    def type(self, place: Locator, text: str) -> None:
        """Go to a field, and put a text in place of what it has."""
        self.to(place)
        self.page.keyboard.press("Control+a")
        self.page.keyboard.type(text)

    def unreached(self) -> list[str]:
        """What Tab does not reach on this page, once around; what cannot be seen of the focus on the way is among it."""
        self.page.evaluate(f"window.wanted = new Set(({REACHED})()); document.activeElement.blur()")
        for _ in range(MOST):
            left = self.page.evaluate("wanted.delete(document.activeElement), wanted.size")
            if not left:
                break
            self.press("Tab")
        return self.faults + self.page.evaluate("[...wanted].map((one) => one.outerHTML.slice(0, 160))")
