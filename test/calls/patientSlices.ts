import type { Slices } from "../../src/workers/jobThread.ts";
import { HANG_MS } from "../hang.ts";

/**
 * Slices as in a node, except that the processor time alone decides: beside busy programs a short call may wait for a processor for
 * longer than a slice lasts, and would then wait behind the endless ones.
 */
export const PATIENT_SLICES: Slices = { shortMs: 10, longMs: 50, longestFactor: HANG_MS / 50 };
