import { it } from "vitest";

/**
 * What takes long is asked in full by `npm run test:long`, which sets IBEX_THOROUGH, and left out of the daily run, or asked
 * there for a share of its cases.
 */
export const IS_THOROUGH = process.env["IBEX_THOROUGH"] === "yes";

/** A test of many seconds that the daily run leaves out; something quicker there must stand for it. */
export const itIfThorough = IS_THOROUGH ? it : it.skip;

/** All of a list of cases, or every fourth in the daily run. */
export function someOf<T>(cases: readonly T[]): readonly T[] {
  return IS_THOROUGH ? cases : cases.filter((_, index) => index % 4 === 0);
}

/** Cases of a property: all of them, or a tenth in the daily run. */
export function casesOf(all: number): number {
  return IS_THOROUGH ? all : Math.ceil(all / 10);
}
