import { allFilters } from "./allFilters.ts";
import type { CallerAttack } from "./callerAttack.ts";
import { hugeLogs, logBlocks, slotBlocks } from "./effectBlocks.ts";
import { endlessCalls, endlessCallsOfOneAddress } from "./endlessCalls.ts";
import { endlessSearches } from "./endlessSearches.ts";
import { largeTrace } from "./largeTrace.ts";
import { poolParts } from "./poolParts.ts";
import { unreadReceipts } from "./unreadReceipts.ts";

export const CALLER_ATTACKS: readonly CallerAttack[] = [
  unreadReceipts,
  largeTrace,
  endlessCalls,
  endlessCallsOfOneAddress,
  endlessSearches,
  poolParts,
  allFilters,
  logBlocks,
  hugeLogs,
  slotBlocks,
];
