import type { Suite } from "./suite.ts";
import { STATE } from "./suites/state.ts";
import { TRANSACTION } from "./suites/transaction.ts";

/** All suites; those with the longest cases first, so that none of them is left to the end. */
export const SUITES: readonly Suite[] = [STATE, TRANSACTION];
