import { toHex } from "../../../primitives/hex.ts";
import { bigintToFixedBytes, toQuantity } from "../../../primitives/quantity.ts";
import { defineMethod, type JsonSchema, type Parameter, required } from "../../method.ts";
import { decodeHexText, explainHexText } from "../../parameters/javaHex.ts";
import { BOOLEAN, GIVEN_DATA, GIVEN_QUANTITY, QUANTITY } from "../../schemas.ts";

/** Settings of the blocks that this node builds (json-rpc.md#miner), until the next start. */

export const minerGetMinGasPrice = defineMethod({
  name: "miner_getMinGasPrice",
  namespace: "MINER",
  summary: "Lowest price per gas of a transaction in this node's blocks, wei.",
  parameters: [],
  result: { name: "price", schema: QUANTITY },
  ports: ["mining"],
  mayOverlap: "many",
  async run(_, context) {
    const { priceFloors } = await context.backend.mining.status(context);
    return toQuantity(priceFloors.minGasPriceWei);
  },
});

export const minerSetMinGasPrice = defineMethod({
  name: "miner_setMinGasPrice",
  namespace: "MINER",
  summary: "Sets the lowest price per gas of a transaction in this node's blocks, wei.",
  parameters: [hexNumber("price", GIVEN_QUANTITY)],
  result: { name: "isSet", schema: BOOLEAN },
  ports: ["mining"],
  mayOverlap: "many",
  async run([minGasPriceWei], context) {
    await context.backend.mining.setPriceFloors({ minGasPriceWei }, context);
    return true;
  },
});

export const minerGetMinPriorityFee = defineMethod({
  name: "miner_getMinPriorityFee",
  namespace: "MINER",
  summary: "Lowest priority fee per gas of a transaction in this node's blocks, wei.",
  parameters: [],
  result: { name: "fee", schema: QUANTITY },
  ports: ["mining"],
  mayOverlap: "many",
  async run(_, context) {
    const { priceFloors } = await context.backend.mining.status(context);
    return toQuantity(priceFloors.minPriorityFeeWei);
  },
});

export const minerSetMinPriorityFee = defineMethod({
  name: "miner_setMinPriorityFee",
  namespace: "MINER",
  summary: "Sets the lowest priority fee per gas of a transaction in this node's blocks, wei.",
  parameters: [hexNumber("fee", GIVEN_QUANTITY)],
  result: { name: "isSet", schema: BOOLEAN },
  ports: ["mining"],
  mayOverlap: "many",
  async run([minPriorityFeeWei], context) {
    await context.backend.mining.setPriceFloors({ minPriorityFeeWei }, context);
    return true;
  },
});

export const minerGetExtraData = defineMethod({
  name: "miner_getExtraData",
  namespace: "MINER",
  summary: "The vanity bytes of this node's blocks, without leading zeros.",
  parameters: [],
  result: { name: "extraData", schema: { type: "string", pattern: "^0x[0-9a-f]*$" } },
  ports: ["mining"],
  mayOverlap: "many",
  async run(_, context) {
    const { extraData } = await context.backend.mining.status(context);
    return toHex(extraData).replace(/^0x0*/, "0x");
  },
});

export const minerSetExtraData = defineMethod({
  name: "miner_setExtraData",
  namespace: "MINER",
  summary: "Sets the vanity bytes of this node's blocks, at most 32.",
  parameters: [hexNumber("extraData", GIVEN_DATA)],
  result: { name: "isSet", schema: BOOLEAN },
  ports: ["mining"],
  mayOverlap: "many",
  async run([number], context) {
    await context.backend.mining.setExtraData(bigintToFixedBytes(number, 32), context);
    return true;
  },
});

function hexNumber(name: string, schema: JsonSchema): Parameter<bigint> {
  return { ...required(name, decodeHexNumber, schema), explain: explainHexText };
}

function decodeHexNumber(value: unknown): bigint | undefined {
  const digits = decodeHexText(value);
  return digits === undefined ? undefined : BigInt(`0x${digits === "" ? "0" : digits}`);
}
