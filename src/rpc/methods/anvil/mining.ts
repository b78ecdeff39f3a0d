import { toHex } from "../../../primitives/hex.ts";
import type { StoredBlock } from "../../../types/block.ts";
import { DEVELOPMENT_REFUSALS, developmentError } from "../../errors/developmentErrors.ts";
import { invalidParams } from "../../errors/errors.ts";
import { defineMethod, optional, required } from "../../method.ts";
import {
  decodeFlag,
  decodeMineParameter,
  decodeNumberOrQuantity,
  decodeSeconds,
} from "../../parameters/developmentParameters.ts";
import { decodeHash, decodeWholeAddress } from "../../parameters/parameters.ts";
import { blocksAnswer } from "../../results/blockResult.ts";
import {
  ADDRESS,
  BOOLEAN,
  HASH,
  INTEGER,
  listOf,
  NULL_RESULT,
  NUMBER_OR_QUANTITY,
  OBJECT,
  orNull,
} from "../../schemas.ts";

/** Blocks on demand, as anvil's names have them (development-network.md#mining). */

export const anvilMine = defineMethod({
  name: "anvil_mine",
  namespace: "ANVIL",
  summary:
    "Mines so many blocks, one unless said otherwise, whose times are so many seconds apart if that is said.",
  parameters: [
    optional("blocks", decodeNumberOrQuantity, NUMBER_OR_QUANTITY),
    optional("seconds", decodeSeconds, NUMBER_OR_QUANTITY),
  ],
  result: NULL_RESULT,
  ports: ["development"],
  async run([blocks = 1n, spacingSeconds], context) {
    const mined = await context.backend.development.mine({ blocks: Number(blocks), spacingSeconds }, context);
    return mined.ok ? null : developmentError(mined.error);
  },
});

export const anvilMineDetailed = defineMethod({
  name: "anvil_mine_detailed",
  aliases: ["evm_mine_detailed"],
  namespace: "ANVIL",
  alsoIn: ["EVM"],
  summary: "Mines as evm_mine does, and returns the blocks with their transactions in full.",
  parameters: [optional("order", decodeMineParameter, { oneOf: [...NUMBER_OR_QUANTITY.oneOf, OBJECT] })],
  result: { name: "blocks", schema: listOf(OBJECT) },
  ports: ["development", "chain", "newestHead"],
  async run([{ blocks = 1n, timestamp } = {}], context) {
    if (blocks > MOST_DETAILED) return invalidParams(`at most ${MOST_DETAILED} blocks are returned`);
    const { chain, development, newestHead } = context.backend;
    const mined = await development.mine({ blocks: Number(blocks), timestamp }, context);
    if (!mined.ok) return developmentError(mined.error);
    await newestHead();
    const last = chain.head.header.number;
    const detailed: StoredBlock[] = [];
    for (let number = last - blocks + 1n; number <= last; number++) {
      const block = chain.blockByNumber(number);
      if (block !== undefined) detailed.push(block);
    }
    return blocksAnswer(detailed);
  },
});

/** Blocks that are read for one answer. */
const MOST_DETAILED = 256n;

export const anvilGetIntervalMining = defineMethod({
  name: "anvil_getIntervalMining",
  namespace: "ANVIL",
  summary: "The seconds after which a block comes by time; null where none does.",
  parameters: [],
  result: { name: "seconds", schema: orNull(INTEGER) },
  ports: ["development"],
  async run(_, context) {
    const intervalMs = await context.backend.development.intervalMs(context);
    return intervalMs === undefined ? null : Math.ceil(intervalMs / 1000);
  },
});

export const anvilSetAutomine = defineMethod({
  name: "anvil_setAutomine",
  namespace: "ANVIL",
  summary:
    "Has transactions mined as soon as they arrive, or no longer; no blocks are made by time from now on.",
  parameters: [required("isAutomatic", decodeFlag, BOOLEAN)],
  result: NULL_RESULT,
  ports: ["development"],
  async run([isAutomatic], context) {
    await context.backend.development.setInterval(undefined, isAutomatic, context);
    return null;
  },
});

export const anvilSetIntervalMining = defineMethod({
  name: "anvil_setIntervalMining",
  namespace: "ANVIL",
  summary: "Mines a block after each so many seconds, and none when transactions arrive; 0 for none by time.",
  parameters: [required("seconds", decodeSeconds, NUMBER_OR_QUANTITY)],
  result: NULL_RESULT,
  ports: ["development"],
  async run([seconds], context) {
    const ms = Number(seconds < MOST_SECONDS ? seconds : MOST_SECONDS) * 1000;
    const intervalMs = ms === 0 ? undefined : { least: ms, most: ms };
    await context.backend.development.setInterval(intervalMs, false, context);
    return null;
  },
});

/** A day; a longer time counts as one. */
const MOST_SECONDS = 86_400n;

export const anvilDropTransaction = defineMethod({
  name: "anvil_dropTransaction",
  namespace: "ANVIL",
  summary: "Removes a transaction from the pool, and returns its hash; null when it was not there.",
  parameters: [required("hash", decodeHash, HASH)],
  result: { name: "hash", schema: orNull(HASH) },
  ports: ["development"],
  run: async ([hash], context) =>
    (await context.backend.development.drop(hash, context)) ? toHex(hash) : null,
});

export const anvilDropAllTransactions = defineMethod({
  name: "anvil_dropAllTransactions",
  aliases: ["hardhat_dropAllTransactions"],
  namespace: "ANVIL",
  alsoIn: ["HARDHAT"],
  summary: "Removes all transactions from the pool.",
  parameters: [],
  result: NULL_RESULT,
  ports: ["development"],
  async run(_, context) {
    await context.backend.development.dropAll(context);
    return null;
  },
});

export const anvilRemovePoolTransactions = defineMethod({
  name: "anvil_removePoolTransactions",
  namespace: "ANVIL",
  summary: "Removes the transactions of an account from the pool.",
  parameters: [required("address", decodeWholeAddress, ADDRESS)],
  result: NULL_RESULT,
  ports: ["development"],
  async run([address], context) {
    await context.backend.development.dropOf(address, context);
    return null;
  },
});

export const anvilSetNextBlockBaseFeePerGas = defineMethod({
  name: "anvil_setNextBlockBaseFeePerGas",
  namespace: "ANVIL",
  summary: "Refuses any base fee but the one that the genesis file fixes.",
  parameters: [required("baseFee", decodeNumberOrQuantity, NUMBER_OR_QUANTITY)],
  result: NULL_RESULT,
  ports: ["nextBaseFeePerGas"],
  run: ([baseFeeWei], { backend }) =>
    baseFeeWei === backend.nextBaseFeePerGas() ? null : DEVELOPMENT_REFUSALS.fixedBaseFee,
});
