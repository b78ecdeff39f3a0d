import { ERRORS } from "../../errors/errors.ts";
import { defineMethod, required } from "../../method.ts";
import { decodeAddress, decodeJavaLong } from "../../parameters/parameters.ts";
import { ADDRESS, BOOLEAN, INTEGER, TEXT } from "../../schemas.ts";

/** Control of block production: start and stop, coinbase, gas limit (json-rpc.md#miner). */

export const minerStart = defineMethod({
  name: "miner_start",
  namespace: "MINER",
  summary: "Resumes proposing and voting after miner_stop; true also when nothing was stopped.",
  parameters: [],
  result: { name: "isMining", schema: BOOLEAN },
  ports: ["mining"],
  mayOverlap: "many",
  async run(_, context) {
    await context.backend.mining.start(context);
    return true;
  },
});

export const minerStop = defineMethod({
  name: "miner_stop",
  namespace: "MINER",
  summary: "Stops proposing and voting until miner_start or the next start of the node.",
  parameters: [],
  result: { name: "isStopped", schema: BOOLEAN },
  ports: ["mining"],
  mayOverlap: "many",
  async run(_, context) {
    await context.backend.mining.stop(context);
    return true;
  },
});

export const minerSetCoinbase = defineMethod({
  name: "miner_setCoinbase",
  aliases: ["miner_setEtherbase"],
  namespace: "MINER",
  summary:
    "Sets the answer of eth_coinbase until the next start; the genesis file decides who is paid for blocks.",
  parameters: [required("address", decodeAddress, ADDRESS)],
  result: { name: "isSet", schema: BOOLEAN },
  ports: ["mining"],
  mayOverlap: "many",
  async run([address], context) {
    await context.backend.mining.setCoinbase(address, context);
    return true;
  },
});

export const minerChangeTargetGasLimit = defineMethod({
  name: "miner_changeTargetGasLimit",
  namespace: "MINER",
  summary: "Sets the gas limit that this node's blocks approach in steps of 1/1024, until the next start.",
  parameters: [required("targetGasLimit", decodeLong, INTEGER)],
  result: { name: "success", schema: TEXT },
  ports: ["mining"],
  mayOverlap: "many",
  async run([target], context) {
    if (target < LOWEST_GAS_LIMIT) return ERRORS.noTargetGasLimit;
    await context.backend.mining.setTargetGasLimit(target, context);
    return "Success";
  },
});

/** Lowest gas limit of a valid block. */
const LOWEST_GAS_LIMIT = 5000n;

/** A JSON integer, or decimal text; hex is refused. */
function decodeLong(value: unknown): bigint | undefined {
  if (typeof value === "number") return Number.isSafeInteger(value) ? BigInt(value) : undefined;
  return typeof value === "string" && /^[+-]?[0-9]+$/.test(value) && value.length <= LONGEST_LONG
    ? decodeJavaLong(value.replace(/^([+-]?)0+(?=[0-9])/, "$1"))
    : undefined;
}

const LONGEST_LONG = 20;
