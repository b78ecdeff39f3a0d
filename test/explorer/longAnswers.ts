import { VALIDATORS } from "./networkAnswers.ts";
import type { Answering } from "./scriptedNode.ts";
import { aTransactionAnswer, HASH } from "./transactionAnswers.ts";

export const ACCOUNT = `0x${"d4".repeat(20)}`;
export const TOKEN = `0x${"70".repeat(20)}`;
/** The largest amount that a word holds, whose digits have no place to break. */
const MOST = `0x${"f".repeat(64)}`;
const WORD = `0x${"e".repeat(64)}`;
const TRANSFER = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";

/** What a node answers about accounts, tokens and a transaction whose every text is as long as it may be. */
export function longAnswers(): Readonly<Record<string, Answering>> {
  const items = (...list: readonly object[]) => ({ items: list, next: "0x1", firstBlock: "0x5" });
  const frame = (depth: number): object => ({
    type: "DELEGATECALL",
    from: ACCOUNT,
    to: TOKEN,
    gasUsed: "0x1c9c380",
    input: WORD,
    value: MOST,
    calls: depth === 0 ? [] : [frame(depth - 1)],
  });
  const log = { address: TOKEN, topics: [WORD, WORD, WORD, WORD], data: MOST, logIndex: "0x0" };
  const moved = { ...log, topics: [TRANSFER, padded(ACCOUNT), padded(TOKEN)] };
  return {
    ...aTransactionAnswer({
      transaction: {
        value: MOST,
        input: WORD.repeat(8).replaceAll("0x", "").replace(/^/, "0x"),
        accessList: ACCESS,
      },
      receipt: { logs: [log, moved] },
    }),
    debug_traceTransaction: (_, options) =>
      (options as { tracer: string }).tracer === "callTracer"
        ? { ...frame(6), error: "execution reverted" }
        : {
            pre: { [ACCOUNT]: { balance: MOST, nonce: 1, storage: { [WORD]: WORD } } },
            post: { [ACCOUNT]: { balance: WORD, nonce: 2, storage: { [WORD]: MOST } } },
          },
    eth_getBlockByNumber: () => BLOCK,
    eth_getBlockByHash: () => null,
    eth_getBlockTransactionCountByNumber: () => "0x1",
    eth_getTransactionByBlockNumberAndIndex: (number) => ({
      ...(aTransactionAnswer()["eth_getTransactionByHash"]?.(HASH) as object),
      value: MOST,
      blockNumber: number,
    }),
    eth_getBalance: () => MOST,
    eth_getTransactionCount: () => "0xffffffff",
    eth_getCode: () => "0x",
    explorer_getToken: () => ({
      standard: "ERC-20",
      name: "N".repeat(64),
      symbol: "S".repeat(64),
      decimals: "0x0",
      totalSupply: MOST,
    }),
    explorer_getTransactionsOf: () => items({ transactionHash: HASH, timestamp: "0x6553f100" }),
    explorer_getTokensOf: () => items({ token: TOKEN, tokenId: null, balance: MOST }),
    explorer_getTokenTransfers: () => items(MOVED),
    explorer_getTransfersOfToken: () => items(MOVED),
    explorer_getTokenHolders: () => ({
      ...items({ holder: ACCOUNT, tokenId: null, balance: MOST }),
      next: null,
    }),
  };
}

function padded(address: string): string {
  return `0x${address.slice(2).padStart(64, "0")}`;
}

const ACCESS = [{ address: TOKEN, storageKeys: [WORD] }];

const MOVED = {
  timestamp: "0x6553f100",
  transactionHash: HASH,
  logIndex: "0x0",
  token: TOKEN,
  standard: "ERC-20",
  from: ACCOUNT,
  to: TOKEN,
  amounts: [{ tokenId: null, value: MOST }],
  isCut: true,
};

const BLOCK = {
  number: "0x1",
  hash: WORD,
  parentHash: WORD,
  timestamp: "0x6553f100",
  miner: VALIDATORS[0],
  gasUsed: "0x1c9c37f",
  gasLimit: "0x1c9c380",
  baseFeePerGas: "0x7",
  size: "0xffff",
  stateRoot: WORD,
  transactions: [HASH],
};

/** Members of explorer_getNodeStatus of a node in trouble. */
export const IN_TROUBLE = {
  isInSync: false,
  pauses: ["diskAlmostFull", "catchingUp"],
  disk: {
    freeBytes: "0x100000",
    reserveBytes: "0x20000000",
    resumeBytes: "0x28000000",
    databaseBytes: "0x1000",
  },
  unminedCount: "0x1e",
  unmined: [
    {
      hash: HASH,
      from: ACCOUNT,
      nonce: "0xff",
      since: "0x6553f100",
      reason: "belowMinGasPrice",
      price: "0x0",
      askedPrice: "0x3e8",
    },
  ],
};
