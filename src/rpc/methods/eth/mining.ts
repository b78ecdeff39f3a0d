import { toHex } from "../../../primitives/hex.ts";
import { ERRORS, RpcError } from "../../errors/errors.ts";
import { defineMethod, required } from "../../method.ts";
import { decodeText, decodeTopic } from "../../parameters/parameters.ts";
import { ADDRESS, BOOLEAN, DATA, GIVEN_DATA, listOf, QUANTITY, TEXT } from "../../schemas.ts";

/** Mining methods without a proof of work: the answers of Besu on an IBFT network. */

export const ethAccounts = defineMethod({
  name: "eth_accounts",
  namespace: "ETH",
  summary: "Always empty: the node holds no accounts.",
  parameters: [],
  result: { name: "accounts", schema: listOf(ADDRESS) },
  run: () => [],
});

export const ethCoinbase = defineMethod({
  name: "eth_coinbase",
  namespace: "ETH",
  summary:
    "The coinbase set for the node, or else the address of its own key, whether or not it is a validator.",
  parameters: [],
  result: { name: "address", schema: ADDRESS },
  ports: ["mining"],
  mayOverlap: "many",
  async run(_, context) {
    const { coinbase } = await context.backend.mining.status(context);
    return toHex(coinbase);
  },
});

export const ethMining = defineMethod({
  name: "eth_mining",
  namespace: "ETH",
  summary: "True on a validator that is neither paused nor catching up.",
  parameters: [],
  result: { name: "isMining", schema: BOOLEAN },
  ports: ["mining"],
  mayOverlap: "many",
  async run(_, context) {
    const { isMining } = await context.backend.mining.status(context);
    return isMining;
  },
});

export const ethHashrate = defineMethod({
  name: "eth_hashrate",
  namespace: "ETH",
  summary: "Always zero: there is no proof of work.",
  parameters: [],
  result: { name: "hashesPerSecond", schema: QUANTITY },
  run: () => "0x0",
});

/** Besu's error, with the reason as data. */
const NO_WORK = new RpcError(
  ERRORS.internalError.code,
  ERRORS.internalError.message,
  "the chain agrees by IBFT 2.0: there is no proof of work",
);

export const ethGetWork = defineMethod({
  name: "eth_getWork",
  namespace: "ETH",
  summary: "Always refused: there is no proof of work.",
  parameters: [],
  result: { name: "work", schema: listOf(DATA) },
  run: () => NO_WORK,
});

export const ethSubmitWork = defineMethod({
  name: "eth_submitWork",
  namespace: "ETH",
  summary: "Always refused: there is no proof of work.",
  parameters: [],
  result: { name: "isAccepted", schema: BOOLEAN },
  run: () => NO_WORK,
});

export const ethSubmitHashrate = defineMethod({
  name: "eth_submitHashrate",
  namespace: "ETH",
  summary: "Always false: there is no proof of work.",
  parameters: [required("hashrate", decodeText, GIVEN_DATA), required("id", decodeText, TEXT)],
  result: { name: "isAccepted", schema: BOOLEAN },
  run: ([hashrate]) => (decodeTopic(hashrate) === undefined ? ERRORS.internalError : false),
});
