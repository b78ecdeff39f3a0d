import type { Page } from "playwright-core";
import { rendered } from "./scriptedNode.ts";

/**
 * Texts of the page as it is that are beyond its sides, or clipped by a box around them. A box that scrolls sideways may hide some, if it
 * says so by an arrow.
 */
export async function cutTexts(page: Page): Promise<readonly string[]> {
  await rendered(page);
  return page.evaluate<readonly string[]>(FIND);
}

const FIND = `(() => {
  const cut = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text = walker.nextNode(); text !== null; text = walker.nextNode()) {
    const element = text.parentElement;
    if (text.data.trim() === "" || element.closest(".hidden, .skip, svg, option, script") !== null) continue;
    const range = document.createRange();
    range.selectNodeContents(text);
    for (const rect of range.getClientRects()) {
      const why = rect.width === 0 ? undefined : whyCut(element, rect);
      if (why === undefined) continue;
      cut.push(text.data.trim().slice(0, 40) + " (" + element.tagName.toLowerCase() + "): " + why);
      break;
    }
  }
  for (const input of document.querySelectorAll("input[placeholder]")) {
    const { paddingLeft, paddingRight } = getComputedStyle(input);
    const pen = document.createElement("canvas").getContext("2d");
    pen.font = getComputedStyle(input, "::placeholder").font;
    const room = input.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight);
    if (pen.measureText(input.placeholder).width > room) cut.push(input.placeholder + " (placeholder)");
  }
  return cut;

  function whyCut(element, { left, right }) {
    for (let box = element; box !== null && box !== document.body; box = box.parentElement) {
      const { overflowX } = getComputedStyle(box);
      const { left: from, right: to } = box.getBoundingClientRect();
      const isOutside = left < from - 1 || right > to + 1;
      if (overflowX === "auto" || overflowX === "scroll") {
        if (box.scrollWidth <= box.clientWidth + 1) continue;
        return box.parentElement.querySelector(":scope > .arrow") === null ? "scrolls without a sign" : undefined;
      }
      if (overflowX !== "visible" && isOutside) return "clipped by " + box.className;
    }
    return left < -1 || right > innerWidth + 1 ? "beyond the page" : undefined;
  }
})()`;
