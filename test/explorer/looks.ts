import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect } from "vitest";
import { seriousBarriers } from "./browser.ts";
import { cutTexts } from "./cutTexts.ts";

/** Keeps a picture of each page in this folder, for who changes the design. */
const SCREENSHOTS = process.env["IBEX_SCREENSHOTS"];

/** How pages are looked at, as options of a browser's context. */
export const LOOKS = {
  light: { colorScheme: "light", viewport: { width: 1280, height: 900 } },
  dark: { colorScheme: "dark", viewport: { width: 1280, height: 900 } },
  phone: { colorScheme: "light", viewport: { width: 360, height: 740 }, deviceScaleFactor: 2 },
} as const;

export type Look = keyof typeof LOOKS;

const ALL_LOOKS = Object.keys(LOOKS) as readonly Look[];

/** Fails where the page as it is has a barrier, scrolls sideways or cuts a text. `name` is that of its picture as well. */
export async function expectForEverybody(page: Page, name: string, rules?: readonly string[]): Promise<void> {
  expect(await seriousBarriers(page, rules), name).toEqual([]);
  expect(await misfits(page, name), `${name} does not fit`).toEqual([]);
}

/** What the page as it is has beyond the sides of the screen, or cuts. */
export async function misfits(page: Page, name: string): Promise<readonly string[]> {
  if (SCREENSHOTS !== undefined)
    await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`), fullPage: true });
  const overflow = await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth");
  const sideways = overflow > 0 ? [`${name} scrolls sideways by ${overflow}`] : [];
  return [...sideways, ...(await cutTexts(page))];
}

/** The dark look differs from the light one in colours alone. */
const COLOUR_RULES = ["color-contrast", "link-in-text-block"];

/** The same of an open page in one look after the other. */
export async function expectForEverybodyInEachLook(page: Page, name: string): Promise<void> {
  for (const look of ALL_LOOKS) {
    const { colorScheme, viewport } = LOOKS[look];
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize(viewport);
    await expectForEverybody(page, `${name}-${look}`, look === "dark" ? COLOUR_RULES : undefined);
  }
}
