import { describe } from "vitest";
import { IS_THOROUGH } from "../thorough.ts";

/** Blocks come late on a busy machine. */

/** In the daily run applications are used side by side: each test waits for blocks most of its time. */
export function describeApplication(name: string, tests: () => void): void {
  (IS_THOROUGH ? describe : describe.concurrent)(name, tests);
}
