import type { Suite } from "./suite.ts";
import { BLOCKCHAIN } from "./suites/blockchain.ts";
import { CHAIN } from "./suites/chain.ts";
import { IBFT } from "./suites/ibft.ts";
import { STATE } from "./suites/state.ts";
import { TRANSACTION } from "./suites/transaction.ts";

/** All suites; those with the longest cases first, so that none of them is left to the end. */
export const SUITES: readonly Suite[] = [IBFT, CHAIN, STATE, BLOCKCHAIN, TRANSACTION];
