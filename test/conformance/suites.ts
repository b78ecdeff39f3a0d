import type { Suite } from "./suite.ts";
import { BASE_FEE } from "./suites/baseFee.ts";
import { BASIC } from "./suites/basic.ts";
import { BLOCKCHAIN } from "./suites/blockchain.ts";
import { BUILD } from "./suites/build.ts";
import { CHAIN } from "./suites/chain.ts";
import { EVMTOOL } from "./suites/evmtool.ts";
import { GENESIS } from "./suites/genesis.ts";
import { HEADER } from "./suites/header.ts";
import { IBFT } from "./suites/ibft.ts";
import { OPCODE } from "./suites/opcode.ts";
import { PRECOMPILE } from "./suites/precompile.ts";
import { RLP_SUITE } from "./suites/rlp.ts";
import { RPC } from "./suites/rpc.ts";
import { STATE } from "./suites/state.ts";
import { TRACE } from "./suites/trace.ts";
import { TRACER } from "./suites/tracer.ts";
import { TRANSACTION } from "./suites/transaction.ts";
import { TRIE } from "./suites/trie.ts";

/** All suites, those with the longest cases first, so that no long case runs at the end. */
export const SUITES: readonly Suite[] = [
  IBFT,
  CHAIN,
  PRECOMPILE,
  STATE,
  BLOCKCHAIN,
  OPCODE,
  GENESIS,
  TRACE,
  RPC,
  EVMTOOL,
  TRACER,
  TRANSACTION,
  BUILD,
  HEADER,
  TRIE,
  RLP_SUITE,
  BASIC,
  BASE_FEE,
];
