import { ERRORS } from "../../errors/errors.ts";
import { defineMethod, required } from "../../method.ts";
import { decodeAddress, decodeJavaLong } from "../../parameters/parameters.ts";
import { ADDRESS, BOOLEAN, INTEGER, TEXT } from "../../schemas.ts";

/** Whether this node makes blocks, for whom, and how large (json-rpc.md#miner). */

export const minerStart = defineMethod({
  name: "miner_start",
  namespace: "MINER",
  summary: "Proposes and votes again after a stop; true also when nothing was stopped.",
  parameters: [],
  result: { name: "isMining", schema: BOOLEAN },
  run(_, { backend }) {
    backend.mining.start();
    return true;
  },
});

export const minerStop = defineMethod({
  name: "miner_stop",
  namespace: "MINER",
  summary: "Neither proposes nor votes until miner_start, or the next start of the node.",
  parameters: [],
  result: { name: "isStopped", schema: BOOLEAN },
  run(_, { backend }) {
    backend.mining.stop();
    return true;
  },
});

export const minerSetCoinbase = defineMethod({
  name: "miner_setCoinbase",
  aliases: ["miner_setEtherbase"],
  namespace: "MINER",
  summary:
    "What eth_coinbase answers until the next start; who is paid for blocks follows from the genesis file.",
  parameters: [required("address", decodeAddress, ADDRESS)],
  result: { name: "isSet", schema: BOOLEAN },
  run([address], { backend }) {
    backend.mining.setCoinbase(address);
    return true;
  },
});

export const minerChangeTargetGasLimit = defineMethod({
  name: "miner_changeTargetGasLimit",
  namespace: "MINER",
  summary: "The gas limit that this node's blocks move to, in steps of a 1024th, until the next start.",
  parameters: [required("targetGasLimit", decodeLong, INTEGER)],
  result: { name: "success", schema: TEXT },
  run([target], { backend }) {
    if (target < LOWEST_GAS_LIMIT) return ERRORS.noTargetGasLimit;
    backend.mining.targetGasLimit = target;
    return "Success";
  },
});

/** No block may have less. */
const LOWEST_GAS_LIMIT = 5000n;

/** A JSON integer, or a decimal text; hex is refused. */
function decodeLong(value: unknown): bigint | undefined {
  if (typeof value === "number") return Number.isSafeInteger(value) ? BigInt(value) : undefined;
  return typeof value === "string" && /^[+-]?[0-9]+$/.test(value) && value.length <= LONGEST_LONG
    ? decodeJavaLong(value.replace(/^([+-]?)0+(?=[0-9])/, "$1"))
    : undefined;
}

const LONGEST_LONG = 20;
