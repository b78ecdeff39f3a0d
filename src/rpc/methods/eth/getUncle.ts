import { toQuantity } from "../../../primitives/quantity.ts";
import { RpcError } from "../../errors/errors.ts";
import { defineMethod, required } from "../../method.ts";
import { decodeNumberOrTag, findBlock } from "../../parameters/blockParameter.ts";
import { decodeHash, decodeIndex } from "../../parameters/parameters.ts";
import { GIVEN_QUANTITY, HASH, NUMBER_OR_TAG, OBJECT, orNull, QUANTITY } from "../../schemas.ts";

/** An IBFT block has no ommers (header rule 8), so the counts are zero and there is never an uncle to return. */

const BLOCK = required("block", decodeNumberOrTag, NUMBER_OR_TAG);
const BLOCK_HASH = required("hash", decodeHash, HASH);
const INDEX = required("index", decodeIndex, GIVEN_QUANTITY);
const COUNT = { name: "count", schema: orNull(QUANTITY) };
const UNCLE = { name: "uncle", schema: orNull(OBJECT) };

export const ethGetUncleCountByBlockNumber = defineMethod({
  name: "eth_getUncleCountByBlockNumber",
  namespace: "ETH",
  summary: "How many uncles a block has, by number or tag.",
  parameters: [BLOCK],
  result: COUNT,
  ports: ["chain"],
  run([choice], { backend }) {
    const block = findBlock(backend.chain, choice);
    if (block instanceof RpcError) return block;
    return block === undefined ? null : toQuantity(block.ommers.length);
  },
});

export const ethGetUncleCountByBlockHash = defineMethod({
  name: "eth_getUncleCountByBlockHash",
  namespace: "ETH",
  summary: "How many uncles a block has, by hash.",
  parameters: [BLOCK_HASH],
  result: COUNT,
  ports: ["chain"],
  run([hash], { backend }) {
    const block = backend.chain.blockByHash(hash);
    return block === undefined ? null : toQuantity(block.ommers.length);
  },
});

export const ethGetUncleByBlockNumberAndIndex = defineMethod({
  name: "eth_getUncleByBlockNumberAndIndex",
  namespace: "ETH",
  summary: "An uncle of a block: always null under IBFT 2.0.",
  parameters: [BLOCK, INDEX],
  result: UNCLE,
  ports: ["chain"],
  run([choice], { backend }) {
    const block = findBlock(backend.chain, choice);
    return block instanceof RpcError ? block : null;
  },
});

export const ethGetUncleByBlockHashAndIndex = defineMethod({
  name: "eth_getUncleByBlockHashAndIndex",
  namespace: "ETH",
  summary: "An uncle of a block: always null under IBFT 2.0.",
  parameters: [BLOCK_HASH, INDEX],
  result: UNCLE,
  run: () => null,
});
