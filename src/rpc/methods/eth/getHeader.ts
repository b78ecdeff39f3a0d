import { RpcError } from "../../errors/errors.ts";
import { defineMethod, RawJson, required } from "../../method.ts";
import { decodeNumberOrTag, findBlockHeader } from "../../parameters/blockParameter.ts";
import { decodeHash } from "../../parameters/parameters.ts";
import { headerJson } from "../../results/blockResult.ts";
import { HASH, NUMBER_OR_TAG, OBJECT, orNull } from "../../schemas.ts";

/** Not in Besu, but in go-ethereum: a header costs less to read and to send than a block without transactions. */

const RESULT = { name: "header", schema: orNull(OBJECT) };

export const ethGetHeaderByNumber = defineMethod({
  name: "eth_getHeaderByNumber",
  namespace: "ETH",
  summary: "A block's header by number or tag.",
  parameters: [required("block", decodeNumberOrTag, NUMBER_OR_TAG)],
  result: RESULT,
  ports: ["chain"],
  run([choice], { backend: { chain } }) {
    const found = findBlockHeader(chain, choice);
    if (found instanceof RpcError) return found;
    return found === undefined ? null : new RawJson(headerJson(found), "ascii");
  },
});

export const ethGetHeaderByHash = defineMethod({
  name: "eth_getHeaderByHash",
  namespace: "ETH",
  summary: "A block's header by the block's hash.",
  parameters: [required("hash", decodeHash, HASH)],
  result: RESULT,
  ports: ["chain"],
  run([hash], { backend: { chain } }) {
    const found = chain.headerByHash(hash);
    return found === undefined ? null : new RawJson(headerJson(found), "ascii");
  },
});
