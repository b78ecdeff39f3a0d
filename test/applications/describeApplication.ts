import { describe } from "vitest";
import { IS_THOROUGH } from "../thorough.ts";

/** In the daily run applications are used side by side: each test waits for blocks most of its time. */
export const describeApplication = IS_THOROUGH ? describe : describe.concurrent;
